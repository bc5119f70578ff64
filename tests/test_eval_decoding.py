"""Captions through a bridge, measured: leaks refused, checks in their order, the command."""

import json

import pytest
import torch
from test_bridge_decode import ABOUT

from bridge import embeddings as tables
from bridge.__main__ import main
from bridge.captions import Caption, write_captions
from bridge.decode import Decoder, Decoding
from bridge.embeddings import Embeddings
from bridge.errors import InputError
from bridge.fitting import fit
from bridge.memory import Memory
from eval.decoding import measure_decoder, text_checks, turned

SUBJECTS = ["dog", "cat", "sheep", "boat", "horse"]
DEEDS = ["runs on grass", "sleeps near water", "looks at the sea", "stands on a hill"]


def rows_of(count: int, first: int = 0) -> tuple[Embeddings, Embeddings, dict[str, list[str]]]:
    """Texts of images, two each, images as a fixed linear map of what they show, and the texts."""
    generator = torch.Generator().manual_seed(7)
    subject, deed = torch.randn(5, 8, generator=generator), torch.randn(4, 8, generator=generator)
    onto = torch.linalg.qr(torch.randn(10, 8, generator=generator)).Q.T
    told, shown, text, ids = {}, [], [], []
    drawn = torch.Generator().manual_seed(first)
    for index in range(first, first + count):
        meant = subject[index % 5] + deed[index // 5 % 4]
        shown.append(meant @ onto + 0.05 * torch.randn(10, generator=drawn))
        name = f"{index}.jpg"
        texts = [f"a {SUBJECTS[index % 5]} {DEEDS[index // 5 % 4]}"]
        texts.append(f"the {SUBJECTS[index % 5]} that {DEEDS[index // 5 % 4]}")
        told[name] = texts
        text += [meant + 0.05 * torch.randn(8, generator=drawn) for _ in texts]
        ids += [f"{name}#{k}" for k in range(2)]
    noted = {"encoder": {"name": "planted", "fingerprint": "f"}}
    image_ids = tuple(i.split("#")[0] for i in ids)
    return (
        Embeddings(torch.stack(text), tuple(ids), image_ids, noted),
        Embeddings(torch.stack(shown), tuple(told), tuple(told), {"encoder": {"name": "eyes"}}),
        told,
    )


@pytest.fixture(scope="module")
def fitted():
    text, image, told = rows_of(100)
    bridge = fit(text, image)
    memory = Memory(text, [line for texts in told.values() for line in texts], bridge.text.mean)
    return bridge, Decoder(ABOUT | {"kind": "nearest"}, memory)


def test_a_good_bridge_finds_captions_like_peoples(fitted):
    bridge, decoder = fitted
    _, image, told = rows_of(40, first=200)
    report, captions = measure_decoder(decoder, bridge, image, told, tokenizer="python")
    assert list(captions) == list(told)
    assert report.metrics["nearest.cider"] > 3 * report.chance["nearest.cider"]
    assert report.metrics["nearest.cider"] > report.metrics["constant.cider"]
    assert report.settings["kind"] == "nearest"
    assert report.settings["fitted_images_dropped"] == 0


def test_images_that_were_fitted_are_refused_or_dropped(fitted):
    bridge, decoder = fitted
    _, image, told = rows_of(110)
    with pytest.raises(InputError, match="fitted on 100 of the 110 images"):
        measure_decoder(decoder, bridge, image, told)
    report, captions = measure_decoder(
        decoder, bridge, image, told, tokenizer="python", drop_fitted=True
    )
    assert len(captions) == 10 and report.settings["fitted_images_dropped"] == 100
    with pytest.raises(InputError, match="no image has references"):
        measure_decoder(decoder, bridge, image, {"elsewhere.jpg": ["a"]})


def test_rows_of_another_encoder_are_refused(fitted):
    bridge, decoder = fitted
    _, image, told = rows_of(40, first=200)
    foreign = Decoder(
        decoder.about | {"encoder": {"name": "x", "fingerprint": "g"}}, decoder.memory
    )
    with pytest.raises(InputError, match="this decoder reads rows of x"):
        measure_decoder(foreign, bridge, image, told)


def test_checks_fall_with_the_cosine(fitted):
    _, decoder = fitted
    text, _, told = rows_of(60, first=300)
    settings = {"metrics": ["cider"], "tokenizer": "python", "seed": 0}
    found = text_checks(decoder, text, told, Decoding(), settings).metrics
    names = ["others", "others at 0.9", "others at 0.6", "mean"]
    values = [found[f"check {name}.cider"] for name in names]
    assert values == sorted(values, reverse=True) and values[0] > 2 * values[-1]
    assert all(key.startswith("check") for key in found)


@pytest.mark.parametrize("cosine", [1.0, 0.8, 0.3])
def test_turned_rows_keep_cosine_and_length(cosine):
    generator = torch.Generator().manual_seed(0)
    rows, mean = torch.randn(20, 6, generator=generator) * 3, torch.ones(6)
    away = turned(rows, mean, cosine)
    assert torch.allclose(torch.cosine_similarity(rows - mean, away - mean), torch.tensor(cosine))
    assert torch.allclose((rows - mean).norm(dim=1), (away - mean).norm(dim=1))


@pytest.fixture
def files(fitted, tmp_path):
    """What the command reads, in a folder."""
    bridge, decoder = fitted
    _, image, told = rows_of(40, first=200)
    bridge.save(tmp_path / "bridge")
    decoder.save(tmp_path / "decoder")
    tables.save(image, tmp_path / "images.safetensors")
    captions = [
        Caption(name, text, f"{name}#{k}")
        for name, texts in told.items()
        for k, text in enumerate(texts)
    ]
    write_captions(tmp_path / "captions.jsonl", captions)
    results = [{"image_id": name, "caption": texts[0]} for name, texts in told.items()]
    (tmp_path / "results.json").write_text(json.dumps(results))
    return tmp_path


def command(files, *words) -> int:
    given = [
        str(files / word) if "." in word and not word.startswith("-") else word for word in words
    ]
    return main(["eval", "captioning", "--references", str(files / "captions.jsonl"), *given])


def through(files, *words) -> int:
    places = ("--bridge", str(files / "bridge"), "--decoder", str(files / "decoder"))
    return command(files, *places, "--images", "images.safetensors", *words)


def test_the_command_scores_a_bridge(files, capsys):
    words = ("--tokenizer", "python", "--out", "report.json", "--save-captions", "said.json")
    assert through(files, *words) == 0
    told = capsys.readouterr()
    assert "nearest" in told.out and "human" in told.out and "shuffled is chance" in told.out
    assert "CIDEr on 40 images is high by chance" in told.err
    assert len(json.loads((files / "said.json").read_text())) == 40
    assert through(files, *words[:4]) == 0
    assert "was made before with these settings" in capsys.readouterr().err
    assert through(files, *words[:4], "--seed", "3") == 2
    assert "request.seed = 0, now request.seed = 3" in capsys.readouterr().err


def test_the_command_scores_results_of_others(files, capsys):
    assert command(files, "--results", "results.json", "--out", "report.json") == 0
    assert "captions" in capsys.readouterr().out
    assert (
        command(files, "--results", "results.json", "--df", "captions.jsonl", "--out", "df.json")
        == 0
    )


WRONG = {
    "--out report.json": "expected either --results, or --bridge with --images",
    "--results results.json --out report.txt": "report name that ends in .json",
    "--results missing.json --out report.json": "no such file",
    "--results results.json --metrics ciderd --out report.json": "got 'ciderd'",
    "--results results.json --split test --out report.json": "no caption names a split",
}


@pytest.mark.parametrize("words", WRONG)
def test_bad_requests_are_one_line(files, words, capsys):
    assert command(files, *words.split()) == 2
    error = capsys.readouterr().err
    assert WRONG[words] in error and len(error.strip().splitlines()) == 1
    assert not (files / "report.json").exists()


def test_an_unknown_image_is_named(files, capsys):
    (files / "results.json").write_text(json.dumps([{"image_id": 9, "caption": "a dog"}]))
    assert command(files, "--results", "results.json", "--out", "report.json") == 2
    assert (
        "1 of 1 captions are of images that the references do not have: '9'"
        in capsys.readouterr().err
    )
