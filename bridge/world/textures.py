"""Fur, bricks, waves and other textures: grey tiles without seams, each made once.

Vision models that learned on photos look at textures before they look at outlines.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from random import Random

import numpy as np
from PIL import Image

TILE = 512  # pixels; even, as brick and scale rows need it
Grid = np.ndarray  # TILE x TILE
Number = float | int


def crop(name: str, size: tuple[int, int], chance: Random) -> Image.Image:
    """A piece of a texture from anywhere in its tile: 0 where there is no ink, up to 255."""
    left, top = (chance.randrange(max(1, TILE - edge)) for edge in size)
    return tile(name).crop((left, top, left + size[0], top + size[1]))


@cache
def tile(name: str) -> Image.Image:
    y, x = np.mgrid[0:TILE, 0:TILE].astype(np.float32)
    ink = TEXTURES[name](Canvas(name, x, y))
    return Image.fromarray((255 * np.clip(ink, 0, 1)).astype(np.uint8))


@dataclass(frozen=True, eq=False)
class Canvas:
    """What textures are made of: pixel coordinates, sines of them, and noise of the own name."""

    name: str
    x: Grid
    y: Grid

    def noise(self, tall: Number, wide: Number | None = None) -> Grid:
        """Noise of unit variance, smoothed by a Gaussian of these radii in pixels."""
        wide = tall if wide is None else wide
        white = np.random.default_rng(list(self.name.encode())).standard_normal((TILE, TILE))
        v, u = np.fft.fftfreq(TILE)[:, None], np.fft.rfftfreq(TILE)
        smooth = np.exp(-2 * np.pi**2 * ((v * tall) ** 2 + (u * wide) ** 2))
        soft = np.fft.irfft2(np.fft.rfft2(white) * smooth, (TILE, TILE))
        return ((soft - soft.mean()) / soft.std()).astype(np.float32)

    def wave(self, times: Number, along: Grid, bend: Grid | Number = 0.0) -> Grid:
        """`times` waves across the tile."""
        return np.sin(2 * np.pi / TILE * times * along + bend)


def full(values: Grid) -> Grid:
    """From 0 at the low values to 1 at the high ones."""
    low, high = np.quantile(values, (0.02, 0.98))
    return np.clip((values - low) / (high - low), 0, 1)


def scallops(on: Canvas, wide: Number, tall: Number) -> Grid:
    """Rows of overlapping half rounds, as of feathers and roof tiles; ink at their edges."""
    row = on.y // tall
    across = ((on.x + (row % 2) * wide / 2) % wide) / wide - 0.5
    return np.clip(np.hypot(across * 1.6, (on.y % tall) / tall) - 0.45, 0, 1) * 1.6


def bricks(on: Canvas) -> Grid:
    joints = ((on.y % 22) < 3) | (((on.x + 22 * ((on.y // 22) % 2)) % 44) < 3)
    return np.maximum(0.85 * joints, 0.25 * full(on.noise(5)))


def tiles(on: Canvas) -> Grid:
    """The meshes of a giraffe."""
    across = on.wave(9, on.x, on.noise(24))
    return np.abs(across * on.wave(9, on.y, on.noise(30))) > 0.3


def waves(on: Canvas) -> Grid:
    swell = 2.2 * on.wave(5, on.x, on.noise(24)) + 0.5 * on.noise(5)
    return 0.8 * full(on.wave(26, on.y, swell))


TEXTURES: dict[str, Callable[[Canvas], Grid]] = {
    "fur": lambda on: 0.5 * full(on.noise(7, 1.2)) ** 1.4,
    "wool": lambda on: 0.5 * (1 - full(np.abs(on.noise(7)))) ** 2,
    "skin": lambda on: 0.35 * full(on.noise(3)),
    "feathers": lambda on: 0.55 * scallops(on, 26, 20),
    "scales": lambda on: 0.6 * scallops(on, 18, 15),
    "cloth": lambda on: 0.25 * full(on.wave(128, on.x) + on.wave(128, on.y) + on.noise(5)),
    "metal": lambda on: 0.4 * full(on.wave(6, on.y, on.noise(24))) ** 2,
    "glaze": lambda on: 0.3 * full(on.noise(24)),
    "wood": lambda on: 0.5 * full(on.wave(22, on.y, 2.5 * on.noise(24) + 0.4 * on.noise(5))),
    "planks": lambda on: np.maximum(0.9 * ((on.x % 32) < 3), 0.35 * full(on.noise(1, 9))),
    "brick": bricks,
    "windows": lambda on: 0.85 * (((on.x % 26) > 8) & ((on.y % 30) > 11)),
    "leaves": lambda on: 0.85 * full(np.maximum(on.noise(6), on.noise(9))) ** 1.2,
    "needles": lambda on: 0.9 * full(on.noise(9, 1)) ** 1.2,
    "lattice": lambda on: 0.8 * (((on.x + on.y) % 32 < 4) | ((on.x - on.y) % 32 < 4)),
    "eyes": lambda on: 2 * on.wave(14, on.x) * on.wave(14, on.y),
    "stripes": lambda on: on.wave(20, on.x, 1.3 * on.noise(24)) > 0.25,
    "bands": lambda on: on.wave(14, on.x + 0.6 * on.y, on.noise(24)) > 0.2,
    "spots": lambda on: on.noise(8) > 0.95,
    "patches": lambda on: on.noise(20) > 0.25,
    "rosettes": lambda on: np.abs(on.noise(6) - 0.9) < 0.35,
    "tiles": tiles,
    "waves": waves,
    "grass": lambda on: 0.7 * full(on.noise(8, 0.9)),
    "sand": lambda on: 0.35 * full(on.wave(18, on.y, 2 * on.noise(24)) + on.noise(1)),
    "snow": lambda on: 0.25 * full(on.noise(24) + 0.4 * on.noise(5)),
    "rocks": lambda on: 0.7 * full(np.abs(on.noise(12)) + 0.3 * on.noise(5)),
    "asphalt": lambda on: 0.45 * full(on.noise(1) + on.noise(24)),
    "clouds": lambda on: 0.3 * full(on.noise(30)),
    "grain": lambda on: full(on.noise(0.7)),
}
