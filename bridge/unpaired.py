"""fit_unpaired(): two tables that share no pair, or a handful, to a bridge with a verdict.

What the search is given are two arrays, each in an order of its own and without ids: it cannot
know, or find out, which text belongs to which image.
"""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from joblib import Parallel, delayed, parallel_config
from safetensors.numpy import load_file, save_file
from threadpoolctl import threadpool_limits

from bridge import fitting, paired
from bridge.consensus import (
    SAME_BASIN,
    Basin,
    Candidate,
    Job,
    Problem,
    Search,
    against_random,
    candidate,
    cycle,
    evidence,
    guided_by_pairs,
    polish,
    same,
    search,
)
from bridge.embeddings import Embeddings, check_finite, image_means
from bridge.errors import InputError
from bridge.files import replacing
from bridge.maps import Bridge, Space
from bridge.provenance import id_hash, versions
from bridge.reach import fitted_reach
from bridge.rivals import RIVALS
from bridge.transport import Map, Rows, csls, normed, refine, rotation_of, soft_matching, unit
from bridge.verdict import Verdict, judge, structure

COMPONENTS = 64  # in which maps are searched; fewer lose content, more are too loose to start in
WIDE = 256  # components of the finished map
FEWEST_ROWS = 50
MOST_ROWS = 50_000  # of a side; more rows cost time and hardly help
HELD_OUT = 500
FOLDS = 5
SEARCH_UP_TO = 40  # known pairs: more of them are as good a start as what a search finds
ROUNDS_UP_TO = 20  # known pairs, likewise for rounds
CONTEST = 16  # candidates with each part of the known pairs held out
CHUNK = 20  # candidates between two notes in the journal
SOFT_ROWS = 4000  # of a side, in the plan that the linear map is fitted on
SOFT_SHARPNESS = 6.0
SOFT_PENALTY = 0.3
KNOWN_SHARE = 0.4  # of the weight in the linear map that known pairs have together

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Effort:
    """How long to search.

    First candidates; rounds of `guided` more for each of the `carried` best basins; refinements
    whose mean a settled map is.
    """

    candidates: int = 400
    rounds: int = 3
    guided: int = 60
    carried: int = 2
    settled: int = 6


@dataclass(frozen=True, eq=False)
class Side:
    """One side's rows (centred, unit), and the components in which they are matched."""

    space: Space
    basis: Map  # width x components, of decreasing variance
    rows: Rows
    known: Rows  # of the known pairs, in their order
    origin: np.ndarray  # which row of the table each of `rows` is

    def components(self, count: int, *, known: bool = False) -> Rows:
        """Rows in the first `count` components, of unit length again."""
        rows = self.known if known else self.rows
        return unit(rows @ self.basis[:, :count]).astype(np.float32)


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
    sides = [
        prepare(table, name, known, np.random.default_rng((seed, place)))
        for place, (name, table) in enumerate((("text", text), ("image", image)))
    ]
    cores = Cores(workers, journal, budget, progress)
    effort = effort or Effort()
    with threadpool_limits(1):  # the same sums in the same order, whatever the machine
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


def part(
    text: Embeddings,
    image: Embeddings,
    pairs: int | Sequence[str] | None,
    drop_shared: bool,
    seed: int,
) -> tuple[Embeddings, Embeddings, list[str], list[str]]:
    """Text means and images that share the known pairs only, these pairs, and notes for people."""
    check_finite(text, "text embeddings")
    check_finite(image, "image embeddings")
    on_text, on_image = set(text.image_ids), set(image.image_ids)
    shared = sorted(on_text & on_image)
    generator = np.random.default_rng((seed, 7))
    if pairs is None:
        if shared and not drop_shared:
            raise InputError(
                f"text and images share {len(shared)} images, and a fit without pairs may not see "
                "them on both sides; --drop-shared leaves each out of one side at random, "
                "--pairs N makes N of them known pairs"
            )
        known: list[str] = []
    elif isinstance(pairs, int):
        if not 1 <= pairs <= len(shared):
            raise InputError(
                f"expected --pairs between 1 and the {len(shared)} images that text and images "
                f"share, got {pairs}"
            )
        known = [str(i) for i in generator.permutation(shared)[:pairs]]
    else:
        known = list(dict.fromkeys(map(str, pairs)))
        fitting.check_named(known, on_text & on_image)
    rest = [i for i in shared if i not in set(known)]
    leave_text = generator.random(len(rest)) < 0.5
    no_text = {image_id for image_id, leave in zip(rest, leave_text, strict=True) if leave}
    no_image = set(rest) - no_text
    notes = [f"{len(known)} known pairs"] if known else []
    if rest:
        notes.append(
            f"{len(rest)} images that stood on both sides were left out of one: the texts of "
            f"{len(no_text)}, the rows of {len(no_image)}"
        )
    with_text = [i for i in dict.fromkeys(text.image_ids) if i not in no_text]
    with_image = [i for i in dict.fromkeys(image.image_ids) if i not in no_image]
    text, image = text.of_images(with_text), image.of_images(with_image)
    return image_means(text), image_means(image), known, notes


def prepare(
    table: Embeddings, name: str, known: Sequence[str], generator: np.random.Generator
) -> Side:
    """Centre, scale and rotate one side into its principal components, in random order."""
    row_of = {image_id: row for row, image_id in enumerate(table.image_ids)}
    known_at = np.array([row_of[image_id] for image_id in known], dtype=int)
    free = np.setdiff1d(np.arange(len(table)), known_at)
    origin = generator.permutation(free)[:MOST_ROWS]
    rows = table.rows[torch.from_numpy(np.concatenate([origin, known_at]))].float()
    distinct = len(torch.unique(rows[: len(origin)], dim=0))
    if distinct < FEWEST_ROWS:
        raise InputError(
            f"expected at least {FEWEST_ROWS} different {name} rows to fit without pairs, got "
            f"{distinct} among {len(origin)}; hundreds are needed for a map that can be trusted"
        )
    mean = rows.mean(0, dtype=torch.float64).float()
    length = float((rows - mean).norm(dim=1).mean())
    if length <= 1e-6 * max(1e-12, float(mean.norm())):
        raise InputError(f"all {name} rows are the same; did the encoder collapse?")
    space = Space(mean, True, length)
    entered = space.enter(rows).numpy()
    values, vectors = np.linalg.eigh(entered.T.astype(np.float64) @ entered)
    full = int((values > 1e-9 * values[-1]).sum())
    basis = vectors[:, ::-1][:, : min(WIDE, full, len(rows) // 4)].astype(np.float32)
    return Side(space, basis, entered[: len(origin)], entered[len(origin) :], origin)


class Cores:
    """Does the work of a search on all cores, keeps a journal, and stops when the time is up."""

    def __init__(
        self, workers: int | None, journal: Path | None, budget: float | None, progress: Progress
    ):
        self.workers = workers or len(os.sched_getaffinity(0))
        self.journal, self.progress = journal, progress
        self.start, self.budget = time.monotonic(), budget
        self.notes: list[str] = []

    def late(self, share: float) -> bool:
        """Whether this share of the budget is spent."""
        return self.budget is not None and time.monotonic() - self.start > share * self.budget

    def run(self, function: Callable, jobs: Sequence[tuple]) -> list:
        if self.workers == 1:
            return [function(*job) for job in jobs]
        with parallel_config("loky", n_jobs=self.workers, inner_max_num_threads=1):
            return Parallel()(delayed(function)(*job) for job in jobs)

    def each(self, stage: str, function: Callable, jobs: Sequence[tuple]) -> list:
        self.progress(stage, 0, len(jobs))
        done = self.run(function, jobs)
        self.progress(stage, len(jobs), len(jobs))
        return done

    def candidates(self, problem: Problem, stage: str, jobs: Sequence[Job]) -> list[Candidate]:
        made: list[Candidate] = []
        for first in range(0, len(jobs), CHUNK):
            if made and self.late(0.5 if stage == "candidates" else 0.8):
                self.notes.append(f"{stage}: time for {len(made)} of {len(jobs)}")
                break
            self.progress(stage, len(made), len(jobs))
            name = f"{stage}-{first:05d}".replace(" ", "-")
            made += self.kept(problem, name, jobs[first : first + CHUNK])
        self.progress(stage, len(made), len(made))
        return made

    def kept(self, problem: Problem, name: str, jobs: Sequence[Job]) -> list[Candidate]:
        """Candidates of these jobs from the journal, or made and noted there."""
        file = self.journal / f"{name}.safetensors" if self.journal else None
        if file and file.exists():
            found = load_file(file)
            return [
                Candidate(*both) for both in zip(found["cross"], found["rotation"], strict=True)
            ]
        made = self.run(candidate, [(problem, *job) for job in jobs])
        if file:
            parts = {key: np.stack([getattr(one, key) for one in made]) for key in vars(made[0])}
            with replacing(file) as temporary:
                save_file(parts, temporary)
        return made


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
        rounds=effort.rounds if count <= ROUNDS_UP_TO else 0,
        guided=effort.guided,
        carried=effort.carried,
        settled=effort.settled,
        seed=seed,
    )
    signs = found.signs | structures(problem, seed)
    if count > 1:
        signs |= contest(sides, problem, found, known, cores, seed)
    cores.progress("finishing", 0, 1)
    if signs.get("alone_rank", 1.0) < signs.get("known_rank", 1.0):
        to_image, to_text = alone([side.components(WIDE, known=True) for side in sides])
        note = "ridge on the known pairs: held-out pairs are found better without unpaired rows"
    else:
        to_image, to_text, kept = finish(sides, found.rotation, linear, seed)
        note = "a linear map, by ridge on soft pairs" if kept else "a rotation"
    cores.progress("finishing", 1, 1)
    verdict = judge(signs)
    disputed = None if verdict.level == "reliable" else most_disputed(problem, found)
    return Fitted(
        to_image,
        to_text,
        verdict,
        {"signs": signs, "basins": [basin.evidence for basin in found.basins]},
        [note],
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


def hold_out(rows: Rows) -> tuple[Rows, Rows]:
    """Rows on which maps are compared, and those that they are fitted on."""
    count = min(HELD_OUT, len(rows) // 5)
    return rows[:count], rows[count:]


def contest(
    sides: Sequence[Side],
    problem: Problem,
    found: Search,
    known: Sequence[Rows],
    cores: Cores,
    seed: int,
) -> dict[str, float]:
    """Mean log rank of known pairs that are held out in turn, with unpaired rows and without.

    Ranks are among unpaired rows of the other side. `known_rank` and `alone_rank` are geometric
    means of the share of rows that come before the right one, over both directions; chance .37.
    """
    generator = np.random.default_rng((seed, 9))
    wide = [side.components(WIDE, known=True) for side in sides]
    galleries = [side.rows[: 4 * HELD_OUT] for side in sides]
    wide_galleries = [unit(g @ side.basis) for g, side in zip(galleries, sides, strict=True)]
    narrow = [problem.text[: 4 * HELD_OUT], problem.image[: 4 * HELD_OUT]]
    order = generator.permutation(len(known[0]))
    shares: dict[str, list[np.ndarray]] = {"known_rank": [], "alone_rank": []}
    for place, fold in enumerate(np.array_split(order, min(FOLDS, len(order)))):
        rest = np.setdiff1d(order, fold)
        cross = known[0][rest].T @ known[1][rest]
        without = replace(problem, known=cross, pairs=len(rest))
        start = held_out_start(without, found, cores, (seed, 11, place))
        rotation = polish(without, start, generator)
        held = [side[fold] for side in known]
        shares["known_rank"].append(rank_shares(rotation, rotation.T, held, narrow))
        maps = alone([side[rest] for side in wide])
        shares["alone_rank"].append(
            rank_shares(*maps, [side[fold] for side in wide], wide_galleries)
        )
    return {
        key: float(np.exp(np.log(np.concatenate(parts)).mean())) for key, parts in shares.items()
    }


def held_out_start(
    problem: Problem, found: Search, cores: Cores, seed: tuple[int, int, int]
) -> Map:
    """Where a search would have begun its last refinement had it known these pairs only.

    The blind map, if the search stayed in its basin; else what candidates guided by the pairs tend
    to; without a search the pairs' own rotation.
    """
    if found.blind is None:
        return rotation_of(problem.known)
    if same(problem, found.rotation, found.blind) > SAME_BASIN:
        return found.blind
    return guided_by_pairs(problem, cores, f"held-out pairs {seed[2] + 1}", CONTEST, seed)


def alone(pairs: Sequence[Rows]) -> tuple[Map, Map]:
    """Ridge maps in both directions from the pairs alone."""
    text, image = (torch.from_numpy(np.ascontiguousarray(side)) for side in pairs)
    folds = [
        paired.moments(text[part], image[part])
        for part in np.array_split(np.arange(len(text)), min(FOLDS, len(text)))
    ]
    whole = paired.total(folds)
    maps = []
    penalty = None if len(folds) > 1 else 1.0
    for way, parts in ((whole, folds), (whole.reversed(), [fold.reversed() for fold in folds])):
        maps.append(fitting.ridge_one_way(way, parts, penalty)[0].numpy().astype(np.float32))
    return maps[0], maps[1]


def rank_shares(
    to_image: Map, to_text: Map, pairs: Sequence[Rows], galleries: Sequence[Rows]
) -> np.ndarray:
    """Share of the other side's rows, itself counted, that are as near as the right one."""
    shares = []
    for query, right, gallery, weight in (
        (pairs[0], pairs[1], galleries[1], to_text),
        (pairs[1], pairs[0], galleries[0], to_image),
    ):
        score = (query * unit(right @ weight)).sum(1)
        others = query @ unit(gallery @ weight).T
        shares.append(((others >= score[:, None]).sum(1) + 1) / (len(gallery) + 1))
    return np.concatenate(shares)


def finish(sides: Sequence[Side], rotation: Map, linear: bool, seed: int) -> tuple[Map, Map, bool]:
    """Maps in more components, and whether the linear ones were kept.

    The rotation is refined in all components with itself as a fading prior. Then each side is
    regressed on its soft matches, known pairs counting as KNOWN_SHARE of all; that map is kept if
    held-out rows are matched as well by it.
    """
    generator = np.random.default_rng((seed, 10))
    rows = [side.components(WIDE) for side in sides]
    known = [side.components(WIDE, known=True) for side in sides]
    (held_text, text), (held_image, image) = map(hold_out, rows)
    start = 1e-4 * generator.standard_normal((text.shape[1], image.shape[1])).astype(np.float32)
    start[: rotation.shape[0], : rotation.shape[1]] += rotation
    pairs = known[0].T @ known[1] if len(known[0]) else None
    wide = refine(
        text,
        image,
        start,
        steps=60,
        batch=1200,
        sharpness=(3.0, 8.0),
        generator=generator,
        prior=start if pairs is None else normed(start) + 2 * normed(pairs),
        prior_weight=(0.5, 0.1) if pairs is None else (0.5, 0.3),
    )
    if not linear:
        return wide, wide.T, False
    some_text, some_image = text[:SOFT_ROWS], image[:SOFT_ROWS]
    plan = soft_matching(unit(some_text @ wide) @ some_image.T, SOFT_SHARPNESS, 20)
    matched_image = len(some_text) * plan @ some_image
    matched_text = len(some_image) * plan.T @ some_text
    to_image = soft_ridge(some_text, matched_image, known[0], known[1])
    to_text = soft_ridge(some_image, matched_text, known[1], known[0])
    keep = csls(held_text, held_image, to_image) >= csls(held_text, held_image, wide)
    return (to_image, to_text, True) if keep else (wide, wide.T, False)


def soft_ridge(rows: Rows, matched: Rows, known_rows: Rows, known_matched: Rows) -> Map:
    """Ridge from rows to their soft matches, and to the known matches of some."""
    parts = [(rows, matched, 1.0)]
    if len(known_rows):
        weight = KNOWN_SHARE / (1 - KNOWN_SHARE) * len(rows) / len(known_rows)
        parts.append((known_rows, known_matched, weight**0.5))
    total = paired.total(
        paired.moments(torch.from_numpy(scale * left), torch.from_numpy(scale * right))
        for left, right, scale in parts
    )
    return paired.ridge(total, SOFT_PENALTY).numpy().astype(np.float32)


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
