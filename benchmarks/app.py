"""The page under load: python benchmarks/app.py [BRIDGE], by default the quickstart's.

Starts `platobridge app` as a process of its own, notes when its page and its models are there,
then lets 16 clients ask for 500 answers (captions, classes, searches in turn) and prints how long
they waited and what memory the process took on the way.
"""

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from gradio_client import Client, handle_file

from bridge import world

REQUESTS, CLIENTS, PICTURES = 500, 16, 16
PATIENCE = 300  # seconds until the page must be there
FIRST = """a red train
a sailing boat
a teddy bear"""


def started(bridges: list[str]) -> tuple[subprocess.Popen, str, float, float]:
    """The process, its address, and the seconds until page and models."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start = time.perf_counter()
    command = [sys.executable, "-m", "bridge", "app", *bridges, "--port", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    page = 0.0
    for line in process.stderr:
        if "loading the models" in line:
            page = time.perf_counter() - start
        elif line.startswith("ready"):
            break
    else:
        raise SystemExit("the page did not start")
    ready = time.perf_counter() - start
    threading.Thread(target=process.stderr.read, daemon=True).start()
    return process, f"http://127.0.0.1:{port}/", page, ready


def memory(process: subprocess.Popen) -> float:
    """Resident memory in MiB."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def ask(address: str, pictures: list[Path], numbers, waited: list, failed: list, note) -> None:
    client = Client(address, verbose=False)
    for number in numbers:
        picture = handle_file(pictures[number % len(pictures)])
        start = time.perf_counter()
        try:
            if number % 3 == 0:
                client.predict(image=picture, api_name="/caption")
            elif number % 3 == 1:
                client.predict(image=picture, classes=FIRST, api_name="/classify")
            else:
                client.predict(text="a white horse", api_name="/search")
        except Exception as error:
            failed.append(repr(error))
        waited.append(time.perf_counter() - start)
        note(len(waited))


def main() -> None:
    warnings.filterwarnings("ignore", category=ResourceWarning)
    process, address, page, ready = started(sys.argv[1:])
    waited: list[float] = []
    failed: list[str] = []
    taken: dict[int, float] = {0: memory(process)}

    def note(done: int) -> None:
        if done % 100 == 0:
            taken[done] = memory(process)

    try:
        with tempfile.TemporaryDirectory() as folder:
            pictures = [Path(folder) / f"{index}.png" for index in range(PICTURES)]
            for index, path in enumerate(pictures):
                world.draw(world.scene(2, index), 224).save(path)
            people = [
                threading.Thread(
                    target=ask,
                    args=(address, pictures, range(k, REQUESTS, CLIENTS), waited, failed, note),
                )
                for k in range(CLIENTS)
            ]
            start = time.perf_counter()
            for one in people:
                one.start()
            for one in people:
                one.join()
            seconds = time.perf_counter() - start
    finally:
        process.terminate()
        process.wait()
    low, middle, high = np.quantile(waited, [0.5, 0.95, 1])
    print(f"page after {page:.1f} s, models after {ready:.1f} s; load {os.getloadavg()[0]:.1f}")
    print(f"{len(waited)} requests of {CLIENTS} clients in {seconds:.0f} s, {len(failed)} failed")
    print(f"waited: median {low:.2f} s, p95 {middle:.2f} s, longest {high:.2f} s")
    steps = ", ".join(f"{mib:.0f} MiB after {done}" for done, mib in sorted(taken.items()))
    print(f"memory: {steps}")
    if failed:
        raise SystemExit(failed[0])


if __name__ == "__main__":
    main()
