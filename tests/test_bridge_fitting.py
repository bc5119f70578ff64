import numpy as np
import pytest
import torch
from conftest import embeddings

from bridge import maps
from bridge.embeddings import Embeddings, image_means, load, save
from bridge.errors import InputError
from bridge.fitting import METHODS, fit, join
from bridge.maps import Bridge


def captioned(image: Embeddings, text: Embeddings, per_image: int) -> Embeddings:
    """Several noisy captions around each text row, in shuffled order."""
    rows = text.rows.repeat_interleave(per_image, 0)
    rows = rows + 0.05 * torch.randn(rows.shape, generator=torch.Generator().manual_seed(5))
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(6)).tolist()
    ids = [f"{image.ids[k // per_image]}#{k % per_image}" for k in order]
    return embeddings(rows[order], ids, [i.split("#")[0] for i in ids], "words")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("unit", [True, False])
def test_a_planted_map_is_found(planted, method, unit):
    text, image, _ = planted
    fitted = fit(text.take(range(200)), image.take(range(200)), method=method, unit=unit)
    there = torch.cosine_similarity(
        fitted.image.enter(fitted.to_image(text.rows[200:])), fitted.image.enter(image.rows[200:])
    )
    back = torch.cosine_similarity(
        fitted.text.enter(fitted.to_text(image.rows[200:])), fitted.text.enter(text.rows[200:])
    )
    assert there.min() > 0.99 and back.min() > 0.99


def test_to_image_is_in_the_encoders_own_coordinates(planted):
    text, image, _ = planted
    fitted = fit(text, image, method="ols", unit=False)
    assert (fitted.to_image(text.rows) - image.rows).abs().max() < 0.06


def test_rotation_is_one_map_read_both_ways(planted):
    text, image, basis = planted
    fitted = fit(text, image, method="rotation", unit=False)
    assert torch.equal(fitted.to_text_weight, fitted.to_image_weight.T)
    assert torch.allclose(fitted.to_image_weight, basis, atol=0.01)


@pytest.mark.parametrize("captions", ["mean", "each"])
def test_captions_of_an_image_are_joined_in_any_order(planted, captions):
    text, image, _ = planted
    many = captioned(image, text, 3)
    fitted = fit(many, image, method="ols", captions=captions, unit=False)
    assert (fitted.to_image(text.rows) - image.rows).abs().max() < 0.4
    assert fitted.about["pairs"] == 300


def test_mean_of_captions_is_image_means(planted):
    text, image, _ = planted
    many = captioned(image, text, 3)
    a = fit(many, image, method="rotation")
    b = fit(image_means(many), image, method="rotation")
    assert torch.allclose(a.to_image_weight, b.to_image_weight, atol=1e-5)


def test_join_leaves_out_what_is_on_one_side_only(planted):
    text, image, _ = planted
    pairs = join(text.take(range(10, 60)), image.take(range(40, 100)))
    assert pairs.image_ids == [f"i{k}" for k in range(40, 60)]
    [(text_rows, image_rows)] = pairs.blocks()
    assert torch.equal(text_rows, text.rows[40:60]) and torch.equal(image_rows, image.rows[40:60])


def test_blocks_give_the_same_bridge_as_one_block(planted, monkeypatch):
    text, image, _ = planted
    many = captioned(image, text, 3)
    whole = fit(many, image, method="ridge")
    monkeypatch.setattr("bridge.fitting.BLOCK", 7)
    blocks = fit(many, image, method="ridge")
    assert torch.allclose(whole.to_image_weight, blocks.to_image_weight, atol=1e-5)


def test_pairs_limits_the_fit_and_is_drawn_by_seed(planted):
    text, image, _ = planted
    few = fit(text, image, pairs=30, seed=1)
    assert few.about["pairs"] == 30 == len(few.fitted_on)
    assert torch.equal(few.fitted_on, fit(text, image, pairs=30, seed=1).fitted_on)
    assert not torch.equal(few.fitted_on, fit(text, image, pairs=30, seed=2).fitted_on)


def test_ridge_is_never_far_behind_its_two_neighbours():
    """From fewer pairs than dimensions to many: held-out cosines of ridge, least squares, rotation."""
    generator = torch.Generator().manual_seed(3)
    text = torch.randn(900, 60, generator=generator) * torch.linspace(3, 0.1, 60)
    basis = torch.linalg.qr(torch.randn(60, 60, generator=generator)).Q
    image = text @ basis + torch.randn(900, 60, generator=generator)
    sides = embeddings(text), embeddings(image)
    for pairs in (10, 40, 60, 80, 600):
        scores = {}
        for method in METHODS:
            fitted = fit(*(side.take(range(600)) for side in sides), method=method, pairs=pairs)
            t, i = fitted.both_in("image", text[600:], image[600:])
            scores[method] = float(torch.cosine_similarity(t, i).mean())
        assert scores["ridge"] > max(scores.values()) - 0.03, (pairs, scores)


def test_round_trip(planted, tmp_path):
    text, image, _ = planted
    fitted = fit(text, image)
    fitted.save(tmp_path / "b")
    back = maps.load(tmp_path / "b")
    assert torch.equal(back.to_image(text.rows), fitted.to_image(text.rows))
    assert torch.equal(back.to_text(image.rows), fitted.to_text(image.rows))
    assert back.about == fitted.about and back.are_seen(image.ids).all()
    with pytest.raises(InputError, match="--overwrite"):
        fitted.save(tmp_path / "b")
    fitted.save(tmp_path / "b", overwrite=True)


def test_seen_counts_images_of_the_fit(planted):
    text, image, _ = planted
    fitted = fit(text.take(range(100)), image)
    assert fitted.are_seen(image.ids).tolist() == [True] * 100 + [False] * 200


def test_damaged_folders_are_refused(planted, tmp_path):
    text, image, _ = planted
    fit(text, image).save(tmp_path / "b")
    (tmp_path / "b" / "weights.safetensors").write_bytes(b"cut off")
    (tmp_path / "empty").mkdir()
    for name in ("b", "empty"):
        with pytest.raises(InputError, match="expected a bridge folder") as error:
            maps.load(tmp_path / name)
        assert "\n" not in str(error.value)
    for damage in ("[]", '{"format": "platobridge.bridge/1", "spaces": {"text": {}, "image": {}}}'):
        fit(text, image).save(tmp_path / "b", overwrite=True)
        (tmp_path / "b" / "bridge.json").write_text(damage)
        with pytest.raises(InputError, match="expected a bridge folder"):
            maps.load(tmp_path / "b")
    with pytest.raises(InputError, match="no such bridge folder"):
        maps.load(tmp_path / "none")


def test_old_bridges_stay_readable():
    from pathlib import Path

    old = maps.load(Path(__file__).parent / "data" / "bridge-1")
    assert old.about["method"] == "ridge" and old.are_seen(["i0", "x"]).tolist() == [True, False]
    assert old.to_image(torch.ones(1, 3)).shape == (1, 4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "cca"}, "expected a method of ridge, ols, rotation, got 'cca'"),
        ({"pairs": 301}, "expected 301 pairs, but text and images share 300 images"),
        ({"pairs": 1}, "at least 2 pairs, got 1"),
        ({"method": "ols", "penalty": 1.0}, "goes with --method ridge"),
        ({"penalty": -1.0}, "penalty of at least 0"),
        ({"penalty": float("inf")}, "finite penalty"),
    ],
)
def test_bad_settings(planted, change, message):
    text, image, _ = planted
    with pytest.raises(InputError, match=message):
        fit(text, image, **change)


def test_bad_rows(planted):
    text, image, _ = planted
    with pytest.raises(InputError, match="share no image id: texts have ids like 'i0'"):
        fit(text, embeddings(image.rows, [f"other{k}" for k in range(300)]))
    with pytest.raises(InputError, match="all image rows of the pairs are the same"):
        fit(text, embeddings(torch.ones(300, 4)))
    broken = image.rows.clone()
    broken[7, 0] = torch.inf
    with pytest.raises(InputError, match="'i7'"):
        fit(text, embeddings(broken))
    with pytest.raises(InputError, match="wrong order"):
        fit(image, captioned(image, text, 2))


def test_rows_of_another_encoder_are_refused(planted):
    text, image, _ = planted
    about = {"encoder": {"name": "hf:a", "fingerprint": "1"}}
    fitted = fit(Embeddings(text.rows, text.ids, text.ids, about), image)
    other = {"encoder": {"name": "hf:a", "fingerprint": "2"}}
    with pytest.raises(InputError, match="embed them with the encoder of the bridge"):
        fitted.check_encoder("text", Embeddings(text.rows, text.ids, text.ids, other))
    fitted.check_encoder("text", Embeddings(text.rows, text.ids, text.ids, about))
    with pytest.raises(InputError, match="maps image rows of width 12, got width 8"):
        fitted.check_encoder("image", text)
    with pytest.raises(InputError, match="maps text rows of width 8, got width 12"):
        fitted.to_image(image.rows)


def test_fit_from_files_does_not_depend_on_their_precision(planted, tmp_path):
    text, image, _ = planted
    save(embeddings(image.rows.half(), image.ids), tmp_path / "i.safetensors")
    fitted = fit(text, load(tmp_path / "i.safetensors"))
    assert np.allclose(fitted.to_image_weight, fit(text, image).to_image_weight, atol=1e-2)
    assert isinstance(fitted, Bridge)
