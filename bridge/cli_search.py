"""platobridge classify and search: what is in these images, and which images or texts fit."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from bridge.errors import InputError
from bridge.options import Device

BridgeFolder = Annotated[Path, typer.Option("--bridge", help="Bridge folder.")]
TextEncoderName = Annotated[
    str | None,
    typer.Option(help="Text encoder, for a bridge of imported features: as in `embed text`."),
]
ImageEncoderName = Annotated[
    str | None,
    typer.Option(help="Vision encoder, for a bridge of imported features: as in `embed images`."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def classify(
    images: Annotated[list[Path], typer.Argument(metavar="IMAGE", help="Image files or folders.")],
    bridge: BridgeFolder,
    labels: Annotated[
        str | None, typer.Option(metavar='"CAT, DOG"', help="Class names, with commas between.")
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="File of classes, a line each or JSON; or cmc, kaggle, world."
        ),
    ] = None,
    templates: Annotated[
        str, typer.Option(help="Sentences for the names: captions, single, name or a file.")
    ] = "captions",
    top: Annotated[int, typer.Option(min=1, help="Classes to show for an image.")] = 5,
    as_json: AsJson = False,
    text_encoder: TextEncoderName = None,
    image_encoder: ImageEncoderName = None,
    device: Device = "auto",
) -> None:
    """Name what is in each IMAGE, from class names alone.

    Scores are cosines: they rank the classes that are offered, and are no probabilities.
    """
    from bridge import console, maps
    from bridge.classes import read_classes, typed_classes
    from bridge.prompts import embed_prompts, read_templates
    from bridge.search import classify as run
    from bridge.search import text_encoder_for, vision_encoder_for

    if (labels is None) == (classes is None):
        raise InputError('expected either --labels "cat, dog" or --classes FILE')
    offered = typed_classes(labels) if classes is None else read_classes(classes)
    sentences, fitted, paths = read_templates(templates), maps.load(bridge), pictures(images)
    words = text_encoder_for(fitted, text_encoder, device=device)
    prompts = embed_prompts(offered, sentences, words)
    fitted.check_encoder("text", prompts)
    found, rows = encoded(paths, vision_encoder_for(fitted, image_encoder, device=device))
    scores, places = run(fitted, prompts, offered, rows, top)
    ranked = [ranking(*each, offered.labels) for each in zip(scores, places, strict=True)]
    if as_json:
        told = [{"image": str(path), "classes": r} for path, r in zip(found, ranked, strict=True)]
        console.results.print_json(data=told)
        return
    for path, each in zip(found, ranked, strict=True):
        show(str(path), "class", each)
    console.note("cosines rank the classes that were offered; they are no probabilities")


def search(
    bridge: BridgeFolder,
    index: Annotated[Path, typer.Option(help="Embeddings file to search in.")],
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="What to look for among image embeddings."),
    ] = None,
    image: Annotated[
        Path | None, typer.Option(help="Picture to look for texts of, among text embeddings.")
    ] = None,
    captions: Annotated[
        Path | None, typer.Option(help="Captions file of the index, to show texts, not their ids.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Results to show.")] = 10,
    as_json: AsJson = False,
    text_encoder: TextEncoderName = None,
    image_encoder: ImageEncoderName = None,
    device: Device = "auto",
) -> None:
    """Find images for a TEXT, or texts for --image, in an embeddings file."""
    from bridge import console, embeddings, maps
    from bridge.search import indexed_side, text_encoder_for, vision_encoder_for
    from bridge.search import search as run

    if (text is None) == (image is None):
        raise InputError("expected either a text to look for or --image PICTURE")
    if text is not None and not text.strip():
        raise InputError("expected a text to look for, got nothing but blanks")
    fitted, indexed = maps.load(bridge), embeddings.load(index)
    side = indexed_side(fitted, indexed)
    if (image is None) != (side == "image"):
        wanted = "a text to look for" if side == "image" else "--image PICTURE"
        raise InputError(f"{index} holds {side} rows, which a bridge searches for {wanted}")
    names = indexed.ids if captions is None else texts_of(captions, indexed.ids)
    if image is None:
        query = text_encoder_for(fitted, text_encoder, device=device).encode([text])
    else:
        encoder = vision_encoder_for(fitted, image_encoder, device=device)
        query = encoded(pictures([image])[:1], encoder)[1]
    scores, rows = run(fitted, query, indexed, side, top)
    ranked = ranking(scores[0], rows[0], names)
    asked = str(text if image is None else image)
    if as_json:
        console.results.print_json(data={"query": asked, "found": ranked})
    else:
        show(asked, side, ranked)


def pictures(given: list[Path]) -> list[Path]:
    """All image files that are named, or lie below folders that are."""
    from bridge.images import find_images

    return [path for each in given for path in find_images(each)]


def encoded(paths: list[Path], encoder):
    """Pictures that can be read and their rows; the others are named on the terminal."""
    from bridge import console
    from bridge.search import encode_pictures

    with console.progress_bar("images") as progress:
        read, rows, problems = encode_pictures(paths, encoder, progress=progress)
    for problem in problems:
        console.warn(f"left out: {problem}")
    return read, rows


def texts_of(captions: Path, ids: Sequence[str]) -> list[str]:
    """The caption of each id, or the id where the file has none of it."""
    from bridge.captions import iter_captions

    wanted = set(ids)
    texts = {each.id: each.text for each in iter_captions(captions) if each.id in wanted}
    if not texts:
        raise InputError(f"{captions} holds no caption of the index, whose ids are like {ids[0]!r}")
    return [texts.get(row_id, row_id) for row_id in ids]


def ranking(scores, places, names: Sequence[str]) -> list[dict]:
    """Names and cosines, best first."""
    pairs = zip(scores.tolist(), places.tolist(), strict=True)
    return [{"name": names[place], "cosine": round(score, 4)} for score, place in pairs]


def show(asked: str, head: str, ranked: list[dict]) -> None:
    from rich.table import Table
    from rich.text import Text

    from bridge import console

    made = Table()
    made.add_column(head)
    made.add_column("cosine", justify="right")
    for each in ranked:
        made.add_row(Text(each["name"]), f"{each['cosine']:.3f}")
    console.results.print(asked, markup=False, soft_wrap=True)
    console.results.print(made)
