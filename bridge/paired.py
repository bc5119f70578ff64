"""Fitters that are given pairs: least squares, ridge, rotation, all from the same moments.

Rows have entered their spaces (centred, perhaps of unit length). The second moments say all that
these fitters need, so pairs are read once, in blocks, and memory grows with the widths only.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add

import torch
from jaxtyping import Float
from torch import Tensor

# Penalties per row and dimension, in units of the mean eigenvalue of the second moments. 1e-6 is
# least squares with its null space removed, 1e4 all but the plain cross-covariance.
PENALTIES = torch.logspace(-6, 4, 41, dtype=torch.float64)


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over pairs, in float64: what is left of the rows."""

    n: int
    text: Float[Tensor, " d_text"]
    image: Float[Tensor, " d_image"]
    text_text: Float[Tensor, "d_text d_text"]
    text_image: Float[Tensor, "d_text d_image"]
    image_image: Float[Tensor, "d_image d_image"]

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(*(getattr(self, key) + getattr(other, key) for key in vars(self)))

    def __sub__(self, other: "Moments") -> "Moments":
        return Moments(*(getattr(self, key) - getattr(other, key) for key in vars(self)))

    def reversed(self) -> "Moments":
        """The same pairs with image in the place of text."""
        return Moments(
            self.n, self.image, self.text, self.image_image, self.text_image.T, self.text_text
        )

    def about_means_of(self, other: "Moments") -> "Moments":
        """The moments that these pairs would have if `other`'s means were subtracted first."""
        text, image = other.text / other.n, other.image / other.n

        def shifted(second, left, left_mean, right, right_mean):
            cross = torch.outer(left, right_mean) + torch.outer(left_mean, right)
            return second - cross + self.n * torch.outer(left_mean, right_mean)

        return Moments(
            self.n,
            self.text - self.n * text,
            self.image - self.n * image,
            shifted(self.text_text, self.text, text, self.text, text),
            shifted(self.text_image, self.text, text, self.image, image),
            shifted(self.image_image, self.image, image, self.image, image),
        )


def moments(text: Float[Tensor, "n d_text"], image: Float[Tensor, "n d_image"]) -> Moments:
    """Moments of one block of pairs; row i of both tables is one pair."""
    text, image = text.double(), image.double()
    return Moments(
        len(text), text.sum(0), image.sum(0), text.T @ text, text.T @ image, image.T @ image
    )


def total(parts: Iterable[Moments]) -> Moments:
    """Moments of all parts together."""
    return reduce(add, parts)


class RidgePath:
    """Ridge maps for every penalty from one eigendecomposition.

    The map minimises sum |text @ weight - image|^2 + penalty * mean eigenvalue * |weight|^2, with
    the penalty in units of the mean eigenvalue of text_text, so that one value means the same for
    any number and any scale of rows. Eigenvalues at rounding level count as zero.
    """

    def __init__(self, pairs: Moments):
        self.values, self.vectors = torch.linalg.eigh(pairs.text_text)
        self.cross = self.vectors.T @ pairs.text_image
        self.floor = self.values.max() * len(self.values) * torch.finfo(torch.float64).eps

    def shrunk(self, penalties: Float[Tensor, " p"]) -> Float[Tensor, "p d_text"]:
        """1 / (eigenvalue + penalty), zero in the null space."""
        inverse = 1 / (self.values + penalties[:, None] * self.values.mean())
        return torch.where(self.values > self.floor, inverse, 0.0)

    def weight(self, penalty: float) -> Float[Tensor, "d_text d_image"]:
        shrunk = self.shrunk(torch.tensor([penalty], dtype=torch.float64))[0]
        return self.vectors @ (shrunk[:, None] * self.cross)

    def held_out_r2(self, held_out: Moments) -> Float[Tensor, " p"]:
        """R^2 on other pairs for each of PENALTIES, from their moments alone.

        With W = vectors diag(s) cross: explained = 2 tr(W' text_image) - tr(W' text_text W), a
        linear and a quadratic form in s.
        """
        shrunk = self.shrunk(PENALTIES)
        linear = (self.cross * (self.vectors.T @ held_out.text_image)).sum(1)
        gram = self.vectors.T @ held_out.text_text @ self.vectors
        quadratic = gram * (self.cross @ self.cross.T)
        explained = 2 * shrunk @ linear - ((shrunk @ quadratic) * shrunk).sum(1)
        return explained / held_out.image_image.trace()


def ols(pairs: Moments) -> Float[Tensor, "d_text d_image"]:
    """Least squares; of the many solutions for fewer pairs than dimensions, the shortest."""
    return RidgePath(pairs).weight(0.0)


def ridge(pairs: Moments, penalty: float) -> Float[Tensor, "d_text d_image"]:
    """Ridge regression (Hoerl & Kennard 1970); the unit of `penalty` is that of RidgePath."""
    return RidgePath(pairs).weight(penalty)


def rotation(pairs: Moments) -> Float[Tensor, "d_text d_image"]:
    """The orthogonal map of least squared error, semi-orthogonal where the widths differ.

    Schoenemann, A generalized solution of the orthogonal Procrustes problem, 1966.
    """
    left, _, right = torch.linalg.svd(pairs.text_image, full_matrices=False)
    return left @ right


def choose_penalty(folds: Iterable[Moments], pairs: Moments) -> tuple[float, float]:
    """The penalty of best mean R^2 when each fold is held out in turn, and that R^2.

    `pairs` are the moments of all pairs, of which each fold is a part. Means are those of the
    pairs that are not held out: the mean of all would tell a little of the held-out pairs, and
    with a handful of pairs a little is everything.
    """
    scores = []
    for fold in folds:
        rest = pairs - fold
        scores.append(RidgePath(rest.about_means_of(rest)).held_out_r2(fold.about_means_of(rest)))
    r2 = torch.stack(scores).mean(0)
    best = len(r2) - 1 - int(r2.flip(0).argmax())  # of equal ones the strongest
    return float(PENALTIES[best]), float(r2[best])
