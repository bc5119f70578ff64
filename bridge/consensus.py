"""Quick candidates for a map between two spaces without pairs, and the mean of many.

One matching of clusters by their distances is mostly wrong: the two sides are clustered differently
and the true match is not the best one. Errors of independent candidates are nearly independent
though, so that their mean map is far better than any of them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from sklearn.cluster import KMeans

from bridge.assignment import KERNELS, kernel, tabu_search
from bridge.transport import Map, Rows, normed, refine, rotation_of, unit

MOST_ROWS = 4000  # of a side, in one candidate
CLUSTERS = (20, 30, 40, 60, 80)
NODE_COMPONENTS = (16, 32, 64)
GUIDANCE = 0.3  # weight of a guide in a matching, a cluster
KNOWN_WEIGHT = 0.03  # of each known pair beside soft matches, up to MANY_PAIRS
FULL_SAY, MANY_PAIRS = 10, 20
SHARPNESS = (3.0, 8.0)
SETTLED_SHARPNESS = (5.0, 12.0)
DISTURBANCE = 0.5  # of a start, in norms of the map
BEST_SHARE = 0.25  # of a family's candidates that are averaged


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows of two sides in principal components, in unrelated order, and what is held out.

    `known` is the cross-covariance of the known `pairs`, None in a blind search. It has no part in
    the first candidates and their families, whose agreement is evidence, but in what follows them.
    """

    text: Rows
    image: Rows
    held_text: Rows
    held_image: Rows
    known: Map | None = None
    pairs: int = 0

    @property
    def say(self) -> float:
        """What known pairs count for beside other evidence: a handful may well mislead."""
        return min(1.0, self.pairs / FULL_SAY)

    @property
    def known_weight(self) -> tuple[float, float]:
        """Weight of the known pairs at the start and the end of a refinement."""
        weight = KNOWN_WEIGHT * min(self.pairs, MANY_PAIRS)
        return weight, weight

    def known_cosine(self, mapping: Map) -> float:
        """Mean cosine of the known pairs under a map."""
        return float((self.known * mapping).sum()) / self.pairs


@dataclass(frozen=True, eq=False)
class Candidate:
    """`cross` is the cross-covariance of matched centroids, `rotation` the map refined from it."""

    cross: Map
    rotation: Map


def candidate(problem: Problem, seed: Sequence[int], guide: Map | None = None) -> Candidate:
    """Cluster random rows of both sides, match the clusters by distances, refine what follows.

    Rows, number of clusters, components and kernel are drawn by `seed`. A `guide` is a map under
    which clusters that lie near each other are favoured. Matching as in Rosetta (Schnaus et al.
    2026), with distances instead of inner products.
    """
    generator = np.random.default_rng(seed)
    text, image = (
        side[generator.permutation(len(side))[: min(MOST_ROWS, int(0.7 * len(side)))]]
        for side in (problem.text, problem.image)
    )
    most = max(4, min(len(text), len(image)) // 8)
    count = min(int(generator.choice(CLUSTERS)), most)
    components = min(int(generator.choice(NODE_COMPONENTS)), text.shape[1], image.shape[1])
    kind = str(generator.choice(KERNELS))
    (text_centroids, text_sizes), (image_centroids, image_sizes) = (
        clusters(rows, count, components, int(generator.integers(1 << 30)))
        for rows in (text, image)
    )
    linear = np.zeros((count, count))
    if guide is not None:
        near = unit(text_centroids @ guide) @ unit(image_centroids).T
        linear += GUIDANCE * count * standardised(near)
    tables = (kernel(side[:, :components], kind) for side in (text_centroids, image_centroids))
    steps, restarts = 1500 if count <= 60 else 800, 6 if count <= 40 else 3
    match = tabu_search(*tables, linear, steps, restarts, generator)
    weight = np.sqrt(text_sizes * image_sizes[match])[:, None]
    cross = ((text_centroids - text_centroids.mean(0)) * weight).T @ (
        image_centroids[match] - image_centroids.mean(0)
    )
    rotation = refined(problem, cross, generator, steps=25, batch=500)
    return Candidate(cross.astype(np.float32), rotation)


def clusters(rows: Rows, count: int, components: int, seed: int) -> tuple[Rows, np.ndarray]:
    """Centroids (in all components) and sizes of k-means in the first `components`."""
    found = KMeans(count, n_init=1, max_iter=30, random_state=seed).fit(rows[:, :components])
    sizes = np.bincount(found.labels_, minlength=count)
    sums = np.zeros((count, rows.shape[1]), np.float32)
    np.add.at(sums, found.labels_, rows)
    return sums / np.maximum(sizes, 1)[:, None], sizes


def standardised(table: np.ndarray) -> np.ndarray:
    return (table - table.mean()) / max(table.std(), 1e-12)


def directions(maps: Iterable[Map]) -> np.ndarray:
    """Maps as unit vectors, one a row."""
    return np.stack([normed(one).ravel() for one in maps])


def agreement(crosses: Iterable[Map]) -> np.ndarray:
    """Mean cosine of each cross-covariance with the others; chance is 0."""
    rows = directions(crosses)
    table = rows @ rows.T
    return (table.sum(1) - 1) / max(1, len(rows) - 1)


def trace(problem: Problem, rotation: Map) -> np.ndarray:
    """Where a map takes held-out texts, as one unit vector."""
    return unit(problem.held_text @ rotation).ravel() / len(problem.held_text) ** 0.5


def same(problem: Problem, first: Map, second: Map) -> float:
    """Mean cosine between held-out texts mapped by two maps: 1 for the same map, chance 0."""
    return float(trace(problem, first) @ trace(problem, second))


def average(candidates: Sequence[Candidate], share: float = BEST_SHARE) -> Map:
    """Mean rotation of the candidates that agree most with the others."""
    scores = agreement(one.cross for one in candidates)
    best = np.argsort(-scores)[: max(min(12, len(candidates)), int(share * len(candidates)))]
    return np.mean([candidates[i].rotation for i in best], axis=0)


def refined(
    problem: Problem,
    start: Map,
    generator: np.random.Generator,
    *,
    steps: int,
    batch: int,
    sharpness: tuple[float, float] = SHARPNESS,
) -> Map:
    """transport.refine on the rows of a problem, with its known pairs as the prior."""
    return refine(
        problem.text,
        problem.image,
        start,
        steps=steps,
        batch=batch,
        sharpness=sharpness,
        generator=generator,
        prior=problem.known,
        prior_weight=problem.known_weight,
    )


def polish(problem: Problem, start: Map, generator: np.random.Generator) -> Map:
    """One long refinement."""
    return refined(problem, start, generator, steps=60, batch=1000)


def settle(problem: Problem, start: Map, seed: Sequence[int], runs: int, turns: int = 2) -> Map:
    """The mean of refinements from disturbed starts on random rows, again and again.

    Settled maps can be compared: what a single refinement ends at depends on its rows by more than
    right and wrong basins differ.
    """
    generator = np.random.default_rng(seed)
    rotation = start
    for _ in range(turns):
        ends = []
        for _ in range(runs):
            noise = normed(generator.standard_normal(start.shape))
            disturbed = normed(rotation) + DISTURBANCE * noise
            ends.append(
                refined(
                    problem,
                    disturbed,
                    generator,
                    steps=25,
                    batch=1000,
                    sharpness=SETTLED_SHARPNESS,
                )
            )
        rotation = rotation_of(np.mean(ends, axis=0))
    return rotation


# What makes a candidate of a problem, and what it is given: a seed, and a guide or a start.
Job = tuple[Callable[..., Candidate], Sequence[int], Map | None]


@runtime_checkable
class Workshop(Protocol):
    """Who does the work of a search, on as many cores and in as much time as there are.

    `made` are candidates of the first jobs, which are not made again.
    """

    def candidates(
        self, problem: Problem, stage: str, jobs: Sequence[Job], made: Sequence[Candidate] = ()
    ) -> list[Candidate]: ...

    def each(self, stage: str, function: Callable, jobs: Sequence[tuple]) -> list: ...

    def late(self, share: float) -> bool: ...
