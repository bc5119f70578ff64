"""Published rivals: each finds what it can find, twice the same, and says what it is."""

import sys
from itertools import permutations, product

import numpy as np
import pytest
import torch

from benchmarks.planted import Planted, class_accuracy, planted
from benchmarks.problems import table
from bridge import cli, fitting, maps, rivals, unpaired
from bridge.__main__ import main
from bridge.assignment import score
from bridge.embeddings import save
from bridge.errors import InputError
from bridge.rivals import RIVALS
from bridge.sides import prepare
from bridge.transport import unit
from bridge.unpaired import Effort, fit_unpaired

BRIEF = Effort(settled=1)


@pytest.fixture(scope="module")
def problem() -> Planted:
    return planted(1, 1500, 50, seed=0)


@pytest.fixture(scope="module")
def sides(problem):
    tables = table(problem.text, "t"), table(problem.image, "i")
    return [
        prepare(side, name, [], np.random.default_rng(place))
        for place, (name, side) in enumerate(zip(("text", "image"), tables, strict=True))
    ]


def accuracy(rotation: np.ndarray, sides, problem: Planted) -> float:
    """Class top-1 of a map between components; chance .003, that of a paired rotation .95."""
    whole = unpaired.lifted(sides[0].basis, rotation, sides[1].basis)
    space = sides[0].space, sides[1].space
    return class_accuracy(
        lambda rows: space[1].leave(space[0].enter(torch.tensor(rows)) @ whole).numpy(), problem
    )


def fitted(name: str, sides, **options) -> np.ndarray:
    rows = [side.components(256) for side in sides]
    return RIVALS[name].fit(*rows, np.random.default_rng(0), **options)


@pytest.mark.parametrize(
    ("name", "least", "options"),
    [
        ("mini-vec2vec", 0.9, {"matchings": 12, "starts": 10, "moves": 30}),
        ("rosetta", 0.8, {"matchings": 12, "refinements": 3}),
        ("third-moment", 0.9, {}),
        ("class-qap", 0.3, {}),
    ],
)
def test_a_planted_map_is_found_again_and_again(name, least, options, sides, problem):
    rotation = fitted(name, sides, **options)
    assert accuracy(rotation, sides, problem) > least
    assert np.array_equal(rotation, fitted(name, sides, **options))
    assert np.allclose(rotation @ rotation.T, np.eye(len(rotation)), atol=1e-4)


@pytest.mark.parametrize(
    ("name", "options"), [("gw", {}), ("wasserstein-procrustes", {"steps": 40})]
)
def test_the_same_points_are_found_in_a_turned_copy(name, options):
    """These two match points; points of which the other side has none they do not find."""
    draw = np.random.default_rng(0)
    text = planted(1, 300, 50, seed=0).text
    text = unit(text - text.mean(0))
    turn = np.linalg.qr(draw.standard_normal((50, 50)))[0].astype(np.float32)
    order = draw.permutation(300)
    rotation = RIVALS[name].fit(text, (text @ turn)[order], draw, **options)
    nearest = ((text @ rotation) @ (text @ turn).T).argmax(1)
    assert (nearest == np.arange(300)).mean() > 0.9  # chance .003


def test_gw_without_pot_says_what_to_install_before_it_starts(monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    with pytest.raises(InputError, match=r"needs the package POT.*platobridge\[rivals\]"):
        unpaired.check_method("gw", None, None)


def test_a_match_of_kernels_with_diagonals_is_the_best_of_all():
    draw = np.random.default_rng(0)
    text, image = (rivals.gram(draw.standard_normal((6, 3))) for _ in range(2))
    none = np.zeros((6, 6))

    def value(order):
        return (text * image[np.ix_(order, order)]).sum()

    found = rivals.match_of(text, image, none, draw)
    assert value(found) == pytest.approx(max(value(list(p)) for p in permutations(range(6))))


def test_known_pairs_are_nodes_whose_match_is_given():
    """The score with a linear term is that of the joint kernels, less what no match changes."""
    draw = np.random.default_rng(0)
    text, image = (rivals.gram(draw.standard_normal((9, 3))) for _ in range(2))
    linear = 2 * text[:6, 6:] @ image[:6, 6:].T
    fixed = (text[6:, 6:] * image[6:, 6:]).sum()
    order = draw.permutation(6)
    whole = np.append(order, [6, 7, 8])
    joint = (text * image[np.ix_(whole, whole)]).sum()
    assert score(text[:6, :6], image[:6, :6], linear, order) == pytest.approx(joint - fixed)


def test_pairs_lead_rosetta_where_rows_tell_nothing():
    draw = np.random.default_rng(0)
    text = unit(draw.standard_normal((400, 12))).astype(np.float32)
    turn = np.linalg.qr(draw.standard_normal((12, 12)))[0].astype(np.float32)
    image = unit(draw.standard_normal((400, 12))).astype(np.float32) @ turn
    known = text[:20], text[:20] @ turn
    for pairs, least, most in ((known, 0.7, 1.01), (None, -0.5, 0.5)):
        rotation = rivals.rosetta(text, image, draw, pairs, matchings=3, refinements=5)
        assert least < (rotation * turn).sum() / 12 < most


def test_signs_are_those_of_a_search_through_all():
    draw = np.random.default_rng(0)
    rows = draw.exponential(size=(500, 6)) - 1
    agreement = rivals.third_moments(rows) * rivals.third_moments(
        (draw.exponential(size=(500, 6)) - 1) * [1, -1, -1, 1, 1, -1]
    )
    every = [np.array(signs, float) for signs in product((-1, 1), repeat=6)]

    def value(signs):
        return np.einsum("ijk,i,j,k", agreement, signs, signs, signs)

    found = max((rivals.turned_signs(agreement, draw) for _ in range(20)), key=value)
    assert value(found) == pytest.approx(max(map(value, every)))
    assert (found == [1, -1, -1, 1, 1, -1]).all()


def test_names_of_classes_are_nodes_themselves():
    """Sixty names, and images that gather around the same places in a turned space."""
    draw = np.random.default_rng(0)
    names = unit(draw.standard_normal((60, 8))).astype(np.float32)
    turn = np.linalg.qr(draw.standard_normal((8, 8)))[0].astype(np.float32)
    labels = draw.integers(60, size=1500)
    image = unit(names[labels] + 0.02 * draw.standard_normal((1500, 8))).astype(np.float32) @ turn
    rotation = rivals.class_qap(names, image, draw)
    assert (rotation * turn).sum() / 8 > 0.95


class TestInterface:
    def test_a_rival_is_judged_but_never_reliable(self, problem):
        tables = table(problem.text, "t"), table(problem.image, "i")
        bridge = fit_unpaired(*tables, method="third-moment", effort=BRIEF, workers=1)
        assert bridge.about["method"] == "third-moment"
        assert bridge.about["verdict"]["level"] == "coarse"
        assert "third moments" in bridge.about["notes"][0]
        found = class_accuracy(lambda r: bridge.to_image(torch.tensor(r)).numpy(), problem)
        assert found > 0.9

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"method": "magic"}, "expected a method of consensus, mini-vec2vec"),
            ({"method": "gw", "pairs": 5}, "has no use for known pairs"),
            ({"method": "rosetta", "budget": 9.0}, "rosetta cannot be cut short"),
        ],
    )
    def test_what_a_method_cannot_do(self, options, said):
        rows = table(np.zeros((3, 3)), "t")
        with pytest.raises(InputError, match=said):
            fit_unpaired(rows, rows, **options)

    def test_the_command_line_names_every_method(self):
        known = {*fitting.METHODS, *unpaired.FITTERS}
        assert {method.value for method in cli.Method} == known
        assert {method.value for method in cli.FROM_PAIRS} == set(fitting.METHODS)

    def test_the_command(self, tmp_path, capsys, monkeypatch):
        monkeypatch.setattr(unpaired, "Effort", lambda: BRIEF)
        draw = np.random.default_rng(0)
        for name, width in (("t", 10), ("i", 12)):
            save(table(draw.standard_normal((120, width)), name), tmp_path / f"{name}.safetensors")
        files = [str(tmp_path / "t.safetensors"), str(tmp_path / "i.safetensors")]
        command = ["fit", *files, "--unpaired", "--method", "third-moment", "--workers", "1"]
        assert main([*command, "--out", str(tmp_path / "b")]) == 3
        assert "verdict: failed" in capsys.readouterr().out
        assert maps.load(tmp_path / "b").about["method"] == "third-moment"
        assert main([*command, "--pairs", "5", "--out", str(tmp_path / "c")]) == 2
        assert "has no use for known pairs" in capsys.readouterr().err
        assert not (tmp_path / "c.partial").exists()
