"""`platobridge eval zero-shot` as a user types it."""

import pytest
from test_cli import fails, run

from bridge import maps
from bridge.embeddings import load
from eval import report


@pytest.fixture
def asked(colours, tmp_path):
    (tmp_path / "classes.txt").write_text("red\nblue\n")
    return (
        "eval", "zero-shot", "--bridge", colours / "bridge", "--images", colours / "new",
        "--classes", tmp_path / "classes.txt", "--out", tmp_path / "r.json",
        "--templates", "name", "--device", "cpu",
    )  # fmt: skip


def test_a_folder_is_embedded_and_classified(asked, tmp_path, capsys):
    assert run(*asked) == 0
    made = report.load(tmp_path / "r.json")
    assert made.metrics["cosine.top1"] == 1.0 and made.chance["cosine.top1"] == 0.5
    assert "cosine.top5" not in made.metrics
    assert set(made.inputs) == {"bridge bridge", "images", "classes"}
    assert made.settings["images"] == 8 and not made.settings["supervised_features"]
    assert (tmp_path / "r.png").stat().st_size > 5000
    assert len(load(tmp_path / "r.images.safetensors")) == 8
    shown = capsys.readouterr()
    assert "chance" in shown.out and "csls *" in shown.out and "transductive" in shown.err


def test_a_part_of_a_data_set(asked, colours, tmp_path):
    """Kaggle's layout, with a class more than the list: only `val.X` is taken, and of it the list."""
    root = tmp_path / "imagenet100"
    for part in ("train.X1", "val.X"):
        for name, source in (("red", "red"), ("blue", "blue"), ("green", "blue")):
            (root / part / name).mkdir(parents=True)
            for picture in (colours / "new" / source).iterdir():
                (root / part / name / picture.name).write_bytes(picture.read_bytes())
    assert run(*asked, "--images", root) == 0
    settings = report.load(tmp_path / "r.json").settings
    assert (settings["images"], settings["images_of_other_classes"]) == (8, 4)


def test_again_and_otherwise(asked, tmp_path, capsys):
    assert run(*asked) == 0
    before = (tmp_path / "r.json").stat().st_mtime_ns
    assert run(*asked) == 0
    assert "made before" in capsys.readouterr().err
    assert (tmp_path / "r.json").stat().st_mtime_ns == before
    assert "center = 'bridge', now" in fails(capsys, *asked, "--center", "own")
    assert run(*asked, "--center", "own", "--overwrite") == 0
    assert report.load(tmp_path / "r.json").settings["transductive"][0] == "cosine"


def test_several_bridges_and_a_ceiling(asked, colours, tmp_path, capsys):
    maps.load(colours / "bridge").save(tmp_path / "other")
    assert run(*asked, "--bridge", tmp_path / "other", "--ceiling", colours / "bridge") == 0
    made = report.load(tmp_path / "r.json")
    assert [one["bridge"] for one in made.metrics["bridges"]] == ["bridge", "other"]
    assert made.metrics["ceiling.cosine.top1"] == 1.0
    shown = capsys.readouterr().out
    assert "each bridge" in shown and "cosine, pairs" in shown


def test_one_line_for_what_cannot_be_measured(asked, colours, tmp_path, capsys):
    (tmp_path / "three.txt").write_text("red\nblue\ngreen\n")
    said = fails(capsys, *asked, "--classes", tmp_path / "three.txt")
    assert "got none of 1: 'green'" in said
    assert "got none of 100" in fails(capsys, *asked, "--classes", "cmc")
    assert "named twice" in fails(capsys, *asked, "--bridge", colours / "bridge")
    assert "ends in .json" in fails(capsys, *asked, "--out", tmp_path / "r.txt")
    assert "no such" in fails(capsys, *asked, "--images", tmp_path / "none")
    assert "no such file" in fails(capsys, *asked, "--classes", "imagenet")
    assert not (tmp_path / "r.json").exists() and not (tmp_path / "r.png").exists()
