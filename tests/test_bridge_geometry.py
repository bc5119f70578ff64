import pytest
import torch

from bridge.geometry import center, cosine_blocks, hubness, nearest, unit


def rows(n: int, d: int, seed: int) -> torch.Tensor:
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("block", [1, 3, 11, 64])
def test_nearest_is_the_naive_double_loop(block):
    query, gallery = rows(11, 5, 0), rows(17, 5, 1)
    values, indices = nearest(query, gallery, 4, block=block)
    for i in range(11):
        cosines = [float(torch.cosine_similarity(query[i], row, dim=0)) for row in gallery]
        order = sorted(range(17), key=lambda j: -cosines[j])[:4]
        assert indices[i].tolist() == order
        assert values[i].tolist() == pytest.approx([cosines[j] for j in order], abs=1e-6)


def test_opposed_rows_are_not_their_own_neighbours():
    opposed = torch.tensor([[1.0, 0.0], [-1.0, 0.01], [0.0, -1.0]])
    assert all(
        i not in row for i, row in enumerate(nearest(opposed, opposed, 2, exclude_self=True)[1])
    )


def test_hubness_by_hand():
    query = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    gallery = torch.tensor([[2.0, 0.0], [1.0, 1.0], [-1.0, 0.0]])
    assert hubness(query, gallery, k=1).tolist() == pytest.approx([1.0, 0.5**0.5, 0.0], abs=1e-6)
    assert hubness(query, gallery, k=2).tolist() == pytest.approx([0.5, 0.5**0.5, -0.5], abs=1e-6)


def test_center_and_unit():
    table = rows(50, 4, 2) + 100
    assert center(table).mean(0).abs().max() < 1e-4
    assert torch.equal(center(table, table[0])[0], torch.zeros(4))
    assert unit(table).norm(dim=1) == pytest.approx(1.0, abs=1e-6)
    assert torch.equal(unit(torch.zeros(1, 3)), torch.zeros(1, 3))


def test_blocks_shrink_as_the_gallery_grows(monkeypatch):
    monkeypatch.setattr("bridge.geometry.CELLS", 40)
    assert [len(block) for _, block in cosine_blocks(rows(7, 2, 0), rows(20, 2, 1))] == [2, 2, 2, 1]
