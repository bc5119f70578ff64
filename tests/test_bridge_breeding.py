"""Breeding: merits against plain loops, crossover by hand, crowding, and a truth that it finds."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from bridge.breeding import (
    MERITS,
    Population,
    alike,
    breed,
    correlation,
    merits,
    regions_of,
    survivors,
    third_moments,
)
from bridge.consensus import Candidate, Problem, same
from bridge.transport import normed, rotation_of, unit


def rotation(width: int, seed: int) -> np.ndarray:
    return rotation_of(np.random.default_rng(seed).standard_normal((width, width)))


def clustered(rows: int, seed: int, width: int = 10) -> np.ndarray:
    """Rows of uneven clusters, the same clusters for every seed."""
    centres = np.random.default_rng(0).standard_normal((12, width)) * 2
    draw = np.random.default_rng(seed)
    of = draw.choice(12, rows, p=np.arange(1, 13) / 78)
    points = centres[of] + 0.7 * draw.standard_normal((rows, width))
    return unit(points - centres.mean(0)).astype(np.float32)


@pytest.fixture(scope="module")
def truth() -> np.ndarray:
    return rotation(10, 5)


@pytest.fixture(scope="module")
def problem(truth) -> Problem:
    text, image = clustered(600, 1), clustered(600, 2) @ truth
    return Problem(text[100:], image[100:], text[:100], image[:100])


class Alone:
    """A workshop of one core without a journal."""

    def candidates(
        self,
        problem: Problem,
        stage: str,
        jobs: Sequence[tuple],
        made: Sequence[Candidate] = (),
    ) -> list[Candidate]:
        return [*made, *(make(problem, seed, given) for make, seed, given in jobs[len(made) :])]

    def each(self, stage: str, function: Callable, jobs: Sequence[tuple]) -> list:
        return [function(*job) for job in jobs]

    def late(self, share: float) -> bool:
        return False


def test_third_moments_are_those_of_a_loop_and_vanish_for_gaussians():
    draw = np.random.default_rng(0)
    along = draw.standard_normal((50, 4)) ** 3
    found = third_moments(along)
    scaled = along / along.std(0)
    for a in range(2):
        for b in range(2):
            by_hand = np.mean([row[a] ** 2 * row[2 + b] for row in scaled])
            assert found[a, b] == pytest.approx(by_hand)
    assert np.abs(third_moments(draw.standard_normal((40_000, 6)))).max() < 0.05


def test_correlation_is_numpys_and_none_of_a_constant():
    draw = np.random.default_rng(0)
    first, second = draw.standard_normal((2, 40))
    assert correlation(first, second) == pytest.approx(np.corrcoef(first, second)[0, 1])
    assert correlation(first, np.ones(40)) == 0


def test_the_truth_has_more_of_every_merit_than_random_maps(problem, truth):
    found = merits(problem, [truth, *(rotation(10, seed) for seed in range(20, 30))])
    assert found.shape == (11, len(MERITS))
    assert (found[0] > found[1:].max(0)).all()


def test_known_pairs_are_a_merit(problem, truth):
    pairs = clustered(8, 3)
    knows = Problem(
        problem.text,
        problem.image,
        problem.held_text,
        problem.held_image,
        pairs.T @ (pairs @ truth),
        8,
    )
    found = merits(knows, [truth, rotation(10, 20)])
    assert found[0, -1] == pytest.approx(1, abs=1e-5) and found[1, -1] < 0.6


def test_held_out_rows_have_no_say(problem, truth):
    other = Problem(problem.text, problem.image, problem.held_text[::-1], problem.held_image * 0)
    assert np.array_equal(merits(problem, [truth]), merits(other, [truth]))


def test_a_child_of_regions_has_each_row_mapped_by_one_parent(problem):
    first, second = rotation(10, 6), rotation(10, 7)
    same = regions_of(problem, first, first, np.random.default_rng(0))
    whole = [normed(problem.text.T @ problem.text @ first)]
    whole += [normed(first @ problem.image.T @ problem.image)]
    assert max(float((normed(same) * one).sum()) for one in whole) > 0.98  # but for the noise
    for seed in range(6):
        child = normed(regions_of(problem, first, second, np.random.default_rng(seed)))
        shares = [float((child * normed(one)).sum()) for one in (first, second)]
        assert min(shares) > 0.1


def test_twins_compete_with_each_other_only(problem):
    maps = [rotation(10, seed) for seed in (6, 7, 8)]
    old = Population(maps, np.array([[3.0], [2.0], [1.0]]))
    weights = np.ones(1)
    better_twin = Population([maps[0]], np.array([[4.0]]))
    kept = survivors(problem, old, better_twin, weights, 3)
    assert kept.merits.ravel().tolist() == [4, 2, 1]
    worse_twin = Population([maps[0]], np.array([[2.5]]))
    assert survivors(problem, old, worse_twin, weights, 3).merits.ravel().tolist() == [3, 2, 1]
    stranger = Population([rotation(10, 9)], np.array([[2.5]]))
    assert survivors(problem, old, stranger, weights, 2).merits.ravel().tolist() == [3, 2.5]


def test_likeness_of_one_map_and_of_many(problem):
    assert alike(problem, [rotation(10, 6)] * 3) == pytest.approx(1, abs=1e-5)
    assert alike(problem, [rotation(10, seed) for seed in range(30)]) < 0.2


def test_what_is_bred_is_nearer_to_the_truth_than_any_start(problem, truth):
    """Each start is right in four directions of ten, others in each."""
    starts = []
    for seed in range(40):
        wrong = np.eye(10)
        some = np.random.default_rng((1, seed)).permutation(10)[:6]
        wrong[np.ix_(some, some)] = rotation(6, 50 + seed)
        starts.append(Candidate(truth, (wrong @ truth).astype(np.float32)))
    found = breed(problem, Alone(), starts, [], generations=2, children=16, seed=(0,))
    assert max(same(problem, one.rotation, truth) for one in starts) < 0.7
    assert same(problem, found, truth) > 0.9
