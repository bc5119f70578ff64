import math

import numpy as np
import pytest
import torch
from scipy.integrate import quad

from train.config import Objective, SigReg, VicReg
from train.objectives import (
    covariance,
    covariance_matrix,
    directions,
    effective_rank,
    epps_pulley,
    invariance,
    losses,
    spread,
    variance,
)

CPU = torch.device("cpu")


def table(n: int, d: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed))


def test_invariance_by_hand():
    first, second = torch.tensor([[1.0, 2.0], [0.0, 0.0]]), torch.tensor([[1.0, 0.0], [2.0, 0.0]])
    assert float(invariance(first, second)) == (0 + 4 + 4 + 0) / 4


def test_variance_is_a_hinge_at_one():
    assert float(variance(covariance_matrix(3 * table(2000, 4)))) == 0.0
    assert float(variance(covariance_matrix(torch.ones(50, 4)))) == pytest.approx(0.99, abs=1e-6)
    half = 0.5 * table(20_000, 4)
    assert float(variance(covariance_matrix(half))) == pytest.approx(0.5, abs=0.01)


def test_covariance_is_numpys():
    rows = table(40, 5) @ table(5, 5, 1)
    matrix = np.cov(rows.numpy().T)
    assert np.allclose(covariance_matrix(rows), matrix, rtol=1e-4)
    expected = (matrix**2).sum() - (np.diag(matrix) ** 2).sum()
    assert float(covariance(covariance_matrix(rows))) == pytest.approx(expected / 5, rel=1e-4)
    assert float(covariance(covariance_matrix(table(100_000, 5)))) < 1e-3


def integral(values: np.ndarray) -> float:
    """n times the weighted distance of characteristic functions, by adaptive quadrature."""

    def integrand(t: float) -> float:
        found = np.exp(1j * t * values).mean()
        return abs(found - math.exp(-t * t / 2)) ** 2 * math.exp(-t * t / 2)

    return len(values) * quad(integrand, -3, 3, limit=200)[0]


@pytest.mark.parametrize("kind", ["normal", "wide", "shifted", "two points", "collapsed"])
def test_epps_pulley_is_the_integral(kind):
    rows = {
        "normal": table(200, 3),
        "wide": 2 * table(200, 3),
        "shifted": table(200, 3) + 1,
        "two points": table(200, 3).sign(),
        "collapsed": torch.zeros(200, 3),
    }[kind]
    sliced = directions(3, 5, seed=1, device=CPU)
    expected = np.mean([integral((rows @ sliced[:, k]).double().numpy()) for k in range(5)])
    assert float(epps_pulley(rows, sliced)) == pytest.approx(expected, rel=0.01, abs=0.01)


def test_epps_pulley_is_another_implementations():
    oracle = pytest.importorskip("jepa_science")
    rows, sliced = table(64, 6) * 1.5 + 0.2, directions(6, 7, seed=3, device=CPU)
    # a slice of a table of one column is that column, whatever direction is drawn
    each = [oracle.sigreg_loss(rows @ sliced[:, k : k + 1], num_slices=1) for k in range(7)]
    assert float(epps_pulley(rows, sliced)) == pytest.approx(
        float(torch.stack(each).mean()), rel=1e-5
    )


def test_epps_pulley_asks_for_isotropy_whatever_n():
    sliced = directions(8, 64, seed=0, device=CPU)
    for n in (200, 5000):
        good = float(epps_pulley(table(n, 8), sliced))
        flat = float(epps_pulley(table(n, 8) * torch.tensor([2.0] * 4 + [0.1] * 4), sliced))
        assert good < 3 and flat > 5 * good
    rows = torch.full((100, 8), 0.01).requires_grad_()
    epps_pulley(rows, sliced).backward()
    assert torch.isfinite(rows.grad).all() and rows.grad.abs().sum() > 0


def test_directions_are_unit_and_a_function_of_the_seed():
    first = directions(5, 1000, seed=4, device=CPU)
    assert torch.allclose(first.norm(dim=0), torch.ones(1000))
    assert torch.equal(first, directions(5, 1000, seed=4, device=CPU))
    assert not torch.equal(first, directions(5, 1000, seed=5, device=CPU))
    assert (first.mean(1).abs() < 0.1).all()


def test_losses_are_weighted_sums_of_their_terms():
    projected, entropy = table(20, 4), torch.tensor(3.0)
    predicted = projected[:10]

    def terms(**settings):
        objective = Objective(
            vicreg=VicReg(invariance=2.0, variance=3.0, covariance=5.0),
            sigreg=SigReg(weight=0.2, slices=8),
            **settings,
        )
        return {k: float(v) for k, v in losses(objective, projected, predicted, entropy, 7).items()}

    views = [covariance_matrix(view) for view in projected.chunk(2)]
    apart = sum(float(covariance(view)) for view in views) / 2
    wide = sum(float(variance(view)) for view in views) / 2
    agree = float(invariance(*projected.chunk(2)))
    assert terms()["loss"] == pytest.approx(2 * agree + 3 * wide + 5 * apart, rel=1e-5)
    normal = sum(float(epps_pulley(v, directions(4, 8, 7, CPU))) for v in projected.chunk(2)) / 2
    assert terms(anticollapse="sigreg")["loss"] == pytest.approx(
        0.8 * agree + 0.2 * normal, rel=1e-5
    )
    assert terms(anticollapse="none")["loss"] == pytest.approx(agree, rel=1e-5)
    assert terms(kind="next-token") == {"loss": 3.0, "cross_entropy": 3.0}
    beside = terms(kind="next-token", beside_tokens=0.5)
    assert beside["loss"] == pytest.approx(3 + 0.5 * (3 * wide + 5 * apart), rel=1e-5)


def test_effective_rank_from_collapse_to_isotropy():
    line = torch.outer(table(50, 1)[:, 0], torch.ones(6))
    assert effective_rank(line) == pytest.approx(1, abs=1e-3)
    assert effective_rank(torch.ones(50, 6)) == pytest.approx(1, abs=1e-3)
    assert effective_rank(table(5000, 6)) == pytest.approx(6, abs=0.02)
    two = torch.cat([table(5000, 2), torch.zeros(5000, 4)], 1)
    assert effective_rank(two) == pytest.approx(2, abs=0.01)


def test_spread_is_a_share_of_the_size():
    assert spread(torch.ones(50, 6)) == 0
    assert spread(table(5000, 6)) == pytest.approx(1, abs=0.01)
    assert spread(table(5000, 6) + 3) == pytest.approx(10**-0.5, abs=0.01)
