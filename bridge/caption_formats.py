"""Readers of caption files: one generator a format.

A reader only says what stands where: `Record`s, and `Problem`s for what cannot be one. Numbering,
judging and choosing a split is `bridge.captions`' work, once for all formats.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from bridge.foreign import Problem, as_id, as_text, brief, decode, fault, need, parse

ImageKey = Literal["name", "path", "id"]
IMAGE_FIELDS = ("image_id", "image", "filename", "file_name", "filepath", "image_name")
TEXT_FIELDS = ("text", "caption", "title", "comment")
IMAGE_SUFFIXES = frozenset(("jpg", "jpeg", "png", "gif", "webp", "avif", "bmp", "tif", "tiff"))
TOKEN_LINE = re.compile(r"([^\t]+)#(\d+)\t(.*)", re.DOTALL)
QUOTED = re.compile(r'"(?:[^"]|"")*"')


class Record(NamedTuple):
    """A caption as its file gives it. `place` is where, for people: `line 7`, `annotation 3`."""

    file: Path
    place: str
    image_id: str
    text: str
    id: str | None = None
    source: str | None = None
    split: str | None = None


Found = Iterator[Record | Problem]


# ---- line by line


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines with their ends. Only \\n ends one: a caption may hold U+2028 and its like."""
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            yield number, decode(path, raw, number)


def filled(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    return (numbered for numbered in lines if numbered[1].strip())


def from_json_lines(path: Path) -> Found:
    for number, line in filled(text_lines(path)):
        yield from_fields(path, f"line {number}", parse(path, line, number))


def from_token(path: Path) -> Found:
    """Flickr8k's and Flickr30k's own layout: IMAGE#NUMBER, a tab, a caption.

    A name that goes on after its image suffix is left out, not repaired: what Flickr8k's one such
    line (`2258277193_586949ec62.jpg.1#0`) describes only its authors know.
    """
    for number, line in filled(text_lines(path)):
        place, match = f"line {number}", TOKEN_LINE.fullmatch(line)
        if match and goes_on(match[1]):
            what = f"{match[1]!r} is no image name: it goes on after its suffix"
            yield Problem(path, place, what)
        elif match:
            yield Record(path, place, match[1], match[3], id=f"{match[1]}#{match[2]}")
        else:
            what = f"expected IMAGE#NUMBER, a tab and a caption, got {brief(line.strip())}"
            yield Problem(path, place, what)


def goes_on(name: str) -> bool:
    """Whether an image suffix stands in a name, but not at its end."""
    *inner, last = name.lower().split(".")[1:] or [""]
    return last not in IMAGE_SUFFIXES and not IMAGE_SUFFIXES.isdisjoint(inner)


def from_table(path: Path) -> Found:
    """CSV with a header, its delimiter the one that makes the header name an image and a text."""
    number, first = next(filled(text_lines(path)))
    for delimiter in ",;\t|":
        header = [name.strip(' \t\r\n"').lower() for name in first.split(delimiter)]
        if named(header, IMAGE_FIELDS) and named(header, TEXT_FIELDS):
            break
    else:
        what = (
            f"expected a CSV header with an image column ({', '.join(IMAGE_FIELDS)}) "
            f"and a text column ({', '.join(TEXT_FIELDS)}), got {brief(first.strip())}"
        )
        raise fault(path, f"line {number}", what)
    lines = (line for at, line in text_lines(path) if at > number)
    rows = quoted_rows if delimiter in ",;" else plain_rows
    for at, row in rows(path, lines, delimiter, number + 1):
        place = f"line {at}"
        if len(row) == len(header):
            fields = {name: value.strip() or None for name, value in zip(header, row, strict=True)}
            yield from_fields(path, place, fields)
        elif row:
            what = f"expected {len(header)} columns as in the header, got {len(row)}"
            yield Problem(path, place, what)


def quoted_rows(
    path: Path, lines: Iterable[str], delimiter: str, start: int
) -> Iterator[tuple[int, list[str]]]:
    """Rows in which quotes protect delimiters and line breaks, with the line each begins on."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    at = start
    try:
        for row in reader:
            yield at, row
            at = start + reader.line_num
    except csv.Error as error:
        what = f"broken CSV ({error}); a quote inside a quoted text is doubled, and the text closed"
        raise fault(path, f"line {at}", what) from error


def plain_rows(
    path: Path, lines: Iterable[str], delimiter: str, start: int
) -> Iterator[tuple[int, list[str]]]:
    """Rows of a tab or bar table, in which a quote is mostly a quote that a caption opens with."""
    for at, line in enumerate(lines, start):
        fields = line.rstrip("\r\n").split(delimiter) if line.strip() else []
        yield at, [f[1:-1].replace('""', '"') if QUOTED.fullmatch(f) else f for f in fields]


def from_fields(path: Path, place: str, fields: Any) -> Record:
    """A caption from an object or a row that names its values."""
    need(path, place, fields, None, dict)
    for what, names in {"image": IMAGE_FIELDS, "text": TEXT_FIELDS}.items():
        if not named(fields, names):
            wanted = f"expected a key for the {what} ({', '.join(names)})"
            raise fault(path, place, f"{wanted}, got {brief(list(fields))}")
    return Record(
        path,
        place,
        as_id(path, place, fields, named(fields, IMAGE_FIELDS)),
        as_text(path, place, fields, named(fields, TEXT_FIELDS)) or "",
        id=as_id(path, place, fields, "id") or None if "id" in fields else None,
        source=as_text(path, place, fields, "source"),
        split=as_text(path, place, fields, "split"),
    )


def named(fields: Iterable[str], names: Iterable[str]) -> str | None:
    """The first of `names` that the fields have."""
    return next((name for name in names if name in fields), None)


# ---- JSON documents


def from_json(path: Path, image_key: ImageKey) -> Found:
    """JSON Lines if one of the first two lines is an object by itself, else one document."""
    lines = [line for _, line in islice(filled(text_lines(path)), 2)]
    values = [json_or_none(line) for line in lines]
    if lines[0].lstrip()[0] == "{" and any(is_one_caption(value) for value in values):
        yield from from_json_lines(path)
        return
    whole = values[0] is not None and len(values) == 1  # spares parsing a long line twice
    document = values[0] if whole else parse(path, decode(path, path.read_bytes()))
    if isinstance(document, list):
        for k, item in enumerate(document, 1):
            yield from_fields(path, f"item {k}", item)
    elif "annotations" in document:
        yield from from_coco(path, document, image_key)
    else:
        yield from from_karpathy(path, document, image_key)


def json_or_none(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def is_one_caption(value: Any) -> bool:
    return isinstance(value, dict) and value.keys().isdisjoint(("images", "annotations"))


def from_coco(path: Path, document: dict, image_key: ImageKey) -> Found:
    """COCO's captions_*.json. An image is known by its `file_name`, or by its number as text."""
    names: dict[str, str] = {}
    for k, image in enumerate(need(path, "top level", document, "images", list), 1):
        number = as_id(path, f"image {k}", image, "id")
        if number in names:
            raise fault(path, f"image {k}", f"image id {number!r} came before; {DIFFER}")
        named_by = "id" if image_key == "id" else "file_name"
        names[number] = as_id(path, f"image {k}", image, named_by)
    uncaptioned, seen = dict(names), set()
    for k, annotation in enumerate(need(path, "top level", document, "annotations", list), 1):
        place = f"annotation {k}"
        number = as_id(path, place, annotation, "image_id")
        text = need(path, place, annotation, "caption", str)
        own = as_id(path, place, annotation, "id")
        if own in seen:
            raise fault(path, place, f"annotation id {own!r} came before; {DIFFER}")
        seen.add(own)
        uncaptioned.pop(number, None)
        if number in names:
            yield Record(path, place, names[number], text)
        else:
            yield Problem(path, place, f'no image of the id {number!r} stands in "images"')
    for name in uncaptioned.values():
        yield Problem(path, f"image {name!r}", "no caption belongs to it")


DIFFER = "ids must differ, so remove or renumber one"


def from_karpathy(path: Path, document: dict, image_key: ImageKey) -> Found:
    """Karpathy's dataset_*.json. An image is known by `filename`, `filepath/filename` or number."""
    for k, image in enumerate(need(path, "top level", document, "images", list), 1):
        place = f"image {k}"
        if "sentences" not in need(path, place, image, None, dict):
            what = 'no captions: COCO\'s has "annotations", Karpathy\'s "sentences" in each image'
            raise fault(path, place, f"{what}, got {brief(list(image))}")
        name = as_id(path, place, image, "filename")
        if image_key == "path":
            name = f"{as_id(path, place, image, 'filepath')}/{name}"
        elif image_key == "id":
            name = as_id(path, place, image, "cocoid" if "cocoid" in image else "imgid")
        split = as_text(path, place, image, "split")
        sentences = need(path, place, image, "sentences", list)
        for sentence in sentences:
            yield Record(path, place, name, need(path, place, sentence, "raw", str), split=split)
        if not sentences:
            yield Problem(path, place, f"no caption belongs to {name!r}")
