"""Captions: texts that belong to images, read from the files people have.

`bridge.caption_formats` and `bridge.caption_shards` know the formats. Here the content of a file
chooses among them, every caption gets its id, faulty ones are set aside, and a split is taken.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bridge.caption_formats import (
    TOKEN_LINE,
    Found,
    ImageKey,
    Record,
    filled,
    from_json,
    from_table,
    from_token,
    text_lines,
)
from bridge.caption_shards import from_shard, is_tar, shards_at
from bridge.errors import InputError
from bridge.files import PathLike, replacing
from bridge.foreign import Problem, fault, first_bytes, refuse_binary

__all__ = ["Caption", "Problem", "iter_captions", "read_captions", "write_captions"]
EXPECTED = "captions (JSON Lines, COCO or Karpathy JSON, token.txt, CSV or tar shards)"


@dataclass(frozen=True, slots=True)
class Caption:
    """One text of one image. Texts that share an image id are views of the same thing.

    `source` may name who wrote it: people, alt text, a captioner.
    """

    image_id: str
    text: str
    id: str
    source: str | None = None
    split: str | None = None


def read_captions(
    path: PathLike,
    *,
    split: str | None = None,
    strict: bool = False,
    problems: Callable[[Problem], object] | None = None,
    image_key: ImageKey = "name",
) -> list[Caption]:
    """Read the captions of a file as `iter_captions` does; a doubled id raises InputError."""
    captions, seen = [], set()
    for record in usable(path, split, strict, problems, image_key):
        if record.id in seen:
            what = f"caption id {record.id!r} came before; ids must differ, so correct it"
            raise fault(record.file, record.place, what)
        seen.add(record.id)
        captions.append(caption_of(record))
    return captions


def iter_captions(
    path: PathLike,
    *,
    split: str | None = None,
    strict: bool = False,
    problems: Callable[[Problem], object] | None = None,
    image_key: ImageKey = "name",
) -> Iterator[Caption]:
    """Captions one by one; JSON Lines, CSV, token.txt and tar shards are not held in memory.

    `path` is a JSON Lines or CSV file, COCO or Karpathy JSON, a Flickr token.txt, or webdataset
    tar shards: one, a folder of them, a pattern with `*`. The content decides, not the suffix.

    A caption without an id of its own is `IMAGE#K`, the K-th of its image in the file, from 0.
    `image_key` says what COCO, Karpathy and shards call an image: `name`, its file name, which is
    its id when its folder is embedded; `path`, Karpathy's `filepath` before that, for the folder
    above; `id`, the data set's own number or key. The split `train` takes Karpathy's `restval`
    in, as captioning papers do; `restval` alone can be asked for.

    An item that cannot be used (an empty caption, an image without one, a faulty name) is handed
    to `problems`, for example a list's `append`, and left out; if `strict` it raises InputError,
    as an unknown format, broken syntax, a wrong key or type and an unknown split always do.
    """
    return map(caption_of, usable(path, split, strict, problems, image_key))


def write_captions(path: PathLike, captions: Iterable[Caption]) -> int:
    """Write JSON Lines, whole or not at all; returns how many captions there were."""
    written = 0
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for caption in captions:
            named = {field: getattr(caption, field) for field in Caption.__slots__}
            present = {field: value for field, value in named.items() if value is not None}
            file.write(json.dumps(present, ensure_ascii=False) + "\n")
            written += 1
    return written


def caption_of(record: Record) -> Caption:
    return Caption(record.image_id, record.text.strip(), record.id, record.source, record.split)


def usable(
    path: PathLike,
    split: str | None,
    strict: bool,
    problems: Callable[[Problem], object] | None,
    image_key: ImageKey,
) -> Iterator[Record]:
    """The records with their ids, without the faulty ones and those of other splits."""
    splits: Counter[str] = Counter()
    first_problem, any_left = None, False
    for found in numbered(records(Path(path), image_key)):
        problem = found if isinstance(found, Problem) else fault_of(found)
        if problem:
            if strict:
                raise InputError(str(problem))
            if problems:
                problems(problem)
            first_problem = first_problem or problem
            continue
        splits.update([found.split] if found.split else [])
        if split is None or found.split == split or (split, found.split) == ("train", "restval"):
            any_left = True
            yield found
    if not any_left:
        raise nothing_left(path, split, splits, first_problem)


def records(path: Path, image_key: ImageKey) -> Found:
    """Everything that a captions file holds, in its order."""
    shards = shards_at(path)
    head = b"" if shards else first_bytes(path, EXPECTED)
    if is_tar(head):
        shards = [path]
    if shards:
        for shard in shards:
            yield from from_shard(shard, image_key)
        return
    refuse_binary(path, head, EXPECTED)
    _, first = next(filled(text_lines(path)), (0, ""))
    if not first:
        raise InputError(f"{path}: expected {EXPECTED}, got blank lines only")
    if first.lstrip()[0] in "{[":
        yield from from_json(path, image_key)
    elif TOKEN_LINE.fullmatch(first):
        yield from from_token(path)
    else:
        yield from from_table(path)


def numbered(found: Found) -> Found:
    """Give records without an id `IMAGE#K`. Memory: one count an image that needs it."""
    count: Counter[str] = Counter()
    for item in found:
        if isinstance(item, Record) and item.id is None:
            count[item.image_id] += 1
            item = item._replace(id=f"{item.image_id}#{count[item.image_id] - 1}")
        yield item


def fault_of(record: Record) -> Problem | None:
    """What keeps a caption from being used, if anything does."""
    if not record.image_id:
        what = "the image id is empty"
    elif not record.text.strip():
        what = f"the caption of {record.image_id!r} is empty"
    elif not all(map(is_unicode, filter(None, record[2:]))):
        what = f"the caption of {record.image_id!r} holds half a surrogate pair, no character"
    else:
        return None
    return Problem(record.file, record.place, what)


def is_unicode(text: str) -> bool:
    """Whether a text can be written: JSON's escapes can spell what UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def nothing_left(
    path: PathLike, split: str | None, splits: Counter[str], problem: Problem | None
) -> InputError:
    if splits:
        there = ", ".join(f"{name} ({count})" for name, count in splits.most_common())
        return InputError(f"{path}: no caption of the split {split!r}; there are {there}")
    if problem:
        return InputError(f"{path}: no caption can be used, the first fault: {problem}")
    if split:
        return InputError(f"{path}: no caption names a split; leave the split {split!r} out")
    return InputError(f"{path}: expected captions, got none")
