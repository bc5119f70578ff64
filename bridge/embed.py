"""Captions files and image folders -> embeddings files: batched, resumable, never all in memory."""

import ctypes
import hashlib
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bridge import embeddings
from bridge.captions import Caption, Problem, iter_captions
from bridge.embeddings import Embeddings, Writer
from bridge.encode_text import TextEncoder
from bridge.encode_vision import VisionEncoder
from bridge.errors import InputError
from bridge.files import PathLike, already_made
from bridge.images import find_images, read_image
from bridge.provenance import digest, versions

FLUSH_SECONDS = 5.0  # an interruption costs no more than this
FLUSH_ROWS = 65536
WINDOW = 16  # batches of captions sorted by length together, so that a batch pads little
Progress = Callable[[int, int], None]  # items done, items in all


def embed_images(
    folder: PathLike,
    encoder: VisionEncoder,
    out: PathLike,
    *,
    batch_size: int = 32,
    workers: int | None = None,
    strict: bool = False,
    overwrite: bool = False,
    wanted: Callable[[str], bool] = lambda name: True,
    progress: Progress = lambda done, total: None,
) -> Embeddings:
    """Embed every image below `folder` into the file `out`; ids are paths relative to it.

    `wanted` says of an id whether to take it. Files are decoded in `workers` threads while the
    model computes. One that cannot be read is listed under `about["unreadable"]`, or raises
    InputError if `strict`. An interrupted run goes on; a finished one of the same settings is
    returned as it is.
    """
    named = [(path, name) for path, name in named_images(folder) if wanted(name)]
    paths, names = [path for path, _ in named], [name for _, name in named]
    request = {
        "encoder": encoder.about,
        "source": {"images": len(paths), "digest": stamp(paths, names)},
    }
    if already_made(out, made_by(out, request), request, overwrite=overwrite):
        return embeddings.load(out)
    keep_freed_memory(encoder.device)
    writer = Writer(out, request, overwrite=overwrite)
    start = time.monotonic()

    def prepare(index: int) -> Tensor | InputError:
        try:
            return encoder.prepare(read_image(paths[index]))
        except InputError as error:
            return error

    buffer = Buffer(writer)
    todo = range(writer.consumed, len(paths))
    for batch in chunks(
        ahead(prepare, todo, workers or os.cpu_count() or 1, batch_size), batch_size
    ):
        good = [(index, pixels) for index, pixels in batch if isinstance(pixels, Tensor)]
        bad = [(index, error) for index, error in batch if isinstance(error, InputError)]
        if bad and strict:
            raise bad[0][1]
        problems = [{"file": names[index], "reason": str(error)} for index, error in bad]
        rows = encoder(torch.stack([pixels for _, pixels in good])) if good else None
        ids = [names[index] for index, _ in good]
        buffer.add(rows, ids, ids, consumed=len(batch), problems=problems)
        progress(buffer.consumed, len(paths))
    buffer.flush()
    return finish(writer, request, start, unreadable=writer.problems)


def embed_captions(
    path: PathLike,
    encoder: TextEncoder,
    out: PathLike,
    *,
    split: str | None = None,
    batch_size: int = 64,
    strict: bool = False,
    overwrite: bool = False,
    progress: Progress = lambda done, total: None,
) -> Embeddings:
    """Embed every caption of a captions file into the file `out`, in the order of the file.

    Captions are sorted by length inside windows, so that a batch holds little padding. Resumes
    and returns as `embed_images`; `about["truncated"]` counts captions that reached the token
    limit.
    """
    request = {"encoder": encoder.about, "source": {"digest": digest(path), "split": split}}
    if already_made(out, made_by(out, request), request, overwrite=overwrite):
        return embeddings.load(out)
    faulty: list[Problem] = []
    # a first pass: what is wrong with the file shows before the model has worked for an hour
    in_all = sum(1 for _ in iter_captions(path, split=split, strict=strict))
    keep_freed_memory(encoder.device)
    writer = Writer(out, request, overwrite=overwrite)
    start = time.monotonic()
    buffer = Buffer(writer)
    captions = iter_captions(path, split=split, problems=faulty.append)
    for window in chunks(islice(captions, writer.consumed, None), WINDOW * batch_size):

        def move(done: int, before: int = buffer.consumed) -> None:
            progress(before + done, in_all)

        rows, truncated = embed_window(window, encoder, batch_size, move)
        buffer.add(
            rows,
            [caption.id for caption in window],
            [caption.image_id for caption in window],
            consumed=len(window),
            problems=truncated,
        )
    buffer.flush()
    faults = [str(problem) for problem in faulty]
    return finish(writer, request, start, faulty=faults, truncated=len(writer.problems))


def embed_window(
    window: Sequence[Caption],
    encoder: TextEncoder,
    batch_size: int,
    progress: Callable[[int], None],
) -> tuple[Tensor, list[dict]]:
    """Rows of some captions in their order, and the ids of those that reached the token limit."""
    tokens = encoder.tokenize([caption.text for caption in window])
    order = sorted(range(len(tokens)), key=lambda i: -len(tokens[i]))  # the longest first: if
    rows: list[Tensor] = []  # memory is short it shows at once
    for batch in chunks(order, batch_size):
        rows.append(encoder([tokens[i] for i in batch]))
        progress(sum(map(len, rows)))
    stacked = torch.cat(rows)
    in_order = torch.empty_like(stacked)
    in_order[torch.tensor(order)] = stacked
    limit = encoder.max_tokens
    cut = [{"id": c.id} for c, t in zip(window, tokens, strict=True) if len(t) >= limit]
    return in_order, cut


def named_images(folder: PathLike) -> list[tuple[Path, str]]:
    """All images below a folder, each with its id: the path relative to the folder."""
    root = Path(folder) if Path(folder).is_dir() else Path(folder).parent
    return [(path, printable(path.relative_to(root).as_posix())) for path in find_images(folder)]


def printable(name: str) -> str:
    """A file name as an id: bytes that are no UTF-8 become escapes."""
    return name.encode("utf-8", "backslashreplace").decode()


def stamp(paths: Sequence[Path], names: Sequence[str]) -> str:
    """A digest of the files' names, sizes and times, without reading them."""
    hashed = hashlib.sha256()
    for path, name in zip(paths, names, strict=True):
        try:
            found = path.stat()
            hashed.update(f"{name}\0{found.st_size}\0{found.st_mtime_ns}\n".encode())
        except OSError:  # a link to nowhere: listed as unreadable when its turn comes
            hashed.update(f"{name}\0\n".encode())
    return hashed.hexdigest()


class Buffer:
    """Holds rows back for a few seconds: many small appends would cost more than they save."""

    def __init__(self, writer: Writer):
        self.writer = writer
        self.consumed = writer.consumed
        self._clear()

    def _clear(self) -> None:
        self.rows: list[Tensor] = []
        self.ids: list[str] = []
        self.image_ids: list[str] = []
        self.problems: list[dict] = []
        self.since = time.monotonic()

    def add(
        self,
        rows: Tensor | None,
        ids: Sequence[str],
        image_ids: Sequence[str],
        *,
        consumed: int,
        problems: Sequence[dict],
    ) -> None:
        if rows is not None:
            self.rows.append(rows)
        self.ids += ids
        self.image_ids += image_ids
        self.problems += problems
        self.consumed += consumed
        if time.monotonic() - self.since > FLUSH_SECONDS or len(self.ids) >= FLUSH_ROWS:
            self.flush()

    def flush(self) -> None:
        consumed = self.consumed - self.writer.consumed
        if consumed:
            rows = torch.cat(self.rows) if self.rows else torch.empty(0, 0)
            self.writer.append(
                rows, self.ids, self.image_ids, consumed=consumed, problems=self.problems
            )
        self._clear()


def made_by(out: PathLike, request: dict) -> dict | None:
    """The part of an existing file's `about` that a request names."""
    about = embeddings.about(out)
    return None if about is None else {key: about.get(key) for key in request}


def finish(writer: Writer, request: dict, start: float, **noted: Any) -> Embeddings:
    seconds = round(time.monotonic() - start, 3)
    writer.finish(request | noted | {"versions": versions(), "seconds": seconds})
    return embeddings.load(writer.path)


def ahead(
    prepare: Callable[[Any], Any], items: Sequence, workers: int, batch_size: int
) -> Iterator[tuple[Any, Any]]:
    """Yield (item, prepare(item)) in order, prepared in threads up to two batches ahead.

    Threads and not processes: Pillow and torch release the interpreter while they work, and
    nothing has to be copied between processes or to fit into shared memory.
    """
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[tuple[Any, Future]] = deque()
        try:
            for item in items:
                waiting.append((item, pool.submit(prepare, item)))
                if len(waiting) > 2 * batch_size:
                    done, future = waiting.popleft()
                    yield done, future.result()
            while waiting:
                done, future = waiting.popleft()
                yield done, future.result()
        finally:
            for _, future in waiting:
                future.cancel()


def chunks(items: Iterable, size: int) -> Iterator[list]:
    """Lists of `size` items, the last one shorter."""
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def keep_freed_memory(device: torch.device) -> None:
    """Ask glibc to keep the memory that a batch frees for the next batch.

    By default it hands large blocks back to the kernel, and every batch pays for fresh zeroed
    pages: on two cores that was two thirds of the time of a small convolutional network. Other
    allocators have no `mallopt` and do not need it.
    """
    if device.type != "cpu":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if mallopt:
        trim_threshold, mmap_max = -1, -4  # M_TRIM_THRESHOLD and M_MMAP_MAX of malloc.h
        mallopt(trim_threshold, 2**31 - 1)
        mallopt(mmap_max, 0)
