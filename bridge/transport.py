"""Soft matchings of two tables of rows (entropic transport), and maps refined by them.

Rows are centred and of unit length, in principal components. The plan of a matching sums to 1 and
has uniform margins: every row is matched as much as any other, so that hubs cannot draw everything.
"""

import numpy as np
from jaxtyping import Float

Rows = Float[np.ndarray, "_ _"]  # items x components
Map = Float[np.ndarray, "_ _"]  # text components x image components

MOMENTUM = 0.7  # share of the running cross-covariance kept from one step to the next
HUBNESS = 10  # neighbours in the CSLS criterion
MATCHED_SHARPNESS = 8.0  # of the matchings by which maps are compared


def unit(rows: Rows) -> Rows:
    """Rows of length 1; a row of zeros stays zero."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def rotation_of(cross: Map) -> Map:
    """The (semi-)orthogonal polar factor: the rotation of largest inner product with `cross`."""
    left, _, right = np.linalg.svd(cross, full_matrices=False)
    return (left @ right).astype(np.float32)


def soft_matching(
    scores: Float[np.ndarray, "n m"], sharpness: float, iterations: int = 10
) -> Float[np.ndarray, "n m"]:
    """The entropic transport plan between uniform margins (Cuturi 2013).

    Scores are divided by their standard deviation first, so that one `sharpness` (the inverse
    temperature) means the same for any number of rows and components.
    """
    scores = scores - scores.mean()
    scores *= sharpness / max(scores.std(), 1e-12)
    kernel = np.exp(scores - scores.max(1, keepdims=True)).astype(np.float32)
    n, m = kernel.shape
    column = np.full(m, 1 / m, np.float32)
    for _ in range(iterations):
        row = 1 / np.maximum(n * (kernel @ column), 1e-30)
        column = 1 / np.maximum(m * (row @ kernel), 1e-30)
    return kernel * row[:, None] * column[None]


def refine(
    text: Float[np.ndarray, "n r"],
    image: Float[np.ndarray, "m s"],
    start: Map,
    *,
    steps: int,
    batch: int,
    sharpness: tuple[float, float],
    generator: np.random.Generator,
    prior: Map | None = None,
    prior_weight: tuple[float, float] = (0.0, 0.0),
) -> Map:
    """Alternate soft matching and rotation from `start`, on random rows, from soft to sharp.

    Each step matches `batch` rows a side under the current rotation, adds the cross-covariance of
    the matched rows to a running one, and takes the rotation nearest to it. A `prior` (of any
    scale) is added to the running cross-covariance, with a weight that moves from the first to the
    second of `prior_weight`. Wasserstein Procrustes (Grave et al. 2019) with entropic matchings.
    """
    rotation, running = rotation_of(start), None
    for step in range(steps):
        done = step / max(1, steps - 1)
        some_text = text[generator.permutation(len(text))[:batch]]
        some_image = image[generator.permutation(len(image))[:batch]]
        now = sharpness[0] * (sharpness[1] / sharpness[0]) ** done
        plan = soft_matching((some_text @ rotation) @ some_image.T, now)
        cross = normed(some_text.T @ (plan @ some_image))
        running = cross if running is None else MOMENTUM * running + (1 - MOMENTUM) * cross
        target = normed(running)
        if prior is not None:
            weight = prior_weight[0] + (prior_weight[1] - prior_weight[0]) * done
            target = target + weight * normed(prior)
        rotation = rotation_of(target)
    return rotation


def normed(cross: Map) -> Map:
    return cross / max(float(np.linalg.norm(cross)), 1e-30)


def matched_score(
    text: Float[np.ndarray, "n r"],
    image: Float[np.ndarray, "m s"],
    mapping: Map,
    sharpness: float = MATCHED_SHARPNESS,
) -> float:
    """Mean standardised score of softly matched rows: how well a map brings two clouds together.

    About 0 for rows that match nothing; comparable only between maps of the same rows.
    """
    scores = unit(text @ mapping) @ image.T
    return plan_score(scores, soft_matching(scores, sharpness))


def plan_score(scores: Float[np.ndarray, "n m"], plan: Float[np.ndarray, "n m"]) -> float:
    """Mean of the scores under a plan, in standard deviations above their mean."""
    return float((plan * (scores - scores.mean())).sum() / scores.std())


def csls(text: Float[np.ndarray, "n r"], image: Float[np.ndarray, "m s"], mapping: Map) -> float:
    """Mean over texts of the largest CSLS to an image (Conneau et al. 2018), without any pair."""
    scores = unit(text @ mapping) @ image.T
    k = min(HUBNESS, *scores.shape)
    of_text = np.partition(scores, -k, axis=1)[:, -k:].mean(1)
    of_image = np.partition(scores, -k, axis=0)[-k:].mean(0)
    return float((2 * scores - of_text[:, None] - of_image[None]).max(1).mean())
