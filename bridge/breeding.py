"""A better map bred from many candidates: recombined, refined, and kept if rows match well by it.

The right map matches rows better than the wrong ones that candidates lead to, but no refinement of
one candidate reaches it. Recombined parts of several do: a child takes the matching of some regions
of a space from one parent and of the others from another (a memetic search: Moscato 1989).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bridge.consensus import Candidate, Job, Problem, Workshop, candidate, refined, trace
from bridge.transport import (
    MATCHED_SHARPNESS,
    Map,
    Rows,
    normed,
    plan_score,
    rotation_of,
    soft_matching,
    unit,
)

# Weights of the merits, in standard deviations among the first candidates; of known pairs up to 1.
MERITS = {"matched": 1.5, "text_shape": 0.5, "image_shape": 0.5, "third": 1.0}
RATED_ROWS = 1200  # of a side, on which maps are rated
SHAPE_ROWS = 600
MOMENT_ROWS = 3000
DIRECTIONS = 500  # along which third moments are compared
REGIONS = 24
KINDS = ("mean", "regions", "regions", "guided")  # of children, by turns
MEAN_OF, MEAN_NOISE, REGION_NOISE = 4, 0.4, 0.15
TWINS = 0.6  # maps more alike than this compete for one place
CONVERGED = 0.9  # likeness of a population that has nothing left to recombine
FEWEST = 5  # maps of a population
RATED_AT_ONCE = 10  # maps, in one piece of work


@dataclass(frozen=True, eq=False)
class Population:
    """Rotations and a row of merits (in the order of MERITS that apply) for each of them."""

    maps: list[Map]
    merits: np.ndarray

    def best(self, scores: np.ndarray, count: int) -> "Population":
        order = np.argsort(-scores, kind="stable")[:count]
        return Population([self.maps[i] for i in order], self.merits[order])


def merits(problem: Problem, maps: Sequence[Map]) -> np.ndarray:
    """What rows say of each map, held-out ones having no say; one row a map.

    How well rows match; whether softly matched rows have the inner products of the rows that they
    are matched to, in both directions; whether third moments agree along random directions; and
    the mean cosine of known pairs, if there are any.
    """
    generator = np.random.default_rng(0)
    many_text, many_image = (
        side[generator.permutation(len(side))[:MOMENT_ROWS]]
        for side in (problem.text, problem.image)
    )
    text, image = many_text[:RATED_ROWS], many_image[:RATED_ROWS]
    width = text.shape[1]
    scale = np.linspace(2, 0.5, width, dtype=np.float32)
    directions = unit(generator.standard_normal((DIRECTIONS, width)).astype(np.float32) * scale)
    text_third = third_moments(many_text @ directions.T)
    text_shape, image_shape = inner_products(text), inner_products(image)
    rows = []
    for one in maps:
        scores = unit(text @ one) @ image.T
        plan = soft_matching(scores, MATCHED_SHARPNESS)
        found = [
            plan_score(scores, plan),
            correlation(text_shape, inner_products(unit(plan[:SHAPE_ROWS] @ image))),
            correlation(image_shape, inner_products(unit(plan[:, :SHAPE_ROWS].T @ text))),
            correlation(text_third, third_moments(many_image @ (directions @ one).T)),
        ]
        if problem.known is not None:
            found.append(problem.known_cosine(one))
        rows.append(found)
    return np.array(rows)


def inner_products(rows: Rows) -> np.ndarray:
    """Inner products between the first SHAPE_ROWS rows, each pair once."""
    some = rows[:SHAPE_ROWS]
    return (some @ some.T)[np.triu_indices(len(some), 1)]


def third_moments(along: Rows) -> np.ndarray:
    """E[a^2 b] for a of the first and b of the second half of the columns, scaled to unit variance.

    The third moments are the lowest that tell a distribution from a Gaussian, in which no rotation
    that respects the covariance is better than another.
    """
    along = along / np.maximum(along.std(0), 1e-12)
    half = along.shape[1] // 2
    return (along[:, :half] ** 2).T @ along[:, half:] / len(along)


def correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Pearson's; 0 where either does not vary."""
    first, second = first.ravel() - first.mean(), second.ravel() - second.mean()
    lengths = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(first @ second) / lengths if lengths else 0.0


def bred_child(problem: Problem, seed: Sequence[int], start: Map) -> Candidate:
    """A short refinement from a mixture of parents."""
    generator = np.random.default_rng(seed)
    rotation = refined(problem, start, generator, steps=25, batch=700)
    return Candidate(start.astype(np.float32), rotation)


def mean_of(parents: Sequence[Map], generator: np.random.Generator) -> Map:
    mean = normed(np.mean(parents, axis=0))
    return mean + MEAN_NOISE * normed(generator.standard_normal(mean.shape))


def regions_of(problem: Problem, first: Map, second: Map, generator: np.random.Generator) -> Map:
    """The cross-covariance if rows of some regions of a side are mapped by one parent.

    Regions are those nearest to each of a few random rows; the other parent maps the rest.
    """
    of_text = bool(generator.integers(2))
    rows = problem.text if of_text else problem.image
    centres = rows[generator.integers(len(rows), size=REGIONS)]
    mine = (generator.random(REGIONS) < 0.5)[(rows @ centres.T).argmax(1)]
    inside, outside = (part.T @ part for part in (rows[mine], rows[~mine]))
    cross = inside @ first + outside @ second if of_text else first @ inside + second @ outside
    cross = normed(cross)
    return cross + REGION_NOISE * normed(generator.standard_normal(cross.shape))


def child_jobs(
    problem: Problem, population: Population, scores: np.ndarray, count: int, seed: Sequence[int]
) -> list[Job]:
    """What makes each of the next children; a parent is the better of two drawn at random."""
    jobs: list[Job] = []
    for place in range(count):
        generator = np.random.default_rng((*seed, place, 0))

        def parents(number: int, generator: np.random.Generator = generator) -> list[Map]:
            drawn = generator.integers(len(population.maps), size=(number, 2))
            return [population.maps[max(pair, key=lambda i: scores[i])] for pair in drawn.tolist()]

        kind, child = KINDS[place % len(KINDS)], (*seed, place, 1)
        if kind == "guided":
            jobs.append((candidate, child, normed(np.sum(parents(2), axis=0))))
        elif kind == "regions":
            jobs.append((bred_child, child, regions_of(problem, *parents(2), generator)))
        else:
            jobs.append((bred_child, child, mean_of(parents(MEAN_OF), generator)))
    return jobs


def survivors(
    problem: Problem, old: Population, new: Population, weights: np.ndarray, size: int
) -> Population:
    """The best, new ones taking the place of their twin, or of the worst, if they are better.

    Twins compete with each other only (crowding: De Jong 1975), so that no map takes all places.
    """
    maps, found = list(old.maps), np.array(old.merits)
    scores = found @ weights
    traces = np.stack([trace(problem, one) for one in maps])
    for one, merit in zip(new.maps, new.merits, strict=True):
        mine = trace(problem, one)
        likeness = traces @ mine
        place = int(likeness.argmax()) if likeness.max() > TWINS else int(scores.argmin())
        if merit @ weights > scores[place]:
            maps[place], found[place], traces[place] = one, merit, mine
            scores[place] = merit @ weights
    return Population(maps, found).best(scores, size)


def alike(problem: Problem, maps: Sequence[Map]) -> float:
    """Mean likeness of the maps, 1 where they are one."""
    return float((np.mean([trace(problem, one) for one in maps], axis=0) ** 2).sum())


def rated(problem: Problem, workshop: Workshop, stage: str, maps: Sequence[Map]) -> Population:
    jobs = [
        (problem, maps[first : first + RATED_AT_ONCE])
        for first in range(0, len(maps), RATED_AT_ONCE)
    ]
    return Population(list(maps), np.concatenate(workshop.each(stage, merits, jobs)))


def breed(
    problem: Problem,
    workshop: Workshop,
    blind: Sequence[Candidate],
    guided: Sequence[Candidate],
    *,
    generations: int,
    children: int,
    seed: Sequence[int],
) -> Map | None:
    """The mean of a population that begins as the best quarter of all candidates.

    Merits are measured in standard deviations of the `blind` candidates; `guided` ones know pairs.
    The population shrinks to a tenth, and its mean map is better than any member that could be
    chosen without labels. None if none was bred: none was asked for, time was up, or all candidates
    agree.
    """
    if not generations:
        return None
    population = rated(problem, workshop, "rating", [one.rotation for one in (*blind, *guided)])
    spread = np.maximum(population.merits[: len(blind)].std(0), 1e-9)
    weights = np.array(list((MERITS | {"known": problem.say}).values())[: len(spread)]) / spread
    size = max(FEWEST, len(population.maps) // 4)
    population = population.best(population.merits @ weights, size)
    least, bred = max(FEWEST, size // 10), 0
    for turn in range(generations):
        if workshop.late(0.8) or alike(problem, population.maps) > CONVERGED:
            break
        stage = f"generation {turn + 1} of {generations}"
        scores = population.merits @ weights
        jobs = child_jobs(problem, population, scores, children, (*seed, turn))
        new = workshop.candidates(problem, stage, jobs)
        born = rated(problem, workshop, stage, [one.rotation for one in new])
        keep = round(size + (least - size) * turn / max(1, generations - 1))
        population = survivors(problem, population, born, weights, keep)
        bred += 1
    if not bred:
        return None
    chosen = population.best(population.merits @ weights, least)
    return rotation_of(np.mean(chosen.maps, axis=0))
