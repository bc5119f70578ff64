"""Two spaces with a known relation: clustered latents seen through two noisy, rotated windows.

300 clusters in 12 groups, of unequal weights and shapes, in 48 dimensions. Each side moves the
cluster centres and every item on its own (mismatch, noise), adds 32 dimensions that the other side
does not have, and turns all of it into d dimensions by a rotation of its own. Levels 1 to 4 were
tuned to a mutual 10-nearest-neighbour overlap of .63, .40, .33 and .29 at 1000 items.
"""

from dataclasses import dataclass

import numpy as np

LATENT, NUISANCE, CLUSTERS, GROUPS = 48, 32, 300, 12
LEVELS = {1: (0.19, 0.1), 2: (0.4, 0.28), 3: (0.5, 0.45), 4: (0.6, 0.66)}  # noise, mismatch


@dataclass(frozen=True, eq=False)
class Planted:
    """Unpaired rows of both sides, and 1000 paired test rows with a row a class on the text side.

    Row i of `test_text` and `test_image` is one item of class `labels[i]`; `classes` are texts.
    """

    text: np.ndarray
    image: np.ndarray
    test_text: np.ndarray
    test_image: np.ndarray
    labels: np.ndarray
    classes: np.ndarray
    paired_text: np.ndarray
    paired_image: np.ndarray


def planted(level: int, n: int, d: int, seed: int, tests: int = 1000) -> Planted:
    """A problem of `n` unpaired rows a side in `d` >= 48 dimensions."""
    noise, mismatch = LEVELS[level]
    draw = np.random.default_rng(seed)
    spectrum = np.arange(1, LATENT + 1) ** -0.5
    groups = draw.standard_normal((GROUPS, LATENT))
    centres = (
        groups[draw.integers(GROUPS, size=CLUSTERS)]
        + 0.8 * draw.standard_normal((CLUSTERS, LATENT))
    ) * spectrum
    shapes = 0.45 * np.exp(0.5 * draw.standard_normal((CLUSTERS, LATENT))) * spectrum
    weights = np.arange(1, CLUSTERS + 1) ** -0.5
    weights /= weights.sum()
    scale = centres.std()

    def side():
        own_centres = (
            centres
            + mismatch * scale * draw.standard_normal(centres.shape) * spectrum / spectrum.mean()
        )
        nuisance = min(NUISANCE, max(0, d - LATENT))
        turn = np.linalg.qr(draw.standard_normal((d, d)))[0][: LATENT + nuisance]
        offset = draw.standard_normal(d)

        def see(labels, within):
            latent = own_centres[labels] + within
            latent = (
                latent
                + noise * scale * draw.standard_normal(latent.shape) * spectrum / spectrum.mean()
            )
            extra = 0.5 * scale * draw.standard_normal((len(labels), nuisance))
            rows = np.concatenate([latent, extra], 1) @ turn
            return (rows + 0.02 * scale * draw.standard_normal(rows.shape) + offset).astype(
                np.float32
            )

        return see, (own_centres @ turn[:LATENT] + offset).astype(np.float32)

    (see_text, classes), (see_image, _) = side(), side()

    def items(count):
        labels = draw.choice(CLUSTERS, count, p=weights)
        return labels, shapes[labels] * draw.standard_normal((count, LATENT))

    both, test = items(n), items(tests)
    return Planted(
        see_text(*items(n)),
        see_image(*items(n)),
        see_text(*test),
        see_image(*test),
        test[0],
        classes,
        see_text(*both),
        see_image(*both),
    )


def class_accuracy(to_image, problem: Planted, k: int = 1) -> float:
    """Share of test images whose class is among the k nearest classes mapped by `to_image`."""

    def centred(rows, mean):
        rows = rows - mean
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    mapped = to_image(problem.classes)
    mean = problem.image.mean(0)
    scores = centred(problem.test_image, mean) @ centred(mapped, mean).T
    best = np.argsort(-scores, axis=1)[:, :k]
    return float((best == problem.labels[:, None]).any(1).mean())
