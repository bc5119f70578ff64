"""Paints scenes: soft far backdrops, and in front of them things with fur, bricks and shadows.

Pictures are meant for vision models that learned on photos. Those look at textures and at what is
sharp, so things are large, crisp and textured and the backdrop is out of focus.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

from bridge.world.figures import POSES, Layer, figure
from bridge.world.scenes import Scene, Thing
from bridge.world.textures import crop
from bridge.world.things import AFLOAT, PALETTE, Place

Colour = tuple[int, int, int]

SIZE = 224  # pixels of a picture while it is painted
FINE = 2  # things are drawn this much larger and scaled down, for smooth edges
TOO_THIN = 16  # pixels below which a layer shows neither texture nor shadow
INK = (28, 24, 30)
LIGHT = {  # what the hour and the weather multiply colours by (of 255), and add to them
    "night": ((110, 118, 165), (16, 20, 46)),
    "sunset": ((255, 205, 160), (30, 10, 0)),
    "rain": ((170, 180, 195), (0, 0, 0)),
    "fog": ((190, 190, 190), (110, 112, 116)),
}


# ---- colours


def shades(name: str, chance: Random) -> dict[str, Colour]:
    """The palette, with a thing's own colour and its lighter and darker shades, a little off."""
    main = tuple(min(255, max(0, value + chance.randint(-12, 12))) for value in PALETTE[name])
    return PALETTE | {
        "main": main,
        "dark": mixed(main, INK, 0.28),
        "deep": mixed(main, INK, 0.6),
        "light": mixed(main, (255, 250, 240), 0.5),
    }


def mixed(one: Colour, other: Colour, share: float) -> Colour:
    return tuple(round(a + (b - a) * share) for a, b in zip(one, other, strict=True))


def toned(colour: Colour, tone: Sequence[float]) -> Colour:
    return tuple(min(255, int(value * by)) for value, by in zip(colour, tone, strict=True))


# ---- things


@dataclass(frozen=True)
class Paint:
    """What the layers of one thing are painted with."""

    colours: dict[str, Colour]
    pattern: str
    chance: Random


def stamp(
    picture: Image.Image, thing: Thing, x: float, y: float, tall: float, chance: Random
) -> None:
    """Paint one of a thing, that stands at (x, y) and is `tall` pixels large, with its shadow."""
    afloat = thing.of.group in AFLOAT
    tilt = math.radians(chance.gauss(0, 8 if afloat else 2.5))
    turn = np.array([[math.cos(tilt), math.sin(tilt)], [-math.sin(tilt), math.cos(tilt)]])
    flip = chance.choice((-1, 1))
    grow = np.diag([flip * chance.uniform(0.9, 1.1), chance.uniform(0.93, 1.05)])
    if not afloat:
        wide, high = round(tall * 0.9), max(2, round(tall * 0.12))
        corner = round(x - wide / 2), round(y - high * 0.6)
        picture.paste(INK, corner, soft_spot().resize((wide, high)))
    paint = Paint(shades(thing.colour, chance), thing.of.pattern, chance)
    layers = figure(thing.of.figure, chance.randrange(POSES))
    place(picture, layers, paint, grow @ turn * tall, x, y, FINE)


def place(
    picture: Image.Image, layers: tuple[Layer, ...], paint: Paint, matrix: np.ndarray, x: float,
    y: float, fine: int,
) -> None:  # fmt: skip
    """Draw layers `fine` times larger, scale them down, paste them with their foot at (x, y)."""
    moved = [[outline @ (matrix * fine) for outline in layer.outlines] for layer in layers]
    points = np.concatenate([outline for outlines in moved for outline in outlines])
    low, high = np.floor(points.min(0)) - 4, np.ceil(points.max(0)) + 4
    width, height = (int(-(-edge // fine) * fine) for edge in high - low)
    canvas, alpha = Image.new("RGB", (width, height), INK), Image.new("L", (width, height))
    for layer, outlines in zip(layers, moved, strict=True):
        fill(canvas, alpha, layer, [outline - low for outline in outlines], paint)
    left, top = (low / fine + (x, y)).round().astype(int).tolist()
    picture.paste(canvas.reduce(fine), (left, top), alpha.reduce(fine))


def fill(
    canvas: Image.Image, alpha: Image.Image, layer: Layer, outlines: list[np.ndarray], paint: Paint
) -> None:
    """Paint one layer: an ink line around it, its colour, its texture, and light from above."""
    colour = paint.colours[layer.colour]
    corners = [outline.ravel().tolist() for outline in outlines]
    for image, ink, flat in ((canvas, mixed(colour, INK, 0.75), colour), (alpha, 255, 255)):
        pen = ImageDraw.Draw(image)
        for each in corners:
            pen.line([*each, *each[:2]], fill=ink, width=3)
        for each in corners:  # after all lines, so that none crosses the inside
            pen.polygon(each, fill=flat)
    points = np.concatenate(outlines)
    left, top = (int(edge) for edge in points.min(0) - 1)
    width, height = (int(edge) + 2 for edge in points.max(0) - (left, top))
    if min(width, height) < TOO_THIN:
        return
    mask = Image.new("L", (width, height))
    pen = ImageDraw.Draw(mask)
    for outline in outlines:
        pen.polygon((outline - (left, top)).ravel().tolist(), fill=255)
    own, _, ink = paint.pattern.partition(":")
    if own and layer.colour in ("main", "dark"):
        marks = ImageChops.multiply(mask, crop(own, mask.size, paint.chance))
        canvas.paste(paint.colours[ink], (left, top), marks)
    dark = shadow(mask)
    if layer.texture:
        dark = ImageChops.add(dark, crop(layer.texture, mask.size, paint.chance))
    canvas.paste(mixed(colour, INK, 0.6), (left, top), ImageChops.multiply(mask, dark))


def shadow(mask: Image.Image) -> Image.Image:
    """Darkness of a rounded body: near its edge, most on the side away from the light."""
    small = mask.reduce(6)
    depth = max(1.0, min(small.size) / 7)
    soft = ImageChops.offset(small.filter(ImageFilter.BoxBlur(depth)), -int(depth), -int(depth))
    white = Image.new("L", small.size, 255)
    return ImageChops.subtract(white, soft, scale=1.6).resize(mask.size, Image.Resampling.BILINEAR)


@cache
def soft_spot() -> Image.Image:
    """The shadow on the ground, to be scaled: darkest in its middle."""
    y, x = np.mgrid[-1:1:64j, -1:1:64j]
    return Image.fromarray((150 * np.clip(1 - np.hypot(x, y), 0, 1)).astype(np.uint8))


# ---- whole pictures


def draw(scene: Scene, size: int = SIZE) -> Image.Image:
    """The picture of a scene, RGB, `size` pixels wide and high; equal scenes give equal pixels."""
    chance = Random(f"look {scene.look}")
    picture = backdrop(scene.place, chance)
    for thing in scene.clutter:
        tall, x, y = chance.uniform(0.16, 0.26), chance.random(), chance.uniform(0.55, 0.8)
        stamp(picture, thing, SIZE * x, SIZE * y, SIZE * tall, chance)
    centre = {"left": 0.4, "middle": 0.5, "right": 0.6}[scene.side]
    if scene.second:
        x = {"left": 0.82, "middle": chance.choice((0.18, 0.82)), "right": 0.18}[scene.side]
        afloat = scene.second.of.group in AFLOAT
        y, tall = (
            chance.uniform(*((0.4, 0.6) if afloat else (0.7, 0.8))),
            chance.uniform(0.36, 0.46),
        )
        stamp(picture, scene.second, SIZE * x, SIZE * y, SIZE * tall, chance)
    main_thing(picture, scene.main, centre, chance)
    picture = in_light(picture, scene, chance)
    return picture if size == SIZE else picture.resize((size, size), Image.Resampling.LANCZOS)


def main_thing(picture: Image.Image, main: Thing, centre: float, chance: Random) -> None:
    """The main thing as often as it is there, side by side and one behind the other."""
    afloat, count = main.of.group in AFLOAT, main.count
    tall = {1: 0.88, 2: 0.62, 3: 0.54, 5: 0.46}[count] * chance.uniform(0.92, 1.06)
    tall *= {"small": 0.7, "plain": 0.92, "big": 1.08}[main.size]
    for number in range(count):
        x = centre + 0.95 * (number - (count - 1) / 2) / count + chance.uniform(-0.03, 0.03)
        y = 0.5 + tall / 2 if afloat else 0.93
        y += chance.uniform(-0.04, 0.03) - (0.14 if count > 1 and number % 2 else 0)
        stamp(picture, main, SIZE * x, SIZE * y, SIZE * tall, chance)


def backdrop(where: Place, chance: Random) -> Image.Image:
    """Sky, ground and far things at a quarter of the pixels: out of focus when scaled up."""
    half = SIZE // 2
    horizon = round(half * (where.horizon + chance.uniform(-0.08, 0.08)))
    bright = chance.uniform(0.88, 1.1)
    tone = [bright * chance.uniform(0.95, 1.05) for _ in range(3)]
    high, low, ground = (toned(PALETTE[name], tone) for name in (*where.sky, where.ground))
    ramp = Image.linear_gradient("L")
    picture = Image.new("RGB", (half, half), high)
    picture.paste(low, (0, 0), ramp.resize((half, horizon)))
    for name, colour in chance.sample(where.props, k=chance.randint(1, len(where.props))):
        tall, x = half * chance.uniform(0.18, 0.4), half * chance.random()
        matrix = np.diag([tall * chance.choice((-1, 1)), tall])
        paint = Paint(shades(colour, chance), "", chance)
        place(picture, figure(name), paint, matrix, x, horizon + chance.uniform(0, 4), 1)
    earth = Image.new("RGB", (half, half - horizon), mixed(ground, low, 0.25))
    earth.paste(mixed(ground, INK, 0.2), (0, 0), ramp.resize(earth.size))
    flat = crop(where.surface, (earth.width, earth.height * 2), chance).resize(earth.size)
    earth.paste(mixed(ground, INK, 0.5), (0, 0), flat)
    picture.paste(earth, (0, horizon))
    return picture.filter(ImageFilter.BoxBlur(1)).resize((SIZE, SIZE), Image.Resampling.BICUBIC)


def in_light(picture: Image.Image, scene: Scene, chance: Random) -> Image.Image:
    """The light of the hour and the weather, and the grain of the picture."""
    if scene.weather in LIGHT:
        by, plus = LIGHT[scene.weather]
        picture = curved(picture, [share / 255 for share in by], plus)
    if scene.weather == "rain":
        pen = ImageDraw.Draw(picture)
        for _ in range(60):
            x, y, long = SIZE * chance.random(), SIZE * chance.random(), chance.randint(6, 16)
            pen.line((x, y, x - long / 3, y + long), fill=(205, 215, 228))
    tones = [chance.uniform(1 - scene.noise * 0.6, 1 + scene.noise * 0.4) for _ in range(3)]
    strength = 0.03 + 0.25 * scene.noise
    grain = crop("grain", picture.size, chance).point([int(v * strength) for v in range(256)])
    picture = curved(picture, tones, [int(128 * strength)] * 3)
    return ImageChops.subtract(picture, Image.merge("RGB", [grain] * 3))


def curved(picture: Image.Image, by: Sequence[float], plus: Sequence[int]) -> Image.Image:
    """Each channel times a factor plus a constant."""
    channels = zip(by, plus, strict=True)
    return picture.point([min(255, int(v * b + p)) for b, p in channels for v in range(256)])
