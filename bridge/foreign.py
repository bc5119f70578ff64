"""Reading what others wrote: what a file really is, and values that are checked as they are taken.

Everything wrong with a file is one line that names the file, the place in it, and the remedy.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.errors import InputError
from bridge.files import existing

HEAD = 4096  # bytes that tell all kinds apart
FOREIGN = (
    (b"\x1f\x8b", "a gzip archive", "unpack it with `gunzip`"),
    (b"PK\x03\x04", "a zip archive", "unpack it with `unzip`"),
    (b"BZh", "a bzip2 archive", "unpack it with `bunzip2`"),
    (b"\xfd7zXZ\x00", "an xz archive", "unpack it with `unxz`"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive", "unpack it with `unzstd`"),
    (b"PAR1", "a Parquet table", "read it with pandas and write CSV or .npy"),
    (b"ARROW1", "an Arrow table", "read it with pyarrow and write CSV or .npy"),
    (b"\x89HDF\r\n", "an HDF5 file", "read it with h5py and write CSV or .npy"),
    (b"\x93NUMPY", "a NumPy array", "bring features in with --ids"),
    (b"\x80", "a Python pickle", "write plain data; a pickle can run code, so none is opened"),
    (b"\xff\xd8\xff", "a JPEG image", "name another file"),
    (b"\x89PNG", "a PNG image", "name another file"),
    (b"\xff\xfe", "UTF-16 text", "convert it with `iconv -f UTF-16 -t UTF-8`"),
    (b"\xfe\xff", "UTF-16 text", "convert it with `iconv -f UTF-16 -t UTF-8`"),
)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a file that was left out: where, for people (`line 7`, `image 3`), and why."""

    file: Path
    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}, {self.place}: {self.what}"


def fault(file: Path, place: str, what: str) -> InputError:
    return InputError(str(Problem(file, place, what)))


def brief(value: Any) -> str:
    """A value on one line, in few characters."""
    shown = repr(value)
    return shown if len(shown) <= 70 else shown[:69] + "…"


# ---- files


def first_bytes(path: Path, expected: str) -> bytes:
    """The first bytes of a file that is there and holds something.

    Raises InputError for a missing, unreadable or empty file, a folder, and for a Git LFS pointer
    that stands in the file's place.
    """
    path = existing(path, "file")
    if path.is_dir():
        names = sorted(p.name for p in path.iterdir() if p.is_file() and p.name[0] != ".")[:3]
        holds = f" (it holds {', '.join(names)})" if names else ""
        raise InputError(f"{path}: expected {expected}, got a folder{holds}; name the file itself")
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    if not head:
        raise InputError(f"{path}: expected {expected}, got an empty file; copy or make it again")
    if head.startswith(b"version https://git-lfs"):
        raise InputError(
            f"{path}: expected {expected}, got a Git LFS pointer; fetch it with `git lfs pull`"
        )
    return head


def refuse_foreign(path: Path, head: bytes, expected: str) -> None:
    """Raise InputError that names kind and remedy if the first bytes are of a known other kind."""
    for magic, kind, remedy in FOREIGN:
        if head.startswith(magic):
            raise InputError(f"{path}: expected {expected}, got {kind}; {remedy}")


def refuse_binary(path: Path, head: bytes, expected: str) -> None:
    """As `refuse_foreign`, and also for zero bytes, which UTF-8 text does not hold."""
    refuse_foreign(path, head, expected)
    zeros = head[0::2].count(0), head[1::2].count(0)
    if max(zeros) > len(head) // 4:  # in every second byte: UTF-16 that comes without its mark
        coding = "UTF-16BE" if zeros[0] > zeros[1] else "UTF-16LE"
        remedy = f"convert it with `iconv -f {coding} -t UTF-8`"
        raise InputError(f"{path}: expected {expected}, got UTF-16 text; {remedy}")
    if any(zeros):
        raise InputError(f"{path}: expected {expected}, got binary data; name another file")


def decode(path: Path, raw: bytes, line: int = 1, place: str | None = None) -> str:
    """UTF-8 bytes that begin on `line`, or InputError that names line and byte."""
    try:
        return raw.decode("utf-8-sig" if line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        line += error.object.count(b"\n", 0, error.start)
        column = error.start - error.object.rfind(b"\n", 0, error.start)
        if error.reason == "unexpected end of data" and error.end == len(error.object):
            what = "ends in the middle of a character: the file is cut off; copy it again"
        else:
            what = (
                f"byte 0x{error.object[error.start]:02x} at position {column} is not UTF-8; "
                "convert the file, for example with `iconv -f LATIN1 -t UTF-8`"
            )
        raise fault(path, place or f"line {line}", what) from error


# ---- values


def parse(path: Path, text: str, line: int = 1, place: str | None = None) -> Any:
    """JSON that begins on `line`, or InputError that tells a cut-off file from broken JSON."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = place or f"line {line + error.lineno - 1}"
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            what = "the JSON ends in the middle: the file is cut off; copy or download it again"
        else:
            what = f"broken JSON: {error.msg} at column {error.colno}; correct or write it again"
        raise fault(path, place, what) from error
    except (ValueError, RecursionError) as error:
        what = f"JSON that cannot be read ({error}); correct or write it again"
        raise fault(path, place or f"line {line}", what) from error


KINDS = {str: "text", list: "a list", dict: "an object"}


def need(path: Path, place: str, item: Any, key: str | None, kind: type) -> Any:
    """`item[key]`, or `item` itself where `key` is None; InputError if it is not of this kind."""
    if key is not None:
        need(path, place, item, None, dict)
        if key not in item:
            raise fault(path, place, f'expected the key "{key}", got {brief(list(item))}')
        item = item[key]
    if not isinstance(item, kind):
        what = f'expected {KINDS[kind]} as "{key}"' if key else f"expected {KINDS[kind]}"
        raise fault(path, place, f"{what}, got {brief(item)}")
    return item


def as_id(path: Path, place: str, item: Any, key: str) -> str:
    """An id as text: a whole number becomes its digits, null nothing."""
    value = need(path, place, item, key, object)
    if isinstance(value, bool) or not isinstance(value, str | int | None):
        what = f'expected text or a whole number as "{key}", got {brief(value)}'
        raise fault(path, place, what)
    return "" if value is None else str(value)


def as_text(path: Path, place: str, item: dict, key: str) -> str | None:
    """A text, None where it is null or absent."""
    return None if item.get(key) is None else need(path, place, item, key, str)
