"""Caption metrics: against hand-made values, stored ones, and what they do on chance."""

import json
import shutil

import numpy as np
import pytest

from bridge.errors import InputError
from eval import captioning
from eval.caption_results import matched, read_references, read_results
from eval.captioning import (
    Tokenized,
    bleu,
    cider,
    constant,
    documents_of,
    human,
    measure_captions,
    meteor,
    rouge,
    shuffled,
)

needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="there is no java here")
SUBJECTS = ["dog", "cat", "sheep", "boat", "horse", "bird", "child", "woman"]
DEEDS = ["runs on grass", "sleeps near water", "looks at the sea", "stands on a hill"]


@pytest.fixture(scope="module")
def references() -> dict[str, list[str]]:
    """120 images of a subject and a deed, each told by five people in their own words."""
    generator = np.random.default_rng(0)
    told = {}
    for index in range(120):
        subject, deed = SUBJECTS[index % 8], DEEDS[index // 8 % 4]
        colours = generator.permutation(["red", "old", "small", "big", "wet"])
        told[f"{index}.jpg"] = [f"A {colour} {subject} {deed} ." for colour in colours]
    return told


def perfect(references):
    return {image_id: texts[0] for image_id, texts in references.items()}


def test_perfect_captions_stand_above_people_above_chance(references):
    report = measure_captions({"captions": perfect(references)}, references, tokenizer="python")
    figures = report.metrics
    for metric in ("cider", "bleu_4", "rouge"):
        levels = [figures[f"{name}.{metric}"] for name in ("captions", "human", "shuffled")]
        assert levels == sorted(levels, reverse=True)
        assert report.chance[f"captions.{metric}"] == figures[f"shuffled.{metric}"]
    low, high = figures["captions.cider.interval"]
    assert low <= figures["captions.cider"] <= high
    assert figures["captions.length_ratio"] == 1
    assert report.settings["images"] == 120
    assert report.settings["references_per_image"] == [5, 5.0, 5]


def test_shuffled_captions_score_the_chance_level(references):
    ids = list(references)
    order = np.random.default_rng(3).permutation(len(ids))
    wrong = {ids[i]: references[ids[j]][0] for i, j in zip(order, np.roll(order, 1), strict=True)}
    report = measure_captions({"captions": wrong}, references, tokenizer="python")
    assert abs(report.metrics["captions.cider"] - report.chance["captions.cider"]) < 0.3
    assert report.metrics["captions.cider"] < 0.5 * report.metrics["human.cider"]


def test_known_values_by_hand():
    scored = Tokenized(["a dog runs on grass", "a cat"], [["a dog runs on grass"], ["the boat"]])
    assert cider(scored).tolist() == [pytest.approx(10.0), 0.0]
    assert rouge(scored).tolist() == [pytest.approx(1.0), 0.0]
    assert bleu(scored)[0] == pytest.approx(5 / 7, abs=1e-6)


def test_cider_of_one_image_is_refused_but_with_other_documents(references):
    one = {"0.jpg": references["0.jpg"]}
    with pytest.raises(InputError, match=r"CIDEr of a single image is 0 .* --df"):
        measure_captions({"captions": perfect(one)}, one, tokenizer="python")
    report = measure_captions(
        {"captions": perfect(one)}, one, tokenizer="python", frequencies=references
    )
    assert report.metrics["captions.cider"] > 1
    assert report.settings["cider_documents"] == 120


def test_documents_of_the_references_change_nothing():
    scored = Tokenized(["a dog", "a red cat"], [["a dog", "one dog"], ["the cat", "a cat"]])
    given = cider(scored, documents_of(scored.references))
    assert np.array_equal(given, cider(scored))


def test_levels_pair_nothing_with_itself(references):
    texts = list(references.values())
    held = human(texts)
    assert all(len(rest) == 4 for rest in held.references)
    assert held.captions[:2] == [texts[0][0], texts[1][1]]
    scored = Tokenized([f"caption {i}" for i in range(20)], texts[:20])
    moved = shuffled(scored, np.random.default_rng(0))
    assert sorted(moved.captions) == sorted(scored.captions)
    assert all(one != other for one, other in zip(moved.captions, scored.captions, strict=True))
    assert constant([["a dog runs", "a dog sits"], ["a dog runs fast", "boat"]]) == "a dog runs"


@needs_java
@pytest.mark.slow
def test_meteor_and_a_java_that_dies(references, monkeypatch, tmp_path):
    scored = Tokenized(["a dog runs"] * 2, [["a dog runs"], ["the boat"]])
    first, second = meteor(scored)
    assert first == pytest.approx(1.0, abs=0.02) and second < 0.2
    (tmp_path / "java").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "java").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(InputError, match="METEOR could not be computed with Java"):
        meteor(scored)


def test_spice_without_its_parser_says_so(references):
    with pytest.raises(InputError, match="spice needs Stanford CoreNLP"):
        measure_captions(
            {"captions": perfect(references)}, references, metrics=["spice"], tokenizer="python"
        )


def test_bad_requests(references):
    captions = perfect(references)
    with pytest.raises(InputError, match=r"metrics of cider, .*, got 'ciderd'"):
        measure_captions({"captions": captions}, references, metrics=["ciderd"])
    with pytest.raises(InputError, match=r"2 of 122 captions are of images .*: 'x', 'y'"):
        measure_captions({"captions": captions | {"x": "?", "y": "?"}}, references)
    fewer = {key: value for key, value in captions.items() if key not in ("7.jpg", "8.jpg")}
    with pytest.raises(InputError, match=r"2 of 120 images have no caption: '7.jpg', '8.jpg'"):
        measure_captions({"captions": fewer}, references)
    assert matched(fewer, references, partial=True) == list(fewer)


SHAPES = {
    "official": [{"image_id": 1, "caption": "a"}, {"image_id": "b.jpg", "caption": "c"}],
    "prediction": [
        {"image_id": 1, "prediction": "a"},
        {"image_id": "b.jpg", "prediction": "c", "captions": ["x"]},
    ],
    "by image": {"1": "a", "b.jpg": ["c"]},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_result_files_of_several_shapes(shape, tmp_path):
    file = tmp_path / "results.json"
    file.write_text(json.dumps(SHAPES[shape]))
    assert read_results(file) == {"1": "a", "b.jpg": "c"}


def test_result_lines(tmp_path):
    file = tmp_path / "results.jsonl"
    file.write_text('{"image_id": "1", "caption": "a"}\n{"image_id": "b", "caption": "c"}\n')
    assert read_results(file) == {"1": "a", "b": "c"}


WRONG = {
    '[{"image_id": 1, "caption": "a"}, {"image_id": 1, "caption": "b"}]': "two and more for '1'",
    '[{"image": 1}]': "item 0: expected image_id and caption",
    '[{"image_id": 1, "caption": 3}]': "item 0: expected a caption as text, got 3",
    '{"1": ["a", "b"]}': "image 1: expected a caption as text",
    "[]": "expected captions to score, got none",
    "3": "expected captions as",
    "[{": "results.json",
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_result_files(text, tmp_path):
    file = tmp_path / "results.json"
    file.write_text(text)
    with pytest.raises(InputError, match=WRONG[text].replace("[", r"\[")):
        read_results(file)


@pytest.mark.realdata
@pytest.mark.parametrize("tokenizer", ["python", pytest.param("ptb", marks=needs_java)])
@pytest.mark.parametrize(
    "name",
    [
        "coco_fakecap_subset_reference",
        "flickr8k_test_human_first_vs_rest",
        "flickr8k_test_wrong_image_caption",
    ],
)
def test_stored_values(name, tokenizer, data_folder, monkeypatch):
    stored = json.loads((data_folder / "metrics" / f"{name}.json").read_text())
    monkeypatch.setattr(captioning, "LEVEL_IMAGES", 20)
    captions = {str(item["id"]): item["hyp"] for item in stored["per_image"]}
    references = {str(item["id"]): item["refs"] for item in stored["per_image"]}
    found = measure_captions({"captions": captions}, references, tokenizer=tokenizer).metrics
    slack = {"ptb": 1e-6, "python": 5e-4}[tokenizer]
    assert found["captions.cider"] == pytest.approx(stored["CIDEr"], abs=slack)
    assert found["captions.rouge"] == pytest.approx(stored["ROUGE_L"], abs=slack)
    four = [found[f"captions.bleu_{n}"] for n in range(1, 5)]
    assert four == pytest.approx(stored["BLEU"], abs=slack)


@pytest.mark.realdata
def test_official_files_are_matched_by_number(data_folder, tmp_path):
    results = read_results(data_folder / "metrics" / "captions_val2014_fakecap_results.json")
    images = [{"id": int(key), "file_name": f"COCO_{key}.jpg"} for key in list(results)[:50]]
    notes = [
        {"image_id": image["id"], "id": n, "caption": "a dog"} for n, image in enumerate(images)
    ]
    file = tmp_path / "captions.json"
    file.write_text(json.dumps({"images": images, "annotations": notes}))
    references = read_references(file, image_key="id")
    some = {key: results[key] for key in references}
    assert matched(some, references, partial=False) == list(references)
    with pytest.raises(InputError, match="--image-key id takes COCO's numbers"):
        matched(some, read_references(file), partial=False)
