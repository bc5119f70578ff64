"""Outputs that are whole or absent, and that are never overwritten without being asked."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from bridge.errors import InputError

PathLike = str | Path


@contextmanager
def replacing(path: PathLike) -> Iterator[Path]:
    """Yield a temporary name beside `path`, renamed onto it if the block succeeds.

    The block may make a file or a folder there. After an exception nothing of it is left and what
    stood at `path` is untouched.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.writing")
    remove(temporary)
    aside = path.with_name(f".{path.name}.replaced")
    try:
        yield temporary
        if temporary.is_dir() and path.exists():
            remove(aside)
            path.replace(aside)  # a rename cannot replace a folder that has files
        temporary.replace(path)
        remove(aside)
    finally:
        remove(temporary)


def remove(path: Path) -> None:
    """Delete a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def check_folder_of(folder: PathLike, marker: str, what: str) -> None:
    """Raise InputError if something stands at `folder` that is not a folder holding `marker`.

    Called before a folder is replaced: --overwrite must not delete what another program made.
    """
    folder = Path(folder)
    if not folder.exists() or (folder / marker).exists():
        return
    if not folder.is_dir() or any(folder.iterdir()):
        raise InputError(
            f"{folder} is no {what} (it holds no {marker}), and is not replaced; name another --out"
        )


def write_json(path: PathLike, value: Any) -> None:
    """Write strict JSON (no NaN), whole or not at all."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    with replacing(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def existing(path: PathLike, what: str = "file") -> Path:
    """Return `path`, or raise InputError that offers the nearest name in its folder."""
    path = Path(path)
    if path.exists():
        return path
    try:
        neighbours = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    except OSError:
        neighbours = []
    near = get_close_matches(path.name, neighbours, n=1)
    hint = f"; did you mean {path.parent / near[0]}?" if near else ""
    raise InputError(f"{path}: no such {what}{hint}")


def already_made(path: PathLike, made_by: dict | None, wanted: dict, *, overwrite: bool) -> bool:
    """Whether the output at `path` is there already, made by exactly the `wanted` request.

    `made_by` is the request stored in the existing output, None where nothing stands there.
    Raises InputError that names the first difference if another request made it and `overwrite`
    is not set.
    """
    if made_by is None or overwrite:
        return False
    made_by, wanted = flatten(made_by), flatten(wanted)
    for key in sorted(made_by.keys() | wanted.keys()):
        was, now = made_by.get(key), wanted.get(key)
        if was != now:
            raise InputError(
                f"{path} exists and was made with {key} = {was!r}, now {key} = {now!r}; "
                "name another --out, or replace it with --overwrite"
            )
    return True


def flatten(request: dict, prefix: str = "") -> dict[str, Any]:
    """Nested settings as one level of dotted keys, as JSON would give them back."""
    flat: dict[str, Any] = {}
    for key, value in request.items():
        if isinstance(value, dict):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = list(value) if isinstance(value, tuple) else value
    return flat
