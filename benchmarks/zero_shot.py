"""Time and memory of zero-shot scores at ImageNet's size: 50,000 image rows, 1,000 classes.

    python benchmarks/zero_shot.py [--images 50000] [--classes 1000]

Random rows of a text space (384) and an image space (1280) and a rotation between them; image rows
lie in an embeddings file (float16) and are mapped from disk, as the command does. Memory is the
peak of the process above what it held before, so that libraries do not count.
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

import torch

from bridge import embeddings
from bridge.embeddings import Embeddings
from bridge.fitting import fit
from eval.zero_shot import balance, cosines, hubs, outcomes

TEXT, IMAGE, CHUNK = 384, 1280, 10_000


def peak() -> float:
    """GiB that the process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def image_file(folder: Path, count: int) -> Embeddings:
    """Random image rows on disk, written in chunks: none of them stays in memory."""
    writer = embeddings.Writer(folder / "images.safetensors", {})
    for start in range(0, count, CHUNK):
        ids = [f"i{row}" for row in range(start, min(start + CHUNK, count))]
        writer.append(torch.randn(len(ids), IMAGE).half(), ids, ids, consumed=len(ids))
    writer.finish({})
    return embeddings.load(writer.path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=50_000)
    parser.add_argument("--classes", type=int, default=1000)
    asked = parser.parse_args()
    torch.manual_seed(0)
    pairs = tuple(f"p{row}" for row in range(2000))
    text, image = (Embeddings(torch.randn(2000, width), pairs, pairs) for width in (TEXT, IMAGE))
    bridge = fit(text, image, method="rotation")
    with tempfile.TemporaryDirectory() as folder:
        shown = image_file(Path(folder), asked.images)
        label = torch.arange(asked.images) % asked.classes
        blocks = cosines(bridge, torch.randn(asked.classes, TEXT), shown.rows)
        before = peak()
        print(f"{asked.images} images, {asked.classes} classes, {torch.get_num_threads()} threads")
        found = {"cosine": torch.zeros(asked.classes)}
        for name, offset in (("csls", hubs), ("balanced", balance)):
            start = time.monotonic()
            found[name] = offset(blocks)
            print(f"{name} offsets: {time.monotonic() - start:.1f} s")
        start = time.monotonic()
        outcomes(blocks, label, found)
        print(f"ranks and confusions of all columns: {time.monotonic() - start:.1f} s")
        print(f"peak memory above that of the start: {peak() - before:.2f} GiB")


if __name__ == "__main__":
    main()
