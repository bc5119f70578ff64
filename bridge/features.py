"""Features that other tools made -> Embeddings: their rows, with the ids they do not carry."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bridge import embeddings
from bridge.embeddings import Embeddings, Writer
from bridge.errors import InputError
from bridge.feature_formats import Table, open_tables, rows_folder
from bridge.feature_ids import ids_of_rows
from bridge.files import PathLike, already_made, remove
from bridge.provenance import digest, versions

BLOCK = 65536  # rows that are converted and checked at a time


def import_features(
    path: PathLike,
    ids: PathLike | None = None,
    *,
    key: str | None = None,
    name: str | None = None,
    caption_ids: bool | None = None,
) -> Embeddings:
    """Read a table of features, one row an item, into memory as embeddings.

    `path` is .npy, .npz, a plain safetensors file, or a folder: of numbered .npy parts, or
    clip-retrieval's with `img_emb/`, `text_emb/` and `metadata/`. `key` names the array, or the
    folder, where there are several. Rows become float32; float16 stays.

    `ids` is a file in the order of the rows: text with one id a line, a JSON list, .npy, or a
    captions file. Only clip-retrieval's folder can do without, if pyarrow is there to read its
    metadata. An id `IMAGE#K` is the K-th caption of IMAGE, which becomes its image id;
    `caption_ids` says whether ids are of this kind, None that they are if all look like it.

    `name` is noted as the encoder's. Raises InputError for an unknown format, unequal counts,
    doubled ids, rows that are not two-dimensional, floating and finite.
    """
    features = open_features(path, ids, key, name, caption_ids)
    rows = torch.empty(len(features.ids), features.width, dtype=features.dtype)
    for start, block in features.blocks():
        rows[start : start + len(block)] = block
    about = features.about | {"versions": versions()}
    return Embeddings(rows, tuple(features.ids), tuple(features.image_ids), about)


def convert_features(
    path: PathLike,
    out: PathLike,
    ids: PathLike | None = None,
    *,
    key: str | None = None,
    name: str | None = None,
    caption_ids: bool | None = None,
    overwrite: bool = False,
) -> Embeddings:
    """`import_features` into the embeddings file `out`, for tables larger than the memory.

    An interrupted run goes on; a finished one of the same settings is returned as it is.
    """
    features = open_features(path, ids, key, name, caption_ids)
    made_by = embeddings.about(out)
    made_by = None if made_by is None else {part: made_by.get(part) for part in features.about}
    if already_made(out, made_by, features.about, overwrite=overwrite):
        return embeddings.load(out)
    writer = Writer(out, features.about, overwrite=overwrite)
    try:
        for start, block in features.blocks(writer.consumed):
            here = slice(start, start + len(block))
            ids_here = features.ids[here], features.image_ids[here]
            writer.append(block, *ids_here, consumed=len(block))
    except InputError:
        remove(writer.folder)  # no later run can go on from rows that are faulty
        raise
    writer.finish(features.about | {"versions": versions()})
    return embeddings.load(out)


@dataclass(frozen=True, eq=False)
class Features:
    """Tables of rows as they lie on disk, the ids of all their rows, and where they came from."""

    path: Path
    tables: list[Table]
    ids: list[str]
    image_ids: list[str]
    about: dict[str, Any]

    @property
    def width(self) -> int:
        return self.tables[0].shape[1]

    @property
    def dtype(self) -> torch.dtype:
        half = all(table.dtype in (np.float16, torch.float16) for table in self.tables)
        return torch.float16 if half else torch.float32

    def blocks(self, consumed: int = 0) -> Iterator[tuple[int, Tensor]]:
        """Finite rows after the first `consumed`, some at a time, with the number of the first."""
        start = 0
        for table in self.tables:
            for at in range(0, len(table), BLOCK):
                piece = table[at : at + BLOCK]
                done = min(max(consumed - start, 0), len(piece))
                if done < len(piece):
                    rows = as_tensor(piece[done:], self.dtype)
                    self._check_finite(rows, start + done)
                    yield start + done, rows
                start += len(piece)

    def _check_finite(self, rows: Tensor, start: int) -> None:
        bad = ~torch.isfinite(rows).all(dim=1)
        if bad.any():
            row = start + int(bad.nonzero()[0])
            raise InputError(
                f"{self.path}: row {row} from 0 ({self.ids[row]!r}) holds NaN or infinity, or is "
                "too large for float32; make the features again, or leave the row out"
            )


def open_features(
    path: PathLike,
    ids: PathLike | None,
    key: str | None,
    name: str | None,
    caption_ids: bool | None,
) -> Features:
    tables, metadata = open_tables(Path(path), key)
    rows = rows_folder(Path(path), key)
    row_ids, image_ids = ids_of_rows(rows, sum(map(len, tables)), ids, caption_ids)
    source = {"digest": digest(rows), "ids": ids and digest(ids), "key": key, "metadata": metadata}
    about = {
        "encoder": {"name": name or "unknown"},
        "source": source | {"caption_ids": caption_ids},
    }
    return Features(Path(path), tables, row_ids, image_ids, about)


def as_tensor(piece: Table, dtype: torch.dtype) -> Tensor:
    if isinstance(piece, Tensor):
        return piece.to(dtype)
    with np.errstate(over="ignore"):  # an infinity comes of it, which is reported with its row
        return torch.from_numpy(np.array(piece, "f2" if dtype == torch.float16 else "f4"))
