"""Training speed: python benchmarks/training.py CAPTIONS [a.b=value ...] [--split train]

Tokens a second of the loop's steps against a bare forward and backward pass of the same model on
the same texts, sorted into groups of equal length so that nothing is padded; and where the rest
goes. The two take turns on each batch, so that a busy machine slows both.
"""

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import torch
from accelerate import Accelerator

from bridge.config import load
from train import objectives
from train.config import TrainConfig
from train.data import CaptionFiles
from train.loop import JepaTrainer, one_number, start_folder
from train.views import draw, lay_out


def bare(trainer: JepaTrainer, texts: list) -> None:
    """The model alone (for next token with its head), without padding, other losses or updates."""
    of_length = defaultdict(list)
    for text in texts:
        of_length[len(text)].append(torch.from_numpy(text.astype("int64")))
    total = 0.0
    for group in of_length.values():
        ids = torch.stack(group).to(trainer.accelerator.device)
        hidden = trainer.module.backbone(input_ids=ids).last_hidden_state
        if trainer.module.language:
            total = total + trainer.module.next_token(hidden, ids, torch.ones_like(ids))[0]
        else:
            total = total + hidden.mean(1).square().sum()
    total.backward()
    trainer.module.zero_grad()


class Clock:
    def __init__(self, cuda: bool):
        self.seconds, self.cuda = defaultdict(list), cuda

    def __call__(self, name: str, work):
        start = time.perf_counter()
        result = work()
        if self.cuda:
            torch.cuda.synchronize()
        self.seconds[name].append(time.perf_counter() - start)
        return result


def parts(trainer: JepaTrainer, clock: Clock, step: int) -> None:
    """The loop's step taken apart."""
    config, device = trainer.config, trainer.accelerator.device
    seed = (config.seed, step, 0)
    objective, batch = config.objective, config.optim.batch
    drawn = clock(
        "draw views",
        lambda: draw(trainer.tokens, trainer.words, objective.kind, objective.mask, batch, seed),
    )
    laid = clock("lay out", lambda: lay_out(drawn.texts, trainer.tokenizer.pad_token_id, device))
    output = clock("forward", lambda: trainer.model(laid))
    losses = clock(
        "losses",
        lambda: objectives.losses(
            objective, output.projected, output.predicted, output.cross_entropy, one_number(*seed)
        ),
    )
    clock("backward", lambda: trainer.accelerator.backward(losses["loss"]))
    clock(
        "clip",
        lambda: trainer.accelerator.clip_grad_norm_(trainer.model.parameters(), config.optim.clip),
    )
    clock("update", lambda: (trainer.optimizer.step(), trainer.optimizer.zero_grad()))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("captions")
    arguments.add_argument("settings", nargs="*")
    arguments.add_argument("--split")
    arguments.add_argument("--steps", type=int, default=8)
    asked = arguments.parse_args()
    words = [
        "model.size=11m",
        "model.vocabulary=package:minilm",
        "optim.batch=128",
        *asked.settings,
    ]
    config = load(TrainConfig, None, words)
    with tempfile.TemporaryDirectory() as folder:
        start_folder(Path(folder), config, CaptionFiles(asked.captions, asked.split), False)
        trainer = JepaTrainer(config, Path(folder), Accelerator(cpu=not torch.cuda.is_available()))
        trainer.model.train()
        clock, tokens = Clock(torch.cuda.is_available()), []
        objective = config.objective
        for step in range(asked.steps + 1):
            texts = draw(
                trainer.tokens,
                trainer.words,
                objective.kind,
                objective.mask,
                config.optim.batch,
                (config.seed, step, 0),
            ).texts
            clock("bare", lambda texts=texts: bare(trainer, texts))
            seen = clock("step", lambda step=step: trainer.step(step))
            parts(trainer, clock, step)
            tokens.append(seen.counts["tokens"])
            padding = 1 - seen.counts["tokens"] / seen.counts["cells"]
    seconds = {name: times[1:] for name, times in clock.seconds.items()}  # the first one warms up
    speed = {
        name: statistics.median(n / t for n, t in zip(tokens[1:], seconds[name], strict=True))
        for name in ("bare", "step")
    }
    share = statistics.median(a / b for a, b in zip(seconds["bare"], seconds["step"], strict=True))
    print(
        f"{torch.get_num_threads()} threads, {config.model.size}, {config.optim.batch} images, padding {padding:.1%}"
    )
    print(f"bare {speed['bare']:,.0f} tokens/s, step {speed['step']:,.0f} tokens/s: {share:.0%}")
    whole = statistics.median(seconds.pop("step"))
    seconds.pop("bare")
    for name, times in seconds.items():
        print(f"  {name:10s} {statistics.median(times) / whole:6.1%} of a step")


if __name__ == "__main__":
    main()
