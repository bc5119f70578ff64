"""A report: figures, their chance levels, and all that it takes to make them again."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

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
    kind = Path(path).suffix.removeprefix(".")
    if kind not in ("png", "svg", "pdf"):
        raise InputError(f"expected a plot name that ends in .png, .svg or .pdf, got {path}")
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
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("items compared")
    axes.set_ylabel(f"mutual {k}-nearest-neighbour overlap")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="0.9")
    axes.set_axisbelow(True)
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    with replacing(path) as temporary:
        drawing.savefig(temporary, format=kind, dpi=160)
