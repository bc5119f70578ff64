"""The memory of captions: searched in blocks, with the result of a search in one."""

import pytest
import torch
from conftest import embeddings

from bridge import memory as memories
from bridge.captions import Caption
from bridge.errors import InputError
from bridge.geometry import unit
from bridge.memory import Memory, load_memory, remember


@pytest.fixture
def memory() -> Memory:
    rows = torch.randn(50, 6, generator=torch.Generator().manual_seed(0)) + 2
    return Memory(embeddings(rows), [f"caption {k}" for k in range(50)], rows.mean(0))


@pytest.fixture
def queries(memory) -> torch.Tensor:
    return memory.mean + torch.randn(7, 6, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("block", [7, 50, 1000])
def test_nearest_in_blocks_is_nearest(memory, queries, block, monkeypatch):
    monkeypatch.setattr(memories, "BLOCK", block)
    cosines = unit(queries - memory.mean) @ unit(memory.table.rows - memory.mean).T
    values, places = memory.nearest(queries, 9)
    expected = cosines.topk(9, dim=1)
    assert torch.equal(places, expected.indices)
    assert torch.allclose(values, expected.values)


@pytest.mark.parametrize("block", [7, 1000])
@pytest.mark.parametrize("temperature", [0.01, 0.3])
def test_projection_is_the_softmax_mixture(memory, queries, block, temperature, monkeypatch):
    monkeypatch.setattr(memories, "BLOCK", block)
    known = unit(memory.table.rows - memory.mean)
    centred = queries - memory.mean
    mixture = torch.softmax(unit(centred) @ known.T / temperature, dim=1) @ known
    expected = unit(mixture) * centred.norm(dim=1, keepdim=True) + memory.mean
    assert torch.allclose(memory.project(queries, temperature), expected, atol=1e-5)


def test_cold_projection_returns_the_nearest_caption(memory, queries):
    projected = memory.project(queries, 1e-4)
    assert torch.equal(memory.nearest(projected, 1)[1], memory.nearest(queries, 1)[1])


def test_a_memory_comes_back_from_its_folder(memory, tmp_path):
    lined = Memory(memory.table, ["two\nlines", "u\u2028u", *memory.texts[2:]], memory.mean)
    lined.save(tmp_path)
    again = load_memory(tmp_path, memory.mean)
    assert list(again.texts) == list(lined.texts)
    assert torch.equal(again.table.rows, memory.table.rows)


def test_remembering_needs_captions_with_rows(memory):
    known = Caption("i3", "three", "i3")
    assert remember(memory.table, [known], memory.mean).texts == ["three"]
    with pytest.raises(InputError, match="expected captions to remember, got none"):
        remember(memory.table, [], memory.mean)
    with pytest.raises(InputError, match=r"1 of 2 captions have no row .* first 'other'"):
        remember(memory.table, [known, Caption("x", "?", "other")], memory.mean)
    with pytest.raises(InputError, match="50 rows and 1 captions"):
        Memory(memory.table, ["one"], memory.mean)
