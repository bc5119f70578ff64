"""The channel between texts and mapped images."""

import pytest
import torch
from conftest import embeddings

from bridge import fitting, maps
from bridge.channel import cosine_channel, factor, fitted_channel


def second_moments(text, mapped):
    return text.T @ text, mapped.T @ text, mapped.T @ mapped


@pytest.fixture(scope="module")
def rows():
    """Texts of uneven variance, and what a known channel makes of them."""
    generator = torch.Generator().manual_seed(0)
    scale = torch.linspace(1.5, 0.3, 6, dtype=torch.float64)
    text = torch.randn(40_000, 6, generator=generator, dtype=torch.float64) * scale
    gain = torch.randn(6, 6, generator=generator, dtype=torch.float64) * 0.3
    noise = torch.randn(6, 6, generator=generator, dtype=torch.float64) * 0.2
    drawn = torch.randn(40_000, 6, generator=generator, dtype=torch.float64)
    return text, text @ gain + drawn @ noise, gain, noise


def test_a_planted_channel_is_found(rows):
    text, mapped, gain, noise = rows
    channel = fitted_channel(len(text), *second_moments(text, mapped))
    assert torch.allclose(channel.gain.double(), gain, atol=0.02)
    covariance = channel.noise.double().T @ channel.noise.double()
    assert torch.allclose(covariance, noise.T @ noise, atol=0.02)


def test_what_comes_through_has_the_moments_of_mapped_rows(rows):
    text, mapped, _, _ = rows
    channel = fitted_channel(len(text), *second_moments(text, mapped))
    through = channel.through(text.float(), torch.Generator().manual_seed(1)).double()
    for found, given in zip(
        second_moments(text, through), second_moments(text, mapped), strict=True
    ):
        assert torch.allclose(found / len(text), given / len(text), atol=0.03)


def test_few_pairs_give_one_number_each(rows):
    text, mapped, _, _ = rows
    few = fitted_channel(20, *second_moments(text[:20], mapped[:20]))
    kept = (mapped[:20] * text[:20]).sum() / text[:20].square().sum()
    assert torch.allclose(few.gain, kept.float() * torch.eye(6))


@pytest.mark.parametrize("cosine", [0.5, 0.8, 1.0])
def test_cosine_channel_keeps_the_cosine(cosine):
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(2000, 200, generator=generator)
    channel = cosine_channel(torch.eye(200), cosine)
    found = torch.cosine_similarity(rows, channel.through(rows, generator))
    assert abs(float(found.mean()) - cosine) < 0.01


def test_factor_of_a_singular_covariance():
    half = torch.randn(3, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    made = factor(half.T @ half)
    assert torch.allclose(made.T @ made, half.T @ half, atol=1e-9)


@pytest.mark.parametrize("method", ["ridge", "rotation", "ols"])
def test_a_fit_notes_its_channel_and_a_folder_keeps_it(method, planted, tmp_path):
    text, image, _ = planted
    fitted = fitting.fit(text, image, method=method)
    fitted.save(tmp_path / "bridge")
    again = maps.load(tmp_path / "bridge").channel
    assert torch.equal(again.gain, fitted.channel.gain)
    assert torch.equal(again.noise, fitted.channel.noise)
    entered = fitted.text.enter(text.rows)
    mapped = fitted.image.enter(image.rows) @ fitted.to_text_weight
    through = fitted.channel.through(entered, torch.Generator().manual_seed(0))
    there, simulated = (torch.cosine_similarity(entered, rows).mean() for rows in (mapped, through))
    assert abs(float(there - simulated)) < 0.05


def test_a_handful_of_pairs_says_nothing_of_errors(planted):
    text, image, _ = planted
    assert fitting.fit(text, image, pairs=12).channel is None


def test_a_bridge_without_a_channel_is_read(tmp_path, planted):
    text, image, _ = planted
    few = fitting.fit(embeddings(text.rows[:10]), embeddings(image.rows[:10]), method="rotation")
    few.save(tmp_path / "few")
    assert maps.load(tmp_path / "few").channel is None
