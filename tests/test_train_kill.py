"""A run that is killed again and again ends with the weights of one that was not.

PLATOBRIDGE_KILLS=20 makes it twenty times.
"""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_train_loop import captions, equal, losses, weights

from bridge.captions import write_captions

ROOT = Path(__file__).parent.parent
KILLS = int(os.environ.get("PLATOBRIDGE_KILLS", "3"))


@pytest.mark.slow
def test_killed_at_random_moments(tmp_path):
    write_captions(tmp_path / "captions.jsonl", captions())
    (tmp_path / "c.yaml").write_text(
        f"data: {{captions: {tmp_path / 'captions.jsonl'}}}\n"
        "model: {vocabulary: 80, max_tokens: 16}\n"
        f"optim: {{steps: {60 * KILLS}, batch: 8}}\n"
        "run: {log_every: 1, save_every: 3}\n"
    )

    def command(out: str) -> list[str]:
        words = ["train", str(tmp_path / "c.yaml"), "--out", str(tmp_path / out)]
        return [sys.executable, "-m", "bridge", *words, "--device", "cpu"]

    quiet = {
        "cwd": ROOT,
        "stderr": subprocess.DEVNULL,
        "env": {**os.environ, "OMP_NUM_THREADS": "1"},
    }
    moments, killed, reached = random.Random(0), 0, []
    while killed < KILLS:
        process = subprocess.Popen(command("cut"), **quiet)
        before = steps(tmp_path / "cut")
        while process.poll() is None and steps(tmp_path / "cut") <= before:
            time.sleep(0.01)
        time.sleep(moments.uniform(0, 0.5))  # anywhere in a step, a checkpoint, the export
        process.send_signal(signal.SIGKILL)
        if process.wait() == 0:
            break
        killed += 1
        reached.append(steps(tmp_path / "cut"))
    assert killed == KILLS and reached == sorted(reached), reached
    subprocess.run(command("cut"), check=True, **quiet)
    subprocess.run(command("whole"), check=True, **quiet)
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole")
    assert equal(weights(tmp_path / "cut" / "encoder"), weights(tmp_path / "whole" / "encoder"))
    assert not list(tmp_path.rglob(".*.writing"))


def steps(folder: Path) -> int:
    metrics = folder / "metrics.jsonl"
    return metrics.read_bytes().count(b"\n") if metrics.exists() else 0
