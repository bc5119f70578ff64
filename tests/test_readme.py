"""The README's Python runs as written, and its commands exist."""

import re
from pathlib import Path

import pytest
import torch
from conftest import embeddings

from bridge.__main__ import COMMANDS
from bridge.embeddings import save

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_python_blocks_run(tmp_path, monkeypatch):
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(200, 6, generator=generator)
    save(embeddings(rows), tmp_path / "captions.safetensors")
    save(embeddings(rows @ torch.randn(6, 7, generator=generator)), tmp_path / "images.safetensors")
    monkeypatch.chdir(tmp_path)
    assert blocks("python")
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), {})
    assert (tmp_path / "my-bridge" / "bridge.json").exists()


@pytest.mark.parametrize(
    "command",
    sorted(set(re.findall(r"^(?:\| )?`?platobridge ([a-z][a-z-]+)", README, re.MULTILINE))),
)
def test_commands_exist(command):
    assert command in COMMANDS
