"""The experiment behind the verdict's levels: its counts by hand, its controls, its search."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks import verdict
from benchmarks.calibration import of_gaussians, of_unrelated
from benchmarks.verdict import best_levels, plan, rates, table_of
from bridge.fitting import fit
from bridge.verdict import RELIABLE


def row(share: float, family: str = "planted", **changed: float) -> dict:
    signs = {"split_half": 0.95, "lead": 0.3, "held_margin": 0.2, "csls_margin": 0.05}
    others = {"structure_text": 0.2, "structure_image": 0.2, "cycle": 0.1}
    return {"family": family, "share": share, "signs": signs | others | changed}


def test_rates_by_hand():
    made = [
        row(0.9),
        row(0.8, lead=0.0),
        row(0.6),  # neither wrong nor right
        row(0.1),
        row(0.2, cycle=0.9),
        row(0.3, structure_text=0.0),
    ]
    assert rates(made, RELIABLE) == (1, 3, 1, 2)
    assert rates(made, RELIABLE | {"lead": -1.0}) == (1, 3, 2, 2)


def test_the_levels_found_part_what_can_be_parted():
    draw = np.random.default_rng(0)
    right = [row(0.9, split_half=0.8 + 0.1 * draw.random()) for _ in range(30)]
    wrong = [row(0.1, split_half=0.5 + 0.1 * draw.random()) for _ in range(30)]
    assert rates(right + wrong, RELIABLE | {"split_half": 0.4}) == (30, 30, 30, 30)
    found = best_levels(right + wrong)
    assert rates(right + wrong, found) == (0, 30, 30, 30)
    assert best_levels(wrong) == RELIABLE  # nothing to learn from


def test_every_problem_once_and_some_of_each_family_first():
    names = plan()
    assert len(names) == len(set(names)) == 200
    assert {name.split("/")[0] for name in names[:9]} == set(verdict.FAMILIES)


@pytest.mark.parametrize(("make", "best"), [(of_gaussians, 0.99), (of_unrelated, 0.0)])
def test_controls_have_the_truth_that_is_said_of_them(make, best):
    problem = make(Path("nowhere"), 0)
    assert not {*problem.text.image_ids} & {*problem.image.image_ids}
    ceiling = fit(*problem.paired, method="rotation")
    assert verdict.score_of(problem.measure(ceiling)) >= best


def test_a_table_counts_verdicts_by_family():
    shown = table_of([row(0.9), row(0.7, lead=-1.0), row(0.1, "unrelated", held_margin=0.0)])
    assert "| planted | 2 | 0.70, 0.80, 0.90 | 1 | 1 | 0 |" in shown
    assert verdict.say_coarse([row(0.9), row(0.1, held_margin=-1.0), row(0.0)]) == (
        "failed on 1 of 2 maps below 0.15, and on 0 of 1 that reach 0.4"
    )
    assert "| unrelated | 1 | 0.10, 0.10, 0.10 | 0 | 0 | 1 |" in shown
