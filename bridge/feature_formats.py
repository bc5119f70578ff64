"""Tables of features in the files that other tools write, opened without reading them."""

from contextlib import suppress
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from torch import Tensor

from bridge.errors import InputError
from bridge.feature_ids import by_number
from bridge.files import existing
from bridge.foreign import first_bytes, refuse_foreign

EXPECTED = "features (.npy, .npz, plain safetensors or a folder of .npy parts)"

Table = np.ndarray | Tensor  # n x width, memory-mapped where the format allows


def open_tables(path: Path, key: str | None) -> tuple[list[Table], dict[str, str]]:
    """The tables at a path, in order, and what a safetensors header says of them."""
    if existing(path, "features").is_dir():
        files = parts_of(path, key)
        parts = [checked(file, open_npy(file)) for file in files]
        for file, part in zip(files, parts, strict=True):
            if part.shape[1] != parts[0].shape[1]:
                raise InputError(
                    f"{file}: rows of width {part.shape[1]}, but {files[0].name} has width "
                    f"{parts[0].shape[1]}; keep only the parts of one model in {file.parent}"
                )
        return parts, {}
    head = first_bytes(path, EXPECTED)
    if head.startswith(b"\x93NUMPY"):
        return [checked(path, open_npy(path))], {}
    if head.startswith(b"PK\x03\x04"):
        return [checked(path, open_npz(path, key))], {}
    if head[4:9] == b"\0\0\0\0{":  # the header's length, less than 4 GB, and its first byte
        table, metadata = open_safetensors(path, key)
        return [checked(path, table)], metadata
    refuse_foreign(path, head, EXPECTED)
    raise InputError(f"{path}: expected {EXPECTED}, got something else; write it with `numpy.save`")


def checked(path: Path, table: Table) -> Table:
    """The table, if it is one of rows."""
    if table.ndim != 2 or not all(table.shape):
        raise InputError(
            f"{path}: expected a table of rows x width, got the shape {list(table.shape)}; "
            "save one row an item"
        )
    floating = table.is_floating_point() if isinstance(table, Tensor) else table.dtype.kind == "f"
    if not floating:
        raise InputError(
            f"{path}: expected floating rows, got {str(table.dtype).removeprefix('torch.')}; "
            "save them as float32 or float16"
        )
    return table


def open_npy(path: Path) -> np.ndarray:
    first_bytes(path, "a .npy file")
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # NumPy raises whatever a damaged header makes its parser raise
        why = str(error).partition("\n")[0]
        raise InputError(
            f"{path}: no table can be mapped ({why}); if the file is cut off copy it again, if it "
            "holds Python objects save plain floats: pickles are never opened"
        ) from error


def open_npz(path: Path, key: str | None) -> np.ndarray:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            if any(name.endswith("data.pkl") for name in arrays.zip.namelist()):
                raise InputError(
                    f"{path}: expected {EXPECTED}, got a PyTorch pickle; save its tensor with "
                    "safetensors: pickles are never opened"
                )
            return arrays[choose(path, key, shapes_in(arrays))]
    except InputError:
        raise
    except Exception as error:  # as above, and what its zip makes zipfile and zlib raise
        raise InputError(f"{path}: broken .npz ({error}); copy or write it again") from error


def shapes_in(arrays: np.lib.npyio.NpzFile) -> dict[str, tuple[int, ...]]:
    """Shapes of the arrays that can be opened: those of Python objects cannot."""
    shapes = {}
    for name in arrays.files:
        with suppress(ValueError):
            shapes[name] = np.shape(arrays[name])
    return shapes


def open_safetensors(path: Path, key: str | None) -> tuple[Tensor, dict[str, str]]:
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            if "platobridge" in metadata:
                raise InputError(f"{path}: is an embeddings file already; use it as it is")
            shapes = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
            return file.get_tensor(choose(path, key, shapes)), metadata
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path}: broken safetensors ({error}); copy it again") from error


def choose(path: Path, key: str | None, shapes: dict[str, tuple[int, ...]]) -> str:
    """The array that is meant: the one named, else the only one with rows."""
    tables = [name for name, shape in shapes.items() if len(shape) == 2]
    if key is None and len(tables) == 1:
        return tables[0]
    if key in shapes:
        return key
    listed = ", ".join(f"{name} {list(shape)}" for name, shape in sorted(shapes.items()))
    asked = "one table of rows" if key is None else f"the array {key!r}"
    raise InputError(f"{path}: expected {asked}, got {listed or 'no array'}; choose with --key")


def parts_of(path: Path, key: str | None) -> list[Path]:
    """The .npy files of a folder in the order of their numbers."""
    folder = rows_folder(path, key)
    files = sorted(folder.glob("*.npy"), key=by_number)
    if not files:
        raise InputError(f"{folder}: expected .npy parts, got none; name the file or its folder")
    return files


def rows_folder(path: Path, key: str | None) -> Path:
    """clip-retrieval keeps rows one folder down, those of pictures and of texts apart."""
    kinds = sorted(place.name for place in path.glob("*_emb") if place.is_dir())
    if not kinds:
        return path
    if key not in kinds and (key is not None or len(kinds) > 1):
        raise InputError(f"{path}: it holds {' and '.join(kinds)}; choose with --key")
    return path / (key or kinds[0])
