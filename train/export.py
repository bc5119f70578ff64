"""A trained text encoder -> an encoder folder that transformers loads."""

from pathlib import Path
from typing import Any

from safetensors.torch import save_file

from bridge.encoders import quiet_transformers
from bridge.files import replacing, write_json
from train.model import TextJepa

FORMAT = "platobridge.encoder/1"


def export(model: TextJepa, tokenizer, folder: Path, about: dict[str, Any]) -> None:
    """Write config.json, model.safetensors, the tokenizer's files and platobridge.json.

    The projection head, where the model has one, goes beside them as projector.safetensors.
    """
    head = model.projector.state_dict()
    stated = {
        "format": FORMAT,
        "pooling": "mean",
        "projector": bool(head),
        "about": about,
    }
    with replacing(folder) as temporary, quiet_transformers():
        model.backbone.save_pretrained(temporary)
        if head:
            save_file(head, temporary / "projector.safetensors")
        tokenizer.save_pretrained(temporary)
        write_json(temporary / "platobridge.json", stated)
