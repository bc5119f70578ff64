"""How far verdicts on unpaired fits can be trusted: python -m benchmarks.verdict

Two hundred small problems of which the truth is known: planted levels 1 to 4, Gaussian clouds,
unrelated spaces, and drawn worlds, some with few places or much noise (drawn and embedded once,
under --cache). Of each, the signs of a short search and the share of a paired rotation's score that
its map reaches are one row in --out; stopped, the run goes on where it was. Ends with what the
levels in bridge/verdict.py make of all rows, and with the levels that would do best.
"""

import argparse
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks import rows
from benchmarks.calibration import FAMILIES, WORLDS, embedded
from bridge.fitting import fit
from bridge.unpaired import Effort, fit_unpaired
from bridge.verdict import LARGEST_CYCLE, LEAST_STRUCTURE, RELIABLE, judge

SHORT = Effort(candidates=40, generations=3, children=12, settled=1)
WRONG, RIGHT = 0.5, 0.8  # shares of the paired score: never, and nearly always, reliable
NOTHING, SOMETHING = 0.15, 0.4  # shares that should be called failed, and should not


def plan() -> list[str]:
    """Names family/seed, all families by turns, so that a run that is stopped has some of each."""
    most = max(count for _, count in FAMILIES.values())
    return [
        f"{family}/{seed}"
        for seed in range(most)
        for family, (_, count) in FAMILIES.items()
        if seed < count
    ]


def make(name: str, cache: Path) -> dict:
    """One row: the signs of a search, and the share of the paired score that its map reaches."""
    family, seed = name.split("/")
    problem = FAMILIES[family][0](cache, int(seed))
    bridge = fit_unpaired(
        problem.text, problem.image, effort=SHORT, seed=int(seed), workers=1, linear=False
    )
    ceiling = fit(*problem.paired, method="rotation")
    score, most = (score_of(problem.measure(one)) for one in (bridge, ceiling))
    signs = bridge.about["diagnostics"]["signs"]
    return {
        "name": name,
        "family": family,
        "score": score,
        "paired": most,
        "share": score / most if most else 0.0,
        "signs": signs,
    }


def score_of(metrics: dict[str, float]) -> float:
    """The share of right answers among the figures of a problem."""
    return next(value for key, value in metrics.items() if "rank" not in key)


# ---- what levels make of the rows


def reliable(made: list[dict], levels: dict[str, float]) -> np.ndarray:
    """Whether each row would be called reliable by these levels; its other conditions stay."""
    signs = [row["signs"] for row in made]
    return np.array(
        [
            min(one["structure_text"], one["structure_image"]) >= LEAST_STRUCTURE
            and one["cycle"] <= LARGEST_CYCLE
            and all(one[key] >= least for key, least in levels.items())
            for one in signs
        ],
        dtype=bool,
    )


def rates(made: list[dict], levels: dict[str, float]) -> tuple[int, int, int, int]:
    """Reliable among the wrong maps, wrong maps, reliable among the right ones, right ones."""
    said = reliable(made, levels)
    share = np.array([row["share"] for row in made])
    wrong, right = share < WRONG, share >= RIGHT
    return int((said & wrong).sum()), int(wrong.sum()), int((said & right).sum()), int(right.sum())


def best_levels(made: list[dict]) -> dict[str, float]:
    """Levels with at most 1 % of wrong maps reliable, then most right ones, then the strictest.

    Each level is one that some small share of the right maps do not reach.
    """
    right = [row["signs"] for row in made if row["share"] >= RIGHT]
    if not right:
        return RELIABLE
    steps = [0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2]
    choices = {key: np.quantile([one[key] for one in right], steps) for key in RELIABLE}

    def levels(places: tuple[int, ...]) -> dict[str, float]:
        return {
            key: float(values[place])
            for (key, values), place in zip(choices.items(), places, strict=True)
        }

    def worth(places: tuple[int, ...]) -> tuple[bool, int, int]:
        false, wrong, found, _ = rates(made, levels(places))
        within = false <= 0.01 * wrong
        return within, found if within else -false, sum(places)

    return levels(max(product(range(len(steps)), repeat=len(choices)), key=worth))


def say_coarse(made: list[dict]) -> str:
    """How well failed is told from the rest."""
    failed = np.array([judge(row["signs"]).level == "failed" for row in made])
    share = np.array([row["share"] for row in made])
    nothing, something = share < NOTHING, share >= SOMETHING
    return (
        f"failed on {(failed & nothing).sum()} of {nothing.sum()} maps below {NOTHING}, "
        f"and on {(failed & something).sum()} of {something.sum()} that reach {SOMETHING}"
    )


def say(made: list[dict], levels: dict[str, float]) -> str:
    false, wrong, found, right = rates(made, levels)
    return (
        f"reliable on {false} of {wrong} maps below {WRONG} of the paired score (at most 1 %), and "
        f"on {found} of {right} that reach {RIGHT} (at least 90 %)"
    )


def table_of(made: list[dict]) -> str:
    """A line a family: shares of the paired score and verdicts as they stand."""
    lines = [
        "| problems | n | share of paired: worst, median, best | reliable | coarse | failed |",
        "|---|---|---|---|---|---|",
    ]
    for family in dict.fromkeys(row["family"] for row in made):
        mine = [row for row in made if row["family"] == family]
        shares = np.quantile([row["share"] for row in mine], [0, 0.5, 1])
        levels = [judge(row["signs"]).level for row in mine]
        counts = [str(levels.count(level)) for level in ("reliable", "coarse", "failed")]
        said = ", ".join(f"{share:.2f}" for share in shares)
        lines.append(f"| {family} | {len(mine)} | {said} | {' | '.join(counts)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("runs/verdict.jsonl"))
    parser.add_argument("--cache", type=Path, default=Path("runs/worlds"))
    parser.add_argument("--jobs", type=int, default=1, help="problems at a time, one core each")
    parser.add_argument("--first", type=int, metavar="N", help="only the first N problems")
    parser.add_argument("--show", action="store_true", help="make no row, show what is there")
    asked = parser.parse_args()
    if asked.show:
        made = list(rows.read(asked.out).values())
    else:
        for kind in WORLDS:  # before jobs share them
            embedded(asked.cache, kind)
        names = plan()[: asked.first]
        made = list(
            rows.fill(asked.out, names, partial(make, cache=asked.cache), asked.jobs).values()
        )
    print(f"\n{table_of(made)}\n")
    print(f"As it stands, {RELIABLE}:\n  {say(made, RELIABLE)};\n  {say_coarse(made)}")
    suggested = best_levels(made)
    print(f"Best for these rows, {rounded(suggested)}:\n  {say(made, suggested)}")
    for part in (0, 1):
        other = best_levels(made[1 - part :: 2])
        print(f"Best for one half, {rounded(other)}, on the other:\n  {say(made[part::2], other)}")


def rounded(levels: dict[str, float]) -> dict[str, float]:
    return {key: round(level, 4) for key, level in levels.items()}


if __name__ == "__main__":
    main()
