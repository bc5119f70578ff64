"""Real numbers on a known protocol: MiniLM and EfficientNet-Lite0 rows of Flickr8k.

Mean of an image's five raw caption rows, training mean subtracted, scaled to length 1; 6000
training and 1000 test images. The expected figures come from an independent computation.
"""

import json

import pytest

from bridge.embeddings import image_means
from bridge.fitting import fit
from eval.alignment import mutual_knn
from eval.measure import measure_retrieval

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def flickr(data_folder, flickr_table):
    folder = data_folder / "flickr8k"

    content = json.loads((folder / "dataset_flickr8k.json").read_text())
    split = {image["filename"]: image["split"] for image in content["images"]}
    text, image = image_means(flickr_table("text_minilm")), flickr_table("images_lite0")
    ids = {part: [i for i in image.ids if split[i] == part] for part in ("train", "test")}
    return {part: (text.of_images(ids[part]), image.of_images(ids[part])) for part in ids}


def test_mutual_knn(flickr):
    train, (text, image) = flickr["train"], flickr["test"]
    means = [side.rows.mean(0) for side in train]
    centred = [side.rows - mean for side, mean in zip((text, image), means, strict=True)]
    assert mutual_knn(*centred, center=False) == pytest.approx(0.171, abs=0.003)
    assert mutual_knn(text.rows, image.rows) == pytest.approx(0.171, abs=0.005)
    assert mutual_knn(text.rows, image.rows, center=False) == pytest.approx(0.159, abs=0.003)


@pytest.mark.parametrize(
    ("settings", "recall", "median"),
    [
        ({"method": "rotation"}, (0.239, 0.305), (5, 3)),
        ({"method": "ridge", "penalty": 0.03}, (0.238, 0.379), (5, 2)),
    ],
)
def test_retrieval_in_image_space(flickr, settings, recall, median):
    bridge = fit(*flickr["train"], **settings)
    metrics = measure_retrieval(*flickr["test"], bridge, space="image").metrics
    for direction, share, rank in zip(
        ("text_to_image", "image_to_text"), recall, median, strict=True
    ):
        assert metrics[f"{direction}.recall@1"] == pytest.approx(share, abs=0.01)
        assert metrics[f"{direction}.median_rank"] == rank


def test_chosen_penalty_beats_rotation_and_least_squares(flickr):
    scores = {
        method: measure_retrieval(*flickr["test"], fit(*flickr["train"], method=method)).metrics
        for method in ("ridge", "ols", "rotation")
    }
    for direction in ("text_to_image", "image_to_text"):
        r10 = {method: score[f"{direction}.recall@10"] for method, score in scores.items()}
        assert r10["ridge"] > max(r10.values()) - 0.01, r10
