"""The search for a map without pairs, or with a few: candidates, basins, breeding, signs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bridge.basins import (
    SAME_BASIN,
    Basin,
    apart,
    evidence,
    families,
    lead,
    moved,
    settle_family,
)
from bridge.breeding import breed
from bridge.consensus import (
    Candidate,
    Problem,
    Workshop,
    agreement,
    average,
    candidate,
    polish,
    same,
    settle,
)
from bridge.transport import Map, normed, rotation_of, unit

GUIDED_SHARE = 1 / 3  # of candidates guided by known pairs that are averaged
# A search ends with its first few candidates if two halves of them lead to maps with this cosine
# and no contradicting basin is nearer than this lead (measured in docs/log.md).
FEW, CLEAR_SPLIT_HALF, CLEAR_LEAD = 24, 0.65, 0.3


@dataclass(frozen=True, eq=False)
class Search:
    """What a search found: contradicting `basins`, best first, and label-free `signs`.

    `blind` is the best map before known pairs had any part in it, None where there was no search.
    `candidates` were made before any were bred; if `clear`, they were enough.
    """

    basins: tuple[Basin, ...]
    signs: dict[str, float]
    blind: Map | None
    candidates: int
    clear: bool

    @property
    def rotation(self) -> Map:
        return self.basins[0].rotation


def search(
    problem: Problem,
    workshop: Workshop,
    *,
    candidates: int,
    generations: int,
    children: int,
    settled: int,
    seed: int,
) -> Search:
    """Candidates, the basins of their families, and, unless these are clear, a map bred from all.

    Agreement is taken from the first candidates only: what comes later agrees whether it is right
    or wrong. With 0 candidates the known pairs alone are where the refinement starts.
    """
    if not candidates:
        rotation = settle(problem, rotation_of(problem.known), (seed, 1), settled)
        return Search((Basin(rotation, evidence(problem, rotation)),), {}, None, 0, False)
    blind = replace(problem, known=None)
    first, found, clear = first_basins(blind, workshop, candidates, settled, seed)
    found = apart(problem, found)
    start = found[0].rotation
    guided: list[Candidate] = []
    if problem.known is not None:
        found = moved(problem, found, [basin.rotation for basin in found])
        guided = guided_by_pairs(problem, workshop, "from pairs", children, (seed, 2))
        found = [from_pairs(problem, workshop, found[0], guided, settled, (seed, 3)), *found]
    bred = breed(
        problem,
        workshop,
        first,
        guided,
        generations=0 if clear else generations,
        children=children,
        seed=(seed, 4),
    )
    if bred is None:
        found = apart(problem, found)
    else:
        best = bred_basin(problem, workshop, bred, found[0], settled, (seed, 5))
        others = [one for one in found if same(problem, bred, one.rotation) < SAME_BASIN]
        found = [best, *apart(problem, others)]
    signs = {
        "agreement": float(agreement(one.cross for one in first).mean()),
        "split_half": split_half(problem, first),
        "lead": lead(found),
        "cycle": cycle(problem, found[0].rotation, seed),
    }
    signs |= against_random(blind, workshop, found[0], settled, seed)
    return Search(tuple(found), signs, start, len(first), clear)


def first_basins(
    problem: Problem, workshop: Workshop, candidates: int, settled: int, seed: int
) -> tuple[list[Candidate], list[Basin], bool]:
    """Candidates, the basins of their families, and whether the first few of them were clear."""
    jobs = [(candidate, (seed, 0, i), None) for i in range(candidates)]
    first = workshop.candidates(problem, "candidates", jobs[:FEW])
    if len(first) == FEW and split_half(problem, first) >= CLEAR_SPLIT_HALF:
        found = settled_families(problem, workshop, first, settled, seed)
        if lead(apart(problem, found)) >= CLEAR_LEAD:
            return first, found, True
    first = workshop.candidates(problem, "candidates", jobs, first)
    return first, settled_families(problem, workshop, first, settled, seed), False


def settled_families(
    problem: Problem, workshop: Workshop, first: Sequence[Candidate], settled: int, seed: int
) -> list[Basin]:
    jobs = [
        (problem, family, len(first), (seed, 1, place), settled)
        for place, family in enumerate(families(first))
    ]
    found = workshop.each("basins", settle_family, jobs)
    return moved(problem, found, [basin.rotation for basin in found])


def split_half(problem: Problem, candidates: Sequence[Candidate]) -> float:
    """Mean cosine of held-out texts mapped by the mean maps of two halves of the candidates."""
    halves = (rotation_of(average(candidates[part::2])) for part in (0, 1))
    return same(problem, *halves)


def from_pairs(
    problem: Problem,
    workshop: Workshop,
    rival: Basin,
    guided: Sequence[Candidate],
    runs: int,
    seed: Sequence[int],
) -> Basin:
    """The basin that candidates guided by the known pairs alone lead to.

    A blind search may have found a wrong basin, out of which a few pairs do not pull it. It stands
    with the share and agreement of `rival`: candidates that were guided agree whether they are
    right or wrong.
    """
    start = average(guided, GUIDED_SHARE)
    (rotation,) = workshop.each("from pairs", settle, [(problem, start, seed, runs)])
    return moved(problem, [rival], [rotation])[0]


def guided_by_pairs(
    problem: Problem, workshop: Workshop, stage: str, count: int, seed: Sequence[int]
) -> list[Candidate]:
    """Candidates whose matching favours clusters that the known pairs join."""
    guide = normed(problem.known)
    return workshop.candidates(
        problem, stage, [(candidate, (*seed, i), guide) for i in range(count)]
    )


def bred_basin(
    problem: Problem,
    workshop: Workshop,
    rotation: Map,
    rival: Basin,
    runs: int,
    seed: Sequence[int],
) -> Basin:
    """A bred map as a basin, with the share and agreement of `rival`.

    The mean of a population is nearer to the truth than what it settles at, but only settled maps
    can be compared, so that the evidence is of the settled one.
    """
    (settled,) = workshop.each("comparing", settle, [(problem, rotation, seed, runs)])
    return replace(moved(problem, [rival], [settled])[0], rotation=rotation)


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
    """What rows say of a basin's map, and how far above maps settled from random rotations.

    A start that led to the same map is no rival of it; if all did, the rotations themselves are.
    """
    generator = np.random.default_rng((seed, 101))
    shape = basin.rotation.shape
    random = [rotation_of(generator.standard_normal(shape)) for _ in range(starts)]
    jobs = [(problem, one, (seed, 102, i), runs) for i, one in enumerate(random)]
    settled = workshop.each("comparing", settle, jobs)
    rivals = [one for one in settled if same(problem, basin.rotation, one) < SAME_BASIN]
    chance = [evidence(problem, one) for one in rivals or random]
    found = {key: basin.evidence[key] for key in chance[0]}
    margins = {f"{key}_margin": found[key] - max(one[key] for one in chance) for key in found}
    return found | margins
