"""What a text JEPA is trained for: views that agree, embeddings that do not collapse."""

import torch
from jaxtyping import Float
from torch import Tensor


def invariance(first: Float[Tensor, "n d"], second: Float[Tensor, "n d"]) -> Float[Tensor, ""]:
    """Mean squared difference of the two views."""
    return (first - second).square().mean()


def variance(rows: Float[Tensor, "n d"]) -> Float[Tensor, ""]:
    """Mean over dimensions of how far the standard deviation is below 1.

    Bardes et al., VICReg, ICLR 2022, equation 1.
    """
    return torch.relu(1 - (rows.var(0) + 1e-4).sqrt()).mean()


def covariance(rows: Float[Tensor, "n d"]) -> Float[Tensor, ""]:
    """Sum of squared off-diagonal covariances over the number of dimensions.

    Bardes et al., VICReg, ICLR 2022, equation 3.
    """
    centred = rows - rows.mean(0)
    matrix = centred.T @ centred / (len(rows) - 1)
    return (matrix.square().sum() - matrix.diagonal().square().sum()) / rows.shape[1]


def effective_rank(rows: Float[Tensor, "n d"]) -> float:
    """exp of the entropy of the covariance's eigenvalue shares: 1 (collapsed) to d (isotropic).

    Roy & Vetterli, The effective rank, EUSIPCO 2007.
    """
    values = torch.linalg.svdvals((rows - rows.mean(0)).double()).square()
    shares = (values / values.sum()).clamp(min=1e-12)
    return float((-(shares * shares.log()).sum()).exp())
