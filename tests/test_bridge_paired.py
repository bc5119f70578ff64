"""Fitters: planted truth, and another road (SciPy, scikit-learn) to the same number."""

import numpy as np
import pytest
import torch
from scipy.linalg import orthogonal_procrustes
from sklearn.linear_model import Ridge

from bridge import paired


def pair(n: int, d_text: int, d_image: int, noise: float, seed: int = 0):
    generator = torch.Generator().manual_seed(seed)
    text = torch.randn(n, d_text, generator=generator, dtype=torch.float64)
    weight = torch.randn(d_text, d_image, generator=generator, dtype=torch.float64)
    error = torch.randn(n, d_image, generator=generator, dtype=torch.float64)
    return text, text @ weight + noise * error, weight


@pytest.mark.parametrize(("d_text", "d_image"), [(6, 9), (9, 6)])
def test_least_squares_recovers_a_planted_map(d_text, d_image):
    text, image, weight = pair(50, d_text, d_image, 0.0)
    assert torch.allclose(paired.ols(paired.moments(text, image)), weight, atol=1e-9)


@pytest.mark.parametrize("n", [5, 9, 40])
def test_least_squares_is_the_shortest_solution(n):
    text, image, _ = pair(n, 9, 4, 0.5)
    expected = np.linalg.lstsq(text.numpy(), image.numpy(), rcond=None)[0]
    assert np.allclose(paired.ols(paired.moments(text, image)), expected, atol=1e-6)


@pytest.mark.parametrize("n", [5, 40])
@pytest.mark.parametrize("penalty", [1e-3, 1.0, 50.0])
def test_ridge_equals_scikit_learn(n, penalty):
    text, image, _ = pair(n, 9, 4, 0.5)
    alpha = penalty * float((text**2).sum()) / 9
    expected = Ridge(alpha=alpha, fit_intercept=False, solver="svd").fit(text, image).coef_.T
    assert np.allclose(paired.ridge(paired.moments(text, image), penalty), expected, atol=1e-8)


@pytest.mark.parametrize(("d_text", "d_image"), [(5, 5), (4, 7), (7, 4)])
def test_rotation_recovers_a_planted_one_and_is_semi_orthogonal(d_text, d_image):
    text, _, _ = pair(60, d_text, d_image, 0.0)
    truth = torch.linalg.qr(torch.randn(max(d_text, d_image), min(d_text, d_image)).double()).Q
    truth = truth.T if d_text < d_image else truth
    weight = paired.rotation(paired.moments(text, text @ truth))
    small = weight @ weight.T if d_text <= d_image else weight.T @ weight
    assert torch.allclose(small, torch.eye(min(d_text, d_image)).double(), atol=1e-9)
    if d_text <= d_image:
        assert torch.allclose(weight, truth, atol=1e-9)


def test_rotation_equals_scipy():
    text, image, _ = pair(60, 6, 6, 1.0)
    expected = orthogonal_procrustes(text.numpy(), image.numpy())[0]
    assert np.allclose(paired.rotation(paired.moments(text, image)), expected, atol=1e-9)


def test_moments_of_blocks_add_up_and_subtract():
    text, image, _ = pair(30, 4, 3, 1.0)
    whole = paired.moments(text, image)
    parts = paired.total(paired.moments(text[i : i + 7], image[i : i + 7]) for i in range(0, 30, 7))
    rest = whole - paired.moments(text[:10], image[:10])
    for key in vars(whole):
        assert np.allclose(getattr(parts, key), getattr(whole, key))
        assert np.allclose(getattr(rest, key), getattr(paired.moments(text[10:], image[10:]), key))


def test_moments_about_other_means_are_those_of_shifted_rows():
    text, image, _ = pair(30, 4, 3, 1.0)
    part, rest = paired.moments(text[:9], image[:9]), paired.moments(text[9:], image[9:])
    naive = paired.moments(text[:9] - text[9:].mean(0), image[:9] - image[9:].mean(0))
    moved = part.about_means_of(rest)
    assert all(np.allclose(getattr(moved, key), getattr(naive, key)) for key in vars(naive))


@pytest.mark.parametrize("n", [6, 40])
def test_held_out_r2_is_that_of_the_predictions(n):
    text, image, _ = pair(n + 20, 8, 5, 0.7)
    path = paired.RidgePath(paired.moments(text[:n], image[:n]))
    scores = path.held_out_r2(paired.moments(text[n:], image[n:]))
    for index in (0, 17, 40):
        error = text[n:] @ path.weight(float(paired.PENALTIES[index])) - image[n:]
        assert float(scores[index]) == pytest.approx(
            float(1 - (error**2).sum() / (image[n:] ** 2).sum()), abs=1e-8
        )


def test_penalty_grows_with_noise_and_beats_its_neighbours():
    chosen = []
    for noise in (0.1, 10.0):
        text, image, _ = pair(60, 20, 4, noise)
        folds = [paired.moments(text[i : i + 12], image[i : i + 12]) for i in range(0, 60, 12)]
        chosen.append(paired.choose_penalty(folds, paired.total(folds))[0])
    assert chosen[0] < chosen[1]


def test_held_out_r2_of_unrelated_pairs_is_not_positive():
    generator = torch.Generator().manual_seed(0)
    text = torch.randn(3, 4, generator=generator).double()
    image = torch.randn(3, 5, generator=generator).double()
    text, image = text - text.mean(0), image - image.mean(0)  # the centring that could leak
    folds = [paired.moments(text[i : i + 1], image[i : i + 1]) for i in range(3)]
    assert paired.choose_penalty(folds, paired.total(folds))[1] < 0.5
