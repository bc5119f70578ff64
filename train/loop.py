"""The training loop: accelerate for devices and precision, exact resume, a line of metrics a step."""

import json
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from accelerate import Accelerator
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

from bridge.captions import Caption
from bridge.config import read_yaml
from bridge.encoders import quiet_transformers
from bridge.errors import InputError
from bridge.files import PathLike, already_made, remove, replacing, write_json
from bridge.provenance import versions
from train import objectives
from train.config import TrainConfig
from train.data import good_views, tokenize
from train.export import export
from train.model import embed, make_model, make_tokenizer

Progress = Callable[[int, int], None]


def run(
    config: TrainConfig,
    captions: Sequence[Caption],
    *,
    out: PathLike,
    overwrite: bool = False,
    progress: Progress = lambda done, total: None,
) -> Path:
    """Train on captions, export the encoder to `out/encoder`, and return that folder.

    An interrupted run goes on from its last checkpoint with the same losses to the last bit on a
    CPU, for a batch depends on seed and step only. A finished run of the same settings is left as
    it is; raises InputError for one of other settings unless `overwrite`.
    """
    out = Path(out)
    encoder = out / "encoder"
    if overwrite:
        remove(out)
    made_by = read_yaml(out / "config.yaml") if (out / "config.yaml").exists() else None
    wanted = config.model_dump(mode="json")
    same = already_made(out, made_by, wanted, overwrite=False)
    if same and encoder.exists():
        return encoder
    start_folder(out, wanted)
    tokenizer = tokenizer_of(config, captions, out)
    tokens = tokenize(captions, tokenizer, config.model.max_tokens)
    model = make_model(config.model, len(tokenizer), config.seed)
    accelerator = Accelerator(cpu=not torch.cuda.is_available())
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=config.optim.lr, weight_decay=config.optim.weight_decay
    )
    model, optimizer = accelerator.prepare(model, optimizer)
    first = restore(out / "state", accelerator.unwrap_model(model), optimizer)
    metrics = Metrics(out / "metrics.jsonl", first)
    for step in range(first, config.optim.steps):
        set_rate(optimizer, config, step)
        indices = good_views(tokens, config.optim.batch, config.seed, step).T.flatten()
        texts = [tokens.text(index) for index in indices]
        rows, padding = embed(model, texts, config.run.chunk, accelerator.device)
        losses = losses_of(config, accelerator.unwrap_model(model).projector(rows))
        accelerator.backward(losses["loss"])
        norm = accelerator.clip_grad_norm_(model.parameters(), config.optim.clip)
        optimizer.step()
        optimizer.zero_grad()
        if step % config.run.log_every == 0 or step + 1 == config.optim.steps:
            values = {name: float(value.detach()) for name, value in losses.items()}
            rank = objectives.effective_rank(rows.detach())
            metrics.write(step, sum(map(len, texts)), padding, rank, float(norm), values)
        if (step + 1) % config.run.save_every == 0:
            save(out / "state", accelerator.unwrap_model(model), optimizer, step + 1)
        progress(step + 1, config.optim.steps)
    about = {
        "objective": "good-views",
        "steps": config.optim.steps,
        "parameters": sum(p.numel() for p in model.parameters()),
        "captions": len(captions),
        "images": tokens.groups,
        "versions": versions(),
    }
    export(accelerator.unwrap_model(model), tokenizer, encoder, about)
    remove(out / "state")
    return encoder


def start_folder(out: Path, settings: dict) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with replacing(out / "config.yaml") as temporary:
        temporary.write_text(
            json.dumps(settings, indent=2) + "\n", encoding="utf-8"
        )  # JSON is YAML


def tokenizer_of(config: TrainConfig, captions: Sequence[Caption], out: Path):
    """The run's tokenizer: made once, so that a resumed run cannot have another."""
    folder = out / "tokenizer"
    if not folder.exists():
        made = make_tokenizer(config.model, (caption.text for caption in captions))
        with replacing(folder) as temporary:
            made.save_pretrained(temporary)
    with quiet_transformers():
        return AutoTokenizer.from_pretrained(folder)


def losses_of(config: TrainConfig, rows: torch.Tensor) -> dict[str, torch.Tensor]:
    """VICReg's terms; the first half of the rows are first views, the second half second ones."""
    first, second = rows.chunk(2)
    weights = config.objective
    agree = objectives.invariance(first, second)
    spread = (objectives.variance(first) + objectives.variance(second)) / 2
    apart = (objectives.covariance(first) + objectives.covariance(second)) / 2
    loss = weights.invariance * agree + weights.variance * spread + weights.covariance * apart
    if not torch.isfinite(loss):
        raise InputError("the loss is not finite any more; lower optim.lr")
    return {"loss": loss, "invariance": agree, "variance": spread, "covariance": apart}


def set_rate(optimizer, config: TrainConfig, step: int) -> None:
    """Linear warm-up, then a cosine to zero."""
    warmup = max(1, round(config.optim.warmup * config.optim.steps))
    if step < warmup:
        share = (step + 1) / warmup
    else:
        share = 0.5 + 0.5 * math.cos(math.pi * (step - warmup) / (config.optim.steps - warmup))
    for group in optimizer.param_groups:
        group["lr"] = config.optim.lr * share


def save(folder: Path, model, optimizer, step: int) -> None:
    """Weights and AdamW's moments as safetensors."""
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    for index, state in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{key}": value for key, value in state.items()}
    with replacing(folder) as temporary:
        temporary.mkdir()
        save_file(
            {name: tensor.contiguous() for name, tensor in tensors.items()},
            temporary / "state.safetensors",
        )
        write_json(temporary / "step.json", {"step": step})


def restore(folder: Path, model, optimizer) -> int:
    """Load what `save` wrote; returns the next step, 0 where nothing was saved."""
    if not (folder / "step.json").exists():
        return 0
    tensors = load_file(folder / "state.safetensors")
    model.load_state_dict(
        {k.removeprefix("model."): v for k, v in tensors.items() if k.startswith("model.")}
    )
    state: dict[int, dict] = {}
    for name, tensor in tensors.items():
        if name.startswith("optimizer."):
            _, index, key = name.split(".")
            state.setdefault(int(index), {})[key] = tensor
    optimizer.load_state_dict(
        {"state": state, "param_groups": optimizer.state_dict()["param_groups"]}
    )
    return json.loads((folder / "step.json").read_text(encoding="utf-8"))["step"]


class Metrics:
    """metrics.jsonl: lines of steps that a resumed run does again are dropped first."""

    def __init__(self, path: Path, first: int):
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        kept = [line for line in lines if json.loads(line)["step"] < first]
        path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
        self.last = time.monotonic()

    def write(
        self, step: int, tokens: int, padding: float, rank: float, norm: float, losses: dict
    ) -> None:
        values = {"step": step, **losses, "effective_rank": rank, "gradient_norm": norm}
        values |= {"tokens": tokens, "padding": padding}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(values) + "\n")
