import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml
from conftest import embeddings
from test_train_loop import captions

from bridge.__main__ import main
from bridge.captions import write_captions
from bridge.embeddings import save
from train.cli import figures

ROOT = Path(__file__).parent.parent
SMALL = ["model.vocabulary=80", "model.max_tokens=16", "optim.steps=4", "optim.batch=8"]


@pytest.fixture
def files(tmp_path):
    """A settings file, captions to train on and others to validate on with image embeddings."""
    write_captions(tmp_path / "train.jsonl", captions())
    others = captions(images=30)[60:]
    write_captions(tmp_path / "other.jsonl", others)
    ids = list(dict.fromkeys(caption.image_id for caption in others))
    rows = torch.randn(len(ids), 5, generator=torch.Generator().manual_seed(0))
    save(embeddings(rows, ids), tmp_path / "images.safetensors")
    (tmp_path / "c.yaml").write_text(
        f"data: {{captions: {tmp_path / 'train.jsonl'}}}\nrun: {{log_every: 1}}\noptim: {{lr: 3e-3}}\n"
    )
    return tmp_path


def train(files, *words, out="run") -> int:
    return main(
        [
            "train",
            str(files / "c.yaml"),
            *SMALL,
            *words,
            "--out",
            str(files / out),
            "--device",
            "cpu",
        ]
    )


def lines(folder) -> list[dict]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_a_run_folder(files, capsys):
    assert train(files, "seed=3") == 0
    run = files / "run"
    assert {path.name for path in run.iterdir()} == {
        *("about.json", "config.yaml", "encoder", "metrics.jsonl", "state", "tokenizer", "tokens"),
    }
    resolved = yaml.safe_load((run / "config.yaml").read_text())
    assert (resolved["seed"], resolved["optim"]["lr"], resolved["objective"]["kind"]) == (
        3,
        0.003,
        "good-views",
    )
    told = capsys.readouterr().err
    assert "60 captions of 20 images" in told and "parameters" in told
    assert train(files, "seed=3") == 0
    assert "is finished" in capsys.readouterr().err.replace("\n", " ")
    assert train(files, "seed=4") == 2
    assert "seed = 3, now seed = 4" in capsys.readouterr().err
    assert train(files, "seed=4", "--overwrite") == 0


def test_validation_is_logged_with_chance(files):
    words = [f"validation.captions={files / 'other.jsonl'}", "validation.every=2", "optim.batch=16"]
    (files / "train.jsonl").write_text((files / "train.jsonl").read_text().replace(".jpg", ".png"))
    write_captions(files / "other.jsonl", captions())
    rows = torch.randn(20, 5, generator=torch.Generator().manual_seed(0))
    save(embeddings(rows, [f"{i}.jpg" for i in range(20)]), files / "twenty.safetensors")
    assert train(files, *words, f"validation.images={files / 'twenty.safetensors'}") == 0
    found = [line for line in lines(files / "run") if "validation.mutual_knn" in line]
    assert [line["step"] for line in found] == [1, 3]
    assert found[-1]["validation.mutual_knn.chance"] == pytest.approx(10 / 19)
    assert found[-1]["validation.caption_recall@10.chance"] == 0.5
    assert 0.5 < found[-1]["validation.caption_recall@10"] <= 1


def test_figures_of_planted_rows():
    made = captions(images=40)
    own = torch.randn(40, 6, generator=torch.Generator().manual_seed(0))
    rows = own.repeat_interleave(3, 0)
    ids = [f"{i}.jpg" for i in range(40)]
    perfect = figures(made, rows, embeddings(own * 2 + 1, ids))
    assert perfect["caption_recall@1"] == 1 and perfect["mutual_knn"] == 1
    assert perfect["caption_recall@1.chance"] == 1 / 40
    assert perfect["mutual_knn.chance"] == 10 / 39
    other = torch.randn(120, 6, generator=torch.Generator().manual_seed(1))
    random = figures(made, other, embeddings(own, ids))
    assert random["caption_recall@1"] < 0.2 and random["mutual_knn"] < 0.45


def test_the_rate_search_comes_first(files):
    assert train(files, "--find-rate", "--rate-steps", "10", "optim.lr=1e-6") == 0
    chosen = json.loads((files / "run-rates" / "rates.json").read_text())["chosen"]
    assert (
        yaml.safe_load((files / "run" / "config.yaml").read_text())["optim"]["lr"] == chosen > 1e-6
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["optim.step=4"], "no setting optim.step; did you mean steps?"),
        (["steps=4"], "no setting steps; did you mean optim.steps?"),
        (["optim.steps=1.5"], "setting optim.steps: "),
        (["optim.lr='3e-4'"], "setting optim.lr: "),
        (["data.captions=nowhere.jsonl"], "no such captions file"),
        (["data.captions=null"], "expected data.captions"),
        (["optim.batch=50"], "at least 50 images for a batch, got captions of 20"),
        (["model.vocabulary=7"], "model.vocabulary: expected at least"),
        (["model.vocabulary=FOLDER"], "no tokenizer at"),
        (["validation.captions=SAME"], "are those that are trained on"),
        (["validation.images=x"], "validation.images needs validation.captions"),
        (["objective.kind=best-views"], "setting objective.kind: "),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(files, capsys, words, message):
    places = {"SAME": files / "train.jsonl", "FOLDER": files}
    words = [re.sub("SAME|FOLDER", lambda found: str(places[found[0]]), word) for word in words]
    assert train(files, *words) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert message in error and error.startswith("platobridge: ")
    assert not (files / "run" / "encoder").exists()


def launch(files, out: str, processes: int, *words) -> list[dict]:
    """Train by `accelerate launch`, with each process on one thread."""
    command = [sys.executable, "-m", "accelerate.commands.launch", "--cpu"]
    command += ["--num_processes", str(processes), "--num_machines", "1", "--mixed_precision", "no"]
    command += ["--dynamo_backend", "no", "--main_process_port", "0", "-m", "train"]
    command += [str(files / "c.yaml"), *SMALL, *words, "--out", str(files / out), "--device", "cpu"]
    quiet = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return lines(files / out)


@pytest.mark.slow
@pytest.mark.parametrize("anticollapse", ["vicreg", "sigreg"])
def test_two_processes_train_as_one_does(files, anticollapse):
    words = [f"objective.anticollapse={anticollapse}", "model.predictor=mlp"]
    assert train(files, *words, out="one") == 0
    one, two = lines(files / "one"), launch(files, "two", 2, *words)
    for before, after in zip(one, two, strict=True):
        assert after["loss"] == pytest.approx(before["loss"], rel=1e-4)
        assert after["effective_rank"] == pytest.approx(before["effective_rank"], rel=1e-3)
        assert after["padding"] >= 0 and after["single"] == before["single"]


def test_a_strangers_folder_is_not_replaced(files, capsys):
    stranger = files / "run" / "thesis.tex"
    stranger.parent.mkdir()
    stranger.write_text("years of work")
    for words in ([], ["--overwrite"]):
        assert train(files, *words) == 2
        assert "is no run folder" in capsys.readouterr().err.replace("\n", " ")
    assert stranger.read_text() == "years of work"
