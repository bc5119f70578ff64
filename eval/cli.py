"""platobridge eval: load files, one measurement, one report."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bridge.errors import InputError
from bridge.options import DropFitted, ImageFile, Overwrite, ReportOut, Seed, TextFile
from eval.cli_captioning import captioning
from eval.cli_zero_shot import zero_shot

app = typer.Typer(no_args_is_help=True, help="Measure alignment, retrieval, captions, zero-shot.")

KINDS = {"text": "embeddings file", "image": "embeddings file", "bridge": "bridge folder"}


class Captions(StrEnum):
    each = "each"
    mean = "mean"
    first = "first"


class OneCaption(StrEnum):
    mean = "mean"
    first = "first"


class Space(StrEnum):
    query = "query"
    text = "text"
    image = "image"


@app.command()
def alignment(
    text: TextFile,
    images: ImageFile,
    out: ReportOut,
    bridge: Annotated[
        Path | None, typer.Option(help="Map texts into image space with this bridge first.")
    ] = None,
    k: Annotated[int, typer.Option(min=1, help="Neighbours to compare.")] = 10,
    center: Annotated[
        bool, typer.Option("--center/--no-center", help="Subtract each side's mean first.")
    ] = True,
    captions: Annotated[
        OneCaption, typer.Option(help="The mean of an image's captions, or its first.")
    ] = OneCaption.mean,
    drop_fitted: DropFitted = False,
    seed: Seed = 0,
    overwrite: Overwrite = False,
) -> None:
    """Measure how alike two spaces are, without any map: mutual k-NN, CKA, CKNNA.

    Beside the JSON report stands a plot of the overlap against the number of items.
    """
    from eval.measure import measure_alignment
    from eval.report import plot_curve

    settings = {
        "k": k,
        "center": center,
        "captions": captions.value,
        "bridge": bridge is not None,
        "drop_fitted": drop_fitted,
        "seed": seed,
    }
    files = {"text": text, "image": images} | ({"bridge": bridge} if bridge else {})
    plot = out.with_suffix(".png")
    if plot.exists() and not out.exists() and not overwrite:
        raise InputError(f"{plot} exists; name another --out, or replace it with --overwrite")
    report = make("alignment", measure_alignment, files, settings, out, overwrite)
    plot_curve(report, plot)


@app.command()
def retrieval(
    text: TextFile,
    images: ImageFile,
    bridge: Annotated[Path, typer.Option(help="Bridge folder, fitted on other images.")],
    out: ReportOut,
    space: Annotated[
        Space, typer.Option(help="Rank in each query's space, or both directions in one.")
    ] = Space.query,
    captions: Annotated[
        Captions, typer.Option(help="Each caption, the mean of an image's, or its first.")
    ] = Captions.each,
    drop_fitted: DropFitted = False,
    overwrite: Overwrite = False,
) -> None:
    """Measure retrieval through a bridge: R@1, R@5, R@10 and median rank, both ways."""
    from eval.measure import measure_retrieval

    settings = {"space": space.value, "captions": captions.value, "drop_fitted": drop_fitted}
    files = {"text": text, "image": images, "bridge": bridge}
    make("retrieval", measure_retrieval, files, settings, out, overwrite)


app.command()(captioning)
app.command("zero-shot")(zero_shot)


def make(
    task: str, measure: Callable, files: dict[str, Path], settings: dict, out: Path, overwrite: bool
):
    """The report at `out`, made now or before by the same request; printed in either case."""
    from bridge import console, embeddings, maps
    from bridge.files import already_made, existing
    from bridge.provenance import digest
    from eval import report as reports

    reports.check_out(out)
    inputs = {name: digest(existing(path, KINDS[name])) for name, path in files.items()}
    made_by = reports.request_of(out, settings) if out.exists() and not overwrite else None
    wanted = {"task": task, "settings": settings, "inputs": inputs}
    if already_made(out, made_by, wanted, overwrite=overwrite):
        report = reports.load(out)
        console.note(f"{out} was made before with these settings")
    else:
        loaded = {
            name: maps.load(path) if name == "bridge" else embeddings.load(path)
            for name, path in files.items()
        }
        arguments = {key: value for key, value in settings.items() if key != "bridge"}
        with console.messages.status(f"measuring {task}"):
            report = measure(**loaded, **arguments, inputs=inputs)
        report.save(out, overwrite=overwrite)
    console.results.print(reports.table({"value": report}, title=task))
    return report
