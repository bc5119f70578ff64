"""Through a bridge: labels for images, images for a text, texts for an image."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from bridge.classes import ClassList
from bridge.embed import Progress, ahead, chunks
from bridge.embeddings import Embeddings
from bridge.encode_text import TextEncoder, text_encoder, text_encoder_of
from bridge.encode_vision import VisionEncoder, vision_encoder, vision_encoder_of
from bridge.errors import InputError
from bridge.geometry import nearest, unit
from bridge.images import read_image
from bridge.maps import Bridge, Side
from bridge.prompts import class_of_prompt, class_rows

BATCH = 32
BLOCK = 65536  # rows of an index that are mapped at a time


def text_encoder_for(
    bridge: Bridge, spec: str | None = None, *, device: str = "auto"
) -> TextEncoder:
    """The text encoder that a bridge noted, or that `spec` names if its rows were imported."""
    if spec is not None:
        return text_encoder(spec, device=device)
    return text_encoder_of(noted(bridge, "text"), device=device)


def vision_encoder_for(
    bridge: Bridge, spec: str | None = None, *, device: str = "auto"
) -> VisionEncoder:
    """The vision encoder that a bridge noted, or that `spec` names if its rows were imported."""
    if spec is not None:
        return vision_encoder(spec, device=device)
    return vision_encoder_of(noted(bridge, "image"), device=device)


def noted(bridge: Bridge, side: Side) -> dict[str, Any]:
    return bridge.about.get(side, {}).get("encoder", {})


def encode_pictures(
    paths: Sequence[Path],
    encoder: VisionEncoder,
    *,
    progress: Progress = lambda done, total: None,
) -> tuple[list[Path], Float[Tensor, "n d"], list[str]]:
    """The pictures that can be read, their rows, and what is wrong with the others.

    Raises InputError if none can be read.
    """

    def prepare(path: Path) -> Tensor | InputError:
        try:
            return encoder.prepare(read_image(path))
        except InputError as error:
            return error

    read, rows, problems = [], [], []
    ready = ahead(prepare, paths, os.cpu_count() or 1, BATCH)
    for batch in chunks(ready, BATCH):
        problems += [str(pixels) for _, pixels in batch if isinstance(pixels, InputError)]
        good = [(path, pixels) for path, pixels in batch if isinstance(pixels, Tensor)]
        if good:
            read += [path for path, _ in good]
            rows.append(encoder(torch.stack([pixels for _, pixels in good])))
        progress(len(read) + len(problems), len(paths))
    if not rows:
        more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        raise InputError(problems[0] + more)
    return read, torch.cat(rows), problems


def classify(
    bridge: Bridge,
    prompts: Embeddings,
    classes: ClassList,
    images: Float[Tensor, "n d_image"],
    k: int = 5,
) -> tuple[Float[Tensor, "n k"], Int[Tensor, "n k"]]:
    """The k classes nearest to each image, best first: cosines, and places in the class list.

    Cosines are no probabilities: they rank the classes that were offered, and say little by their
    size. `prompts` are those of `bridge.prompts.embed_prompts`.
    """
    class_of = class_of_prompt(prompts, classes.ids)
    rows = class_rows(prompts.rows, class_of, bridge.text.mean)
    text, image = bridge.both_in("image", rows, images.float())
    return nearest(image, text, min(k, len(classes)))


def indexed_side(bridge: Bridge, index: Embeddings) -> Side:
    """Whether an index holds rows of the bridge's text or of its image encoder.

    Raises InputError if it holds neither's.
    """
    refused = {}
    for side in ("image", "text"):
        try:
            bridge.check_encoder(side, index)
            return side
        except InputError as error:
            refused[side] = str(error)
    raise InputError(f"the index fits neither side of the bridge: {refused['image']}")


def search(
    bridge: Bridge, query: Float[Tensor, "q d"], index: Embeddings, side: Side, k: int = 10
) -> tuple[Float[Tensor, "q k"], Int[Tensor, "q k"]]:
    """The k rows of an index nearest to each query of the other side: cosines and rows.

    `side` is the index's. Index rows are mapped into the query's space, where hubs are fewer (see
    `Bridge.both_in`), in blocks, so that memory does not grow with the index.
    """
    space: Side = "text" if side == "image" else "image"
    best, rows = torch.empty(len(query), 0), torch.empty(len(query), 0, dtype=torch.long)
    for start, block in mapped(bridge, query, index, space):
        best = torch.cat([best, block], dim=1)
        here = torch.arange(start, start + block.shape[1]).expand(len(query), -1)
        rows = torch.cat([rows, here], dim=1)
        best, order = best.topk(min(k, best.shape[1]), dim=1)
        rows = rows.gather(1, order)
    return best, rows


def mapped(
    bridge: Bridge, query: Float[Tensor, "q d"], index: Embeddings, space: Side
) -> Iterator[tuple[int, Float[Tensor, "q b"]]]:
    """Cosines of the queries to the index, block by block: (first row, cosines)."""
    for start in range(0, len(index), BLOCK):
        rows = index.rows[start : start + BLOCK].float()
        sides = (query, rows) if space == "text" else (rows, query)
        text, image = (unit(side) for side in bridge.both_in(space, *sides))
        yield start, text @ image.T if space == "text" else image @ text.T
