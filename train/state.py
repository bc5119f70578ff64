"""What an interrupted run goes on from: checkpoints without pickle, and the file of metrics."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from bridge.errors import InputError
from bridge.files import remove, replacing, write_json


def checkpoints(folder: Path) -> list[Path]:
    """Checkpoint folders, oldest first."""
    return sorted(folder.glob("step-*"), key=lambda path: int(path.name.removeprefix("step-")))


def save(
    folder: Path, step: int, model: torch.nn.Module, optimizer, scaler: Any = None, keep: int = 2
) -> None:
    """Write `folder/step-N`: weights, AdamW's moments, the loss scale; drop all but `keep`.

    A run needs nothing else: what a step draws depends on the seed and the step alone.
    """
    tensors = {f"model.{name}": tensor for name, tensor in unshared(model).items()}
    for index, state in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{key}": value for key, value in state.items()}
    with replacing(folder / f"step-{step}") as temporary:
        temporary.mkdir()
        whole = {name: tensor.contiguous() for name, tensor in tensors.items()}
        save_file(whole, temporary / "state.safetensors")
        scale = scaler.state_dict() if scaler else None
        write_json(temporary / "state.json", {"step": step, "scaler": scale})
    for old in checkpoints(folder)[:-keep]:
        remove(old)


def restore(folder: Path, model: torch.nn.Module, optimizer, scaler: Any = None) -> int:
    """Load the newest whole checkpoint; returns the next step, 0 where there is none.

    One that a power cut left unreadable is passed over for the one before.
    """
    for place in reversed(checkpoints(folder)):
        try:
            about = json.loads((place / "state.json").read_text(encoding="utf-8"))
            tensors = load_file(place / "state.safetensors")
        except (OSError, ValueError, SafetensorError):
            continue
        fill(model, optimizer, tensors)
        if scaler and about["scaler"]:
            scaler.load_state_dict(about["scaler"])
        return about["step"]
    return 0


def unshared(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """A model's tensors by name; of tied ones, such as a head and its embedding, the first."""
    by_place = {}
    for name, tensor in model.state_dict().items():
        by_place.setdefault((tensor.data_ptr(), tensor.shape), (name, tensor))
    return dict(by_place.values())


def fill(model: torch.nn.Module, optimizer, tensors: dict[str, torch.Tensor]) -> None:
    weights = {k.removeprefix("model."): v for k, v in tensors.items() if k.startswith("model.")}
    if weights.keys() != unshared(model).keys():
        raise ValueError("a checkpoint of another model")
    model.load_state_dict(weights, strict=False)
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith("optimizer."):
            _, index, key = name.split(".")
            state.setdefault(int(index), {})[key] = tensor
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


class Metrics:
    """metrics.jsonl, a line a record, and tensorboard's files beside it where they are asked for.

    Lines of steps that a resumed run does again are dropped when it is opened.
    """

    def __init__(self, folder: Path, first: int, tensorboard: bool):
        self.path = folder / "metrics.jsonl"
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        kept = [line for line in lines if whole(line) and json.loads(line)["step"] < first]
        with replacing(self.path) as temporary:
            temporary.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
        self.board = board(folder / "tensorboard", first) if tensorboard else None

    def write(self, record: dict[str, int | float]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        if self.board:
            for name, value in record.items():
                self.board.add_scalar(name, value, record["step"])
            self.board.flush()


def whole(line: str) -> bool:
    """Whether a line was written to its end; a kill can leave half of one."""
    return line.startswith("{") and line.endswith("}")


def board(folder: Path, first: int):
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise InputError(
            "run.tensorboard needs the package tensorboard; pip install tensorboard, or leave it "
            "out: metrics.jsonl has the same figures"
        ) from error
    return SummaryWriter(str(folder), purge_step=first)
