"""A trained text encoder -> an encoder folder that transformers loads."""

from pathlib import Path
from typing import Any

from safetensors.torch import save_file

from bridge.encoders import quiet_transformers
from bridge.files import replacing, write_json

FORMAT = "platobridge.encoder/1"


def export(model, tokenizer, folder: Path, about: dict[str, Any]) -> None:
    """Write config.json, model.safetensors, the tokenizer's files and platobridge.json."""
    with replacing(folder) as temporary, quiet_transformers():
        model.backbone.save_pretrained(temporary)
        head = model.projector.state_dict()
        if head:
            save_file(head, temporary / "projector.safetensors")
        tokenizer.save_pretrained(temporary)
        write_json(
            temporary / "platobridge.json", {"format": FORMAT, "pooling": "mean", "about": about}
        )
