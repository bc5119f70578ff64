"""Embeddings: rows with ids, in one safetensors file that is written and read by streaming.

One file holds a set of any size: the rows are memory-mapped, so that opening costs nothing and a
reader loads what it touches; the writer appends, so that its memory does not grow and an
interrupted run goes on where it stopped. `docs/formats.md` describes the file field by field.
"""

import json
import shutil
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from safetensors import SafetensorError, safe_open
from torch import Tensor

from bridge.errors import InputError
from bridge.files import PathLike, existing, replacing, write_json

FORMAT = "platobridge.embeddings/1"
DTYPES = {torch.float32: "F32", torch.float16: "F16"}


@dataclass(frozen=True, eq=False)
class Embeddings:
    """Rows, the id of each row, and the id of the image that each row belongs to.

    Rows are float32 or float16. Image rows have `ids == image_ids`; the captions of one image
    share its image id. `about` says what made the rows (encoder, source, settings, versions).
    Raises InputError for no rows, unequal lengths, doubled row ids.
    """

    rows: Float[Tensor, "n d"]
    ids: tuple[str, ...]
    image_ids: tuple[str, ...]
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self):
        if not len(self.rows) == len(self.ids) == len(self.image_ids):
            raise InputError(
                f"expected one id and one image id a row, got {len(self.rows)} rows, "
                f"{len(self.ids)} ids and {len(self.image_ids)} image ids"
            )
        if not len(self.rows):
            raise InputError("expected at least one row, got none")
        if len(set(self.ids)) < len(self.ids):
            raise InputError(f"row ids must differ, got {first_double(self.ids)!r} twice")

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        return self.rows.shape[1]

    @property
    def encoder(self) -> str:
        """Name of the encoder that made the rows, `unknown` if nobody wrote it down."""
        return self.about.get("encoder", {}).get("name", "unknown")

    def take(self, indices: Sequence[int]) -> "Embeddings":
        """The rows at `indices`, in that order."""
        return replace(
            self,
            rows=self.rows[torch.as_tensor(indices, dtype=torch.long)],
            ids=tuple(self.ids[i] for i in indices),
            image_ids=tuple(self.image_ids[i] for i in indices),
        )

    def of_captions(self, caption_ids: Sequence[str]) -> "Embeddings":
        """The rows of these captions, in their order; raises InputError for one without a row."""
        if tuple(caption_ids) == self.ids:
            return self
        row_of = {caption_id: row for row, caption_id in enumerate(self.ids)}
        if missing := [caption_id for caption_id in caption_ids if caption_id not in row_of]:
            raise InputError(
                f"{len(missing)} of {len(caption_ids)} captions have no row among the text "
                f"embeddings, first {missing[0]!r}; embed this captions file with "
                "`platobridge embed text`"
            )
        return self.take([row_of[caption_id] for caption_id in caption_ids])

    def of_images(self, image_ids: Sequence[str]) -> "Embeddings":
        """The rows that belong to these images, grouped in the order of `image_ids`."""
        wanted: dict[str, list[int]] = {image_id: [] for image_id in image_ids}
        for row, image_id in enumerate(self.image_ids):
            if image_id in wanted:
                wanted[image_id].append(row)
        return self.take([row for rows in wanted.values() for row in rows])

    def joined(self, other: "Embeddings") -> "Embeddings":
        """These rows and those of `other`, of the same encoder, below them.

        Raises InputError for rows of another width.
        """
        if self.rows.shape[1] != other.rows.shape[1]:
            raise InputError(
                f"expected rows of one width to join, got {self.rows.shape[1]} and "
                f"{other.rows.shape[1]}; are they of the same encoder?"
            )
        return replace(
            self,
            rows=torch.cat([self.rows, other.rows]),
            ids=self.ids + other.ids,
            image_ids=self.image_ids + other.image_ids,
        )


def first_double(ids: Sequence[str]) -> str:
    seen: set[str] = set()
    return next(i for i in ids if i in seen or seen.add(i))


def check_finite(embeddings: Embeddings, name: str, block: int = 65536) -> None:
    """Raise InputError that names the first row with a NaN or an infinity."""
    for start in range(0, len(embeddings), block):
        bad = ~torch.isfinite(embeddings.rows[start : start + block]).all(dim=1)
        if bad.any():
            row = start + int(bad.nonzero()[0])
            raise InputError(
                f"{name}: row {row} ({embeddings.ids[row]!r}) holds NaN or infinity; "
                "embed again in float32, or drop such rows"
            )


def save(embeddings: Embeddings, path: PathLike, *, overwrite: bool = False) -> None:
    """Write one embeddings file; raises InputError if one stands there and `overwrite` is unset."""
    path = check_out(path)
    if path.exists() and not overwrite:
        raise InputError(f"{path} exists; name another file, or replace it with --overwrite")
    rows = embeddings.rows.detach().cpu().contiguous()
    rows = rows if rows.dtype in DTYPES else rows.float()
    ids, image_ids = as_json(embeddings.ids), as_json(embeddings.image_ids)
    with replacing(path) as temporary, temporary.open("wb") as file:
        write_header(file, rows.shape, rows.dtype, ids, image_ids, embeddings.about)
        file.write(rows.numpy().data)
        file.write(ids + image_ids)


def load(path: PathLike) -> Embeddings:
    """Open an embeddings file; its rows are memory-mapped, not read.

    Raises InputError for a missing file and for one that is not of this format.
    """
    path = existing(path, "embeddings file")
    try:
        with safe_open(path, framework="pt") as file:
            header = parse_header(path, file.metadata())
            return Embeddings(
                rows=file.get_tensor("rows"),
                ids=tuple(json.loads(file.get_tensor("ids").numpy().tobytes())),
                image_ids=tuple(json.loads(file.get_tensor("image_ids").numpy().tobytes())),
                about=header["about"],
            )
    except InputError:
        raise
    except (SafetensorError, OSError, ValueError, LookupError, TypeError) as error:
        raise not_ours(path, " ".join(str(error).split())) from error


def about(path: PathLike) -> dict[str, Any] | None:
    """What an embeddings file says of itself, without its rows and ids; None if there is none."""
    if not Path(path).exists():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            return parse_header(path, file.metadata())["about"]
    except (SafetensorError, OSError) as error:
        raise not_ours(path, " ".join(str(error).split())) from error


def parse_header(path: PathLike, metadata: dict[str, str] | None) -> dict[str, Any]:
    if "platobridge" not in (metadata or {}):
        raise not_ours(path, "a safetensors file of another kind")
    try:
        header = json.loads(metadata["platobridge"])
        form, _ = header["format"], header["about"]
    except (ValueError, LookupError, TypeError) as error:
        raise not_ours(path, "a damaged header") from error
    if form != FORMAT:
        raise InputError(
            f"{path}: expected format {FORMAT}, got {form}; "
            "it was written by another version of platobridge"
        )
    return header


def not_ours(path: PathLike, what: str) -> InputError:
    return InputError(
        f"{path}: expected an embeddings file, got {what}; make one with `platobridge embed`, "
        "or bring features in with `platobridge data import FEATURES --ids IDS`"
    )


def image_means(embeddings: Embeddings) -> Embeddings:
    """One row an image: the mean of its rows, images in the order of first appearance."""
    position = {image_id: i for i, image_id in enumerate(dict.fromkeys(embeddings.image_ids))}
    group = torch.tensor([position[image_id] for image_id in embeddings.image_ids])
    total = torch.zeros(len(position), embeddings.width, dtype=torch.float64)
    for start in range(0, len(embeddings), 65536):
        block = slice(start, start + 65536)
        total.index_add_(0, group[block], embeddings.rows[block].double())
    count = torch.bincount(group, minlength=len(position))
    ids = tuple(position)
    return Embeddings((total / count[:, None]).float(), ids, ids, embeddings.about)


class Writer:
    """Appends rows to an embeddings file that appears, whole, when `finish` is called.

    Until then they lie in `<path>.partial/`. A writer opened there again with the same request
    goes on: `consumed` says how many items of the source are done, `problems` what was noted of
    them. Raises InputError if the partial folder is of another request and `overwrite` is unset.
    """

    def __init__(self, path: PathLike, request: dict, *, overwrite: bool = False):
        self.path = check_out(path)
        self.folder = self.path.with_name(self.path.name + ".partial")
        self.request = json.loads(json.dumps(request))
        if overwrite and self.folder.exists():
            shutil.rmtree(self.folder)
        if (self.folder / "request.json").exists():
            self._check_same_request()
        else:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_json(self.folder / "request.json", self.request)
        self.consumed, self.problems = 0, []
        self.ids: list[str] = []
        self.image_ids: list[str] = []
        self.dtype, self.width = None, None
        self._resume()

    def _check_same_request(self) -> None:
        if json.loads((self.folder / "request.json").read_text(encoding="utf-8")) != self.request:
            raise InputError(
                f"{self.folder} holds an unfinished run of other settings; "
                "finish that one, name another --out, or start over with --overwrite"
            )

    def _resume(self) -> None:
        """Take up what an earlier run appended; rows whose log line is missing are cut off."""
        for line in self._log_lines():
            self._note(json.loads(line))
        rows = self.folder / "rows.bin"
        rows.touch()
        with rows.open("r+b") as file:
            file.truncate(len(self.ids) * (self.width or 0) * (self.dtype or torch.half).itemsize)

    def _log_lines(self) -> Iterator[bytes]:
        log = self.folder / "log.jsonl"
        log.touch()
        whole = log.read_bytes()
        end = whole.rfind(b"\n") + 1  # a line that a crash cut short never counts
        with log.open("r+b") as file:
            file.truncate(end)
        yield from whole[:end].splitlines()

    def _note(self, entry: dict) -> None:
        self.consumed += entry["consumed"]
        self.problems += entry["problems"]
        self.ids += entry["ids"]
        self.image_ids += entry["image_ids"]
        if entry["ids"]:
            self.width, self.dtype = entry["width"], getattr(torch, entry["dtype"])

    def append(
        self,
        rows: Float[Tensor, "n d"],
        ids: Sequence[str],
        image_ids: Sequence[str],
        *,
        consumed: int,
        problems: Sequence[dict] = (),
    ) -> None:
        """Add rows that came from the next `consumed` items of the source."""
        rows = rows.detach().cpu().contiguous()
        with (self.folder / "rows.bin").open("ab") as file:
            file.write(rows.numpy().tobytes())
        entry = {
            "consumed": consumed,
            "ids": list(ids),
            "image_ids": list(image_ids),
            "problems": list(problems),
            "width": rows.shape[1],
            "dtype": str(rows.dtype).removeprefix("torch."),
        }
        with (self.folder / "log.jsonl").open("ab") as file:  # after the rows: it commits them
            file.write(as_json(entry) + b"\n")
        self._note(entry)

    def finish(self, about: dict) -> None:
        """Put the file together and remove the partial folder."""
        if not self.ids:
            shutil.rmtree(self.folder)  # no later run could go on from it
            raise InputError(f"{self.path}: nothing could be embedded, so nothing is written")
        if len(set(self.ids)) < len(self.ids):
            raise InputError(f"{self.path}: row id {first_double(self.ids)!r} came twice")
        ids, image_ids = as_json(self.ids), as_json(self.image_ids)
        with replacing(self.path) as temporary, temporary.open("wb") as file:
            write_header(file, (len(self.ids), self.width), self.dtype, ids, image_ids, about)
            with (self.folder / "rows.bin").open("rb") as source:
                shutil.copyfileobj(source, file, 1 << 22)
            file.write(ids + image_ids)
        shutil.rmtree(self.folder)


def check_out(path: PathLike) -> Path:
    path = Path(path)
    if path.suffix != ".safetensors":
        raise InputError(f"expected an output name that ends in .safetensors, got {path}")
    if path.is_dir():
        raise InputError(f"expected a file name for the embeddings, got the folder {path}")
    return path


def as_json(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


def write_header(
    file, shape: Sequence[int], dtype: torch.dtype, ids: bytes, image_ids: bytes, about: dict
) -> None:
    """Write a safetensors header for rows, ids and image ids that follow in this order.

    Written by hand (8 bytes of length, then JSON) because the library's own `save_file` wants the
    whole table in memory. One metadata key keeps the bytes the same from run to run.
    """
    n, d = shape
    tensors = {
        "rows": (DTYPES[dtype], [n, d], n * d * dtype.itemsize),
        "ids": ("U8", [len(ids)], len(ids)),
        "image_ids": ("U8", [len(image_ids)], len(image_ids)),
    }
    said = as_json({"format": FORMAT, "about": about}).decode()
    header: dict[str, Any] = {"__metadata__": {"platobridge": said}}
    offset = 0
    for name, (kind, lengths, size) in tensors.items():
        header[name] = {"dtype": kind, "shape": lengths, "data_offsets": [offset, offset + size]}
        offset += size
    encoded = as_json(header)
    encoded += b" " * (-len(encoded) % 8)  # rows start on an 8-byte boundary
    file.write(struct.pack("<Q", len(encoded)) + encoded)
