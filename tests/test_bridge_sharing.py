"""Bridges in a folder with a card, and on a hub that is played by a folder here."""

import json
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from types import SimpleNamespace

import pytest
import torch
import yaml

import bridge
from bridge.errors import InputError
from bridge.fitting import fit
from bridge.maps import Bridge
from eval.measure import measure_retrieval

VERDICT = {"level": "coarse", "reasons": ["two halves lead to maps whose cosine is 0.5"]}


@pytest.fixture
def fitted(planted) -> Bridge:
    text, image, _ = planted
    return fit(text, image, method="rotation", pairs=200)


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A hub that keeps what is uploaded, and what it was asked."""
    shelf = SimpleNamespace(folder=tmp_path / "hub", asked=[])

    class Api:
        def __init__(self, token=None):
            shelf.asked.append(("token", token))

        def create_repo(self, repo_id, *, private, exist_ok):
            shelf.asked.append(("create", repo_id, private, exist_ok))

        def upload_folder(self, *, repo_id, folder_path, revision, commit_message):
            copytree(folder_path, shelf.folder / repo_id, dirs_exist_ok=True)
            return SimpleNamespace(commit_url=f"https://hub/{repo_id}/commit/1")

    def snapshot_download(repo_id, *, revision, token, allow_patterns):
        shelf.asked.append(("download", repo_id, revision, allow_patterns))
        if not (shelf.folder / repo_id).exists():
            raise FileNotFoundError(f"404: no repository {repo_id}")
        return str(shelf.folder / repo_id)

    monkeypatch.setattr("huggingface_hub.HfApi", Api)
    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    return shelf


def same(first: Bridge, second: Bridge) -> bool:
    return (
        torch.equal(first.to_image_weight, second.to_image_weight)
        and torch.equal(first.text.mean, second.text.mean)
        and torch.equal(first.fitted_on, second.fitted_on)
        and first.about == second.about
    )


def test_there_and_back_in_a_folder(fitted, tmp_path):
    fitted.save_pretrained(tmp_path / "mine")
    assert same(Bridge.from_pretrained(tmp_path / "mine"), fitted)
    assert same(bridge.load_bridge(tmp_path / "mine"), fitted)
    names = {path.name for path in (tmp_path / "mine").iterdir()}
    assert names == {"README.md", "bridge.json", "weights.safetensors"}
    with pytest.raises(InputError, match="exists"):
        fitted.save_pretrained(tmp_path / "mine")
    fitted.save_pretrained(tmp_path / "mine", overwrite=True)


def test_there_and_back_over_the_hub(fitted, hub):
    assert (
        fitted.push_to_hub("ada/mine", private=True, token="t") == "https://hub/ada/mine/commit/1"
    )
    assert hub.asked == [("token", "t"), ("create", "ada/mine", True, True)]
    assert same(Bridge.from_pretrained("ada/mine", revision="v1"), fitted)
    assert same(bridge.load_bridge("hub:ada/mine@v2"), fitted)
    wanted = ["bridge.json", "weights.safetensors"]
    assert hub.asked[2:] == [
        ("download", "ada/mine", "v1", wanted),
        ("download", "ada/mine", "v2", wanted),
    ]


def test_a_folder_here_comes_before_the_hub(fitted, hub, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    fitted.save_pretrained("runs/mine")
    assert same(Bridge.from_pretrained("runs/mine"), fitted)
    assert not hub.asked


@pytest.mark.parametrize("name", ["ada/nothing", "hub:ada/nothing"])
def test_what_the_hub_has_not_is_said_in_one_line(name, hub):
    with pytest.raises(
        InputError, match=r"hub:ada/nothing: the hub could not be used \(404"
    ) as told:
        Bridge.from_pretrained(name)
    assert "\n" not in str(told.value)


def test_a_name_that_is_no_hub_id_is_a_missing_folder(hub):
    with pytest.raises(InputError, match="no such bridge folder"):
        Bridge.from_pretrained("a/b/c")
    assert not hub.asked


def test_offline_is_one_line_too(fitted, monkeypatch):
    import huggingface_hub

    def refuse(self, *_, **__):
        raise huggingface_hub.errors.OfflineModeIsEnabled("offline mode is enabled")

    monkeypatch.setattr("huggingface_hub.HfApi.create_repo", refuse)
    with pytest.raises(InputError, match="offline mode is enabled"):
        fitted.push_to_hub("ada/mine")


class TestCard:
    def card(self, fitted, folder, **options) -> tuple[dict, str]:
        fitted.save_pretrained(folder, **options)
        _, header, body = (folder / "README.md").read_text().split("---\n", 2)
        return yaml.safe_load(header), body

    def test_it_says_what_joins_what_and_how(self, fitted, tmp_path):
        header, body = self.card(fitted, tmp_path / "b", license="mit")
        assert header["library_name"] == "platobridge" and header["license"] == "mit"
        assert "from words (text, width 8) to pictures (images, width 12)" in body
        assert "| method | rotation |" in body and "| pairs | 200 |" in body
        assert "torch " + torch.__version__.split("+")[0] in body
        assert "Verdict" not in body and "Measured" not in body

    def test_its_code_runs(self, fitted, tmp_path):
        _, body = self.card(fitted, tmp_path / "b")
        code = body.split("```python\n")[1].split("```")[0]
        given = {"texts": torch.zeros(3, 8)}
        exec(compile(code, "card", "exec"), given)
        assert given["images"].shape == (3, 12)

    def test_the_verdict_and_its_reasons(self, fitted, tmp_path):
        blind = replace(fitted, about=fitted.about | {"verdict": VERDICT, "paired": False})
        _, body = self.card(blind, tmp_path / "b")
        assert "**coarse**" in body and "- two halves lead to maps" in body
        assert "| known pairs | 200 |" in body

    def test_figures_stand_beside_chance(self, fitted, planted, tmp_path):
        text, image, _ = planted
        report = tmp_path / "report.json"
        measured = measure_retrieval(text, image, fitted, drop_fitted=True)
        measured.save(report)
        _, body = self.card(fitted, tmp_path / "b", reports=[report])
        value = measured.metrics["text_to_image.recall@10"]
        chance = measured.chance["text_to_image.recall@10"]
        assert f"| text to image recall@10 | {value:.4g} | {chance:.4g} |" in body
        assert "drop_fitted True" in body

    def test_a_file_that_is_no_report(self, fitted, tmp_path):
        wrong = tmp_path / "wrong.json"
        wrong.write_text(json.dumps(["no report"]))
        with pytest.raises(InputError, match="expected a report"):
            fitted.save_pretrained(tmp_path / "b", reports=[wrong])
        assert not (tmp_path / "b").exists()
