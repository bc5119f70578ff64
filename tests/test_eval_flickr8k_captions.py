"""Captions on a known protocol: remembered captions of Flickr8k through a ridge of MiniLM rows.

The expected figures come from an independent computation with the same rows.
"""

import pytest

from bridge.captions import read_captions
from bridge.decode import Decoder
from bridge.embeddings import image_means
from bridge.fitting import fit
from bridge.memory import remember
from eval import captioning
from eval.captioning import measure_captions
from eval.decoding import CONSENSUS, measure_decoder

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def flickr(data_folder, flickr_table):
    """Rows and captions of the two splits, by name."""
    folder = data_folder / "flickr8k"

    text, image = flickr_table("text_minilm"), flickr_table("images_lite0")
    found = {}
    for split in ("train", "test"):
        captions = read_captions(folder / "dataset_flickr8k.json", split=split)
        ids = list(dict.fromkeys(caption.image_id for caption in captions))
        found[split] = text.of_images(ids), image.of_images(ids), captions
    return found


@pytest.fixture(scope="module")
def bridge(flickr):
    text, image, _ = flickr["train"]
    return fit(text, image, method="ridge", penalty=0.1)


@pytest.fixture(scope="module")
def decoder(flickr, bridge):
    text, _, captions = flickr["train"]
    about = {"kind": "nearest", "encoder": text.about["encoder"]}
    return Decoder(about, remember(text, captions, bridge.text.mean))


def test_remembered_captions_through_a_bridge(flickr, bridge, decoder):
    _, image, captions = flickr["test"]
    told: dict[str, list[str]] = {}
    for caption in captions:
        told.setdefault(caption.image_id, []).append(caption.text)
    report, written = measure_decoder(decoder, bridge, image, told, metrics=["cider"])
    assert len(written) == 1000
    assert report.metrics["nearest.cider"] == pytest.approx(0.376, abs=0.02)
    assert CONSENSUS == 30
    assert report.metrics["consensus.cider"] == pytest.approx(0.409, abs=0.02)
    assert report.metrics["human.cider"] == pytest.approx(0.80, abs=0.03)
    assert report.chance["nearest.cider"] < 0.05


def test_the_memory_could_say_more_than_the_bridge_asks(flickr, decoder, monkeypatch):
    text, _, captions = flickr["test"]
    monkeypatch.setattr(captioning, "LEVEL_IMAGES", 50)
    own = image_means(text)
    told: dict[str, list[str]] = {}
    for caption in captions:
        told.setdefault(caption.image_id, []).append(caption.text)
    nearest = {
        image_id: some[0].text
        for image_id, some in zip(own.ids, decoder.remembered(own.rows), strict=True)
    }
    report = measure_captions({"captions": nearest}, told, metrics=["cider"])
    assert report.metrics["captions.cider"] == pytest.approx(0.973, abs=0.02)
