"""Reach: rows of the fitted kind are near, rows of another kind are far, few rows tell nothing."""

import pytest
import torch
from conftest import embeddings

from bridge import maps
from bridge.fitting import fit
from bridge.reach import OUTSIDE, fitted_reach


def kind(n: int, seed: int, width: int = 40, rank: int = 6) -> torch.Tensor:
    """Rows that lie near a subspace of their own."""
    basis = torch.randn(rank, width, generator=torch.Generator().manual_seed(seed))
    draw = torch.Generator().manual_seed(seed + 1)
    near = torch.randn(n, rank, generator=draw) @ basis
    return near + 0.5 * torch.randn(n, width, generator=draw)


def test_another_kind_of_row_is_far():
    rows = kind(4000, 0)
    reach = fitted_reach(rows[:200])
    far_of_same = (reach.kept(rows[200:]) < reach.least).float().mean()
    assert OUTSIDE / 3 < far_of_same < 5 * OUTSIDE
    assert (reach.kept(kind(500, 7)) < reach.least).float().mean() > 0.9


def test_the_share_is_that_of_the_projection():
    rows = kind(200, 0)
    reach = fitted_reach(rows)
    assert torch.allclose(
        reach.directions.T @ reach.directions, torch.eye(reach.directions.shape[1]), atol=1e-5
    )
    onto = rows @ reach.directions @ reach.directions.T
    assert torch.allclose(reach.kept(rows), onto.norm(dim=1) / rows.norm(dim=1), atol=1e-5)


@pytest.mark.parametrize("rows", [kind(90, 0), torch.randn(400, 4)])
def test_too_few_rows_or_directions_tell_nothing(rows):
    assert fitted_reach(rows) is None


def test_a_bridge_keeps_it(tmp_path):
    text = torch.randn(200, 8, generator=torch.Generator().manual_seed(0))
    image = kind(200, 0) + 3
    fitted = fit(embeddings(text), embeddings(image))
    fitted.save(tmp_path / "bridge")
    again = maps.load(tmp_path / "bridge")
    assert again.reach.least == fitted.reach.least > 0.5
    assert torch.equal(again.reach.directions, fitted.reach.directions)
