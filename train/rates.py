"""A small search for the learning rate: short runs, on a grid that widens while its edge wins."""

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bridge.captions import Caption
from bridge.errors import InputError
from bridge.files import PathLike, write_json
from train.config import TrainConfig
from train.loop import Hooks, Untrainable, run

FACTOR = math.sqrt(10)
TRIALS = 9


def search(
    config: TrainConfig,
    captions: Iterable[Caption],
    *,
    out: PathLike,
    steps: int = 100,
    device: str = "auto",
    overwrite: bool = False,
    **hooks: Any,
) -> float:
    """The learning rate whose run of `steps` steps, with its own warm-up and decay, ends lowest.

    Tries `optim.lr` and a factor of sqrt(10) to both sides, and goes on to that side on which the
    best rate lies at the edge, for at most 9 runs. What counts is the mean loss of the last fifth
    of the steps, and a run that diverges or collapses counts as lost; losses of one objective
    compare, those of two do not. Runs lie in `out`, and a search that was interrupted goes on.
    Raises InputError if no rate trains.
    """
    told = Hooks(**hooks)
    captions = list(captions) if isinstance(captions, Iterator) else captions
    found: dict[int, float] = {}
    wanted = [0, -1, 1]
    while wanted:
        place = wanted.pop(0)
        rate = float(f"{config.optim.lr * FACTOR**place:.3g}")
        found[place] = trial(
            config, captions, rate, Path(out) / f"lr-{rate:g}", steps, device, overwrite
        )
        told.note(f"lr {rate:g}: loss {found[place]:.4g}")
        told.progress(len(found), len(found) + len(wanted))
        best = min(found, key=lambda place: found[place])
        if not wanted and best in (min(found), max(found)) and len(found) < TRIALS:
            wanted = [best + (1 if best == max(found) else -1)]
    if math.isinf(found[best]):
        raise InputError(
            f"no learning rate near optim.lr = {config.optim.lr:g} trains: all runs diverge or "
            "collapse; look at the objective's settings"
        )
    rates = {f"{config.optim.lr * FACTOR**place:.3g}": found[place] for place in sorted(found)}
    chosen = float(f"{config.optim.lr * FACTOR**best:.3g}")
    finite = {rate: loss for rate, loss in rates.items() if math.isfinite(loss)}
    write_json(Path(out) / "rates.json", {"losses": finite, "chosen": chosen})
    return chosen


def trial(
    config: TrainConfig,
    captions: Iterable[Caption],
    rate: float,
    out: Path,
    steps: int,
    device: str,
    overwrite: bool,
) -> float:
    """Mean loss of the last fifth of a short run, infinite for one that does not train."""
    optim = config.optim.model_copy(update={"lr": rate, "steps": steps})
    often = config.run.model_copy(update={"log_every": 1, "save_every": steps})
    short = config.model_copy(update={"optim": optim, "run": often})
    try:
        run(short, captions, out=out, device=device, overwrite=overwrite)
    except Untrainable:
        return math.inf
    lines = (out / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    losses = [json.loads(line)["loss"] for line in lines]
    last = losses[-max(1, len(losses) // 5) :]
    return sum(last) / len(last)
