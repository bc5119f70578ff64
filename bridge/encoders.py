"""What text and vision encoders share: their names, precision, device, and a hash of weights."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn

from bridge.errors import InputError

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def fingerprint(model: nn.Module, random: Collection[str] = ()) -> str:
    """A short hash of a model's weights: names, shapes and the first values of every tensor.

    Values are rounded to bfloat16, so that a model loaded in float32 and in bfloat16 is the same.
    `random` names tensors that no checkpoint gave and no row depends on.
    """
    hashed = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        if name in random:
            continue
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
    try:
        says = dict(json.loads(config.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise InputError(f"{config}: expected a model's settings as JSON, got {error}") from error
    return ("timm" if "architecture" in says else "hf"), spec


def portable(kind: str, name: str) -> str:
    """The spec by which the encoder is found again, from any working folder."""
    folder = Path(name)
    return f"{kind}:{folder.resolve() if kind != 'package' and folder.is_dir() else name}"


def reopened(
    load: Callable, side: str, noted: Mapping[str, Any], settings: Sequence[str], **options: Any
):
    """The encoder that embeddings, a bridge or a decoder noted as theirs, by the same settings.

    Raises InputError where only a name was noted (features that were made elsewhere) and where
    another model lies there today.
    """
    if "fingerprint" not in noted:
        raise InputError(
            f"the {side} rows were imported ({noted.get('name', 'of an unknown encoder')}), so "
            f"that nothing says how to make more; name their encoder with --{side}-encoder"
        )
    same = {key: noted[key] for key in settings if key in noted}
    encoder = load(noted["name"], **same, **options)
    if encoder.about["fingerprint"] != noted["fingerprint"]:
        raise InputError(
            f"{noted['name']} has changed: its weights have fingerprint "
            f"{encoder.about['fingerprint']}, the bridge's {side} encoder had "
            f"{noted['fingerprint']}; put the old one back, or name it with --{side}-encoder"
        )
    return encoder


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


def unreachable(spec: str, remedy: str, error: Exception) -> InputError:
    reason = " ".join(str(error).split()).split(". ")[0].rstrip(".")
    return InputError(
        f"cannot load {spec}: it is neither on this machine nor could the hub be reached "
        f"({reason}); download it where there is a network and pass {remedy}"
    )


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """No load reports and no bars of transformers: what matters of them is checked and raised."""
    from transformers.utils import logging

    level = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        logging.enable_progress_bar()


def load_transformers(name: str, **options) -> tuple[nn.Module, set[str]]:
    """A transformers model, and the names of its tensors that the checkpoint did not hold.

    Those may only belong to a pooler, which nothing here uses: a checkpoint that lacks other
    weights would silently embed with random numbers, and is an InputError.
    """
    from transformers import AutoModel

    try:
        with quiet_transformers():
            model, report = AutoModel.from_pretrained(name, output_loading_info=True, **options)
    except (OSError, ValueError) as error:
        raise unreachable(f"hf:{name}", "hf:FOLDER", error) from error
    missing = set(report["missing_keys"])
    needed = sorted(key for key in missing if not key.startswith("pooler."))
    if needed:
        raise InputError(
            f"hf:{name}: the checkpoint lacks {len(needed)} weights, first {needed[0]}"
        )
    return model.eval().requires_grad_(False), missing
