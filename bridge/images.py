"""Image files as people have them -> upright RGB pictures."""

import math
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from bridge.errors import InputError
from bridge.files import PathLike, existing

SUFFIXES = frozenset(
    [
        ".jpg",
        ".jpeg",
        ".jpe",
        ".jfif",
        ".png",
        ".gif",
        ".webp",
        ".avif",
        ".bmp",
        ".tif",
        ".tiff",
        ".ppm",
        ".pgm",
        ".jp2",
    ]
)


NO_IMAGE = "this file cannot be read as an image; try a JPEG, PNG, WebP, AVIF or GIF"


def find_images(folder: PathLike) -> list[Path]:
    """All image files below a folder, sorted by path, hidden ones left out; a single file is one.

    Raises InputError if there is none.
    """
    folder = existing(folder, "image folder")
    if folder.is_file():
        return [folder]
    found = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in SUFFIXES
        and not path.is_dir()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    if not found:
        raise InputError(f"{folder}: expected image files ({' '.join(sorted(SUFFIXES))}), got none")
    return found


def read_image(path: PathLike) -> Image.Image:
    """Read one picture as people see it: EXIF turned, 8 bits, RGB, transparency on white.

    Of an animation the first frame. Raises InputError with the reason if the file cannot be
    decoded, or if Pillow's guard takes it for a decompression bomb.
    """
    try:
        with Image.open(path) as image:
            image.load()
            return to_rgb(ImageOps.exif_transpose(image))
    except Exception as error:  # Pillow's decoders raise whatever a damaged file makes them raise
        reason = str(error).replace(repr(str(path)), "").strip() or type(error).__name__
        raise InputError(f"{path}: cannot be read as an image: {reason}") from error


def read_upload(path: PathLike, *, most_pixels: int, side: int) -> Image.Image:
    """Read a stranger's picture: of limited size, and shrunk to fit a square of `side` pixels.

    Raises InputError that does not name the file, whose place is nobody's business.
    """
    try:
        with Image.open(path) as image:
            pixels = image.width * image.height
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        pixels = math.inf
    except Exception as error:
        raise InputError(NO_IMAGE) from error
    if pixels > most_pixels:
        raise InputError(
            f"expected an image of at most {most_pixels / 1e6:.0f} million pixels; make it smaller"
        )
    try:
        picture = read_image(path)
    except InputError as error:
        raise InputError(NO_IMAGE) from error
    picture.thumbnail((side, side))
    return picture


def to_rgb(image: Image.Image) -> Image.Image:
    """Any Pillow mode -> RGB."""
    if image.mode.startswith("I") or image.mode == "F":
        image = eight_bit(image)  # Pillow's own conversion clips at 255: all white
    if image.has_transparency_data:
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(white, image)
    return image.convert("RGB")


def eight_bit(image: Image.Image) -> Image.Image:
    """Grey of 16 bits, 32 bits or floats -> grey of 8 bits."""
    values = np.asarray(image, dtype=np.float64)
    if image.mode == "F":  # no agreed range: use the picture's own
        low, high = values.min(), values.max()
    else:
        low, high = 0, 255 if values.max() <= 255 else 65535
    scaled = (values - low) / max(high - low, 1e-12) * 255
    return Image.fromarray(scaled.clip(0, 255).round().astype(np.uint8))
