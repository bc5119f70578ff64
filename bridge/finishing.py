"""The last step of a fit without pairs: more components, and a linear map if it is as good."""

from collections.abc import Sequence

import numpy as np
import torch

from bridge import paired
from bridge.consensus import FULL_SAY
from bridge.sides import WIDE, Side, hold_out
from bridge.transport import Map, Rows, csls, refine, soft_matching, unit

SOFT_ROWS = 4000  # of a side, in the plan that the linear map is fitted on
SOFT_SHARPNESS = 6.0
SOFT_PENALTY = 0.3
KNOWN_SHARE = 0.2  # of the weight in the linear map that known pairs have together


def finish(sides: Sequence[Side], rotation: Map, linear: bool, seed: int) -> tuple[Map, Map, bool]:
    """Maps in more components, and whether the linear ones were kept.

    The rotation is refined in all components, held to the known pairs, or where there are none, to
    itself ever less. Then each side is regressed on its soft matches, known pairs counting as
    KNOWN_SHARE of all; that map is kept if held-out rows are matched as well by it.
    """
    generator = np.random.default_rng((seed, 10))
    rows = [side.components(WIDE) for side in sides]
    known = [side.components(WIDE, known=True) for side in sides]
    (held_text, text), (held_image, image) = map(hold_out, rows)
    start = 1e-4 * generator.standard_normal((text.shape[1], image.shape[1])).astype(np.float32)
    start[: rotation.shape[0], : rotation.shape[1]] += rotation
    # Where there are pairs, what the search found would only hold the map back.
    count, pairs = len(known[0]), known[0].T @ known[1]
    say = min(1.0, count / FULL_SAY)
    wide = refine(
        text,
        image,
        start,
        steps=60,
        batch=1200,
        sharpness=(3.0, 8.0),
        generator=generator,
        prior=pairs if count else start,
        prior_weight=(say, say) if count else (0.5, 0.1),
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
