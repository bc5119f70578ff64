"""Commands as a user types them, run in process: files, messages, exit codes."""

import json

import numpy as np
import pytest
import torch
from conftest import embeddings

from bridge import maps
from bridge.__main__ import main
from bridge.embeddings import load, save
from eval import report


def run(*arguments) -> int:
    return main([str(argument) for argument in arguments])


@pytest.fixture
def tables(tmp_path, planted):
    text, image, _ = planted
    save(text, tmp_path / "text.safetensors")
    save(image, tmp_path / "image.safetensors")
    save(text.take(range(200)), tmp_path / "train.safetensors")
    return tmp_path


def fails(capsys, *arguments) -> str:
    """Run a command that must end with exit code 2 and one clear line; return the line."""
    capsys.readouterr()
    assert run(*arguments) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if "━" not in line]
    assert len(lines) == 1 and lines[0].startswith("platobridge: "), lines
    return lines[0]


def test_fit_and_evaluate(tables, capsys):
    bridge, out = tables / "bridge", tables / "r.json"
    assert (
        run("fit", tables / "train.safetensors", tables / "image.safetensors", "--out", bridge) == 0
    )
    assert maps.load(bridge).about["pairs"] == 200
    both = (tables / "text.safetensors", tables / "image.safetensors")
    assert run("eval", "retrieval", *both, "--bridge", bridge, "--out", out, "--drop-fitted") == 0
    assert "text to image recall@1" in capsys.readouterr().out
    made = report.load(out)
    assert made.metrics["text_to_image.recall@1"] > 0.95 and set(made.inputs) == {
        "text",
        "image",
        "bridge",
    }
    assert run("eval", "alignment", *both, "--out", tables / "a.json") == 0
    assert (tables / "a.png").exists() and "0.033" in capsys.readouterr().out


def test_rerun_says_so_and_other_settings_are_refused(tables, capsys):
    both = (tables / "train.safetensors", tables / "image.safetensors")
    bridge = tables / "bridge"
    assert run("fit", *both, "--out", bridge) == 0
    before = (bridge / "weights.safetensors").stat().st_mtime_ns
    assert run("fit", *both, "--out", bridge) == 0
    assert "already made" in capsys.readouterr().err
    assert (bridge / "weights.safetensors").stat().st_mtime_ns == before
    error = fails(capsys, "fit", *both, "--out", bridge, "--method", "rotation")
    assert "method = 'ridge', now method = 'rotation'" in error and "--overwrite" in error
    assert run("fit", *both, "--out", bridge, "--method", "rotation", "--overwrite") == 0
    assert maps.load(bridge).about["method"] == "rotation"


def test_eval_rerun(tables, capsys):
    both = (tables / "text.safetensors", tables / "image.safetensors")
    assert run("eval", "alignment", *both, "--out", tables / "a.json") == 0
    assert run("eval", "alignment", *both, "--out", tables / "a.json") == 0
    assert "was made before" in capsys.readouterr().err
    assert "settings.k = 10" in fails(
        capsys, "eval", "alignment", *both, "--out", tables / "a.json", "--k", "5"
    )


def test_bad_inputs_of_fit(tables, capsys, planted):
    text = planted[0]
    good = tables / "image.safetensors"
    (tables / "foreign.safetensors").write_text("not a table")
    broken = text.rows.clone()
    broken[3] = torch.nan
    save(embeddings(broken), tables / "nan.safetensors")
    save(embeddings(text.rows, [f"x{k}" for k in range(300)]), tables / "strange.safetensors")
    for name, message in (
        ("none.safetensors", "no such embeddings file"),
        ("foreign.safetensors", "expected an embeddings file"),
        ("nan.safetensors", "row 3 ('i3') holds NaN"),
        ("strange.safetensors", "share no image id"),
    ):
        assert message in fails(capsys, "fit", tables / name, good, "--out", tables / "b")
        assert not (tables / "b").exists()
    wanted = ("fit", tables / "text.safetensors", good, "--out", tables / "b")
    assert "expected 301 pairs" in fails(capsys, *wanted, "--pairs", 301)


def test_bad_inputs_of_eval(tables, capsys):
    both = (tables / "text.safetensors", tables / "image.safetensors")
    run("fit", *both, "--out", tables / "b")
    wanted = ("eval", "retrieval", *both, "--out", tables / "r.json", "--bridge")
    assert "fitted on 300 of the 300 images" in fails(capsys, *wanted, tables / "b")
    assert "no such" in fails(capsys, *wanted, tables / "none")
    assert "expected a bridge folder" in fails(capsys, *wanted, tables / "text.safetensors")
    swapped = ("eval", "retrieval", *reversed(both), "--out", tables / "r.json", "--bridge")
    assert "width" in fails(capsys, *swapped, tables / "b")
    assert not (tables / "r.json").exists()


def test_usage_errors_have_exit_code_2(tables, capsys):
    assert run("fit", tables / "text.safetensors") == 2
    assert run("bogus") == 2
    assert run("fit", "a", "b", "--out", "c", "--method", "cca") == 2
    assert "Traceback" not in capsys.readouterr().err


def test_embed_images_and_text(pictures, text_model, tmp_path, capsys):
    (pictures / "broken.jpg").write_text("no picture")
    out = tmp_path / "i.safetensors"
    wanted = ("embed", "images", pictures, "--encoder", "package:efficientnet-lite0")
    assert run(*wanted, "--image-size", 64, "--out", out) == 0
    assert "broken.jpg: cannot be read" in capsys.readouterr().err
    assert load(out).width == 1280 and len(load(out)) == 10
    (tmp_path / "c.jsonl").write_text('{"image_id": "0.png", "text": "the red dog"}\n')
    wanted = ("embed", "text", tmp_path / "c.jsonl", "--encoder", text_model)
    assert run(*wanted, "--out", tmp_path / "t.safetensors") == 0
    assert load(tmp_path / "t.safetensors").ids == ("0.png#0",)
    assert "encoder.image_size = 64" in fails(
        capsys, "embed", "images", pictures, "--encoder", "package:efficientnet-lite0", "--out", out
    )


def test_bad_inputs_of_embed(pictures, tmp_path, capsys):
    lite = ("--encoder", "package:efficientnet-lite0", "--out", tmp_path / "o.safetensors")
    assert "no such image folder" in fails(capsys, "embed", "images", tmp_path / "none", *lite)
    (tmp_path / "empty").mkdir()
    assert "expected image files" in fails(capsys, "embed", "images", tmp_path / "empty", *lite)
    named = ("--encoder", "package:efficientnet-lite0", "--out", tmp_path / "o.npy")
    assert "ends in .safetensors" in fails(capsys, "embed", "images", pictures, *named)
    (pictures / "broken.jpg").write_text("no picture")
    assert "broken.jpg" in fails(capsys, "embed", "images", pictures, *lite, "--strict")
    assert not (tmp_path / "o.safetensors").exists()


def test_data_import(tmp_path, capsys):
    (tmp_path / "c.csv").write_text("image,caption\na.jpg,a dog\na.jpg,\nb.jpg,a cat\n")
    assert run("data", "import", tmp_path / "c.csv", "--out", tmp_path / "c.jsonl") == 0
    lines = [json.loads(line) for line in (tmp_path / "c.jsonl").read_text().splitlines()]
    assert [line["text"] for line in lines] == ["a dog", "a cat"]
    assert "line 3" in capsys.readouterr().err
    assert "exists" in fails(
        capsys, "data", "import", tmp_path / "c.csv", "--out", tmp_path / "c.jsonl"
    )
    np.save(tmp_path / "f.npy", np.ones((2, 3), np.float32))
    (tmp_path / "ids.txt").write_text("a.jpg\nb.jpg\n")
    features = ("data", "import", tmp_path / "f.npy", "--ids", tmp_path / "ids.txt")
    assert run(*features, "--out", tmp_path / "f.safetensors", "--encoder", "mine") == 0
    assert load(tmp_path / "f.safetensors").ids == ("a.jpg", "b.jpg")
    assert load(tmp_path / "f.safetensors").encoder == "mine"
    assert "end in .jsonl" in fails(capsys, *features, "--out", tmp_path / "f.bin")


def test_overwrite_deletes_nothing_that_is_no_bridge(tables, pictures, capsys):
    both = (tables / "text.safetensors", tables / "image.safetensors")
    error = fails(capsys, "fit", *both, "--out", pictures, "--overwrite")
    assert "is no bridge folder" in error and (pictures / "0.png").exists()
    assert "is no bridge folder" in fails(capsys, "fit", *both, "--out", both[0], "--overwrite")
    assert both[0].is_file()


def test_outputs_that_cannot_be_written(tables, capsys):
    both = (tables / "text.safetensors", tables / "image.safetensors")
    (tables / "file").write_text("x")
    assert fails(capsys, "fit", *both, "--out", tables / "file" / "b").startswith("platobridge: /")
    assert "ends in .json" in fails(capsys, "eval", "alignment", *both, "--out", tables / "a.txt")
    (tables / "a.png").write_bytes(b"mine")
    assert "a.png exists" in fails(capsys, "eval", "alignment", *both, "--out", tables / "a.json")
    assert (tables / "a.png").read_bytes() == b"mine"


def test_quickstart_does_not_replace_another_folder(pictures, capsys):
    error = fails(capsys, "quickstart", "--out", pictures, "--overwrite")
    assert "is no quickstart's folder" in error and (pictures / "0.png").exists()
