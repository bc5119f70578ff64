"""fit_unpaired(): two tables that share no pair, or a handful, to a bridge with a verdict.

What the search is given are two arrays, each in an order of its own and without ids: it cannot
know, or find out, which text belongs to which image.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from bridge.basins import Basin, evidence
from bridge.blind_search import Search, against_random, cycle, search
from bridge.consensus import Problem
from bridge.cores import Cores, Progress
from bridge.embeddings import Embeddings
from bridge.errors import InputError
from bridge.few_pairs import alone, contest
from bridge.finishing import finish
from bridge.maps import Bridge
from bridge.provenance import id_hash, versions
from bridge.reach import fitted_reach
from bridge.rivals import RIVALS
from bridge.sides import COMPONENTS, WIDE, Side, hold_out, part, prepare
from bridge.transport import Map, unit
from bridge.verdict import FEWEST_PAIRS, Verdict, judge, pairs_alone, structure

SEARCH_UP_TO = 40  # known pairs: more of them are as good a start as what a search finds


@dataclass(frozen=True)
class Effort:
    """How long to search.

    First candidates (none if known pairs are to be the only start); generations of children bred
    from them, and as many candidates that known pairs guide; refinements whose mean a settled map
    is. Where the first few candidates are clear, no more are made and none is bred. Raises
    InputError for less than 2 candidates or 1 of the others.
    """

    candidates: int = 400
    generations: int = 15
    children: int = 60
    settled: int = 6

    def __post_init__(self) -> None:
        counts = self.candidates, self.generations, self.children, self.settled
        if min(counts) < 0 or self.candidates == 1 or 0 in counts[2:]:
            raise InputError(
                "expected candidates of 0 or at least 2, generations of at least 0, children and "
                f"settled of at least 1, got {', '.join(map(str, counts))}"
            )


def fit_unpaired(
    text: Embeddings,
    image: Embeddings,
    *,
    method: str = "consensus",
    pairs: int | Sequence[str] | None = None,
    drop_shared: bool = False,
    linear: bool = True,
    seed: int = 0,
    effort: Effort | None = None,
    budget: float | None = None,
    workers: int | None = None,
    journal: Path | None = None,
    progress: Progress | None = None,
) -> Bridge:
    """Fit a bridge from texts and images of which no pair, or only a few, are known.

    `method` is consensus or one of rivals.RIVALS, which take no part of `effort` but `settled`, and
    end with a rotation. `pairs` names images (or how many, drawn by `seed`) that stand on both
    sides and are known pairs; every other image that stands on both sides is dropped from one of
    them, at random. Without `pairs` such images are an error unless `drop_shared`. `linear` lets a
    non-rigid map take the rotation's place where held-out rows do not speak against it. `budget` in
    seconds cuts the search short; without one the result depends on the rows and `seed` alone.
    `journal` is a folder in which an interrupted search finds its candidates again. The bridge's
    `about["verdict"]` says how far it can be trusted. Raises InputError for too few rows, rows that
    are not finite, are constant or only repeat each other, for pairs that are not there, and for an
    unknown method or one that has no use for pairs or a budget.
    """
    check_method(method, pairs, budget)
    progress = progress or (lambda stage, done, total: None)
    text, image, known, notes = part(text, image, pairs, drop_shared, seed)
    cores = Cores(workers, journal, budget, progress)
    effort = effort or Effort()
    if not effort.candidates and len(known) < FEWEST_PAIRS:
        raise InputError(
            f"expected at least {FEWEST_PAIRS} known pairs without candidates, got {len(known)}"
        )
    with threadpool_limits(1):  # the same sums in the same order, whatever the machine
        sides = [
            prepare(table, name, known, np.random.default_rng((seed, place)))
            for place, (name, table) in enumerate((("text", text), ("image", image)))
        ]
        fitted = FITTERS[method](sides, effort, cores, linear, seed)
    settings = {"effort": asdict(effort), "linear": linear, "budget": budget}
    about = {
        "method": method,
        "settings": settings if method == "consensus" else {},
        "paired": False,
        "pairs": len(known),
        "seed": seed,
        "text": text.about,
        "image": image.about,
        "diagnostics": fitted.diagnostics,
        "verdict": asdict(fitted.verdict),
        "notes": notes + cores.notes + fitted.notes,
        "versions": versions(),
    }
    if fitted.deciding is not None:
        about["verdict"]["deciding_images"] = [
            image.ids[sides[1].origin[row]] for row in fitted.deciding
        ]
    text_side, image_side = sides
    ids = sorted({*text.image_ids, *image.image_ids})
    return Bridge(
        text_side.space,
        image_side.space,
        lifted(text_side.basis, fitted.to_image, image_side.basis),
        lifted(image_side.basis, fitted.to_text, text_side.basis),
        torch.tensor(sorted(map(id_hash, ids))),
        about,
        reach=fitted_reach(torch.from_numpy(image_side.rows)),
    )


def check_method(method: str, pairs: object, budget: float | None) -> None:
    if method not in FITTERS:
        raise InputError(f"expected a method of {', '.join(FITTERS)}, got {method!r}")
    if method == "consensus":
        return
    RIVALS[method].check(pairs is not None)
    if budget is not None:
        raise InputError(f"{method} cannot be cut short by a budget; consensus can")


def lifted(source: Map, weight: Map, target: Map) -> torch.Tensor:
    """A map between components as one between whole (entered) rows."""
    rows, columns = weight.shape
    return torch.from_numpy(
        np.ascontiguousarray(source[:, :rows] @ weight @ target[:, :columns].T, np.float32)
    )


@dataclass(frozen=True, eq=False)
class Fitted:
    """Maps between components in both directions, and what is to be said of them."""

    to_image: Map
    to_text: Map
    verdict: Verdict
    diagnostics: dict
    notes: list[str]
    deciding: np.ndarray | None = None  # image rows whose captions would decide between basins


def consensus(
    sides: Sequence[Side], effort: Effort, cores: Cores, linear: bool, seed: int
) -> Fitted:
    """Search, let known pairs have their say, finish, and judge."""
    (held_text, text), (held_image, image) = (
        hold_out(side.components(COMPONENTS)) for side in sides
    )
    known = [side.components(COMPONENTS, known=True) for side in sides]
    count = len(known[0])
    cross = known[0].T @ known[1] if count else None
    problem = Problem(text, image, held_text, held_image, cross, count)
    found = search(
        problem,
        cores,
        candidates=effort.candidates if count <= SEARCH_UP_TO else 0,
        generations=effort.generations,
        children=effort.children,
        settled=effort.settled,
        seed=seed,
    )
    signs = found.signs | structures(problem, seed)
    if count > 1:
        signs |= contest(sides, problem, found, cores, linear, seed)
    cores.progress("finishing", 0, 1)
    if pairs_alone(signs):
        to_image, to_text = alone([side.components(WIDE, known=True) for side in sides])
        notes = ["ridge on the known pairs: held-out pairs are found better without unpaired rows"]
    else:
        to_image, to_text, kept = finish(sides, found.rotation, linear, seed)
        notes = ["a linear map, by ridge on soft pairs" if kept else "a rotation"]
    cores.progress("finishing", 1, 1)
    if found.clear:
        notes.insert(0, f"the first {found.candidates} candidates were clear: no more were made")
    verdict = judge(signs)
    disputed = None if verdict.level == "reliable" else most_disputed(problem, found)
    return Fitted(
        to_image,
        to_text,
        verdict,
        {
            "candidates": found.candidates,
            "signs": signs,
            "basins": [basin.evidence for basin in found.basins],
        },
        notes,
        None if disputed is None else disputed + len(held_image),
    )


def structures(problem: Problem, seed: int) -> dict[str, float]:
    return {
        f"structure_{name}": structure(rows, np.random.default_rng((seed, 8)))
        for name, rows in (("text", problem.text), ("image", problem.image))
    }


def by_rival(
    name: str, sides: Sequence[Side], effort: Effort, cores: Cores, _linear: bool, seed: int
) -> Fitted:
    """A published method's map, and those signs of it that need no candidates.

    It works in all components, as its authors do; the signs are taken where their levels were set.
    """
    (_, text), (_, image) = (hold_out(side.components(WIDE)) for side in sides)
    known = tuple(side.components(WIDE, known=True) for side in sides)
    pairs = {"pairs": known} if len(known[0]) else {}
    cores.progress(name, 0, 1)
    rotation = RIVALS[name].fit(text, image, np.random.default_rng((seed, 20)), **pairs)
    cores.progress(name, 1, 1)
    (held_text, text), (held_image, image) = (
        hold_out(side.components(COMPONENTS)) for side in sides
    )
    problem = Problem(text, image, held_text, held_image)
    narrow = rotation[: text.shape[1], : image.shape[1]]
    basin = Basin(narrow, evidence(problem, narrow))
    signs = {"cycle": cycle(problem, narrow, seed)} | structures(problem, seed)
    signs |= against_random(problem, cores, basin, effort.settled, seed)
    notes = [RIVALS[name].source]
    return Fitted(rotation, rotation.T, judge(signs), {"signs": signs, "basins": []}, notes)


Fitter = Callable[[Sequence[Side], Effort, Cores, bool, int], Fitted]
FITTERS: dict[str, Fitter] = {
    "consensus": consensus,
    **{name: partial(by_rival, name) for name in RIVALS},
}


def most_disputed(problem: Problem, found: Search, count: int = 5) -> np.ndarray | None:
    """Images on whose place in text space the two best basins differ most, told apart well.

    Their captions would decide between the basins. None if there is no other basin.
    """
    if len(found.basins) < 2:
        return None
    first, second = (unit(problem.image @ basin.rotation.T) for basin in found.basins[:2])
    dispute = -(first * second).sum(1)
    chosen: list[int] = []
    for row in np.argsort(-dispute):  # images that are alike would be one question
        if all(problem.image[row] @ problem.image[other] < 0.5 for other in chosen):
            chosen.append(int(row))
        if len(chosen) == count:
            break
    return np.array(chosen)
