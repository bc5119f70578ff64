"""Where a number came from: versions, digests of inputs, hashes of ids."""

import hashlib
import platform
from importlib.metadata import PackageNotFoundError, version

from bridge.files import PathLike, existing

PACKAGES = ("platobridge", "torch", "transformers", "timm", "numpy")


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a result can depend on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def digest(path: PathLike) -> str:
    """SHA-256 of a file's bytes, or of a folder's file names and their digests."""
    path = existing(path)
    if path.is_dir():
        names = sorted(p for p in path.rglob("*") if p.is_file())
        listing = "".join(f"{p.relative_to(path).as_posix()}\0{digest(p)}\n" for p in names)
        return hashlib.sha256(listing.encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def id_hash(image_id: str) -> int:
    """A signed 64-bit hash (BLAKE2b) of an id: enough to find a shared id, not to list them."""
    hashed = hashlib.blake2b(image_id.encode(), digest_size=8).digest()
    return int.from_bytes(hashed, "little", signed=True)
