"""Maps without pairs: parts against other roads to the same number, planted truths, and leaks."""

import os
from itertools import permutations

import numpy as np
import pytest
import torch
from joblib import Parallel, delayed
from scipy.optimize import quadratic_assignment

from benchmarks.planted import Planted, class_accuracy, planted
from benchmarks.problems import table
from bridge import maps, unpaired
from bridge.__main__ import main
from bridge.assignment import kernel, score, swap_gain, tabu_search
from bridge.basins import Basin, evidence
from bridge.blind_search import FEW, against_random
from bridge.consensus import Problem
from bridge.cores import Cores
from bridge.embeddings import Embeddings, save
from bridge.errors import InputError
from bridge.few_pairs import rank_shares
from bridge.sides import part
from bridge.transport import matched_score, refine, rotation_of, soft_matching, unit
from bridge.unpaired import Effort, fit_unpaired
from bridge.verdict import judge, structure

SMALL = Effort(candidates=40, generations=2, children=8, settled=1)
TINY = Effort(candidates=16, generations=1, children=8, settled=1)


def symmetric(n: int, seed: int) -> np.ndarray:
    draw = np.random.default_rng(seed)
    return kernel(draw.standard_normal((n, 3)), "distance")


def test_a_search_shares_no_process_with_other_work():
    jobs = [()] * 8  # of os: a function of this file would load all of its imports
    others = set(Parallel(n_jobs=2)(delayed(os.getpid)() for _ in jobs))
    workshop = Cores(2, None, None, lambda stage, done, total: None)
    searching = set(workshop.run(os.getpid, jobs))
    assert os.getpid() not in searching and others.isdisjoint(searching)
    assert len(searching | set(workshop.run(os.getpid, jobs))) <= 2, "it goes on with its own"


class TestAssignment:
    def test_kernel_is_standardised(self):
        for kind in ("distance", "rbf"):
            found = kernel(np.random.default_rng(0).standard_normal((9, 4)), kind)
            others = found[~np.eye(9, dtype=bool)]
            assert np.allclose(found, found.T) and np.all(np.diag(found) == 0)
            assert others.mean() == pytest.approx(0, abs=1e-12)
            assert others.std() == pytest.approx(1)

    def test_gain_of_a_swap_is_the_difference_of_scores(self):
        text, image = symmetric(8, 0), symmetric(8, 1)
        linear = np.random.default_rng(2).standard_normal((8, 8))
        match = np.random.default_rng(3).permutation(8)
        for i in range(8):
            for j in range(i + 1, 8):
                swapped = match.copy()
                swapped[[i, j]] = match[[j, i]]
                gain = score(text, image, linear, swapped) - score(text, image, linear, match)
                assert swap_gain(text, image, linear, match, i, j) == pytest.approx(gain)

    @pytest.mark.parametrize("seed", range(3))
    def test_the_best_of_all_permutations(self, seed):
        text, image = symmetric(7, seed), symmetric(7, seed + 10)
        linear = np.random.default_rng(seed).standard_normal((7, 7))
        best = max(score(text, image, linear, np.array(order)) for order in permutations(range(7)))
        found = tabu_search(text, image, linear, 200, 3, np.random.default_rng(0))
        assert sorted(found) == list(range(7))
        assert score(text, image, linear, found) == pytest.approx(best)

    def test_at_least_as_good_as_scipys_search(self):
        text, image, none = symmetric(25, 0), symmetric(25, 1), np.zeros((25, 25))
        theirs = max(
            quadratic_assignment(
                text, image, "2opt", {"maximize": True, "rng": np.random.default_rng(seed)}
            ).fun
            for seed in range(5)
        )
        assert (
            score(
                text, image, none, tabu_search(text, image, none, 1500, 6, np.random.default_rng(0))
            )
            >= theirs - 1e-9
        )

    def test_planted_permutation(self):
        text, order = symmetric(25, 5), np.random.default_rng(6).permutation(25)
        image = np.empty_like(text)
        image[np.ix_(order, order)] = text
        assert (
            tabu_search(text, image, np.zeros((25, 25)), 1500, 6, np.random.default_rng(0)) == order
        ).all()


class TestTransport:
    def test_plan_has_uniform_margins_and_is_that_of_a_plain_loop(self):
        scores = np.random.default_rng(0).standard_normal((6, 9))
        plan = soft_matching(scores, 2.0, 200)
        assert plan.sum(1) == pytest.approx(np.full(6, 1 / 6), abs=1e-5)
        assert plan.sum(0) == pytest.approx(np.full(9, 1 / 9), abs=1e-5)
        other = np.exp(2.0 * (scores - scores.mean()) / scores.std())
        for _ in range(500):
            other /= other.sum(1, keepdims=True) * 6
            other /= other.sum(0, keepdims=True) * 9
        assert plan == pytest.approx(other, abs=1e-5)

    def test_rotation_of_is_the_nearest_rotation(self):
        draw = np.random.default_rng(0)
        turn = np.linalg.qr(draw.standard_normal((5, 5)))[0]
        stretch = turn @ np.diag([3, 2, 1, 0.5, 0.2])
        assert np.allclose(rotation_of(stretch), turn, atol=1e-5)

    def test_refinement_keeps_the_truth_and_finds_it_from_near(self):
        draw = np.random.default_rng(0)
        rows = unit(draw.standard_normal((600, 6)) ** 3).astype(np.float32)
        turn = np.linalg.qr(draw.standard_normal((6, 6)))[0].astype(np.float32)
        start = turn + 0.3 * draw.standard_normal((6, 6))
        found = refine(
            rows[:300],
            rows[300:] @ turn,
            start,
            steps=60,
            batch=300,
            sharpness=(3.0, 12.0),
            generator=draw,
        )
        assert (found * turn).sum() / 6 > 0.97
        assert matched_score(rows[:300], rows[300:] @ turn, found) > matched_score(
            rows[:300], rows[300:] @ turn, rotation_of(draw.standard_normal((6, 6)))
        )


@pytest.fixture(scope="module")
def problem() -> Planted:
    return planted(1, 1000, 50, seed=0)


@pytest.fixture(scope="module")
def fitted(problem):
    sides = table(problem.text, "t"), table(problem.image, "i")
    return fit_unpaired(*sides, effort=SMALL, workers=1)


def mapping(bridge):
    return lambda rows: bridge.to_image(torch.tensor(rows)).numpy()


def of_pairs(problem: Planted) -> float:
    sides = problem.paired_text, problem.paired_image
    cross = (sides[0] - sides[0].mean(0)).T @ (sides[1] - sides[1].mean(0))
    rotation = rotation_of(cross)
    return class_accuracy(
        lambda rows: (rows - problem.text.mean(0)) @ rotation + problem.image.mean(0), problem
    )


def test_a_planted_map_is_found_without_a_pair(problem, fitted):
    assert class_accuracy(mapping(fitted), problem) > 0.9 * of_pairs(problem)
    assert fitted.about["verdict"]["level"] == "reliable"
    assert fitted.about["paired"] is False and fitted.about["pairs"] == 0


def test_the_same_seed_gives_the_same_map_on_any_number_of_processes(problem, fitted):
    sides = table(problem.text, "t"), table(problem.image, "i")
    again = fit_unpaired(*sides, effort=SMALL, workers=2)
    assert torch.equal(again.to_image_weight, fitted.to_image_weight)
    assert torch.equal(again.to_text_weight, fitted.to_text_weight)


class TestClear:
    """A search stops early where its first candidates are clear, and only there."""

    EFFORT = Effort(candidates=30, generations=1, children=4, settled=1)

    @pytest.fixture
    def copy(self):
        text = planted(1, 500, 50, seed=0).text
        turn = rotation_of(np.random.default_rng(0).standard_normal((50, 50)))
        return table(text, "t"), table(text @ turn, "i")

    def test_it_stops_at_the_truth(self, copy):
        bridge = fit_unpaired(*copy, effort=self.EFFORT, workers=1)
        assert bridge.about["diagnostics"]["candidates"] == FEW < self.EFFORT.candidates
        assert "first 24 candidates were clear" in bridge.about["notes"][0]
        assert bridge.about["verdict"]["level"] == "reliable"
        mapped, rows = bridge.both_in("image", *(side.rows for side in copy))
        assert torch.cosine_similarity(mapped, rows).mean() > 0.98

    @pytest.mark.parametrize("level", ["CLEAR_SPLIT_HALF", "CLEAR_LEAD"])
    def test_doubt_goes_on_as_if_it_had_not_looked(self, copy, monkeypatch, level):
        monkeypatch.setattr(f"bridge.blind_search.{level}", 1.1)
        looked = fit_unpaired(*copy, effort=self.EFFORT, workers=1)
        assert looked.about["diagnostics"]["candidates"] == self.EFFORT.candidates
        monkeypatch.setattr("bridge.blind_search.FEW", self.EFFORT.candidates + 1)
        other = fit_unpaired(*copy, effort=self.EFFORT, workers=1)
        assert torch.equal(other.to_image_weight, looked.to_image_weight)


def test_the_pairing_cannot_be_received():
    """Gaussian rows in paired order: only an aligner that uses the order could join them."""
    draw = np.random.default_rng(0)
    text = draw.standard_normal((600, 24))
    image = text @ np.linalg.qr(draw.standard_normal((24, 24)))[0]
    sides = table(text, "t"), table(image, "i")
    bridge = fit_unpaired(*sides, effort=TINY, workers=1)
    mapped, rows = bridge.both_in("image", sides[0].rows, sides[1].rows)
    cosine = unit(mapped.numpy()) @ unit(rows.numpy()).T
    right = (cosine > np.diag(cosine)[:, None]).sum(1) + 1
    assert np.median(right) > 150  # chance 300
    assert bridge.about["verdict"]["level"] == "failed"


def test_structure_is_none_in_gaussian_rows(problem):
    draw = np.random.default_rng(0)
    assert structure(draw.standard_normal((1500, 20)).astype(np.float32), draw) < 0.02
    assert structure(unit(problem.text - problem.text.mean(0)), draw) > 0.1


class TestKnownPairs:
    def test_they_are_used_and_the_rest_is_kept_apart(self, problem):
        text = np.concatenate([problem.text[:500], problem.paired_text[:60]])
        image = np.concatenate([problem.image[:500], problem.paired_image[:60]])
        names = [f"t{i}" for i in range(500)], [f"i{i}" for i in range(500)]
        both = [f"p{i}" for i in range(60)]
        sides = [
            Embeddings(torch.tensor(rows), ids := (*own, *both), ids)
            for rows, own in ((text, names[0]), (image, names[1]))
        ]
        bridge = fit_unpaired(
            *sides, pairs=30, effort=Effort(16, generations=0, settled=1), workers=1
        )
        assert bridge.about["pairs"] == 30
        assert any("30 images that stood on both sides" in note for note in bridge.about["notes"])
        signs = bridge.about["diagnostics"]["signs"]
        assert signs["known_rank"] < 0.1 and bridge.about["verdict"]["level"] == "reliable"
        assert class_accuracy(mapping(bridge), problem) > 0.6

    def test_unpaired_rows_that_mislead_are_left_out(self):
        """Pairs tell a rotation; the other rows are of another world and know nothing of it."""
        draw = np.random.default_rng(0)
        turn = np.linalg.qr(draw.standard_normal((12, 12)))[0]
        pairs = draw.standard_normal((150, 12))
        centre = 3 * draw.standard_normal((6, 12))
        text = np.concatenate(
            [centre[draw.integers(6, size=300)] + draw.standard_normal((300, 12)), pairs]
        )
        image = np.concatenate([draw.standard_normal((300, 12)) ** 3, pairs @ turn])
        both = [f"p{i}" for i in range(150)]
        sides = [
            Embeddings(
                torch.tensor(rows, dtype=torch.float32),
                ids := (*(f"{name}{i}" for i in range(300)), *both),
                ids,
            )
            for rows, name in ((text, "t"), (image, "i"))
        ]
        bridge = fit_unpaired(
            *sides, pairs=both, effort=Effort(12, generations=0, settled=1), workers=1
        )
        signs = bridge.about["diagnostics"]["signs"]
        assert signs["alone_rank"] < signs["known_rank"] and signs["alone_lead"] > 1.64
        assert any("held-out pairs are found better without" in n for n in bridge.about["notes"])

    @pytest.mark.parametrize(
        ("pairs", "say", "weight"), [(5, 0.5, 0.15), (15, 1, 0.45), (99, 1, 0.6)]
    )
    def test_a_handful_has_less_say(self, pairs, say, weight):
        rows = np.eye(3, dtype=np.float32)
        problem = Problem(rows, rows, rows, rows, rows, pairs)
        assert problem.say == say and problem.known_weight == pytest.approx((weight, weight))

    def test_shares_of_ranks_by_hand(self):
        eye = np.eye(3, dtype=np.float32)
        gallery = np.array([[1, 0, 0], [0, 1, 0], [0.6, 0.8, 0]], np.float32)
        pairs = eye[:1], np.array([[0.8, 0.6, 0]], np.float32)
        # text e0: cosines 1, 0, .6 against .8 of the right one; image (.8, .6): .8, .6, .96
        assert rank_shares(eye, eye, pairs, (gallery, gallery)) == pytest.approx([2 / 4, 3 / 4])


class TestInput:
    def test_shared_images_are_refused_or_dropped(self):
        rows = torch.randn(6, 3)
        text = Embeddings(rows, tuple("abcdef"), ("1", "1", "2", "3", "4", "5"))
        image = Embeddings(rows[:5], tuple("23789"), tuple("23789"))
        with pytest.raises(InputError, match=r"share 2 images.*--drop-shared"):
            part(text, image, None, False, 0)
        kept_text, kept_image, known, notes = part(text, image, None, True, 0)
        assert not set(kept_text.image_ids) & set(kept_image.image_ids) and not known
        assert len(kept_text) + len(kept_image) == 5 + 5 - 2
        assert "2 images that stood on both sides" in notes[0]
        with pytest.raises(InputError, match="between 1 and the 2 images"):
            part(text, image, 3, False, 0)
        with pytest.raises(InputError, match="stand on both sides, got '9'"):
            part(text, image, ["2", "9"], False, 0)
        kept_text, kept_image, known, _ = part(text, image, ["3"], False, 0)
        assert known == ["3"] and set(kept_text.image_ids) & set(kept_image.image_ids) == {"3"}

    @pytest.mark.parametrize(
        ("rows", "said"),
        [
            (
                np.random.default_rng(0).standard_normal((20, 8)),
                r"at least 50 different text rows.*20",
            ),
            (np.ones((200, 8)), r"at least 50 different text rows.*got 1 among 200"),
            (
                np.tile(np.random.default_rng(0).standard_normal((10, 8)), (30, 1)),
                "got 10 among 300",
            ),
            (np.full((200, 8), np.nan), "NaN"),
        ],
    )
    def test_bad_rows(self, rows, said):
        good = np.random.default_rng(1).standard_normal((200, 8))
        with pytest.raises(InputError, match=said):
            fit_unpaired(table(rows, "t"), table(good, "i"), effort=TINY, workers=1)

    def test_either_side_may_be_wider_or_longer(self):
        draw = np.random.default_rng(0)
        wide, narrow = draw.standard_normal((60, 30)) ** 3, draw.standard_normal((400, 9)) ** 3
        few = Effort(4, generations=0, settled=1)
        for text, image in ((wide, narrow), (narrow, wide)):
            bridge = fit_unpaired(table(text, "t"), table(image, "i"), effort=few, workers=1)
            assert bridge.to_image_weight.shape == (text.shape[1], image.shape[1])


def signs(**changed: float) -> dict[str, float]:
    good = {"split_half": 0.95, "lead": 0.3, "held_margin": 0.2, "csls_margin": 0.05}
    return good | {"structure_text": 0.2, "structure_image": 0.2, "cycle": 0.1} | changed


def ranks(**of: tuple[float, float]) -> dict[str, float]:
    """Signs of ten held-out known pairs: geometric mean of ranks, spread of logarithms, by name."""
    named = [(name, *both) for name, both in of.items()]
    return (
        {f"{name}_rank": rank for name, rank, _ in named}
        | {f"{name}_spread": spread for name, _, spread in named}
        | {"held_pairs": 10}
    )


@pytest.mark.parametrize(
    ("changed", "level"),
    [
        ({}, "reliable"),
        ({"lead": -0.1}, "coarse"),
        ({"split_half": 0.36}, "coarse"),
        ({"held_margin": 0.0}, "failed"),
        ({"csls_margin": -0.01}, "coarse"),
        ({"structure_image": 0.0}, "failed"),
        ({"cycle": 0.9}, "failed"),
        (ranks(known=(0.01, 1.0), alone=(0.3, 1.0)) | {"held_margin": 0.0}, "reliable"),
        (ranks(known=(0.03, 1.5), alone=(0.3, 1.0)), "coarse"),  # too few to say so
        (ranks(known=(0.36, 1.0), alone=(0.4, 1.0)), "failed"),
        (
            ranks(known=(0.9, 0.0), alone=(0.9, 0.0)) | {"held_pairs": 9},
            "reliable",
        ),  # the others say
        (
            ranks(known=(0.9, 0.0), alone=(0.3, 0.0)) | {"held_pairs": 5, "alone_lead": 3.0},
            "failed",
        ),  # of the map that was taken
    ],
)
def test_verdicts(changed, level):
    found = judge(signs(**changed))
    assert found.level == level and found.reasons


def test_a_random_start_that_finds_the_same_map_is_no_rival_of_it():
    draw = np.random.default_rng(0)
    rows = unit(draw.standard_normal((200, 5)).astype(np.float32) ** 3)
    turn = rotation_of(draw.standard_normal((5, 5)).astype(np.float32))
    problem = Problem(rows[50:], rows[50:] @ turn, rows[:50], rows[:50] @ turn)
    wrong = rotation_of(draw.standard_normal((5, 5)).astype(np.float32))

    def margin(*settled: np.ndarray) -> float:
        workshop = Cores(1, None, None, lambda stage, done, total: None)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Cores, "each", lambda self, stage, function, jobs: list(settled))
            best = Basin(turn, evidence(problem, turn))
            return against_random(problem, workshop, best, runs=1, seed=0)["held_margin"]

    assert margin(wrong, turn) == margin(wrong) > 0
    assert margin(turn) > 0


def test_a_budget_cuts_the_search_short_and_says_so():
    draw = np.random.default_rng(0)
    sides = table(draw.standard_normal((300, 10)), "t"), table(draw.standard_normal((300, 10)), "i")
    bridge = fit_unpaired(*sides, effort=Effort(60, 2, 20, 1), budget=0.01, workers=1)
    assert "candidates: time for 24 of 60" in bridge.about["notes"]


class TestCommand:
    @pytest.fixture
    def files(self, tmp_path, monkeypatch):
        monkeypatch.setattr(unpaired, "Effort", lambda: TINY)
        draw = np.random.default_rng(0)
        save(table(draw.standard_normal((300, 10)), "t"), tmp_path / "t.safetensors")
        save(table(draw.standard_normal((300, 12)), "i"), tmp_path / "i.safetensors")
        return [str(tmp_path / "t.safetensors"), str(tmp_path / "i.safetensors")]

    def test_failed_is_3_and_written(self, files, tmp_path, capsys):
        command = ["fit", *files, "--unpaired", "--out", str(tmp_path / "b"), "--workers", "1"]
        assert main(command) == 3
        assert "verdict: failed" in capsys.readouterr().out
        assert maps.load(tmp_path / "b").about["verdict"]["level"] == "failed"
        assert not (tmp_path / "b.partial").exists()
        assert main(command) == 3 and "already made" in capsys.readouterr().err
        assert main([*command, "--allow-failed"]) == 0

    def test_an_interrupted_search_goes_on(self, files, tmp_path, monkeypatch):
        command = ["fit", *files, "--unpaired", "--workers", "1", "--allow-failed"]
        assert main([*command, "--out", str(tmp_path / "whole")]) == 0

        def stop(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr("bridge.blind_search.against_random", stop)
            assert main([*command, "--out", str(tmp_path / "cut")]) not in (0, 3)
        assert list((tmp_path / "cut.partial").glob("candidates-*.safetensors"))
        made = []
        with monkeypatch.context() as patched:
            patched.setattr("bridge.cores.made_by", lambda *job: made.append(job))
            assert main([*command, "--out", str(tmp_path / "cut")]) == 0
        assert not made
        first, second = (maps.load(tmp_path / name) for name in ("whole", "cut"))
        assert torch.equal(first.to_image_weight, second.to_image_weight)

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["--unpaired", "--method", "ridge"], "ridge is no method for a fit without pairs"),
            (["--method", "consensus"], "consensus is no method for a fit from pairs"),
            (["--unpaired", "--budget", "soon"], "expected a --budget such as 90s"),
            (["--unpaired", "--pairs", "0"], "expected --pairs of at least 1"),
            (["--unpaired", "--pairs", "nothere.txt"], "no such list of pairs"),
            (["--unpaired", "--pairs", "5"], "between 1 and the 0 images"),
        ],
    )
    def test_bad_words(self, files, tmp_path, capsys, words, said):
        assert main(["fit", *files, *words, "--out", str(tmp_path / "b")]) == 2
        error = capsys.readouterr().err
        assert said in " ".join(error.split()) and "Traceback" not in error
        assert not (tmp_path / "b").exists()
