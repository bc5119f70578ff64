"""platobridge train and quickstart."""

from pathlib import Path
from typing import Annotated

import typer

from bridge.errors import InputError
from bridge.options import Overwrite, Seed


def train(
    config: Annotated[Path, typer.Argument(help="Settings (YAML), see configs/.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Run folder to write.")],
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="[a.b=value]...", help="Settings that differ.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Train a text JEPA on captions and export its encoder to RUN/encoder.

    An interrupted run goes on from its last checkpoint.
    """
    from bridge import console
    from bridge.captions import read_captions
    from bridge.config import load
    from train.config import TrainConfig
    from train.loop import run

    chosen = load(TrainConfig, config, settings or [])
    if chosen.data.captions is None:
        raise InputError(
            "expected data.captions, the captions file to train on; give data.captions=FILE"
        )
    captions = read_captions(chosen.data.captions, split=chosen.data.split)
    with console.progress_bar("training") as progress:
        encoder = run(chosen, captions, out=out, overwrite=overwrite, progress=progress)
    console.note(f"encoder: {encoder}")


def quickstart(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write.")] = Path(
        "runs/quickstart"
    ),
    seed: Seed = 0,
    overwrite: Overwrite = False,
) -> None:
    """Draw a world, train a text JEPA on its captions, and bridge it to a frozen vision model.

    Needs no hub and no data set. An interrupted run goes on.
    """
    from train.quickstart import run

    run(out, seed=seed, overwrite=overwrite)
