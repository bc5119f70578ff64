"""Matching clusters of two spaces by their distances: kernels and a quadratic assignment search.

Nothing here compares a text with an image: each side's clusters are compared with each other, and
the permutation sought is the one under which the two tables of comparisons agree best.
"""

from typing import no_type_check

import numpy as np
from jaxtyping import Float, Int
from numba import njit

KERNELS = ("distance", "rbf")


def kernel(centroids: Float[np.ndarray, "c d"], kind: str) -> Float[np.ndarray, "c c"]:
    """Similarities of centroids: off-diagonal mean 0 and deviation 1, diagonal 0.

    `distance` is the Euclidean distance (its sign does not matter to a match of two such tables),
    `rbf` a Gaussian with the median distance as its width. Standardised, tables of two encoders
    compare (Schnaus et al., It's a (blind) match, CVPR 2025).
    """
    square = ((centroids[:, None] - centroids[None]) ** 2).sum(-1).astype(np.float64)
    others = ~np.eye(len(centroids), dtype=bool)
    values = np.sqrt(np.maximum(square, 0))
    if kind == "rbf":
        values = np.exp(-square / (2 * np.median(values[others]) ** 2))
    values = (values - values[others].mean()) / max(values[others].std(), 1e-12)
    np.fill_diagonal(values, 0)
    return values


def score(
    text: Float[np.ndarray, "c c"],
    image: Float[np.ndarray, "c c"],
    linear: Float[np.ndarray, "c c"],
    match: Int[np.ndarray, " c"],
) -> float:
    """sum_ij text[i, j] image[match i, match j] + sum_i linear[i, match i]."""
    return float(
        (text * image[np.ix_(match, match)]).sum() + linear[np.arange(len(match)), match].sum()
    )


@njit(cache=True, nogil=True)
@no_type_check  # a checking wrapper could not be compiled
def tabu_search(
    text: np.ndarray,
    image: np.ndarray,
    linear: np.ndarray,
    steps: int,
    restarts: int,
    generator: np.random.Generator,
) -> np.ndarray:
    """The match of highest `score` found by robust tabu search on swaps (Taillard 1991).

    Both kernels are symmetric with a zero diagonal. From each of `restarts` random matches the
    best swap that is not tabu is made `steps` times; the gains of all swaps are kept up to date,
    in constant time for those that share no cluster with the swap just made.
    """
    n = text.shape[0]
    best_match, best_score = np.arange(n), -np.inf
    gain = np.empty((n, n))
    for _ in range(restarts):
        match = generator.permutation(n)
        current = 0.0
        for i in range(n):
            current += linear[i, match[i]]
            for j in range(n):
                current += text[i, j] * image[match[i], match[j]]
        for i in range(n):
            for j in range(i + 1, n):
                gain[i, j] = swap_gain(text, image, linear, match, i, j)
        tabu_until = np.zeros((n, n), np.int64)
        reached = current
        if current > best_score:
            best_match, best_score = match.copy(), current
        for step in range(steps):
            u, v, largest = -1, -1, -np.inf
            for i in range(n):
                for j in range(i + 1, n):
                    if gain[i, j] > largest:
                        free = tabu_until[i, match[j]] <= step or tabu_until[j, match[i]] <= step
                        if free or current + gain[i, j] > reached + 1e-9:
                            u, v, largest = i, j, gain[i, j]
            if u < 0:
                break
            old_u, old_v = match[u], match[v]
            tabu_until[u, old_u] = step + int(n * (0.5 + generator.random()))
            tabu_until[v, old_v] = step + int(n * (0.5 + generator.random()))
            match[u], match[v] = old_v, old_u
            current += largest
            for i in range(n):
                for j in range(i + 1, n):
                    if i in (u, v) or j in (u, v):
                        gain[i, j] = swap_gain(text, image, linear, match, i, j)
                    else:
                        left = text[i, u] - text[j, u] - text[i, v] + text[j, v]
                        right = (
                            image[match[j], old_v]
                            - image[match[i], old_v]
                            - image[match[j], old_u]
                            + image[match[i], old_u]
                        )
                        gain[i, j] += 2 * left * right
            reached = max(reached, current)
            if current > best_score:
                best_match, best_score = match.copy(), current
    return best_match


@njit(cache=True, nogil=True)
@no_type_check
def swap_gain(text, image, linear, match, i, j):
    """What the score gains if clusters i and j trade their partners."""
    a, b = match[i], match[j]
    total = 0.0
    for k in range(text.shape[0]):
        if k != i and k != j:
            total += (text[i, k] - text[j, k]) * (image[b, match[k]] - image[a, match[k]])
    return 2 * total + linear[i, b] + linear[j, a] - linear[i, a] - linear[j, b]
