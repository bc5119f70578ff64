"""The quickstart at a size that tests can wait for, with all of its parts."""

import json
from pathlib import Path

import pytest

from bridge import fitting, maps
from bridge.config import load
from bridge.errors import InputError
from bridge.unpaired import Effort
from eval import report as reports
from train import few_pairs, quickstart, uses
from train.config import TrainConfig


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(quickstart, "PICTURES", 90)
    monkeypatch.setattr(quickstart, "TEST", 24)
    monkeypatch.setattr(quickstart, "CAPTIONED", 100)
    for name, config in quickstart.ENCODERS.items():
        optim = config.optim.model_copy(update={"steps": min(3, config.optim.steps), "batch": 16})
        monkeypatch.setitem(quickstart.ENCODERS, name, config.model_copy(update={"optim": optim}))
    monkeypatch.setattr(quickstart, "TRAINED", quickstart.ENCODERS["good views"])
    optim = uses.DECODER.optim.model_copy(update={"steps": 3, "batch": 16})
    monkeypatch.setattr(uses, "DECODER", uses.DECODER.model_copy(update={"optim": optim}))
    monkeypatch.setattr(uses, "DRAWN", 1)
    monkeypatch.setattr(few_pairs, "CURVE", (few_pairs.FEW, 12))
    monkeypatch.setattr(fitting, "ONE_FOLD_FROM", 40)  # folds cost most of the time
    for name in ("BLIND", "GUIDED"):
        tiny = Effort(candidates=4, generations=1, children=4, settled=1)
        monkeypatch.setattr(few_pairs, name, tiny)


def test_it_makes_everything_and_goes_on(small, tmp_path, capsys):
    out = tmp_path / "qs"
    quickstart.run(out)
    printed = capsys.readouterr().out
    assert "chance" in printed and "good views, ridge" in printed
    report = reports.load(out / "report.json")
    assert report.metrics["good views.alignment.mutual_knn"] > 0
    assert report.chance["good views, ridge.retrieval.text_to_image.recall@1"] == pytest.approx(
        1 / 24
    )
    html = (out / "report.html").read_text()
    assert html.count("data:image/jpeg") == quickstart.SHOWN and "written by the decoder" in html
    assert report.chance["classes.cosine.top5"] == 0.05
    assert report.metrics["captioning.human.cider"] > report.chance["captioning.human.cider"]
    assert (out / "good-views" / "run" / "encoder" / "decoder" / "model.safetensors").exists()
    bridge = maps.load(out / "good-views" / "bridge-ridge")
    assert bridge.about["pairs"] == 66
    assert not bridge.are_seen([f"scene-{k:06d}.jpg" for k in range(24)]).any()
    assert report.settings["verdicts"]["no pairs"]["level"] in printed
    assert report.chance["no pairs.unpaired.text_to_image.recall@10"] == pytest.approx(10 / 24)
    blind = maps.load(out / "good-views" / "bridge-no-pairs")
    assert blind.about["paired"] is False and blind.about["pairs"] == 0
    assert maps.load(out / "good-views" / "bridge-10-pairs").about["pairs"] == 10
    assert (out / "few-pairs.png").exists() and "Few pairs" in html

    before = (out / "images.safetensors").stat().st_mtime_ns
    (out / "report.html").unlink()
    quickstart.run(out)
    assert (out / "report.html").exists()
    assert (out / "images.safetensors").stat().st_mtime_ns == before
    with pytest.raises(InputError, match="seed = 0, now seed = 1"):
        quickstart.run(out, seed=1)


def test_no_test_scene_is_trained_on(small, tmp_path):
    quickstart.world.build(tmp_path / "world", pictures=90, caption_scenes=100, seed=0)
    drawn, told = quickstart.split_captions(tmp_path)
    assert len(drawn.read_text().splitlines()) == 90 * 5
    test = {quickstart.world.image_id(k) for k in range(24)}
    assert len(told) == 166 * 5 and not test & {caption.image_id for caption in told}


def test_encoders_differ_in_their_objective_alone():
    first = quickstart.TRAINED.model_dump(exclude={"objective"})
    for name in ("good views", "bad views", "next token"):
        config = quickstart.ENCODERS[name]
        assert config.objective.kind == name.replace(" ", "-")
        assert config.model_dump(exclude={"objective"}) == first


def test_the_config_file_is_the_quickstarts():
    file = Path(__file__).parent.parent / "configs" / "world-tiny.yaml"
    assert json.loads(load(TrainConfig, file).model_dump_json()) == json.loads(
        quickstart.TRAINED.model_dump_json()
    )
