"""A report: figures, their chance levels, and all that it takes to make them again."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from jaxtyping import Float
from rich.table import Table
from rich.text import Text
from torch import Tensor

from bridge.errors import InputError
from bridge.files import PathLike, existing, replacing, write_json

FORMAT = "platobridge.report/1"


@dataclass(frozen=True)
class Report:
    """One evaluation. `metrics` and `chance` share their keys.

    A metric is a number, the interval of one (`<key>.interval`), or a list of points such as the
    alignment curve. `inputs` maps the name of each input to its digest, `versions` a package to
    its version. Every value is one that strict JSON can hold.
    """

    task: str
    metrics: dict[str, Any]
    chance: dict[str, float]
    settings: dict[str, Any]
    inputs: dict[str, str]
    versions: dict[str, str]
    seconds: float

    def save(self, path: PathLike, *, overwrite: bool = False) -> None:
        """Write JSON, whole or not at all; raises InputError if `path` exists.

        Raises ValueError for NaN and infinity, which JSON has no words for.
        """
        if Path(path).exists() and not overwrite:
            raise InputError(f"{path} exists; name another file, or replace it with --overwrite")
        write_json(path, {"format": FORMAT} | asdict(self))


def check_out(path: Path) -> None:
    """Raise InputError for a name that no report can have."""
    if path.suffix != ".json" or path.is_dir():
        raise InputError(f"expected a report name that ends in .json, got {path}")


def load(path: PathLike) -> Report:
    """Read a report; raises InputError if it is missing, foreign, damaged or of another version."""
    path = existing(path, "report")
    try:
        parts = json.loads(path.read_text(encoding="utf-8"), parse_constant=no_constant)
        form = parts.pop("format")
        if form != FORMAT:
            raise InputError(f"{path}: expected format {FORMAT}, got {form!r}")
        return Report(**parts)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{path}: expected a report, got {type(error).__name__}: {error}; "
            "make one with `platobridge eval`"
        ) from error


def request_of(path: PathLike, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What the report at `path` was asked for, as far as `settings` go."""
    made = load(path)
    asked = {key: made.settings.get(key) for key in settings}
    return {"task": made.task, "settings": asked, "inputs": made.inputs}


def no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def table(reports: Mapping[str, Report], *, title: str | None = None) -> Table:
    """One row a figure, one column a report (by its name), and the chance level beside them.

    Reports whose chance levels differ (other numbers of items) show one each, in their order. The
    verdict on a bridge that was fitted without pairs stands in the title.
    """
    keys = dict.fromkeys(
        key
        for report in reports.values()
        for key, value in report.metrics.items()
        if isinstance(value, int | float)
    )
    heading = [title] if title else []
    for name, report in reports.items():
        heading += verdict_lines(report, f" ({name})" if len(reports) > 1 else "")
    made = Table(title=Text("\n".join(heading)) if heading else None, title_justify="left")
    made.add_column("figure")
    for name in [*reports, "chance"]:
        made.add_column(name, justify="right", style="dim" if name == "chance" else None)
    for key in keys:
        levels = dict.fromkeys(
            figure(report.chance.get(key)) for report in reports.values() if key in report.metrics
        )
        cells = (cell(report.metrics, key) for report in reports.values())
        made.add_row(key.replace("_", " ").replace(".", " "), *cells, " / ".join(levels))
    return made


def zero_shot_table(report: Report) -> Table:
    """One row a way to score, beside Top-1, Top-5 and the mean over classes; chance first."""
    settings, metrics = report.settings, report.metrics
    title = f"{settings['class_count']} classes, {settings['images']} images"
    made = with_heads(title, "", "Top-1", "Top-5", "mean per class")
    keys = [key for key in ("top1", "top5", "mean_per_class") if f"cosine.{key}" in metrics]
    made.add_row("chance", *(figure(report.chance[f"cosine.{key}"]) for key in keys), style="dim")
    ways = {f"{way}": way for way in ("cosine", "csls", "balanced")}
    ways |= {f"{way}, pairs": f"ceiling.{way}" for way in ways}
    ways |= {"clusters, no map": "blind_match"}
    for said, way in ways.items():
        if f"{way}.top1" in metrics:
            mark = " *" if said.split(",")[0] in settings["transductive"] else ""
            made.add_row(f"{said}{mark}", *(ranged(metrics, f"{way}.{key}") for key in keys))
    return made


def bridges_table(report: Report) -> Table:
    """One row a bridge of a zero-shot report: its verdict, and Top-1 and Top-5 by cosine."""
    made = with_heads("each bridge, by cosine", "", "verdict", "Top-1", "Top-5")
    for one in report.metrics["bridges"]:
        found = (ranged(one, f"cosine.{key}") for key in ("top1", "top5"))
        made.add_row(one["bridge"], one["verdict"] or "-", *found)
    return made


def with_heads(title: str, *heads: str) -> Table:
    made = Table(title=title, title_justify="left")
    for place, head in enumerate(heads):
        made.add_column(head, justify="right" if place else "left", no_wrap=True)
    return made


def ranged(metrics: Mapping[str, Any], key: str) -> str:
    """A share with its interval, in few characters: 0.136 .127-.146."""
    shown = figure(metrics.get(key))
    low, high = (f"{bound:.3f}".lstrip("0") for bound in metrics.get(f"{key}.interval", (0, 0)))
    return f"{shown} {low}-{high}" if f"{key}.interval" in metrics else shown


def verdict_lines(report: Report, of: str = "") -> list[str]:
    """What was said without labels of the bridge behind a report, and why."""
    verdict = report.settings.get("verdict")
    if verdict is None:
        return []
    return [f"bridge{of} fitted without pairs, judged {verdict['level']}:", *verdict["reasons"]]


def cell(metrics: dict[str, Any], key: str) -> str:
    shown = figure(metrics.get(key))
    if reach := metrics.get(f"{key}.interval"):
        shown += f" ({figure(reach[0])} to {figure(reach[1])})"
    return shown


def figure(value: float | None) -> str:
    """Three decimals for shares, one for ranks, a dash for what was not measured."""
    if value is None:
        return "-"
    return f"{value:.3f}" if abs(value) < 1.5 else f"{value:,.1f}"


def plot_curve(reports: "Report | Mapping[str, Report]", path: PathLike) -> None:
    """Draw mutual k-NN against the number of items, with chance, into a png, svg or pdf file.

    Several reports become one line each, by name. Raises InputError for a report without a curve
    and for another kind of file.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter

    named = {"text and image": reports} if isinstance(reports, Report) else reports
    kind = plot_kind(path)
    drawing = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = drawing.add_subplot()
    chance: dict[int, float] = {}
    for name, report in named.items():
        points = report.metrics.get("curve")
        if not points:
            raise InputError(f"{name}: this report of {report.task} has no alignment curve")
        sizes = [point["n"] for point in points]
        spread = [point["spread"] or 0 for point in points]
        axes.errorbar(
            sizes,
            [point["mutual_knn"] for point in points],
            spread,
            marker="o",
            capsize=3,
            label=name,
        )
        chance |= {point["n"]: point["chance"] for point in points}
    k = next(iter(named.values())).settings["k"]
    axes.plot(
        sorted(chance), [chance[n] for n in sorted(chance)], "--", color="0.45", label="chance"
    )
    axes.set_xscale("log")
    largest = max(chance)
    ticks = [n for n in sorted(chance) if n == largest or 1.3 * n < largest]  # labels that fit
    axes.set_xticks(ticks, [EngFormatter(sep="")(n) for n in ticks])
    axes.set_xlabel("items compared")
    axes.set_ylabel(f"mutual {k}-nearest-neighbour overlap")
    save_lines(drawing, 2, kind, path)


def plot_lines(
    at: Sequence[int],
    lines: Mapping[str, Sequence[float]],
    levels: Mapping[str, float],
    names: tuple[str, str],
    path: PathLike,
) -> None:
    """Draw named lines over the places `at` (a log scale) and named levels; `names` are the axes'.

    Raises InputError for a file that is no png, svg or pdf.
    """
    from matplotlib.figure import Figure

    kind = plot_kind(path)
    drawing = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = drawing.add_subplot()
    for marker, (name, values) in zip("os^v", lines.items(), strict=False):
        axes.plot(at, values, marker=marker, label=name)
    for style, (name, level) in zip((":", "-.", "--"), levels.items(), strict=False):
        axes.axhline(level, linestyle=style, color="0.45", label=name)
    axes.set_xscale("log")
    axes.set_xticks(at, [str(place) for place in at])
    axes.set_xlabel(names[0])
    axes.set_ylabel(names[1])
    save_lines(drawing, 3, kind, path)


def save_lines(drawing: Any, columns: int, kind: str, path: PathLike) -> None:
    """Write a matplotlib figure of lines from zero up, a legend of so many columns above it."""
    (axes,) = drawing.axes
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="0.9")
    axes.set_axisbelow(True)
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=columns)
    with replacing(path) as temporary:
        drawing.savefig(temporary, format=kind, dpi=160)


LABELLED = 120  # classes whose names still fit beside a table of confusions


def plot_confusions(confusion: Float[Tensor, "c c"], labels: Sequence[str], path: PathLike) -> None:
    """Draw what is taken for what, as shares of a class's images, into a png, svg or pdf file."""
    from matplotlib.figure import Figure

    kind = plot_kind(path)
    side = min(4 + 0.11 * len(labels), 16.0)
    drawing = Figure(figsize=(side + 1, side), layout="constrained")
    axes = drawing.add_subplot()
    share = confusion / confusion.sum(1, keepdim=True)
    shades = axes.imshow(share.numpy(), cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
    drawing.colorbar(shades, ax=axes, label="share of the images of a class", shrink=0.6)
    if len(labels) <= LABELLED:
        places, size = range(len(labels)), 4.5 if len(labels) > 40 else 8
        axes.set_xticks(places, labels, rotation=90, fontsize=size)
        axes.set_yticks(places, labels, fontsize=size)
    axes.set_xlabel("taken for")
    axes.set_ylabel("shown")
    with replacing(path) as temporary:
        drawing.savefig(temporary, format=kind, dpi=160)


def plot_kind(path: PathLike) -> str:
    kind = Path(path).suffix.removeprefix(".")
    if kind not in ("png", "svg", "pdf"):
        raise InputError(f"expected a plot name that ends in .png, .svg or .pdf, got {path}")
    return kind
