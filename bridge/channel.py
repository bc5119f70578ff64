"""What a bridge does to a caption's row: how mapped images lie around the texts they belong to.

A regressed row is no text row: it is shorter, has lost the directions that images do not tell, and
errs in others. A decoder that has only ever read text rows reads it badly. Here the way from a
text row to the mapped row of its image is a linear Gaussian channel, so that a decoder can be
trained on text alone with rows such as the bridge will hand to it.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

FULL_FROM = 4  # held-out pairs a dimension from which whole matrices can be estimated


@dataclass(frozen=True, eq=False)
class Channel:
    """mapped ~ text @ gain + normal @ noise, for rows that have entered the text space."""

    gain: Float[Tensor, "d d"]
    noise: Float[Tensor, "d d"]

    def through(
        self, rows: Float[Tensor, "n d"], generator: torch.Generator
    ) -> Float[Tensor, "n d"]:
        """Text rows as a mapped image would come, with fresh noise."""
        drawn = torch.randn(rows.shape, generator=generator, device=rows.device)
        return rows @ self.gain + drawn @ self.noise


def fitted_channel(
    n: int,
    text_text: Float[Tensor, "d d"],
    mapped_text: Float[Tensor, "d d"],
    mapped_mapped: Float[Tensor, "d d"],
) -> Channel:
    """The channel that gives these second moments, summed over n held-out pairs.

    The gain is the regression of mapped rows on text rows, the noise has the covariance of what is
    left. With fewer than `FULL_FROM` pairs a dimension one number stands for each: the mean share
    that is kept, and noise shaped like the text rows.
    """
    width = len(text_text)
    if n < FULL_FROM * width:
        kept = mapped_text.trace() / text_text.trace()
        left = (mapped_mapped.trace() / text_text.trace() - kept**2).clamp(min=0)
        gain, covariance = kept * torch.eye(width, dtype=text_text.dtype), left * text_text / n
    else:
        floor = 1e-6 * text_text.trace() / width * torch.eye(width, dtype=text_text.dtype)
        gain = torch.linalg.solve(text_text + floor, mapped_text.T)
        covariance = (mapped_mapped - mapped_text @ gain) / n
    return Channel(gain.float(), factor(covariance).float())


def cosine_channel(covariance: Float[Tensor, "d d"], cosine: float) -> Channel:
    """Noise shaped like the rows themselves, of such a size that a row keeps this cosine.

    For bridges without pairs, of whose errors nothing is known: a wrongly mapped image lies where
    another image's texts lie, not in a random direction.
    """
    size = (1 / cosine**2 - 1) ** 0.5
    return Channel(torch.eye(len(covariance)), (size * factor(covariance.double())).float())


def factor(covariance: Float[Tensor, "d d"]) -> Float[Tensor, "d d"]:
    """A matrix whose product with standard normal rows has this covariance."""
    values, vectors = torch.linalg.eigh((covariance + covariance.T) / 2)
    return values.clamp(min=0).sqrt()[:, None] * vectors.T
