from dataclasses import replace

import pytest
import torch
from conftest import embeddings

from bridge.errors import InputError
from bridge.fitting import fit
from eval.measure import measure_alignment, measure_retrieval
from eval.retrieval import partners, retrieval


def halves(planted):
    text, image, _ = planted
    fitted = fit(text.take(range(200)), image.take(range(200)))
    return text, image, fitted


def test_a_good_bridge_retrieves(planted):
    text, image, bridge = halves(planted)
    report = measure_retrieval(text, image, bridge, drop_fitted=True)
    assert report.settings["images"] == 100 and report.settings["fitted_images_dropped"] == 200
    for key in ("text_to_image", "image_to_text", "text_to_image.csls", "image_to_text.csls"):
        assert report.metrics[f"{key}.recall@1"] > 0.95
        assert report.chance[f"{key}.recall@1"] == pytest.approx(0.01)


def test_a_leak_is_refused(planted):
    text, image, bridge = halves(planted)
    with pytest.raises(InputError, match="fitted on 200 of the 300 images"):
        measure_retrieval(text, image, bridge)
    with pytest.raises(InputError, match="at least 4 images to measure on, got 0"):
        measure_retrieval(text.take(range(200)), image, bridge, drop_fitted=True)


def test_swapped_sides_and_strangers_are_refused(planted):
    text, image, bridge = halves(planted)
    with pytest.raises(InputError, match="maps text rows of width 8, got width 12"):
        measure_retrieval(image, text, bridge, drop_fitted=True)
    with pytest.raises(InputError, match="at least 4 images to measure on, got 0: texts have ids"):
        measure_alignment(text, embeddings(image.rows, [f"x{k}" for k in range(300)]))


def test_alignment_report(planted):
    text, image, bridge = halves(planted)
    order = torch.randperm(300, generator=torch.Generator().manual_seed(0)).tolist()
    report = measure_alignment(text, image.take(order))
    assert report.metrics["mutual_knn"] > 0.5
    assert report.chance["mutual_knn"] == pytest.approx(10 / 299)
    mapped = measure_alignment(text, image, bridge=bridge, drop_fitted=True)
    assert mapped.settings["n"] == 100 and mapped.metrics["mutual_knn"] > 0.9


def test_the_verdict_on_a_bridge_goes_with_its_figures(planted):
    text, image, bridge = halves(planted)
    verdict = {"level": "coarse", "reasons": ("so and so",), "deciding_images": ["a"]}
    blind = replace(bridge, about=bridge.about | {"verdict": verdict})
    for measure in (measure_retrieval, measure_alignment):
        said = measure(text, image, bridge=blind, drop_fitted=True).settings["verdict"]
        assert said == {"level": "coarse", "reasons": ["so and so"]}
        without = measure(text, image, bridge=bridge, drop_fitted=True)
        assert "verdict" not in without.settings


def captioned(image, text):
    rows = torch.cat([text.rows, text.rows + 0.01])
    ids = [f"{i}#{k}" for k in (0, 1) for i in text.ids]
    return embeddings(rows, ids, text.ids * 2, "words")


def test_the_query_space_is_each_directions_own(planted):
    text, image, bridge = halves(planted)
    text, image = text.take(range(200, 300)), image.take(range(200, 300))
    report = measure_retrieval(text, image, bridge)
    pairs = partners(text.image_ids, image.image_ids)
    for direction, space in (("text_to_image", "text"), ("image_to_text", "image")):
        sides = bridge.both_in(space, text.rows, image.rows)
        alone = retrieval(*sides, pairs, directions=[direction])["metrics"]
        assert all(report.metrics[key] == value for key, value in alone.items())
        one = measure_retrieval(text, image, bridge, space=space).metrics
        assert all(one[key] == value for key, value in alone.items())


@pytest.mark.parametrize(("captions", "texts"), [("each", 200), ("mean", 100), ("first", 100)])
def test_captions_each_mean_first(planted, captions, texts):
    text, image, bridge = halves(planted)
    report = measure_retrieval(
        captioned(image, text), image, bridge, captions=captions, drop_fitted=True
    )
    assert (report.settings["texts"], report.settings["images"]) == (texts, 100)
    assert report.metrics["image_to_text.recall@1"] > 0.95
    with pytest.raises(InputError, match="expected captions of each, mean, first, got 'all'"):
        measure_retrieval(text, image, bridge, captions="all")
    with pytest.raises(InputError, match="expected a space of query, text, image"):
        measure_retrieval(text, image, bridge, space="both")
