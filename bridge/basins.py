"""Basins: families of candidates that contradict each other, and the evidence for each of them.

They are kept apart, because a wrong basin can be as consistent in itself as the right one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from bridge.consensus import (
    MANY_PAIRS,
    Candidate,
    Problem,
    agreement,
    average,
    directions,
    same,
    settle,
)
from bridge.transport import Map, csls, matched_score

MOST_FAMILIES = 8
SMALLEST_FAMILY = 0.04  # share of the candidates
SAME_BASIN = 0.5  # maps whose mapped rows have a larger mean cosine are in one basin
COMPARED_ROWS = 1500  # of a side, on which settled maps are compared beside the held-out ones


@dataclass(frozen=True, eq=False)
class Basin:
    """A map that a family of candidates leads to, and what speaks for it.

    `evidence` holds, all without a pair: `share` of the candidates, their `agreement` (mean cosine
    of cross-covariances), on held-out rows `csls` and `held`, and on others `matched` (both are
    transport.matched_score). With known `pairs`, `known` is their mean cosine.
    """

    rotation: Map
    evidence: dict[str, float] = field(default_factory=dict)


def evidence(problem: Problem, rotation: Map) -> dict[str, float]:
    """What rows say of a map, held-out ones and others, and the known pairs if there are any."""
    held = problem.held_text, problem.held_image
    known = {}
    if problem.known is not None:
        known = {"known": problem.known_cosine(rotation), "pairs": problem.pairs}
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


def apart(problem: Problem, found: Sequence[Basin]) -> list[Basin]:
    """Basins by standing, without those that are like a better one."""
    kept: list[Basin] = []
    for basin in sorted(found, key=lambda one: standing(one, found), reverse=True):
        if all(same(problem, basin.rotation, other.rotation) < SAME_BASIN for other in kept):
            kept.append(basin)
    return kept


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
