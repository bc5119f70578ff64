"""A map between two spaces without pairs: many quick candidates, and what they agree on.

One matching of clusters by their distances is mostly wrong: the two sides are clustered differently
and the true match is not the best one. Errors of independent candidates are nearly independent
though, so that their mean map is far better than any of them. Candidates that contradict each other
are kept apart as basins, because a wrong basin can be as consistent in itself as the right one.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import KMeans

from bridge.assignment import KERNELS, kernel, tabu_search
from bridge.transport import Map, Rows, csls, matched_score, normed, refine, rotation_of, unit

MOST_ROWS = 4000  # of a side, in one candidate
CLUSTERS = (20, 30, 40, 60, 80)
NODE_COMPONENTS = (16, 32, 64)
GUIDANCE = 0.3  # weight of the current map in a guided matching, a cluster
KNOWN_IN_GUIDE = 0.3  # weight of known pairs beside the current map
KNOWN_WEIGHT = 0.3  # of known pairs beside soft matches, twice that from MANY_PAIRS on
MANY_PAIRS = 20
SHARPNESS = (3.0, 8.0)
SETTLED_SHARPNESS = (5.0, 12.0)
DISTURBANCE = 0.5  # of a start, in norms of the map
BEST_SHARE = 0.25  # of a family's candidates that are averaged
MOST_FAMILIES = 8
SMALLEST_FAMILY = 0.04  # share of the candidates
SAME_BASIN = 0.5  # maps whose mapped rows have a larger mean cosine are in one basin
COMPARED_ROWS = 1500  # of a side, on which settled maps are compared beside the held-out ones


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
    def known_weight(self) -> tuple[float, float]:
        """Weight of the known pairs at the start and the end of a refinement."""
        weight = KNOWN_WEIGHT * (2 if self.pairs >= MANY_PAIRS else 1)
        return weight, weight


@dataclass(frozen=True, eq=False)
class Candidate:
    """`cross` is the cross-covariance of matched centroids, `rotation` the map refined from it."""

    cross: Map
    rotation: Map


@dataclass(frozen=True, eq=False)
class Basin:
    """A map that a family of candidates leads to, and what speaks for it.

    `evidence` holds, all without a pair: `share` of the candidates, their `agreement` (mean cosine
    of cross-covariances), on held-out rows `csls` and `held`, and on others `matched` (both are
    transport.matched_score). With known `pairs`, `known` is their mean cosine.
    """

    rotation: Map
    evidence: dict[str, float] = field(default_factory=dict)


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


def same(problem: Problem, first: Map, second: Map) -> float:
    """Mean cosine between held-out texts mapped by two maps: 1 for the same map, chance 0."""
    return float((unit(problem.held_text @ first) * unit(problem.held_text @ second)).sum(1).mean())


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


def evidence(problem: Problem, rotation: Map) -> dict[str, float]:
    """What rows say of a map, held-out ones and others, and the known pairs if there are any."""
    held = problem.held_text, problem.held_image
    known = {}
    if problem.known is not None:
        cosines = float((problem.known * rotation).sum()) / problem.pairs
        known = {"known": cosines, "pairs": problem.pairs}
    return known | {
        "csls": csls(*held, rotation),
        "held": matched_score(*held, rotation),
        "matched": matched_score(
            problem.text[:COMPARED_ROWS], problem.image[:COMPARED_ROWS], rotation
        ),
    }


def families(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    """Candidates grouped by the cosine of their cross-covariances (average linkage).

    Few families: of many small ones, some map that is wrong always fits the rows best by chance.
    """
    rows = directions(one.cross for one in candidates)
    distance = np.maximum(1 - rows @ rows.T, 0)[np.triu_indices(len(rows), 1)]
    labels = fcluster(linkage(distance, "average"), MOST_FAMILIES, "maxclust")
    found = [
        [candidates[i] for i in np.flatnonzero(labels == label)] for label in np.unique(labels)
    ]
    least = max(3, SMALLEST_FAMILY * len(candidates))
    return [family for family in found if len(family) >= least] or [list(candidates)]


def settle_family(
    problem: Problem, family: Sequence[Candidate], everyone: int, seed: Sequence[int], runs: int
) -> Basin:
    """The settled map of a family; what rows say of it is added by `moved`."""
    rotation = settle(problem, average(family), seed, runs)
    support = {
        "share": len(family) / everyone,
        "agreement": float(agreement(one.cross for one in family).mean()),
    }
    return Basin(rotation, support)


def standing(basin: Basin, rivals: Sequence[Basin]) -> tuple[bool, float]:
    """What basins are ranked by: contender or not, then mean rank over all other evidence.

    Contenders are families at least half as large as the largest: candidates are many, and what
    most of them tend to counts for more than how well a map fits, since among several maps a wrong
    one often fits the rows best by chance. Where there are known pairs, their cosines and what rows
    say decide, from MANY_PAIRS on the cosines alone and between all basins.
    """
    largest = max(rival.evidence["share"] for rival in rivals)
    contends = basin.evidence["share"] >= largest / 2
    keys = [key for key in basin.evidence if key != "pairs"]
    if "known" in basin.evidence:
        if basin.evidence["pairs"] >= MANY_PAIRS:
            return True, basin.evidence["known"]
        keys = ["known", "csls", "held", "matched"]
    ranks = [
        np.mean([basin.evidence[key] >= rival.evidence[key] for rival in rivals]) for key in keys
    ]
    return contends, float(np.mean(ranks))


def apart(problem: Problem, found: Sequence[Basin], most_alike: float) -> list[Basin]:
    """Basins by standing, without those that are like a better one."""
    kept: list[Basin] = []
    for basin in sorted(found, key=lambda one: standing(one, found), reverse=True):
        if all(same(problem, basin.rotation, other.rotation) < most_alike for other in kept):
            kept.append(basin)
    return kept


Job = tuple[Sequence[int], Map | None]  # seed and guide of a candidate


@runtime_checkable
class Workshop(Protocol):
    """Who does the work of a search, on as many cores and in as much time as there are."""

    def candidates(self, problem: Problem, stage: str, jobs: Sequence[Job]) -> list[Candidate]: ...

    def each(self, stage: str, function: Callable, jobs: Sequence[tuple]) -> list: ...

    def late(self, share: float) -> bool: ...


@dataclass(frozen=True, eq=False)
class Search:
    """What a search found: contradicting `basins`, best first, and label-free `signs`.

    `blind` is the best map before known pairs had any part in it, None where there was no search.
    """

    basins: tuple[Basin, ...]
    signs: dict[str, float]
    blind: Map | None

    @property
    def rotation(self) -> Map:
        return self.basins[0].rotation


def search(
    problem: Problem,
    workshop: Workshop,
    *,
    candidates: int,
    rounds: int,
    guided: int,
    carried: int,
    settled: int,
    seed: int,
) -> Search:
    """Candidates, the basins of their families, and rounds of candidates guided by the best ones.

    Agreement is taken from the first candidates only: a guide makes candidates agree whether it is
    right or wrong. With 0 candidates the known pairs alone are where the refinement starts.
    """
    if not candidates:
        rotation = settle(problem, rotation_of(problem.known), (seed, 1), settled)
        return Search((Basin(rotation, evidence(problem, rotation)),), {}, None)
    blind = replace(problem, known=None)
    first = workshop.candidates(
        blind, "candidates", [((seed, 0, i), None) for i in range(candidates)]
    )
    jobs = [
        (blind, family, len(first), (seed, 1, place), settled)
        for place, family in enumerate(families(first))
    ]
    found = workshop.each("basins", settle_family, jobs)
    found = moved(problem, found, [basin.rotation for basin in found])
    found = apart(problem, found, SAME_BASIN)
    start = found[0].rotation
    if problem.known is not None:
        carried = max(1, carried - 1)  # one place is for the pairs' own basin
    ahead = found[:carried]
    if problem.known is not None:
        jobs = [(problem, b.rotation, (seed, 2, i), settled) for i, b in enumerate(ahead)]
        ahead = moved(problem, ahead, workshop.each("known pairs", settle, jobs))
        ahead.append(from_pairs(problem, workshop, ahead[0], guided, settled, (seed, 2)))
    made: list[list[Candidate]] = [[] for _ in ahead]
    for turn in range(rounds):
        if workshop.late(0.8):
            break
        ahead = guided_round(problem, workshop, ahead, made, guided, settled, (seed, 3 + turn))
    found = apart(problem, [*ahead, *found[carried:]], SAME_BASIN)
    halves = [average(first[part::2]) for part in (0, 1)]
    signs = {
        "agreement": float(agreement(one.cross for one in first).mean()),
        "split_half": same(problem, *map(rotation_of, halves)),
        "lead": lead(found),
        "cycle": cycle(problem, found[0].rotation, seed),
    }
    signs |= against_random(blind, workshop, found[0], settled, seed)
    return Search(tuple(found), signs, start)


def from_pairs(
    problem: Problem,
    workshop: Workshop,
    rival: Basin,
    count: int,
    runs: int,
    seed: Sequence[int],
) -> Basin:
    """The basin that candidates guided by the known pairs alone lead to.

    A blind search may have found a wrong basin, out of which a few pairs do not pull it. It stands
    as a contender with the share and agreement of `rival`: candidates that were guided agree
    whether they are right or wrong.
    """
    start = guided_by_pairs(problem, workshop, "from pairs", count, seed)
    (rotation,) = workshop.each("from pairs", settle, [(problem, start, (*seed, 1000), runs)])
    return moved(problem, [rival], [rotation])[0]


def guided_by_pairs(
    problem: Problem, workshop: Workshop, stage: str, count: int, seed: Sequence[int]
) -> Map:
    """The mean of candidates whose matching favours clusters that the known pairs join."""
    guide = normed(problem.known)
    jobs = [((*seed, 1000, i), guide) for i in range(count)]
    return average(workshop.candidates(problem, stage, jobs), 1 / 3)


def guided_round(
    problem: Problem,
    workshop: Workshop,
    ahead: Sequence[Basin],
    made: list[list[Candidate]],
    count: int,
    runs: int,
    seed: Sequence[int],
) -> list[Basin]:
    """Each basin with the map that candidates guided by its map lead to.

    `made` holds the guided candidates of each basin from all rounds so far; all are averaged.
    """
    jobs = []
    for place, basin in enumerate(ahead):
        guide = normed(basin.rotation)
        if problem.known is not None:
            guide = guide + KNOWN_IN_GUIDE * normed(problem.known)
        jobs += [((*seed, place, i), guide) for i in range(count)]
    stage = f"round {seed[1] - 2}"
    new = workshop.candidates(problem, stage, jobs)
    for place in range(len(ahead)):
        made[place] += [one for one, job in zip(new, jobs, strict=False) if job[0][2] == place]
    settled = workshop.each(
        stage,
        settle,
        [
            (problem, average(mine, 1 / 3) if mine else basin.rotation, (*seed, place), runs)
            for place, (basin, mine) in enumerate(zip(ahead, made, strict=True))
        ],
    )
    return moved(problem, ahead, settled)


def moved(problem: Problem, found: Sequence[Basin], rotations: Sequence[Map]) -> list[Basin]:
    """The basins with other maps, and what rows say of these."""
    return [
        replace(basin, rotation=rotation, evidence=basin.evidence | evidence(problem, rotation))
        for basin, rotation in zip(found, rotations, strict=True)
    ]


def lead(found: Sequence[Basin]) -> float:
    """How far the best basin is ahead of the others in `matched` and `held` together; 1 if alone.

    Below 0 another basin, which contradicts it, fits the rows better.
    """
    scores = [basin.evidence["matched"] + basin.evidence["held"] for basin in found]
    return scores[0] - max(scores[1:]) if len(scores) > 1 else 1.0


def cycle(problem: Problem, rotation: Map, seed: int) -> float:
    """1 - mean cosine of texts that went to images and came back by maps of disjoint rows."""
    generator = np.random.default_rng((seed, 100))
    text, image = (generator.permutation(len(side)) for side in (problem.text, problem.image))
    there, back = (
        polish(
            replace(
                problem,
                text=problem.text[text[part::2]],
                image=problem.image[image[part::2]],
                known=None,
            ),
            rotation,
            generator,
        )
        for part in (0, 1)
    )
    returned = unit(unit(problem.held_text @ there) @ back.T)
    return float(1 - (returned * problem.held_text).sum(1).mean())


def against_random(
    problem: Problem, workshop: Workshop, basin: Basin, runs: int, seed: int, starts: int = 6
) -> dict[str, float]:
    """What rows say of a basin's map, and how far above maps settled from random rotations."""
    generator = np.random.default_rng((seed, 101))
    shape = basin.rotation.shape
    jobs = [
        (problem, rotation_of(generator.standard_normal(shape)), (seed, 102, i), runs)
        for i in range(starts)
    ]
    chance = [evidence(problem, one) for one in workshop.each("comparing", settle, jobs)]
    found = {key: basin.evidence[key] for key in chance[0]}
    margins = {f"{key}_margin": found[key] - max(one[key] for one in chance) for key in found}
    return found | margins
