"""Ids for rows that carry none: from a file beside them, or from clip-retrieval's metadata."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bridge.caption_formats import text_lines
from bridge.captions import is_unicode, read_captions
from bridge.errors import InputError
from bridge.files import PathLike
from bridge.foreign import as_id, decode, fault, first_bytes, need, parse, refuse_binary

EXPECTED = "ids (a line each, a JSON list, .npy or a captions file)"
OF_CAPTION = re.compile(r"(.+)#\d+", re.DOTALL)


def ids_of_rows(
    rows: Path, count: int, ids: PathLike | None, caption_ids: bool | None
) -> tuple[list[str], list[str]]:
    """The id and the image id of each of the `count` rows that lie at `rows`.

    `caption_ids` says whether an id `IMAGE#K` means the image IMAGE; None: if all look like it.
    Raises InputError if ids are missing, doubled, or not as many as rows.
    """
    if ids is None:
        row_ids, image_ids = ids_in_metadata(rows)
    else:
        row_ids, image_ids = read_ids(Path(ids))
    if len(row_ids) != count:
        raise InputError(
            f"{rows}: {count} rows, but {len(row_ids)} ids in {ids or 'its metadata'}; "
            "each row needs its id, in the order of the rows"
        )
    return row_ids, image_ids or images_of(row_ids, caption_ids)


def images_of(ids: Sequence[str], caption_ids: bool | None) -> list[str]:
    """The part before `#K` of every id, or the ids as they are."""
    if caption_ids is False:
        return list(ids)
    matches = [OF_CAPTION.fullmatch(i) for i in ids]
    if all(matches):
        return [match[1] for match in matches]
    if caption_ids:
        other = ids[matches.index(None)]
        raise InputError(f"expected caption ids IMAGE#NUMBER, got {other!r}; leave caption_ids out")
    return list(ids)


def read_ids(path: Path) -> tuple[list[str], list[str] | None]:
    """Ids in the order of a file, and their images' ids if it is a captions file."""
    head = first_bytes(path, EXPECTED)
    if head.startswith(b"\x93NUMPY"):
        return distinct(path, "item", from_array(path)), None
    refuse_binary(path, head, EXPECTED)
    opening = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if opening == b"{":
        captions = read_captions(path, strict=True)  # leaving one out would shift the rest
        return [caption.id for caption in captions], [caption.image_id for caption in captions]
    if opening == b"[":
        values = need(path, "top level", parse(path, decode(path, path.read_bytes())), None, list)
        return distinct(path, "item", values), None
    lines = [line.strip() for _, line in text_lines(path)]
    while lines and not lines[-1]:
        lines.pop()
    return distinct(path, "line", lines), None


def from_array(path: Path) -> list[Any]:
    try:
        values = np.load(path, allow_pickle=False)
        listed = values.tolist()
    except Exception as error:  # NumPy raises whatever a damaged header makes its parser raise
        why = str(error).partition("\n")[0]
        raise InputError(
            f"{path}: no ids can be read ({why}); "
            "save them with `numpy.array(ids, dtype=str)`: pickles are never opened"
        ) from error
    if values.ndim != 1 or values.dtype.kind not in "Uiu":
        raise InputError(
            f"{path}: expected one row of texts or whole numbers, got {values.dtype} of the shape "
            f"{list(values.shape)}; save them with `numpy.array(ids, dtype=str)`"
        )
    return listed


def distinct(path: Path, noun: str, values: Sequence[Any]) -> list[str]:
    """The values as ids, or InputError that names the first that is empty or came before."""
    first: dict[str, int] = {}
    for k, value in enumerate(values, 1):
        own = as_id(path, f"{noun} {k}", {"id": value}, "id")
        if not own:
            raise fault(path, f"{noun} {k}", "expected an id, got nothing; each row needs one")
        if not is_unicode(own):
            raise fault(path, f"{noun} {k}", f"{own!r} holds half a surrogate pair, no character")
        if own in first:
            what = f"id {own!r} stands on {noun} {first[own]} already; ids must differ"
            raise fault(path, f"{noun} {k}", what)
        first[own] = k
    return list(first)


def ids_in_metadata(rows: Path) -> tuple[list[str], list[str]]:
    """clip-retrieval's `image_path`s: the ids of pictures, and the images of the first captions."""
    files = sorted((rows.parent / "metadata").glob("*.parquet"), key=by_number)
    if not files:
        raise InputError(f"{rows}: features carry no ids; name a file of them with --ids")
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise InputError(
            f"{files[0]}: ids in Parquet can be read only where pyarrow is installed; "
            "install it, or name a file of ids with --ids"
        ) from error
    paths: list[str] = []
    for file in files:
        try:
            paths += parquet.read_table(file, columns=["image_path"])["image_path"].to_pylist()
        except (ArrowException, OSError, KeyError) as error:
            why = str(error).partition("\n")[0]
            what = f'no column "image_path" can be read ({why}); name a file of ids with --ids'
            raise InputError(f"{file}: {what}") from error
    ids = distinct(rows.parent / "metadata", "row", paths)
    return ([f"{i}#0" for i in ids] if rows.name == "text_emb" else ids), ids


def by_number(path: Path) -> list[tuple[str, int]]:
    """Sorts `part_10` after `part_9`."""
    return [(text, int(digits or -1)) for text, digits in re.findall(r"(\D*)(\d*)", path.name)]
