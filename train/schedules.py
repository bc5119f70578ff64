"""The learning rate as a function of the step."""

import math


def warmup_cosine(step: int, steps: int, warmup: float) -> float:
    """Share of the full rate at a step from 0: linear warm-up over a share of steps, cosine to 0.

    The first step is above 0 and the last one is too, so that no step is without effect.
    """
    rising = max(1, round(warmup * steps))
    if step < rising:
        return (step + 1) / rising
    return 0.5 + 0.5 * math.cos(math.pi * (step - rising) / max(1, steps - rising))
