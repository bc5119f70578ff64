"""How far a map that was found without pairs can be trusted, judged without labels."""

from dataclasses import dataclass
from math import exp

import numpy as np
from scipy.stats import t
from sklearn.cluster import KMeans

from bridge.transport import Rows, unit

SURROGATES = 3


@dataclass(frozen=True)
class Verdict:
    """`level` is reliable, coarse or failed; `reasons` are for people."""

    level: str
    reasons: tuple[str, ...]


def structure(rows: Rows, generator: np.random.Generator, clusters: int = 40) -> float:
    """How much better rows cluster than Gaussian rows of the same covariance; 0 for Gaussians.

    Share of the variance that k-means explains, less that of a Gaussian surrogate, in units of
    what is left to explain. Two Gaussian clouds cannot be matched by anything: every rotation that
    respects the covariance is as good.
    """
    some = rows[:4000]
    clusters = min(clusters, len(some) // 5)
    root = np.linalg.cholesky(np.cov(some.T.astype(np.float64)) + 1e-9 * np.eye(some.shape[1]))

    def explained(points: np.ndarray) -> float:
        points = unit(points)
        fitted = KMeans(clusters, n_init=1, max_iter=30, random_state=0).fit(points)
        return 1 - fitted.inertia_ / float(((points - points.mean(0)) ** 2).sum())

    null = np.mean(
        [
            explained((generator.standard_normal(some.shape) @ root.T).astype(np.float32))
            for _ in range(SURROGATES)
        ]
    )
    return float((explained(some) - null) / (1 - null))


# What a sign must reach for a map to be called reliable, or at least coarse. Set by
# benchmarks/verdict.py (see docs/log.md); agreement and CSLS are never enough.
RELIABLE = {"split_half": 0.38, "lead": 0.12, "held_margin": 0.04, "csls_margin": 0.02}
COARSE = {"split_half": 0.35, "held_margin": 0.04}
LEVELS = (("reliable", RELIABLE), ("coarse", COARSE))
LEAST_STRUCTURE = 0.08
LARGEST_CYCLE = 0.35
RELIABLE_RANK, COARSE_RANK = 0.05, 0.25  # of held-out known pairs, see few_pairs.contest
CAUTION = 0.95  # of the one-sided bound on that rank: few pairs say little
FEWEST_PAIRS = 10  # of which the held-out ranks say enough; with fewer the other signs decide
SURE = 1.64  # standard errors by which the pairs alone must lead to be preferred
LEAST_SPREAD = 0.5  # of the logarithms of ranks, should a few happen to be equal
MEANING = {
    "split_half": "two halves of the candidates lead to maps whose cosine is {:.2f}",
    "lead": "the best basin is {:.3f} ahead of the best that contradicts it",
    "held_margin": "held-out rows match {:.3f} better than under maps from random starts",
    "csls_margin": "held-out CSLS is {:.4f} above that of maps from random starts",
}

NO_CANDIDATES = "no candidates whose halves, or basins, could be compared: coarse at most"


def judge(signs: dict[str, float]) -> Verdict:
    """The verdict on a search by its signs (see blind_search.search and unpaired.consensus).

    With known pairs that are not too few, or are all that the map was fitted on, how well those
    that were held out are found decides. Else a map is reliable or coarse only if every sign
    reaches its level; one that was not found by candidates lacks the signs that they give, and is
    never more than coarse.
    """
    alone = pairs_alone(signs)
    if alone or signs.get("held_pairs", 0) >= FEWEST_PAIRS:
        name = "alone" if alone else "known"
        found = signs[f"{name}_rank"]
        count = signs["held_pairs"]
        error = max(signs[f"{name}_spread"], LEAST_SPREAD) / count**0.5
        rank = min(1.0, found * exp(float(t.ppf(CAUTION, count - 1)) * error))
        level = (
            "reliable" if rank <= RELIABLE_RANK else "coarse" if found <= COARSE_RANK else "failed"
        )
        reason = (
            f"held-out known pairs rank in the first {found:.1%} of the other side's rows "
            f"(geometric mean; coarse up to {COARSE_RANK:.0%}, chance 37%), at the 95% bound in "
            f"the first {rank:.1%} (reliable up to {RELIABLE_RANK:.0%})"
        )
        return Verdict(level, (reason,))
    flat = min(signs["structure_text"], signs["structure_image"])
    if flat < LEAST_STRUCTURE:
        reason = (
            f"rows of a side hardly cluster more than Gaussian ones ({flat:.3f}, expected "
            f"{LEAST_STRUCTURE} or more): nothing to match by"
        )
        return Verdict("failed", (reason,))
    if signs["cycle"] > LARGEST_CYCLE:
        reason = (
            f"texts that go to images and back by maps of other rows miss by {signs['cycle']:.2f} "
            f"(1 - cosine, expected {LARGEST_CYCLE} or less)"
        )
        return Verdict("failed", (reason,))
    missing = [] if "split_half" in signs else [NO_CANDIDATES]
    for level, levels in LEVELS[bool(missing) :]:
        short = [key for key in levels if key in signs and signs[key] < levels[key]]
        if not short:
            return Verdict(level, tuple(missing or (say(signs, key) for key in levels)))
        missing = [f"{say(signs, key)}, expected {levels[key]} for {level}" for key in short]
    return Verdict("failed", tuple(missing))


def pairs_alone(signs: dict[str, float]) -> bool:
    """Whether held-out known pairs say that unpaired rows do harm, and not by chance."""
    return signs.get("alone_lead", 0.0) > SURE


def say(signs: dict[str, float], key: str) -> str:
    return MEANING[key].format(signs[key])
