import numpy as np
import pytest
import torch

from train.objectives import covariance, effective_rank, invariance, variance


def table(n: int, d: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed))


def test_invariance_by_hand():
    first, second = torch.tensor([[1.0, 2.0], [0.0, 0.0]]), torch.tensor([[1.0, 0.0], [2.0, 0.0]])
    assert float(invariance(first, second)) == (0 + 4 + 4 + 0) / 4


def test_variance_is_a_hinge_at_one():
    assert float(variance(3 * table(2000, 4))) == 0.0
    assert float(variance(torch.ones(50, 4))) == pytest.approx(1 - 0.01, abs=1e-6)
    half = 0.5 * table(20_000, 4)
    assert float(variance(half)) == pytest.approx(0.5, abs=0.01)


def test_covariance_is_numpys():
    rows = table(40, 5) @ table(5, 5, 1)
    matrix = np.cov(rows.numpy().T)
    expected = (matrix**2).sum() - (np.diag(matrix) ** 2).sum()
    assert float(covariance(rows)) == pytest.approx(expected / 5, rel=1e-4)
    assert float(covariance(table(100_000, 5))) < 1e-3


def test_effective_rank_from_collapse_to_isotropy():
    assert effective_rank(torch.outer(table(50, 1)[:, 0], torch.ones(6))) == pytest.approx(1, abs=1e-3)
    assert effective_rank(table(5000, 6)) == pytest.approx(6, abs=0.02)
    two = torch.cat([table(5000, 2), torch.zeros(5000, 4)], 1)
    assert effective_rank(two) == pytest.approx(2, abs=0.01)
