"""Fits without pairs, or with a few, beside published methods: python -m benchmarks.unpaired

    python -m benchmarks.unpaired --data DATA --out rows.jsonl --jobs 2

One row a problem, method and seed, appended to --out as it is made: stopped, the run goes on where
it was. Every fit has one core. Ends with the tables of benchmarks/README.md, in which chance and a
fit from pairs stand beside; a fit that failed counts as chance.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

from benchmarks import rows
from benchmarks.problems import Problem, Spec, specs
from bridge.fitting import fit
from bridge.maps import Bridge
from bridge.rivals import RIVALS
from bridge.unpaired import Effort, fit_unpaired
from bridge.verdict import judge

QUICK = Effort(candidates=100, generations=3, children=30, settled=1)
RIVAL_SEEDS = 2  # they are slow, and differ from each other by more than their seeds do
METHODS = {  # by kind of problem
    "planted": ("paired", "quick consensus", *RIVALS),
    "large": ("paired", "quick consensus", "mini-vec2vec"),
    "real": ("paired", "consensus", *RIVALS),
    "own": ("paired", "consensus"),
    "own pairs": ("paired", "pairs alone", "consensus"),
    "pairs": ("paired", "pairs alone", "consensus", "rosetta"),
}


def by_search(problem: Problem, seed: int, method: str, effort: Effort) -> tuple[Bridge, float]:
    """A bridge and the seconds of its fit; those of a rival are without our verdict on it."""
    stages: dict[str, list[float]] = {}

    def progress(stage: str, done: int, total: int) -> None:
        stages.setdefault(stage, []).append(time.perf_counter())

    start = time.perf_counter()
    bridge = fit_unpaired(
        problem.text,
        problem.image,
        method=method,
        pairs=problem.pairs,
        seed=seed,
        effort=effort,
        workers=1,
        progress=progress,
    )
    if method in RIVALS:
        return bridge, stages[method][-1] - stages[method][0]
    return bridge, time.perf_counter() - start


def by_pairs(problem: Problem, seed: int, alone: bool) -> tuple[Bridge, float]:
    """From all pairs that there are, by a rotation; or from the known ones, by ridge."""
    start = time.perf_counter()
    if alone:
        bridge = fit(problem.text, problem.image, method="ridge", pairs=problem.pairs, seed=seed)
    else:
        bridge = fit(*problem.paired, method="rotation")
    return bridge, time.perf_counter() - start


def fitter(method: str, kind: str) -> Callable[[Problem, int], tuple[Bridge, float]]:
    if method in ("paired", "pairs alone"):
        return partial(by_pairs, alone=method == "pairs alone")
    effort = QUICK if kind in ("planted", "large") else Effort()
    return partial(by_search, method=method.removeprefix("quick "), effort=effort)


def plan(problems: dict[str, Spec], data: Path | None) -> Iterator[str]:
    """Names of all rows whose data are there: problem/method/seed."""
    for name, spec in problems.items():
        absent = [folder for folder in spec.needs if not (data and (data / folder).is_dir())]
        if absent:
            print(f"{name} is left out: no {', '.join(absent)} in --data")
            continue
        for seed in range(spec.seeds):
            for method in METHODS[spec.kind]:
                if method not in RIVALS or seed < RIVAL_SEEDS:
                    yield f"{name}/{method}/{seed}"


def make(name: str, data: Path | None, encoders: dict[str, Path]) -> dict:
    """One row: figures, their chance, seconds, verdict; or what went wrong."""
    problem_name, method, seed = name.rsplit("/", 2)
    spec = specs(encoders)[problem_name]
    problem = spec.make(data, int(seed))
    row = {"name": name, "problem": problem_name, "method": method, "seed": int(seed)}
    row["chance"] = problem.chance
    try:
        bridge, seconds = fitter(method, spec.kind)(problem, int(seed))
        metrics = problem.measure(bridge)
    except (ValueError, ArithmeticError, RuntimeError) as error:  # to break down is a result
        return row | {"metrics": problem.chance, "error": f"{type(error).__name__}: {error}"}
    verdict = bridge.about.get("verdict", {})
    return row | {
        "metrics": metrics,
        "seconds": round(seconds, 1),
        "verdict": verdict.get("level"),
        "reasons": verdict.get("reasons"),
        "signs": bridge.about.get("diagnostics", {}).get("signs"),
    }


def tables(made: list[dict], kinds: dict[str, str]) -> str:
    """Markdown: planted and real problems by method, those with pairs or own texts by problem.

    Means over seeds, in brackets the worst; a fit that broke down counts as chance.
    """
    parts = []
    for of, by in (
        ({"planted"}, by_method),
        ({"large"}, by_method),
        ({"real"}, by_method),
        ({"pairs"}, by_problem),
        ({"own", "own pairs"}, by_problem),
    ):
        if mine := [row for row in made if kinds[row["problem"]] in of]:
            parts.append("\n".join(by(mine)))
    return "\n\n".join(parts)


def by_method(made: list[dict]) -> Iterator[str]:
    columns = list(dict.fromkeys((row["problem"], key) for row in made for key in row["chance"]))
    problems = list(dict.fromkeys(problem for problem, _ in columns))
    yield from head("method", *map(", ".join, columns), "seconds", "verdicts")
    chance = {row["problem"]: row["chance"] for row in made}
    yield line("chance", *(figure(chance[problem][key]) for problem, key in columns), "", "")
    for method in dict.fromkeys(row["method"] for row in made):
        mine = {
            one: [row for row in made if (row["problem"], row["method"]) == (one, method)]
            for one in problems
        }
        yield line(
            method,
            *(spread(mine[problem], key) for problem, key in columns),
            "; ".join(map(seconds, mine.values())),
            "; ".join(map(verdicts, mine.values())),
        )


def by_problem(made: list[dict]) -> Iterator[str]:
    methods = list(dict.fromkeys(row["method"] for row in made))
    yield from head("problem", "figure", "chance", *methods, "verdicts of consensus")
    for problem in dict.fromkeys(row["problem"] for row in made):
        here = [row for row in made if row["problem"] == problem]
        mine = {one: [row for row in here if row["method"] == one] for one in methods}
        for key, chance in here[0]["chance"].items():
            cells = [spread(mine[method], key) for method in methods]
            yield line(problem, key, figure(chance), *cells, verdicts(mine.get("consensus", [])))


def head(*cells: str) -> Iterator[str]:
    yield line(*cells)
    yield "|---" * len(cells) + "|"


def line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def spread(made: list[dict], key: str) -> str:
    """Mean and worst of a figure, or a dash where there is none."""
    values = [row["metrics"][key] for row in made if key in row["metrics"]]
    if not values:
        return "-"
    mean = figure(statistics.mean(values))
    worst = max(values) if "rank" in key else min(values)
    return f"{mean} ({figure(worst)})" if len(values) > 1 else mean


def figure(value: float) -> str:
    return f"{value:.3f}".removeprefix("0") if abs(value) < 1.5 else f"{value:.0f}"


def seconds(made: list[dict]) -> str:
    """Of the fastest seed: other programs may have slowed down some."""
    taken = [row["seconds"] for row in made if "seconds" in row]
    return f"{min(taken):.0f}" if taken else "-"


def verdicts(made: list[dict]) -> str:
    """How many of each; as they are now, where the signs were kept."""
    levels = [judge(row["signs"]).level if row.get("signs") else row.get("verdict") for row in made]
    counts = {level: levels.count(level) for level in ("reliable", "coarse", "failed")}
    failed = sum("error" in row for row in made)
    parts = [f"{count} {level}" for level, count in counts.items() if count]
    return ", ".join([*parts, f"{failed} broke down"] if failed else parts)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("runs/unpaired.jsonl"))
    parser.add_argument("--data", type=Path, help="folder that holds flickr8k, coco, mini-imagenet")
    parser.add_argument(
        "--encoder",
        action="append",
        default=[],
        metavar="NAME=FOLDER",
        help="a text encoder of your own, on the real sets too",
    )
    parser.add_argument(
        "--only",
        default="*",
        metavar="PATTERN",
        help="rows problem/method/seed that match, such as 'planted-*/*/0'",
    )
    parser.add_argument("--jobs", type=int, default=1, help="rows at a time, one core each")
    parser.add_argument("--list", action="store_true", help="rows, and which are there already")
    asked = parser.parse_args()
    encoders = {name: Path(folder) for name, _, folder in (e.partition("=") for e in asked.encoder)}
    problems = specs(encoders)
    names = [n for n in plan(problems, asked.data) if fnmatch(n, asked.only)]
    if not names:
        parser.error(f"no row matches {asked.only!r}; --list shows them")
    if asked.list:
        made = rows.read(asked.out)
        print("\n".join(f"{'made' if name in made else '    '} {name}" for name in names))
        return
    made = rows.fill(
        asked.out, names, partial(make, data=asked.data, encoders=encoders), asked.jobs
    )
    print("\n" + tables(list(made.values()), {name: spec.kind for name, spec in problems.items()}))


if __name__ == "__main__":
    main()
