"""What a text JEPA is trained for: views that agree, embeddings that do not collapse.

All terms are over the batch of all processes, of which each holds an equal share of the rows.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from train.config import Objective
from train.ranks import mean_over_ranks, world

KNOTS, LIMIT = 17, 3.0  # of the Epps-Pulley integral over [0, 3]

Terms = dict[str, Float[Tensor, ""]]


def losses(
    settings: Objective,
    projected: Float[Tensor, "n p"],
    predicted: Float[Tensor, "m p"],
    cross_entropy: Float[Tensor, ""],
    seed: int,
) -> Terms:
    """The terms of an objective by name, and `loss`, their weighted sum.

    The first half of the rows are the first views of the images, the second half the second ones;
    `predicted` is what the first ones predict of the second. `seed` draws the slices of SIGReg:
    the same on every process, another at every step.
    """
    first, second = projected.chunk(2)
    if settings.kind == "next-token":
        if not settings.beside_tokens:
            return {"loss": cross_entropy, "cross_entropy": cross_entropy}
        terms, spread = anticollapse(settings, (first, second), seed)
        loss = cross_entropy + settings.beside_tokens * spread
        return {"loss": loss, "cross_entropy": cross_entropy, **terms}
    agree = mean_over_ranks(invariance(predicted, second))
    terms, spread = anticollapse(settings, (first, second), seed)
    weight = {
        "vicreg": settings.vicreg.invariance,
        "sigreg": 1 - settings.sigreg.weight,
        "none": 1.0,
    }[settings.anticollapse]
    return {"loss": weight * agree + spread, "invariance": agree, **terms}


def anticollapse(
    settings: Objective, views: Sequence[Float[Tensor, "n p"]], seed: int
) -> tuple[Terms, Float[Tensor, ""]]:
    """The terms that keep rows apart, averaged over views, and their weighted sum."""
    if settings.anticollapse == "vicreg":
        tables = [covariance_matrix(view) for view in views]
        terms = {
            "variance": sum(map(variance, tables)) / len(views),
            "covariance": sum(map(covariance, tables)) / len(views),
        }
        weights = settings.vicreg
        total = weights.variance * terms["variance"] + weights.covariance * terms["covariance"]
        return terms, total
    if settings.anticollapse == "sigreg":
        sliced = directions(views[0].shape[1], settings.sigreg.slices, seed, views[0].device)
        statistic = sum(epps_pulley(view, sliced) for view in views) / len(views)
        return {"sigreg": statistic}, settings.sigreg.weight * statistic
    return {}, views[0].new_zeros(())


def invariance(first: Float[Tensor, "n d"], second: Float[Tensor, "n d"]) -> Float[Tensor, ""]:
    """Mean squared difference of the two views."""
    return (first - second).square().mean()


def covariance_matrix(rows: Float[Tensor, "n d"]) -> Float[Tensor, "d d"]:
    centred = rows - mean_over_ranks(rows.mean(0))
    return mean_over_ranks(centred.T @ centred) * world() / (len(rows) * world() - 1)


def variance(matrix: Float[Tensor, "d d"]) -> Float[Tensor, ""]:
    """Mean over dimensions of how far the standard deviation is below 1.

    Bardes et al., VICReg, ICLR 2022, equation 1, from the covariance matrix.
    """
    return torch.relu(1 - (matrix.diagonal() + 1e-4).sqrt()).mean()


def covariance(matrix: Float[Tensor, "d d"]) -> Float[Tensor, ""]:
    """Sum of squared off-diagonal covariances over the number of dimensions.

    Bardes et al., VICReg, ICLR 2022, equation 3, from the covariance matrix.
    """
    return (matrix.square().sum() - matrix.diagonal().square().sum()) / len(matrix)


def directions(
    width: int, slices: int, seed: int, device: torch.device
) -> Float[Tensor, "width slices"]:
    """Random unit vectors, the same on every process.

    Drawn in float32 whatever the precision of training: in bfloat16 a vector can come out as zero,
    and dividing by its length as NaN.
    """
    generator = torch.Generator(device).manual_seed(seed)
    drawn = torch.randn(width, slices, generator=generator, device=device)
    return drawn / drawn.norm(dim=0).clamp(min=1e-6)


def epps_pulley(rows: Float[Tensor, "n d"], sliced: Float[Tensor, "d slices"]) -> Float[Tensor, ""]:
    """SIGReg: how far the rows are from an isotropic standard normal, seen along random slices.

    n times the integral over -3 <= t <= 3 of the squared distance of the slice's characteristic
    function from exp(-t^2 / 2), weighted by exp(-t^2 / 2), by the trapezoid rule; the mean over
    slices. About 1 for normal rows whatever n, and growing with n for others.

    Balestriero & LeCun, LeJEPA, arXiv 2511.08544; Epps & Pulley, A test for normality based on the
    empirical characteristic function, Biometrika 1983.
    """
    t = torch.linspace(0, LIMIT, KNOTS, device=rows.device)
    normal = torch.exp(-t.square() / 2)
    weight = 2 * torch.full_like(t, LIMIT / (KNOTS - 1))  # twice: the integrand is even
    weight[[0, -1]] /= 2
    angles = (rows.float() @ sliced)[:, :, None] * t
    cosine, sine = mean_over_ranks(torch.stack([angles.cos().mean(0), angles.sin().mean(0)]))
    distance = (cosine - normal).square() + sine.square()
    return len(rows) * world() * (distance @ (weight * normal)).mean()


def effective_rank(rows: Float[Tensor, "n d"]) -> float:
    """exp of the entropy of the covariance's eigenvalue shares: 1 (collapsed) to d (isotropic).

    Roy & Vetterli, The effective rank, EUSIPCO 2007.
    """
    values = torch.linalg.svdvals((rows - rows.mean(0)).double()).square()
    shares = (values / values.sum().clamp(min=1e-30)).clamp(min=1e-12)
    return float((-(shares * shares.log()).sum()).exp())


def spread(rows: Float[Tensor, "n d"]) -> float:
    """Standard deviation over rows as a share of the rows' size: 0 where all rows are the same."""
    return float(rows.var(0).mean().sqrt() / rows.square().mean().sqrt())
