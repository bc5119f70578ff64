"""A bridge opened with its encoders and decoder, and `platobridge caption` on top of it."""

import json
import shutil

import pytest

from bridge import maps
from bridge.__main__ import main
from bridge.captions import read_captions
from bridge.decode import Decoder, Decoding
from bridge.embeddings import load
from bridge.errors import InputError
from bridge.images import read_image
from bridge.memory import remember
from bridge.opened import Choice, open_bridge


@pytest.fixture(scope="module")
def decoder(colours, tmp_path_factory):
    """A decoder of the captions that the bridge was fitted on, a memory only."""
    text = load(colours / "text.safetensors")
    memory = remember(text, read_captions(colours / "captions.jsonl"), text.rows.float().mean(0))
    folder = tmp_path_factory.mktemp("decoder") / "decoder"
    Decoder({"kind": "nearest", "encoder": text.about["encoder"]}, memory).save(folder)
    return folder


def new_pictures(colours):
    return sorted((colours / "new").rglob("*.png"))


def test_pictures_get_captions_of_their_colour(colours, decoder):
    opened = open_bridge(colours / "bridge", Choice(decoder=decoder, device="cpu"))
    paths = new_pictures(colours)
    rows = opened.image_rows([read_image(path) for path in paths])
    written = [some[0].text for some in opened.captions(rows, Decoding(consensus=3))]
    right = [path.parent.name in text for path, text in zip(paths, written, strict=True)]
    assert len(paths) == 8 and sum(right) >= 7, written
    assert opened.paired and opened.vision is opened.vision


def test_reranked_captions_are_those_nearest_to_the_picture(colours, decoder):
    opened = open_bridge(colours / "bridge", Choice(decoder=decoder, device="cpu"))
    rows = opened.image_rows([read_image(new_pictures(colours)[0])])
    (some,) = opened.captions(rows, Decoding(), count=2, rerank=True)
    assert len(some) == 2 and some[0].score >= some[1].score


def test_a_decoder_is_found_in_the_encoders_folder(colours, decoder, tmp_path):
    bridge = maps.load(colours / "bridge")
    encoder = tmp_path / "encoder"
    shutil.copytree(decoder, encoder / "decoder")
    bridge.about["text"]["encoder"]["name"] = f"jepa:{encoder}"
    bridge.save(tmp_path / "bridge")
    assert open_bridge(tmp_path / "bridge").decoder_folder() == encoder / "decoder"
    shutil.rmtree(encoder / "decoder")
    with pytest.raises(InputError, match="has no decoder of its own; name one with --decoder"):
        open_bridge(tmp_path / "bridge").decoder  # noqa: B018


def test_a_decoder_of_another_encoder_is_refused(colours, decoder, tmp_path):
    shutil.copytree(decoder, tmp_path / "decoder")
    card = tmp_path / "decoder" / "platobridge.json"
    about = json.loads(card.read_text())
    about["about"]["encoder"]["fingerprint"] = "other"
    card.write_text(json.dumps(about))
    with pytest.raises(InputError, match="this decoder reads rows of"):
        open_bridge(colours / "bridge", Choice(decoder=tmp_path / "decoder")).decoder  # noqa: B018


def caption(colours, decoder, *words) -> int:
    given = ("--bridge", str(colours / "bridge"), "--decoder", str(decoder), "--device", "cpu")
    return main(["caption", *map(str, words), *given])


def test_the_command_prints_a_table(colours, decoder, capsys):
    picture = colours / "new" / "red" / "16.png"
    assert caption(colours, decoder, picture, "--near", 2, "--candidates", 2) == 0
    printed = capsys.readouterr().out
    assert "a red" in printed and "remembered" in printed


def test_the_command_writes_lines_and_leaves_out_what_is_no_image(
    colours, decoder, tmp_path, capsys
):
    shutil.copytree(colours / "new", tmp_path / "new")
    (tmp_path / "new" / "broken.png").write_bytes(b"no image")
    out = tmp_path / "said.jsonl"
    assert caption(colours, decoder, tmp_path / "new", "--out", out) == 0
    assert "left out" in capsys.readouterr().err
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(lines) == 8 and {"image_id", "file", "caption", "candidates"} <= lines[0].keys()
    assert caption(colours, decoder, tmp_path / "new", "--out", out) == 2
    assert "exists; name another file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["broken.png"], "cannot be read as an image"),
        (["nothing.png"], "no such image folder"),
    ],
)
def test_bad_images_are_one_line(colours, decoder, tmp_path, words, message, capsys):
    (tmp_path / "broken.png").write_bytes(b"no image")
    assert caption(colours, decoder, *(tmp_path / word for word in words)) == 2
    error = capsys.readouterr().err.strip().splitlines()
    assert message in error[-1]
