import json

import pytest
import torch
from conftest import embeddings
from test_cli import fails, run

from bridge import maps
from bridge.embeddings import Embeddings, load, save
from bridge.errors import InputError
from bridge.fitting import fit
from bridge.geometry import nearest
from bridge.search import indexed_side, search


@pytest.fixture
def fitted(planted):
    text, image, _ = planted
    return text, image, fit(text.take(range(200)), image, method="ridge")


@pytest.mark.parametrize("block", [7, 64, 1000])
@pytest.mark.parametrize("side", ["image", "text"])
def test_search_is_the_nearest_of_the_whole_index(fitted, monkeypatch, block, side):
    text, image, bridge = fitted
    monkeypatch.setattr("bridge.search.BLOCK", block)
    query, index = (text, image) if side == "image" else (image, text)
    scores, rows = search(bridge, query.rows[200:], index, side, k=5)
    both = bridge.both_in("text" if side == "image" else "image", text.rows, image.rows)
    whole = both if side == "image" else both[::-1]
    expected, places = nearest(whole[0][200:], whole[1], 5)
    assert torch.allclose(scores, expected, atol=1e-5) and (rows == places).all()
    assert (rows[:, 0] == torch.arange(200, 300)).double().mean() > 0.95


def test_search_in_fewer_rows_than_asked_for(fitted):
    text, image, bridge = fitted
    scores, rows = search(bridge, text.rows[:2], image.take(range(3)), "image", k=10)
    assert scores.shape == rows.shape == (2, 3)


def test_which_side_an_index_is_of(fitted):
    text, image, bridge = fitted
    assert (indexed_side(bridge, image), indexed_side(bridge, text)) == ("image", "text")
    with pytest.raises(InputError, match=r"fits neither side.*width 12, got width 5"):
        indexed_side(bridge, embeddings(torch.zeros(3, 5)))


# ---- as commands, with a real vision model


def test_classify(colours, capsys):
    new = sorted((colours / "new").rglob("*.png"))
    command = ("classify", *new, "--bridge", colours / "bridge", "--device", "cpu")
    assert run(*command, "--labels", "red, blue", "--templates", "name", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["image"] for each in told] == list(map(str, new))
    for each in told:
        ranked = each["classes"]
        assert ranked[0]["name"] == each["image"].split("/")[-2]
        assert {one["name"] for one in ranked} == {"red", "blue"}
        assert ranked[0]["cosine"] > ranked[1]["cosine"]
    assert run(*command, "--labels", "red, blue", "--top", "1") == 0
    shown = capsys.readouterr()
    assert "red" in shown.out and "no probabilities" in shown.err


def test_classify_leaves_out_what_is_no_picture(colours, tmp_path, capsys):
    (tmp_path / "bad.png").write_bytes(b"no picture")
    command = ("classify", tmp_path / "bad.png", "--bridge", colours / "bridge")
    asked = ("--labels", "red, blue", "--device", "cpu")
    assert "cannot be read as an image" in fails(capsys, *command, *asked)
    good = next((colours / "new" / "red").iterdir())
    assert run(*command, good, *asked, "--json") == 0
    shown = capsys.readouterr()
    assert len(json.loads(shown.out)) == 1 and "left out" in shown.err


def test_search_both_ways(colours, capsys):
    bridge = ("--bridge", colours / "bridge", "--device", "cpu", "--json", "--top", "3")
    assert run("search", "a red dog", *bridge, "--index", colours / "images.safetensors") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["query"] == "a red dog"
    assert all(int(each["name"].split(".")[0]) % 2 == 0 for each in told["found"])  # red ones
    picture = next((colours / "new" / "blue").iterdir())
    texts = ("--index", colours / "text.safetensors", "--captions", colours / "captions.jsonl")
    assert run("search", "--image", picture, *bridge, *texts) == 0
    told = json.loads(capsys.readouterr().out)
    assert all(each["name"].startswith("a blue") for each in told["found"])


def test_one_line_for_what_cannot_be_asked(colours, tmp_path, capsys):
    picture = next((colours / "new" / "red").iterdir())
    classify = ("classify", picture, "--bridge", colours / "bridge", "--device", "cpu")
    assert "either --labels" in fails(capsys, *classify)
    assert "at least 2 classes, got 1" in fails(capsys, *classify, "--labels", "red")
    assert "named twice" in fails(capsys, *classify, "--labels", "red, red")
    search = ("search", "--bridge", colours / "bridge", "--index")
    images, texts = colours / "images.safetensors", colours / "text.safetensors"
    assert "either a text" in fails(capsys, *search, images)
    assert "holds image rows" in fails(capsys, *search, images, "--image", picture)
    assert "holds text rows" in fails(capsys, *search, texts, "red")
    assert "nothing but blanks" in fails(capsys, *search, images, " ")
    other = tmp_path / "other.jsonl"
    other.write_text('{"image_id": "x", "text": "y"}\n')
    assert "no caption of the index" in fails(
        capsys, *search, texts, "--image", picture, "--captions", other
    )


def test_bridge_of_imported_features_needs_the_encoder_named(colours, tmp_path, capsys):
    text, image = load(colours / "text.safetensors"), load(colours / "images.safetensors")
    imported = [
        Embeddings(table.rows, table.ids, table.image_ids, {"encoder": {"name": name}})
        for table, name in ((text, "bert"), (image, "lite0"))
    ]
    fit(*imported).save(tmp_path / "bridge")
    save(imported[1], tmp_path / "images.safetensors")
    command = ("search", "red", "--bridge", tmp_path / "bridge", "--device", "cpu")
    command = (*command, "--index", tmp_path / "images.safetensors")
    assert "--text-encoder" in fails(capsys, *command)
    name = maps.load(colours / "bridge").about["text"]["encoder"]["name"]
    assert run(*command, "--text-encoder", name) == 0
