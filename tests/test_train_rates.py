import json
from math import log

import pytest
from test_train_loop import CONFIG, captions, changed

from bridge.errors import InputError
from train import rates
from train.rates import search


def plant(monkeypatch, loss):
    """Runs whose loss is known; returns the rates that were tried."""
    tried = []

    def trial(config, captions, rate, *_others):
        tried.append(rate)
        return loss(rate)

    monkeypatch.setattr(rates, "trial", trial)
    return tried


def test_the_best_rate_inside_the_grid_is_taken(tmp_path, monkeypatch):
    tried = plant(monkeypatch, lambda rate: abs(rate - 1e-3))
    assert search(CONFIG, captions(), out=tmp_path) == 1e-3
    assert sorted(tried) == [0.000316, 0.001, 0.00316]


@pytest.mark.parametrize(("best", "count"), [(1e-1, 7), (1e-5, 7), (1e-9, 9)])
def test_a_best_rate_on_the_edge_widens_the_grid(tmp_path, monkeypatch, best, count):
    tried = plant(monkeypatch, lambda rate: abs(log(rate / best)))
    found = search(CONFIG, captions(), out=tmp_path)
    assert len(tried) == len(set(tried)) == count
    assert found == min(tried, key=lambda rate: abs(log(rate / best)))
    saved = json.loads((tmp_path / "rates.json").read_text())
    assert saved["chosen"] == found and len(saved["losses"]) == count


def test_rates_that_do_not_train_are_lost(tmp_path):
    config = changed(CONFIG, optim={"lr": 1e10, "batch": 16})
    with pytest.raises(InputError, match=r"no learning rate near optim\.lr = 1e\+10 trains"):
        search(config, captions(), out=tmp_path, steps=3)


def test_a_real_search_prefers_a_rate_that_learns(tmp_path):
    config = changed(CONFIG, optim={"lr": 3e-7, "batch": 16})
    notes = []
    found = search(config, captions(), out=tmp_path, steps=10, note=notes.append)
    assert found > 3e-6 and notes[0].startswith("lr 3e-07: loss ")
    before = (tmp_path / "rates.json").stat().st_mtime_ns
    assert search(config, captions(), out=tmp_path, steps=10) == found
    assert (tmp_path / "rates.json").stat().st_mtime_ns > before
