"""platobridge caption: images in, sentences out."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from bridge.errors import InputError
from bridge.options import Beams, Device, LengthPenalty, MaxTokens, Project

BridgeFolder = Annotated[Path, typer.Option(help="Bridge folder.")]
DecoderFolder = Annotated[
    Path | None, typer.Option(help="Decoder folder; by default that of the text encoder.")
]
ImageEncoder = Annotated[
    str | None, typer.Option(help="Image encoder, for a bridge of imported features.")
]
TextEncoder = Annotated[
    str | None, typer.Option(help="Text encoder, for a bridge of imported features.")
]
Consensus = Annotated[
    int,
    typer.Option(min=1, help="Of a decoder without a language model: nearest captions that vote."),
]


def caption(
    images: Annotated[list[Path], typer.Argument(metavar="IMAGE|FOLDER...")],
    bridge: BridgeFolder,
    decoder: DecoderFolder = None,
    candidates: Annotated[int, typer.Option(min=1, help="Captions an image.")] = 1,
    nearest: Annotated[int, typer.Option(min=0, help="Remembered captions to show too.")] = 0,
    beams: Beams = 4,
    length_penalty: LengthPenalty = 1.0,
    max_tokens: MaxTokens = 24,
    consensus: Consensus = 30,
    project: Project = None,
    rerank: Annotated[
        bool, typer.Option("--rerank", help="Choose by the text encoder among several.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="JSON Lines to write, for machines.")
    ] = None,
    image_encoder: ImageEncoder = None,
    text_encoder: TextEncoder = None,
    batch_size: Annotated[int, typer.Option(min=1)] = 32,
    device: Device = "auto",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace --out.")] = False,
) -> None:
    """Write a sentence for each image, through a bridge.

    A file that cannot be read is named and left out.
    """
    from bridge import console
    from bridge.decode import Decoding
    from bridge.embed import keep_freed_memory
    from bridge.files import replacing
    from bridge.images import find_images
    from bridge.opened import Choice, open_bridge

    if out and out.exists() and not overwrite:
        raise InputError(f"{out} exists; name another file, or replace it with --overwrite")
    paths = [path for place in images for path in find_images(place)]
    opened = open_bridge(bridge, Choice(image_encoder, text_encoder, decoder, device))
    with console.messages.status("loading models"):
        opened.decoder, opened.vision  # noqa: B018 - what is wrong with them should show first
    keep_freed_memory(opened.vision.device)
    how = Decoding(
        beams=beams,
        max_tokens=max_tokens,
        length_penalty=length_penalty,
        consensus=consensus,
        project=not opened.paired if project is None else project,
    )
    asked = {"count": candidates, "rerank": rerank}
    lines = []
    with console.progress_bar("images") as progress:
        for line in captioned(paths, opened, how, asked, nearest, batch_size):
            lines.append(line)
            progress(len(lines), len(paths))
    if not lines:
        raise InputError("none of the images could be read")
    if out:
        with replacing(out) as temporary:
            text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
            temporary.write_text(text, encoding="utf-8")
        console.note(f"{out}: captions of {len(lines)} images")
    else:
        console.results.print(table(lines))


def captioned(paths: list[Path], opened, how, asked: dict, nearest: int, size: int) -> Iterator:
    """A line for each image that can be read: its captions, and the nearest remembered ones."""
    from bridge import console
    from bridge.embed import ahead, chunks
    from bridge.images import read_image

    def prepare(index: int):
        try:
            return read_image(paths[index])
        except InputError as error:
            return error

    for batch in chunks(ahead(prepare, range(len(paths)), 2, size), size):
        for _, picture in batch:
            if isinstance(picture, InputError):
                console.warn(f"left out: {picture}")
        good = [(paths[i], some) for i, some in batch if not isinstance(some, InputError)]
        if not good:
            continue
        rows = opened.image_rows([picture for _, picture in good])
        made = list(opened.captions(rows, how, **asked))
        mapped = opened.bridge.to_text(rows)
        near = list(opened.decoder.remembered(mapped, count=nearest)) if nearest else []
        for place, (path, _) in enumerate(good):
            line = {
                "image_id": path.name,
                "file": str(path),
                "caption": made[place][0].text,
                "candidates": [candidate._asdict() for candidate in made[place]],
            }
            yield line | ({"nearest": [n._asdict() for n in near[place]]} if nearest else {})


def table(lines: list[dict]):
    from rich.table import Table
    from rich.text import Text

    made = Table()
    made.add_column("image")
    made.add_column("caption")
    made.add_column("score", justify="right")
    if any("nearest" in line for line in lines):
        made.add_column("nearest remembered captions")
    for line in lines:
        texts = "\n".join(candidate["text"] for candidate in line["candidates"])
        scores = "\n".join(f"{candidate['score']:.2f}" for candidate in line["candidates"])
        near = [f"{n['text']} ({n['score']:.2f})" for n in line.get("nearest", [])]
        cells = [line["file"], texts, scores, *(["\n".join(near)] if near else [])]
        made.add_row(*map(Text, cells))  # plain: a caption may hold what looks like markup
    return made
