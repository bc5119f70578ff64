"""Captions from webdataset tar shards, as img2dataset writes them; pictures are skipped over."""

import tarfile
from collections.abc import Iterator
from glob import glob
from itertools import groupby
from pathlib import Path, PurePosixPath

from bridge.caption_formats import IMAGE_SUFFIXES, Found, ImageKey, Record
from bridge.errors import InputError
from bridge.foreign import Problem, decode, first_bytes, need, parse

TAR = "a tar shard"
BLOCK = 512  # a tar is made of these


def shards_at(path: Path) -> list[Path]:
    """The tar files in a folder, or of a pattern with `*`; none if the path is neither."""
    if path.is_dir():
        return sorted(path.glob("*.tar"))
    if path.exists() or not any(sign in str(path) for sign in "*?["):
        return []
    found = [Path(name) for name in sorted(glob(str(path)))]  # noqa: PTH207 - may be absolute
    if not found:
        raise InputError(f"{path}: expected tar shards, got no file of such a name")
    if foreign := next((shard for shard in found if not is_tar(first_bytes(shard, TAR))), None):
        raise InputError(f"{foreign}: expected a tar shard; other files are read one at a time")
    return found


def is_tar(head: bytes) -> bool:
    return head[257:262] == b"ustar"


def from_shard(path: Path, image_key: ImageKey) -> Found:
    """KEY.jpg with KEY.txt, KEY.json or both beside it.

    An image is known by its name in the tar, so that the unpacked tar is its image folder, or by
    KEY. Its captions are the `caption` of the JSON, else the lines of the text.
    """
    damaged = f"{path}: the tar shard is cut off or damaged; copy or download it again"
    if not is_tar(first_bytes(path, TAR)) or path.stat().st_size % BLOCK:
        raise InputError(damaged)
    try:
        with tarfile.open(path, "r:") as tar:
            for key, members in groupby(files_in(tar), lambda member: split_name(member.name)[0]):
                sample = {split_name(member.name)[1].lower(): member for member in members}
                yield from from_sample(path, tar, key, sample, image_key)
    except (tarfile.TarError, EOFError) as error:
        raise InputError(damaged) from error


def files_in(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    while member := tar.next():
        tar.members.clear()  # the tar would keep every member that it has met
        if member.isfile() and not PurePosixPath(member.name).name.startswith("."):
            yield member


def split_name(name: str) -> tuple[str, str]:
    """`./00/12.seg.png` -> `00/12`, `seg.png`: the first dot divides, as webdataset has it."""
    folder, slash, base = name.removeprefix("./").rpartition("/")
    key, _, suffix = base.partition(".")
    return folder + slash + key, suffix


def from_sample(
    path: Path,
    tar: tarfile.TarFile,
    key: str,
    sample: dict[str, tarfile.TarInfo],
    image_key: ImageKey,
) -> Found:
    place, texts = f"sample {key!r}", None
    if "json" in sample:
        about = parse(path, decode(path, content(tar, sample["json"]), place=place), place=place)
        texts = need(path, place, about, None, dict).get("caption")
    if texts is None and "txt" in sample:
        texts = decode(path, content(tar, sample["txt"]), place=place).split("\n")
    texts = [texts] if isinstance(texts, str) else texts or []
    texts = [text for text in texts if isinstance(text, str) and text.strip()]
    if not texts:
        yield Problem(path, place, "no caption stands beside it, in .json or .txt")
    image = next((sample[suffix].name for suffix in sample if suffix in IMAGE_SUFFIXES), key)
    image_id = key if image_key == "id" else image.removeprefix("./")
    for k, text in enumerate(texts):
        yield Record(path, place, image_id, text, id=f"{image_id}#{k}")


def content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    return tar.extractfile(member).read()
