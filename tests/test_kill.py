"""A killed command leaves nothing half-written and goes on when it is run again."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from bridge.embeddings import load

ROOT = Path(__file__).parent.parent
EMBED = (
    "import sys; from bridge import embed; embed.FLUSH_SECONDS = 0.0;"
    "from bridge.__main__ import main; sys.exit(main(sys.argv[1:]))"
)


@pytest.mark.slow
def test_killed_embedding_goes_on(tmp_path):
    folder, out = tmp_path / "pictures", tmp_path / "i.safetensors"
    folder.mkdir()
    random = np.random.default_rng(0)
    for index in range(120):
        pixels = random.integers(0, 255, (64, 64, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{index:03d}.png")
    options = ["--encoder", "package:efficientnet-lite0", "--batch-size", "1", "--device", "cpu"]
    command = [sys.executable, "-c", EMBED, "embed", "images", str(folder), *options]
    log = out.with_name(out.name + ".partial") / "log.jsonl"

    kills = 0
    for wanted in (1, 30, 60):
        process = subprocess.Popen(
            [*command, "--out", str(out)], cwd=ROOT, stderr=subprocess.DEVNULL
        )
        while process.poll() is None and lines(log) < wanted:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
        assert out.exists() == (kills == 0)
    before = lines(log)
    assert kills >= 2 and before >= 30
    subprocess.run([*command, "--out", str(out)], cwd=ROOT, check=True, stderr=subprocess.DEVNULL)

    whole = tmp_path / "whole.safetensors"
    subprocess.run([*command, "--out", str(whole)], cwd=ROOT, check=True, stderr=subprocess.DEVNULL)
    assert load(out).ids == load(whole).ids
    assert torch.allclose(load(out).rows, load(whole).rows, atol=1e-4)
    assert not log.parent.exists()


def lines(log: Path) -> int:
    return log.read_bytes().count(b"\n") if log.exists() else 0
