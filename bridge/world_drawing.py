"""Paints scenes: soft far backdrops, and in front of them things with fur, bricks and shadows.

Pictures are meant for vision models that learned on photos. Those look at textures and at what is
sharp, so things are large, crisp and textured and the backdrop is out of focus.
"""

import math
from functools import cache
from random import Random

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

from bridge.world_figures import POSES, Layer, figure
from bridge.world_things import AFLOAT, PALETTE, WorldClass

INK = (28, 24, 30)
TILE = 512
FINE = 2  # things are drawn this much larger and scaled down, for smooth edges


# ---- textures: grey tiles that say where the ink goes, made once


@cache
def texture(name: str) -> Image.Image:
    """A tile of one texture, 0 where nothing of its ink goes to 255."""
    y, x = np.mgrid[0:TILE, 0:TILE].astype(np.float32)
    wave = 2 * np.pi / TILE
    soft, rough = cloud(name, 24), cloud(name, 5)
    ink = {
        "fur": lambda: 0.5 * unit_range(blurred_noise(name, 7, 1.2)) ** 1.4,
        "wool": lambda: 0.5 * (1 - unit_range(np.abs(cloud(name, 7)))) ** 2,
        "skin": lambda: 0.35 * unit_range(cloud(name, 3)),
        "feathers": lambda: 0.55 * scallops(x, y, 26, 20),
        "scales": lambda: 0.6 * scallops(x, y, 18, 15),
        "cloth": lambda: 0.25 * unit_range(np.sin(x * wave * 128) + np.sin(y * wave * 128) + rough),
        "metal": lambda: 0.4 * unit_range(np.sin(y * wave * 6 + soft)) ** 2,
        "glaze": lambda: 0.3 * unit_range(soft),
        "wood": lambda: 0.5 * unit_range(np.sin(y * wave * 22 + 2.5 * soft + rough * 0.4)),
        "planks": lambda: np.maximum(0.9 * ((x % 32) < 3), 0.35 * unit_range(blurred_noise(name, 1, 9))),
        "brick": lambda: np.maximum(
            0.85 * (((y % 22) < 3) | (((x + 22 * ((y // 22) % 2)) % 44) < 3)), 0.25 * unit_range(rough)
        ),
        "windows": lambda: 0.85 * (((x % 26) > 8) & ((y % 30) > 11)),
        "leaves": lambda: 0.85 * unit_range(np.maximum(cloud(name, 6), cloud(name + "!", 6))) ** 1.2,
        "needles": lambda: 0.9 * unit_range(blurred_noise(name, 9, 1.0)) ** 1.2,
        "lattice": lambda: 0.8 * (((x + y) % 32 < 4) | ((x - y) % 32 < 4)),
        "eyes": lambda: np.clip(2 * np.cos(x * wave * 14) * np.cos(y * wave * 14), 0, 1),
        "stripes": lambda: np.sin(x * wave * 20 + 1.3 * soft) > 0.25,
        "bands": lambda: np.sin((x + 0.6 * y) * wave * 14 + soft) > 0.2,
        "spots": lambda: cloud(name, 8) > 0.95,
        "patches": lambda: cloud(name, 20) > 0.25,
        "rosettes": lambda: (np.abs(cloud(name, 6) - 0.9) < 0.35),
        "tiles": lambda: np.abs(np.sin(x * wave * 9 + soft) * np.sin(y * wave * 9 + cloud(name, 30))) > 0.3,
        "waves": lambda: 0.8 * unit_range(np.sin(y * wave * 26 + 2.2 * np.sin(x * wave * 5 + soft) + rough * 0.5)),
        "grass": lambda: 0.7 * unit_range(blurred_noise(name, 8, 0.9)),
        "sand": lambda: 0.35 * unit_range(np.sin(y * wave * 18 + 2 * soft) + cloud(name, 1)),
        "snow": lambda: 0.25 * unit_range(soft + 0.4 * rough),
        "rocks": lambda: 0.7 * unit_range(np.abs(cloud(name, 12)) + 0.3 * rough),
        "asphalt": lambda: 0.45 * unit_range(cloud(name, 1) + soft),
        "clouds": lambda: 0.3 * unit_range(cloud(name, 30)),
    }[name]()  # fmt: skip
    return Image.fromarray((255 * np.clip(ink, 0, 1)).astype(np.uint8))


def cloud(name: str, radius: float) -> np.ndarray:
    return blurred_noise(name, radius, radius)


def blurred_noise(name: str, tall: float, wide: float) -> np.ndarray:
    """Noise of unit variance without seams, smoothed by a Gaussian (radii in pixels)."""
    noise = np.random.default_rng(list(name.encode())).standard_normal((TILE, TILE))
    v, u = np.fft.fftfreq(TILE)[:, None], np.fft.rfftfreq(TILE)
    smooth = np.exp(-2 * np.pi**2 * ((v * tall) ** 2 + (u * wide) ** 2))
    noise = np.fft.irfft2(np.fft.rfft2(noise) * smooth, (TILE, TILE))
    return ((noise - noise.mean()) / noise.std()).astype(np.float32)


def unit_range(values: np.ndarray) -> np.ndarray:
    low, high = np.quantile(values, (0.02, 0.98))
    return np.clip((values - low) / (high - low), 0, 1)


def scallops(x: np.ndarray, y: np.ndarray, wide: float, tall: float) -> np.ndarray:
    """Rows of overlapping half rounds, as of feathers and roof tiles; ink at their edges."""
    row = y // tall
    across = ((x + (row % 2) * wide / 2) % wide) / wide - 0.5
    return np.clip(np.hypot(across * 1.6, (y % tall) / tall) - 0.45, 0, 1) * 1.6


# ---- colours


def shades(name: str, chance: Random) -> dict[str, tuple[int, ...]]:
    """The palette, with a thing's own colour and its lighter and darker shades, a little off."""
    base = [min(255, max(0, value + chance.randint(-12, 12))) for value in PALETTE[name]]
    return PALETTE | {
        "main": tuple(base),
        "dark": mixed(base, INK, 0.28),
        "deep": mixed(base, INK, 0.6),
        "light": mixed(base, (255, 250, 240), 0.5),
    }


def mixed(one, other, share: float) -> tuple[int, ...]:
    return tuple(round(a + (b - a) * share) for a, b in zip(one, other, strict=True))


# ---- things


def stamp(
    picture: Image.Image, of: WorldClass, colour: str, x: float, y: float, tall: float, chance: Random
) -> None:
    """Paint one thing that stands at (x, y) and is `tall` pixels high, with its shadow."""
    layers = figure(of.figure, chance.randrange(POSES))
    flip = chance.choice((-1, 1))
    tilt = math.radians(chance.gauss(0, 8 if of.group in AFLOAT else 2.5))
    turn = np.array([[math.cos(tilt), math.sin(tilt)], [-math.sin(tilt), math.cos(tilt)]])
    grow = np.array([[flip * chance.uniform(0.9, 1.1), 0], [0, chance.uniform(0.93, 1.05)]])
    if of.group not in AFLOAT:
        wide, high = round(tall * 0.9), max(2, round(tall * 0.12))
        picture.paste(INK, (round(x - wide / 2), round(y - high * 0.6)), soft_spot().resize((wide, high)))
    place(picture, layers, shades(colour, chance), of.pattern, grow @ turn * tall, x, y, chance)


def place(
    picture: Image.Image, layers: tuple[Layer, ...], colours: dict, pattern: str, matrix: np.ndarray,
    x: float, y: float, chance: Random, fine: int = FINE,
) -> None:  # fmt: skip
    """Draw the layers at `fine` times their size, scale them down, and paste them into the picture."""
    moved = [[outline @ (matrix * fine) for outline in layer.outlines] for layer in layers]
    points = np.concatenate([outline for outlines in moved for outline in outlines])
    low, high = np.floor(points.min(0)) - 4, np.ceil(points.max(0)) + 4
    size = tuple(int(-(-edge // fine) * fine) for edge in high - low)
    canvas, alpha = Image.new("RGB", size, INK), Image.new("L", size)
    for layer, outlines in zip(layers, moved, strict=True):
        fill(canvas, alpha, layer, [outline - low for outline in outlines], colours, pattern, chance)
    canvas, alpha = canvas.reduce(fine), alpha.reduce(fine)
    picture.paste(canvas, (round(x + low[0] / fine), round(y + low[1] / fine)), alpha)


@cache
def soft_spot() -> Image.Image:
    """The shadow on the ground, to be scaled: darkest in its middle."""
    y, x = np.mgrid[-1:1:64j, -1:1:64j]
    return Image.fromarray((150 * np.clip(1 - np.hypot(x, y), 0, 1)).astype(np.uint8))


def fill(canvas, alpha, layer, outlines, colours, pattern, chance) -> None:
    """Paint one layer: an ink line around it, its colour, its texture, and light from above."""
    colour = colours[layer.colour]
    corners = [outline.ravel().tolist() for outline in outlines]
    for image, ink, paint in ((canvas, mixed(colour, INK, 0.75), colour), (alpha, 255, 255)):
        pen = ImageDraw.Draw(image)
        for each in corners:
            pen.line([*each, *each[:2]], fill=ink, width=3)
        for each in corners:
            pen.polygon(each, fill=paint)
    points = np.concatenate(outlines)
    left, top = (int(edge) for edge in points.min(0) - 1)
    size = tuple(int(edge) + 2 for edge in points.max(0) - (left, top))
    if min(size) < 12:
        return
    mask = Image.new("L", size)
    pen = ImageDraw.Draw(mask)
    for outline in outlines:
        pen.polygon((outline - (left, top)).ravel().tolist(), fill=255)
    own, _, ink = pattern.partition(":")
    if own and layer.colour in ("main", "dark"):
        canvas.paste(colours[ink], (left, top), ImageChops.multiply(mask, crop(own, size, chance)))
    dark = shadow(mask)
    if layer.texture:
        dark = ImageChops.add(dark, crop(layer.texture, size, chance))
    canvas.paste(mixed(colour, INK, 0.6), (left, top), ImageChops.multiply(mask, dark))


def shadow(mask: Image.Image) -> Image.Image:
    """Darkness of a rounded body: near its edge, most on the side away from the light."""
    small = mask.reduce(6)
    depth = max(1.0, min(small.size) / 7)
    soft = ImageChops.offset(small.filter(ImageFilter.BoxBlur(depth)), -int(depth), -int(depth))
    white = Image.new("L", small.size, 255)
    return ImageChops.subtract(white, soft, scale=1.6).resize(mask.size, Image.Resampling.BILINEAR)


def crop(name: str, size: tuple[int, int], chance: Random) -> Image.Image:
    tile = texture(name)
    left, top = (chance.randrange(max(1, TILE - edge)) for edge in size)
    return tile.crop((left, top, left + size[0], top + size[1]))


# ---- backdrops and whole pictures


def backdrop(place_, size: int, chance: Random) -> Image.Image:
    """Sky, ground and far things at a quarter of the pixels: out of focus when scaled up."""
    half = size // 2
    horizon = round(half * (place_.horizon + chance.uniform(-0.08, 0.08)))
    bright = chance.uniform(0.88, 1.1)
    tone = [bright * chance.uniform(0.95, 1.05) for _ in range(3)]
    high, low, ground = (
        tuple(min(255, int(v * t)) for v, t in zip(PALETTE[name], tone, strict=True))
        for name in (*place_.sky, place_.ground)
    )
    picture = Image.new("RGB", (half, half), high)
    ramp = Image.linear_gradient("L")
    picture.paste(low, (0, 0), ramp.resize((half, horizon)))
    for name, colour in chance.sample(place_.props, k=chance.randint(1, len(place_.props))):
        tall = half * chance.uniform(0.18, 0.4)
        matrix = np.eye(2) * (tall * chance.choice((-1, 1)), tall)
        x, y = chance.uniform(0, half), horizon + chance.uniform(0, 4)
        place(picture, figure(name), shades(colour, chance), "", matrix, x, y, chance, fine=1)
    box = (0, horizon, half, half)
    earth = Image.new("RGB", (half, half - horizon), mixed(ground, low, 0.25))
    earth.paste(mixed(ground, INK, 0.2), (0, 0), ramp.resize(earth.size))
    ink = crop(place_.surface, (earth.width, earth.height * 2), chance).resize(earth.size)
    earth.paste(mixed(ground, INK, 0.5), (0, 0), ink)
    picture.paste(earth, box[:2])
    return picture.filter(ImageFilter.BoxBlur(1)).resize((size, size), Image.Resampling.BICUBIC)


def paint(scene, size: int, afloat: bool) -> Image.Image:
    """The whole picture: backdrop, clutter, second thing, main thing, light and grain."""
    chance = Random(f"look {scene.look}")
    picture = backdrop(scene.place, size, chance)
    for thing in scene.clutter:
        stamp(picture, thing.of, thing.colour, size * chance.random(), size * chance.uniform(0.55, 0.8),
              size * chance.uniform(0.16, 0.26), chance)  # fmt: skip
    centre = {"left": 0.4, "middle": 0.5, "right": 0.6}[scene.side]
    if scene.second:
        away = 0.82 if centre < 0.5 else 0.18 if centre > 0.5 else chance.choice((0.18, 0.82))
        level = chance.uniform(0.4, 0.6) if scene.second.of.group in AFLOAT else chance.uniform(0.7, 0.8)
        stamp(picture, scene.second.of, scene.second.colour, size * away, size * level,
              size * chance.uniform(0.36, 0.46), chance)  # fmt: skip
    main, count = scene.main, scene.main.count
    tall = size * {1: 0.88, 2: 0.62, 3: 0.54, 5: 0.46}[count]
    tall *= {"small": 0.7, "plain": 0.92, "big": 1.08}[main.size] * chance.uniform(0.92, 1.06)
    for row in range(count):
        spread = (row - (count - 1) / 2) / max(1, count)
        x = centre + spread * 0.95 + chance.uniform(-0.03, 0.03)
        y = (0.5 if afloat else 0.93) + chance.uniform(-0.04, 0.03) + (row % 2) * -0.14 * (count > 1)
        y = size * y + (tall / 2 if afloat else 0)
        stamp(picture, main.of, main.colour, size * x, y, tall, chance)
    return lit(picture, scene, chance)


LIGHT = {
    "night": ((110, 118, 165), (16, 20, 46)),
    "sunset": ((255, 205, 160), (30, 10, 0)),
    "rain": ((170, 180, 195), (0, 0, 0)),
    "fog": ((190, 190, 190), (110, 112, 116)),
}


def lit(picture: Image.Image, scene, chance: Random) -> Image.Image:
    """The light of the hour and the weather, and the grain of the picture."""
    if scene.weather in LIGHT:
        by, plus = LIGHT[scene.weather]
        table = [min(255, value * b // 255 + p) for b, p in zip(by, plus, strict=True) for value in range(256)]
        picture = picture.point(table)
    if scene.weather == "rain":
        pen = ImageDraw.Draw(picture)
        for _ in range(60):
            x, y, long = chance.random() * picture.width, chance.random() * picture.height, chance.randint(6, 16)
            pen.line((x, y, x - long / 3, y + long), fill=(205, 215, 228))
    tones = [chance.uniform(1 - scene.noise * 0.6, 1 + scene.noise * 0.4) for _ in range(3)]
    grain = crop("asphalt", picture.size, chance).point(lambda value: int(value * (0.15 + scene.noise)))
    picture = picture.point([min(255, int(value * tone)) for tone in tones for value in range(256)])
    return ImageChops.subtract(picture, Image.merge("RGB", [grain] * 3), offset=10)
