"""The training loop: accelerate for devices, precision and processes; exact resume; metrics."""

import json
import shlex
import sys
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from accelerate import Accelerator
from jaxtyping import Float
from torch import Tensor
from transformers import AutoTokenizer

from bridge.captions import Caption
from bridge.config import Settings, write_yaml
from bridge.encoders import quiet_transformers
from bridge.errors import InputError
from bridge.files import PathLike, already_made, check_folder_of, remove, replacing, write_json
from bridge.provenance import versions
from train import objectives, state
from train.config import Optim, TrainConfig
from train.data import digest_of, open_store, tokenize
from train.export import export
from train.model import TextJepa, make_tokenizer
from train.schedules import warmup_cosine
from train.views import Words, draw, lay_out

Encode = Callable[[Sequence[str]], Float[Tensor, "n d"]]
Validate = Callable[[Encode], dict[str, float]]
Record = dict[str, int | float]


class Untrainable(InputError):
    """A loss that is not finite, or embeddings that collapsed."""


@dataclass(frozen=True)
class Hooks:
    """Whom a run tells what: steps done of all, lines of metrics, remarks; and who validates."""

    progress: Callable[[int, int], object] = lambda done, total: None
    report: Callable[[Record], object] = lambda record: None
    note: Callable[[str], object] = lambda line: None
    validate: Validate | None = None


def run(
    config: TrainConfig,
    captions: Iterable[Caption],
    *,
    out: PathLike,
    overwrite: bool = False,
    device: str = "auto",
    **hooks: Any,
) -> Path:
    """Train on captions, export the encoder to `out/encoder`, and return that folder.

    `captions` are passed over several times; `train.data.CaptionFiles` streams them. `hooks` are
    the fields of `Hooks`: `validate` gets a function from texts to rows and returns figures, at
    the end and every `validation.every` steps.

    An interrupted run goes on from its last checkpoint, on a CPU with the same losses to the last
    bit, for a batch depends on seed and step only. A finished run of the same settings and
    captions is left as it is. Raises InputError for one of others unless `overwrite`, for captions
    or a vocabulary that do not fit, for a loss that is not finite, and when embeddings collapse.
    """
    out, told = Path(out), Hooks(**hooks)
    captions = list(captions) if isinstance(captions, Iterator) else captions
    accelerator = accelerator_for(config.optim, device)
    if accelerator.is_main_process:
        start_folder(
            out, config, {**config.result(), "captions": digest_of(captions)}, overwrite=overwrite
        )
        prepare_texts(out, config, captions)
    accelerator.wait_for_everyone()
    told = told if accelerator.is_main_process else Hooks()
    if (out / "encoder").exists():
        told.note(f"{out} is finished; nothing to do")
    else:
        with torch.random.fork_rng(devices=[]):
            train(JepaTrainer(config, out, accelerator), out, told)
    return out / "encoder"


def accelerator_for(optim: Optim, device: str) -> Accelerator:
    """Devices, precision and processes; raises InputError for a batch they cannot share."""
    accelerator = Accelerator(
        cpu=device == "cpu" or not torch.cuda.is_available(),
        mixed_precision={"fp32": "no"}.get(optim.precision, optim.precision),
    )
    if optim.batch % accelerator.num_processes:
        raise InputError(
            f"expected optim.batch to be a multiple of the {accelerator.num_processes} processes, "
            f"got {optim.batch}"
        )
    return accelerator


def start_folder(out: Path, config: Settings, wanted: dict, *, overwrite: bool) -> None:
    """Write settings and provenance, or check that a run of just this request lies there."""
    file = out / "about.json"
    check_folder_of(out, file.name, "run folder")
    if overwrite:
        remove(out)
    made_by = json.loads(file.read_text(encoding="utf-8"))["made_by"] if file.exists() else None
    if not already_made(out, made_by, wanted, overwrite=False):
        about = {"made_by": wanted, "command": shlex.join(sys.argv), "versions": versions()}
        write_json(file, about)
    with replacing(out / "config.yaml") as temporary:
        write_yaml(temporary, config)


def prepare_texts(out: Path, config: TrainConfig, captions: Iterable[Caption]) -> None:
    """Make tokenizer and token store, once, so that a resumed run cannot have others."""
    if not (out / "tokenizer").exists():
        made = make_tokenizer(config.model, captions)
        with replacing(out / "tokenizer") as temporary:
            made.save_pretrained(temporary)
    tokenize(captions, load_tokenizer(out), config.model.max_tokens, out / "tokens")


def load_tokenizer(out: Path):
    with quiet_transformers():
        return AutoTokenizer.from_pretrained(out / "tokenizer")


class Step(NamedTuple):
    """What one step gave; tensors stay on their device, so that asking costs nothing."""

    losses: dict[str, Tensor]
    rows: Tensor | None
    gradient_norm: Tensor
    counts: Counter


class Trainer(ABC):
    """Model and optimiser of a run, and what one step does with them.

    A subclass says what a draw costs, what else a line of metrics holds, what is worth stopping
    for, and what the run leaves behind.
    """

    def __init__(self, config: Any, module: torch.nn.Module, accelerator: Accelerator):
        self.config, self.accelerator = config, accelerator
        self.module = module.to(accelerator.device)
        trained = [p for p in self.module.parameters() if p.requires_grad]
        matrices = [p for p in trained if p.ndim > 1]
        others = [p for p in trained if p.ndim < 2]  # biases and norms keep their size
        groups = [
            {"params": matrices, "weight_decay": config.optim.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ]
        optimizer = torch.optim.AdamW(groups, lr=config.optim.lr, fused=True)
        self.model, self.optimizer = accelerator.prepare(self.module, optimizer)

    @abstractmethod
    def losses(self, seed: tuple[int, int, int]) -> tuple[dict[str, Tensor], Tensor | None, dict]:
        """Losses, rows to watch and counts (tokens, cells) of one draw, decided by the seed."""

    @abstractmethod
    def export(self, out: Path) -> None:
        """Write what the run was for."""

    @abstractmethod
    def opening(self) -> str:
        """A line on the model and its data."""

    def figures(self, last: Step, counts: Counter, draws: int) -> Record:
        """More for a line of metrics, of the last step and the counts of all since the line before.

        Called on every process.
        """
        return {}

    def watch(self, record: Record) -> None:
        """Stop a run that cannot come to anything any more; raises Untrainable."""
        steered = {name: value for name, value in record.items() if name != "gradient_norm"}
        if not np.isfinite(list(steered.values())).all():  # a loss scaler meets infinite gradients
            raise Untrainable(
                f"the loss is not finite any more at step {record['step']}; lower optim.lr = "
                f"{self.config.optim.lr:g}"
            )

    def step(self, step: int) -> Step:
        """Forward, backward and update: `accumulate` draws, each with losses of its own."""
        optim = self.config.optim
        share = warmup_cosine(step, optim.steps, optim.warmup)
        for group in self.optimizer.param_groups:
            group["lr"] = optim.lr * share
        totals, counts = Counter(), Counter()
        for part in range(optim.accumulate):
            last = part + 1 == optim.accumulate
            with nullcontext() if last else self.accelerator.no_sync(self.model):
                losses, rows, seen = self.losses((self.config.seed, step, part))
                self.accelerator.backward(losses["loss"] / optim.accumulate)
            totals.update({k: v.detach() / optim.accumulate for k, v in losses.items()})
            counts.update(seen)
        norm = self.accelerator.clip_grad_norm_(self.model.parameters(), optim.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return Step(dict(totals), rows, norm, counts)


def one_number(*seed: int) -> int:
    """Several numbers as one seed, spread so that near ones have nothing in common."""
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] >> 1)


class JepaTrainer(Trainer):
    """A text JEPA, its captions and its objective."""

    def __init__(self, config: TrainConfig, out: Path, accelerator: Accelerator):
        self.tokenizer, self.tokens = load_tokenizer(out), open_store(out / "tokens")
        self.words = Words.of(self.tokenizer)
        torch.manual_seed(config.seed)
        super().__init__(config, TextJepa(config, self.tokenizer), accelerator)

    def losses(self, seed: tuple[int, int, int]) -> tuple[dict[str, Tensor], Tensor | None, dict]:
        objective, accelerator = self.config.objective, self.accelerator
        rank, ranks = accelerator.process_index, accelerator.num_processes
        drawn = draw(
            self.tokens,
            self.words,
            objective.kind,
            objective.mask,
            self.config.optim.batch,
            seed,
            rank,
            ranks,
        )
        batch = lay_out(drawn.texts, self.tokenizer.pad_token_id, accelerator.device)
        torch.manual_seed(one_number(*seed, rank))  # dropout: no generator's state to restore
        output = self.model(batch)
        losses = objectives.losses(
            objective, output.projected, output.predicted, output.cross_entropy, one_number(*seed)
        )
        counts = {"tokens": batch.tokens, "cells": batch.cells, "single": drawn.single}
        return losses, output.rows.detach(), counts

    @torch.no_grad()
    def encode(self, texts: Sequence[str]) -> Float[Tensor, "n d"]:
        """Rows of texts as the exported encoder would give them."""
        limit = self.config.model.max_tokens
        ids = self.tokenizer(list(texts), truncation=True, max_length=limit)["input_ids"]
        rows = []
        self.module.eval()
        for start in range(0, len(ids), 512):
            some = [np.array(text) for text in ids[start : start + 512]]
            batch = lay_out(some, self.tokenizer.pad_token_id, self.accelerator.device)
            rows.append(self.module.embed(batch).float().cpu())
        self.module.train()
        return torch.cat(rows)

    def about(self) -> dict[str, Any]:
        """What the exported encoder says of itself."""
        config, accelerator = self.config, self.accelerator
        return {
            "objective": config.objective.kind,
            "anticollapse": config.objective.anticollapse,
            "size": config.model.size,
            "steps": config.optim.steps,
            "seed": config.seed,
            "parameters": self.module.parameters_of(),
            "vocabulary": len(self.tokenizer),
            "captions": self.tokens.about,
            "device": f"{accelerator.num_processes} x {accelerator.device.type}",
            "versions": versions(),
        }

    def figures(self, last: Step, counts: Counter, draws: int) -> Record:
        """The state of the embeddings, and the share of images with one text."""
        rows = self.accelerator.gather(last.rows)
        finite = bool(torch.isfinite(rows).all())  # a decomposition fails on others
        return {
            "effective_rank": objectives.effective_rank(rows) if finite else float("nan"),
            "spread": objectives.spread(rows),
            "single": counts["single"] / draws,
        }

    def export(self, out: Path) -> None:
        export(self.module, self.tokenizer, out / "encoder", self.about())

    def opening(self) -> str:
        counts = {name: count for name, count in self.module.parameters_of().items() if count}
        parts = ", ".join(f"{name} {count:,} parameters" for name, count in counts.items())
        about = self.tokens.about
        line = (
            f"{self.config.model.size}: {parts}, {len(self.tokenizer):,} pieces; "
            f"{about['texts']:,} captions of {about['images']:,} images"
        )
        if self.config.objective.kind == "good-views" and about["single"]:
            alone = about["single"] / about["images"]
            line += f", {alone:.0%} with one caption (masked for a view)"
        return line

    def watch(self, record: Record) -> None:
        super().watch(record)
        limits, optim, step = self.config.run, self.config.optim, record["step"]
        rank, spread = record["effective_rank"], record["spread"]
        settled = step >= optim.warmup * optim.steps
        if settled and (rank < limits.collapse_rank or spread < limits.collapse_spread):
            raise Untrainable(
                f"the embeddings collapsed at step {step}: effective rank {rank:.1f} (limit "
                f"{limits.collapse_rank:g}), rows differ by {spread:.1%} of their size (limit "
                f"{limits.collapse_spread:.1%}); give the anti-collapse terms more weight or lower "
                "optim.lr"
            )


def train(trainer: Trainer, out: Path, told: Hooks) -> None:
    """Steps from the last checkpoint to the end, then the export."""
    config, accelerator = trainer.config, trainer.accelerator
    steps, scaler = config.optim.steps, accelerator.scaler
    first = state.restore(out / "state", trainer.module, trainer.optimizer, scaler)
    told.note(trainer.opening() + (f"; going on at step {first}" if first else ""))
    main = accelerator.is_main_process
    metrics = state.Metrics(out, first, config.run.tensorboard) if main else None
    trainer.model.train()
    meter = Meter(trainer, told.validate)
    for step in range(first, steps):
        meter.add(trainer.step(step))
        ends, saves = step + 1 == steps, (step + 1) % config.run.save_every == 0
        validates = told.validate and (ends or (step + 1) % config.validation.every == 0)
        if step % config.run.log_every == 0 or validates or saves or ends:
            record = meter.record(step, bool(validates))
            if main:
                metrics.write(record)
            told.report(record)
            trainer.watch(record)
        if main and (saves or ends):
            state.save(
                out / "state", step + 1, trainer.module, trainer.optimizer, scaler, config.run.keep
            )
        told.progress(step + 1, steps)
    if main:
        trainer.export(out)
    accelerator.wait_for_everyone()


class Meter:
    """Speed, padding and the state of the embeddings between two lines of metrics."""

    def __init__(self, trainer: Trainer, validate: Validate | None):
        self.trainer, self.validate = trainer, validate
        self.clear()

    def clear(self) -> None:
        self.counts, self.steps, self.start = Counter(), 0, time.perf_counter()

    def add(self, step: Step) -> None:
        self.counts.update(step.counts)
        self.steps, self.last = self.steps + 1, step

    def record(self, step: int, validates: bool) -> Record:
        """A line of metrics of the steps since the one before; validation is not timed."""
        accelerator, config = self.trainer.accelerator, self.trainer.config
        losses = {name: float(value) for name, value in self.last.losses.items()}
        counted = torch.tensor([float(self.counts["tokens"]), float(self.counts["cells"])])
        tokens, cells = accelerator.reduce(counted.to(accelerator.device)).tolist()
        draws = self.steps * config.optim.accumulate
        record = {
            "step": step,
            **losses,
            "lr": self.trainer.optimizer.param_groups[0]["lr"],
            "gradient_norm": float(self.last.gradient_norm),
            **self.trainer.figures(self.last, self.counts, draws),
            "padding": 1 - tokens / cells,
            "tokens_per_second": tokens / (time.perf_counter() - self.start),
        }
        if validates:
            found = self.validate(self.trainer.encode)
            record |= {f"validation.{name}": value for name, value in found.items()}
        self.clear()
        return record
