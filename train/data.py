"""Captions -> a token store on disk, in which the texts of one image lie side by side."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from glob import glob
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from bridge.captions import Caption, iter_captions
from bridge.errors import InputError
from bridge.files import PathLike, existing, replacing, write_json
from bridge.provenance import digest, id_hash

READ = 8192  # captions that are tokenised together
SORTED = 1 << 22  # texts that are sorted by image in memory together
UNKNOWN = 0.2  # share of unknown pieces from which a vocabulary does not fit


@dataclass(frozen=True)
class CaptionFiles:
    """Captions of one or many files, read anew at every pass and never held in memory.

    `place` is whatever `bridge.captions.iter_captions` reads, or a pattern with `*` of such files.
    """

    place: str
    split: str | None = None

    def paths(self) -> list[Path]:
        if Path(self.place).exists() or "*" not in self.place:
            return [existing(self.place, "captions file")]
        found = [Path(name) for name in sorted(glob(self.place))]  # noqa: PTH207 - may be absolute
        if not found:
            raise InputError(f"{self.place}: expected captions files, got no file of such a name")
        return found

    def __iter__(self) -> Iterator[Caption]:
        for path in self.paths():
            yield from iter_captions(path, split=self.split)

    def digest(self) -> str:
        return hashlib.sha256("".join(map(digest, self.paths())).encode()).hexdigest()


def digest_of(captions: Iterable[Caption]) -> str:
    """SHA-256 of the files that hold the captions, or of the captions themselves."""
    if isinstance(captions, CaptionFiles):
        return captions.digest()
    hashed = hashlib.sha256()
    for caption in captions:
        hashed.update(f"{caption.image_id}\0{caption.text}\n".encode())
    return hashed.hexdigest()


@dataclass(frozen=True)
class Tokens:
    """All texts as one array of ids; text i is `ids[text_start[i]:text_start[i + 1]]`.

    Group g (the texts of one image) holds the texts `group_start[g]` to `group_start[g + 1]`.
    """

    ids: np.ndarray
    text_start: np.ndarray
    group_start: np.ndarray
    about: dict[str, Any]

    @property
    def groups(self) -> int:
        return len(self.group_start) - 1

    def text(self, index: int | np.integer) -> np.ndarray:
        return self.ids[self.text_start[index] : self.text_start[index + 1]]


def tokenize(captions: Iterable[Caption], tokenizer, max_tokens: int, folder: PathLike) -> Tokens:
    """Write the token store of captions, unless `folder` has it, and open it.

    The store is memory-mapped, and memory does not grow with the corpus while it is written
    either: captions are spooled as they come, then brought into the order of a hash of their
    image ids, a part of the hashes at a time. Raises InputError where a fifth of all pieces is
    unknown to the tokenizer.
    """
    folder = Path(folder)
    if not folder.exists():
        with replacing(folder) as temporary:
            temporary.mkdir()
            about = spool(captions, tokenizer, max_tokens, temporary)
            group(temporary, about)
            write_json(temporary / "about.json", about)
    return open_store(folder)


def spool(captions: Iterable[Caption], tokenizer, max_tokens: int, folder: Path) -> dict[str, Any]:
    """Write ids, lengths and image hashes in the order in which captions come."""
    dtype = np.uint16 if len(tokenizer) <= 1 << 16 else np.uint32
    known, total, texts = 0, 0, 0
    with ExitStack() as stack:
        ids_file, length_file, image_file = (
            stack.enter_context((folder / f"spool.{name}").open("wb"))
            for name in ("ids", "lengths", "images")
        )
        stream = iter(captions)
        while some := list(islice(stream, READ)):
            ids = tokenizer(
                [caption.text for caption in some], truncation=True, max_length=max_tokens
            )["input_ids"]
            flat = np.concatenate(ids).astype(dtype)
            flat.tofile(ids_file)
            np.array([len(text) for text in ids], np.uint16).tofile(length_file)
            np.array([id_hash(caption.image_id) for caption in some], np.int64).tofile(image_file)
            texts, total = texts + len(some), total + len(flat)
            known += int((flat != (tokenizer.unk_token_id or 0)).sum())
    if not texts:
        raise InputError("expected captions to train on, got none")
    if known < (1 - UNKNOWN) * total:
        raise InputError(
            f"the vocabulary does not fit: {1 - known / total:.0%} of the captions' pieces are "
            "unknown to it; give another model.vocabulary, or a number to train one"
        )
    return {"dtype": np.dtype(dtype).name, "texts": texts, "tokens": total}


def group(folder: Path, about: dict[str, Any]) -> None:
    """Rewrite a spool so that texts of one image follow each other, in their order."""
    names = {"ids": about["dtype"], "lengths": "uint16", "images": "int64"}
    ids, lengths, images = (mapped(folder / f"spool.{name}", kind) for name, kind in names.items())
    start = np.memmap(folder / "spool.starts", np.int64, "w+", shape=len(lengths))
    begin = 0
    for first in range(0, len(lengths), SORTED):
        block = np.cumsum(lengths[first : first + SORTED], dtype=np.int64)
        start[first : first + SORTED] = begin + block - lengths[first : first + SORTED]
        begin += int(block[-1])
    parts = -(-len(lengths) // SORTED)
    writer = StoreWriter(folder)
    for part in range(parts):
        mine = np.concatenate(
            [
                first + np.flatnonzero(images[first : first + SORTED] % parts == part)
                for first in range(0, len(images), SORTED)
            ]
        )
        mine = mine[np.argsort(images[mine], kind="stable")]
        writer.add(ids, start[mine], lengths[mine], images[mine])
    about |= writer.close()
    del ids, lengths, images, start
    for name in (*names, "starts"):
        (folder / f"spool.{name}").unlink()


class StoreWriter:
    """Appends texts that are sorted by image to the three files of a store."""

    def __init__(self, folder: Path):
        self.files = {
            name: (folder / f"{name}.bin").open("wb") for name in ("ids", "texts", "groups")
        }
        self.tokens = self.texts = self.groups = self.single = 0

    def add(
        self, ids: np.ndarray, start: np.ndarray, length: np.ndarray, image: np.ndarray
    ) -> None:
        """Texts `ids[start:start + length]`; all texts of their images, and no others."""
        if not len(start):
            return
        for some in np.array_split(np.arange(len(start)), -(-len(start) // (1 << 16))):
            first = np.cumsum(length[some], dtype=np.int64) - length[some]
            inside = np.arange(int(length[some].sum())) - np.repeat(first, length[some])
            ids[np.repeat(start[some], length[some]) + inside].tofile(self.files["ids"])
            (self.tokens + first).tofile(self.files["texts"])
            self.tokens += len(inside)
        new = np.concatenate([[0], 1 + np.flatnonzero(image[1:] != image[:-1])])
        (self.texts + new).tofile(self.files["groups"])
        self.texts, self.groups = self.texts + len(start), self.groups + len(new)
        self.single += int((np.diff(new, append=len(start)) == 1).sum())

    def close(self) -> dict[str, int]:
        """Write the two ends; returns how many images there are, and how many with one text."""
        np.array([self.tokens], np.int64).tofile(self.files["texts"])
        np.array([self.texts], np.int64).tofile(self.files["groups"])
        for file in self.files.values():
            file.close()
        return {"images": self.groups, "single": self.single}


def mapped(path: Path, dtype: str) -> np.ndarray:
    return np.asarray(np.memmap(path, dtype, "r"))  # a plain array slices ten times faster


def open_store(folder: Path) -> Tokens:
    about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    return Tokens(
        mapped(folder / "ids.bin", about["dtype"]),
        mapped(folder / "texts.bin", "int64"),
        mapped(folder / "groups.bin", "int64"),
        {name: about[name] for name in ("texts", "tokens", "images", "single")},
    )
