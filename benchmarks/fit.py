"""Time and memory of the paired fitters: python benchmarks/fit.py"""

import resource
import time

import torch

from bridge.embeddings import Embeddings
from bridge.fitting import METHODS, fit


def planted(n: int, d_text: int, d_image: int) -> tuple[Embeddings, Embeddings]:
    generator = torch.Generator().manual_seed(0)
    text = torch.randn(n, d_text, generator=generator)
    image = text @ torch.randn(d_text, d_image, generator=generator)
    image += torch.randn(n, d_image, generator=generator)
    ids = tuple(map(str, range(n)))
    return Embeddings(text, ids, ids), Embeddings(image, ids, ids)


def main() -> None:
    print("| pairs | widths | method | seconds | peak memory |\n|---|---|---|---|---|")
    for n, d_text, d_image in ((1000, 384, 768), (10_000, 384, 768), (100_000, 768, 768)):
        sides = planted(n, d_text, d_image)
        for method in METHODS:
            start = time.perf_counter()
            fit(*sides, method=method)
            seconds = time.perf_counter() - start
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            print(
                f"| {n:,} | {d_text} x {d_image} | {method} | {seconds:.1f} | {peak:.2f} GiB |",
                flush=True,
            )


if __name__ == "__main__":
    main()
