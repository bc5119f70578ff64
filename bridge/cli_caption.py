"""platobridge caption: images in, sentences out."""

import json
from pathlib import Path
from typing import Annotated

import typer

from bridge.cli_search import (
    AsJson,
    BridgeFolder,
    ImageEncoderName,
    TextEncoderName,
    encoded,
    pictures,
)
from bridge.errors import InputError
from bridge.options import Beams, Device, LengthPenalty, MaxTokens, Project


def caption(
    images: Annotated[list[Path], typer.Argument(metavar="IMAGE", help="Image files or folders.")],
    bridge: BridgeFolder,
    decoder: Annotated[
        Path | None, typer.Option(help="Decoder folder; by default that of the text encoder.")
    ] = None,
    candidates: Annotated[int, typer.Option(min=1, help="Captions an image.")] = 1,
    near: Annotated[int, typer.Option(min=0, help="Remembered captions to show beside.")] = 0,
    beams: Beams = 4,
    length_penalty: LengthPenalty = 1.0,
    max_tokens: MaxTokens = 24,
    consensus: Annotated[
        int,
        typer.Option(min=1, help="A decoder that only remembers: nearest captions that vote."),
    ] = 30,
    project: Project = None,
    rerank: Annotated[
        bool, typer.Option("--rerank", help="Choose by the text encoder among several.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write JSON Lines there instead.")
    ] = None,
    as_json: AsJson = False,
    text_encoder: TextEncoderName = None,
    image_encoder: ImageEncoderName = None,
    device: Device = "auto",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace --out.")] = False,
) -> None:
    """Write a sentence for each IMAGE.

    A file that cannot be read is named and left out.
    """
    from bridge import console
    from bridge.decode import Decoding
    from bridge.embed import keep_freed_memory
    from bridge.files import replacing
    from bridge.opened import Choice, open_bridge

    if out and out.exists() and not overwrite:
        raise InputError(f"{out} exists; name another file, or replace it with --overwrite")
    paths = pictures(images)
    opened = open_bridge(bridge, Choice(image_encoder, text_encoder, decoder, device))
    how = Decoding(
        beams=beams,
        max_tokens=max_tokens,
        length_penalty=length_penalty,
        consensus=consensus,
        project=opened.decoder.projects(opened.paired) if project is None else project,
    )
    keep_freed_memory(opened.vision.device)
    read, rows = encoded(paths, opened.vision)
    lines = []
    with console.progress_bar("captions") as progress:
        for path, some in zip(
            read, opened.captions(rows, how, count=candidates, rerank=rerank), strict=True
        ):
            lines.append(as_line(path, some))
            progress(len(lines), len(read))
    if near:
        mapped = opened.bridge.to_text(rows)
        for line, some in zip(lines, opened.decoder.remembered(mapped, count=near), strict=True):
            line["near"] = [each._asdict() for each in some]
    if out:
        with replacing(out) as temporary:
            text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
            temporary.write_text(text, encoding="utf-8")
        console.note(f"{out}: captions of {len(lines)} images")
    elif as_json:
        console.results.print_json(data=lines)
    else:
        console.results.print(table(lines))


def as_line(path: Path, candidates: list) -> dict:
    """What is told of an image; `image_id` and `caption` are what `eval captioning` reads."""
    return {
        "image_id": path.name,
        "file": str(path),
        "caption": candidates[0].text,
        "candidates": [candidate._asdict() for candidate in candidates],
    }


def table(lines: list[dict]):
    from rich.table import Table
    from rich.text import Text

    made = Table()
    made.add_column("image", overflow="fold")
    made.add_column("caption")
    made.add_column("score", justify="right")
    remembered = any("near" in line for line in lines)
    if remembered:
        made.add_column("remembered captions")
    for line in lines:
        texts = "\n".join(candidate["text"] for candidate in line["candidates"])
        scores = "\n".join(f"{candidate['score']:.2f}" for candidate in line["candidates"])
        near = [f"{each['text']} ({each['score']:.2f})" for each in line.get("near", [])]
        cells = [line["file"], texts, scores, *(["\n".join(near)] if remembered else [])]
        made.add_row(*map(Text, cells))  # plain: a caption may hold what looks like markup
    return made
