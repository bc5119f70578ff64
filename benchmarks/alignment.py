"""Time and memory of mutual k-NN: python benchmarks/alignment.py [--large] [--n N] [--d D]

Blockwise against a version that holds both n x n matrices, each in a process of its own, so that
peaks are its own; what the tables themselves take is subtracted. --large adds n = 100,000, which
takes minutes and would need 80 GB as full matrices.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time

import torch

from eval.alignment import mutual_knn

K = 10


def tables(n: int, d: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    text = torch.randn(n, d, generator=generator)
    return text, text + torch.randn(n, d, generator=generator)


def full_matrix(text: torch.Tensor, image: torch.Tensor) -> float:
    """The definition written down: all cosines, all neighbours as a 0/1 matrix."""
    masks = []
    for rows in (text, image):
        rows = torch.nn.functional.normalize(rows - rows.mean(0))
        cosine = (rows @ rows.T).fill_diagonal_(-torch.inf)
        masks.append(torch.zeros_like(cosine).scatter_(1, cosine.topk(K, dim=1).indices, 1.0))
    return float((masks[0] * masks[1]).sum() / (K * len(text)))


WAYS = {"blocks": mutual_knn, "full matrices": full_matrix}


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(way: str, n: int, d: int) -> None:
    """In a process of its own, because a peak never comes down."""
    text, image = tables(n, d)
    WAYS[way](text[:64], image[:64])  # what loading and first calls take
    before, start = peak(), time.perf_counter()
    score = WAYS[way](text, image)
    print(json.dumps([time.perf_counter() - start, peak() - before, score]))


def row(way: str, n: int, d: int) -> None:
    command = [sys.executable, __file__, "--way", way, "--n", str(n), "--d", str(d)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, extra, score = json.loads(done.stdout)
    print(
        f"| {n:,} | {d} | {way} | {seconds:.1f} | {extra / 2**30:.2f} GiB | {score:.4f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--d", type=int, default=768)
    parser.add_argument("--large", action="store_true", help="also n = 100,000, blockwise only")
    parser.add_argument("--way", choices=list(WAYS), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.way:
        measure(asked.way, asked.n, asked.d)
        return
    print(f"{os.cpu_count()} cores, {torch.get_num_threads()} threads, torch {torch.__version__}\n")
    print("| n | d | way | seconds | memory beside the tables | score |")
    print("|---|---|---|---|---|---|", flush=True)
    for way in WAYS:
        row(way, asked.n, asked.d)
    if asked.large:
        row("blocks", 100_000, asked.d)


if __name__ == "__main__":
    main()
