"""From outlines in a small language to polygons: shapes, and templates for what has a body.

A figure is a list of layers, `colour/texture: shape; shape; ...`, painted in their order. The
colours `main`, `dark`, `deep` and `light` are those of the thing, others names of the palette. The
shapes, in any unit, y down:

    o cx cy rx ry [angle]      ellipse            r x0 y0 x1 y1 [corner]   rectangle
    p x y x y x y ...          polygon            s x y x y x y ...        smooth closed curve
    l w0 w1 x y x y ...        stroke along a smooth curve, w0 wide at its start, w1 at its end
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from bridge.world.outlines import OUTLINES

POSES = 3  # what a template draws stands, walks or turns in this many ways
Points = np.ndarray  # n x 2
Number = float | int


@dataclass(frozen=True, eq=False)
class Layer:
    """Outlines of one colour and one texture."""

    colour: str
    texture: str
    outlines: tuple[Points, ...]


@cache
def figure(name: str, pose: int = 0) -> tuple[Layer, ...]:
    """The layers of a figure that stands on the middle of y = 0 and fits a square of side 1."""
    layers = [read_layer(line) for line in lines_of(name, pose)]
    points = np.concatenate([outline for layer in layers for outline in layer.outlines])
    (left, top), (right, bottom) = points.min(0), points.max(0)
    foot, side = np.array([(left + right) / 2, bottom]), max(bottom - top, right - left)
    return tuple(
        Layer(layer.colour, layer.texture, tuple((one - foot) / side for one in layer.outlines))
        for layer in layers
    )


@cache
def blocks() -> dict[str, list[str]]:
    """The lines of each figure, the first what follows its name."""
    text = OUTLINES.strip().removeprefix("= ").replace("\n    ", " ")
    found = {}
    for block in text.split("\n\n= "):
        first, *lines = block.splitlines()
        name, _, template = first.partition(": ")
        found[name] = [template, *lines]
    return found


def lines_of(name: str, pose: int) -> list[str]:
    """The layers of a figure as text: its own, those it takes over, those of its template."""
    first, *lines = blocks()[name]
    if first:
        template, *settings = first.split()
        values = dict(setting.split("=") for setting in settings)
        numbers = {key: number(value) for key, value in values.items()}
        parts: dict[str, list[str]] = {}
        for line in lines:
            part, own = line.split(" ", 1)
            parts.setdefault(part, []).append(own)
        return TEMPLATES[template](pose, parts, **numbers)
    taken = [lines_of(line[1:], pose) if line.startswith("@") else [line] for line in lines]
    return [line for some in taken for line in some]


def number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


# ---- shapes


def read_layer(line: str) -> Layer:
    colour, _, shapes = line.partition(":")
    colour, _, texture = colour.partition("/")
    outlines: list[Points] = []
    for shape in shapes.split(";"):
        kind, *numbers = shape.split()
        outlines += SHAPES[kind](*map(float, numbers))
    return Layer(colour, texture, tuple(outlines))


def ellipse(cx: Number, cy: Number, rx: Number, ry: Number, angle: Number = 0.0) -> list[Points]:
    turn, tilt = np.linspace(0, 2 * np.pi, 28, endpoint=False), np.radians(angle)
    x, y = rx * np.cos(turn), ry * np.sin(turn)
    cos, sin = np.cos(tilt), np.sin(tilt)
    return [np.stack([cx + x * cos - y * sin, cy + x * sin + y * cos], 1)]


def rectangle(x0: Number, y0: Number, x1: Number, y1: Number, corner: Number = 0.0) -> list[Points]:
    if not corner:
        return polygon(x0, y0, x1, y0, x1, y1, x0, y1)
    turn, quarters = np.linspace(0, np.pi / 2, 5), np.arange(4) * np.pi / 2
    right, bottom = np.array([1, 0, 0, 1]), np.array([1, 1, 0, 0])
    angle = (turn + quarters[:, None]).ravel()
    x = np.where(right, x1 - corner, x0 + corner).repeat(5) + corner * np.cos(angle)
    y = np.where(bottom, y1 - corner, y0 + corner).repeat(5) + corner * np.sin(angle)
    return [np.stack([x, y], 1)]


def polygon(*numbers: Number) -> list[Points]:
    return [np.array(numbers).reshape(-1, 2)]


def smooth(*numbers: Number) -> list[Points]:
    return [spline(np.array(numbers).reshape(-1, 2), closed=True)]


def stroke(w0: Number, w1: Number, *numbers: Number) -> list[Points]:
    line = spline(np.array(numbers).reshape(-1, 2), closed=False)
    along = np.gradient(line, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True) + 1e-9
    across = np.linspace(w0, w1, len(line))[:, None] / 2 * along[:, ::-1] * (-1, 1)
    sides = np.concatenate([line + across, (line - across)[::-1]])
    return [sides, *ellipse(*line[0], w0 / 2, w0 / 2), *ellipse(*line[-1], w1 / 2, w1 / 2)]


def spline(points: Points, *, closed: bool, steps: int = 6) -> Points:
    """A Catmull-Rom curve through the points."""
    around = np.pad(points, ((1, 2), (0, 0)), mode="wrap" if closed else "edge")
    if not closed:
        around = around[:-1]
    before, here, after, beyond = around[:-3], around[1:-2], around[2:-1], around[3:]
    t = np.linspace(0, 1, steps, endpoint=False)[:, None, None]
    square = 2 * before - 5 * here + 4 * after - beyond
    cube = 3 * (here - after) + beyond - before
    curve = here + t / 2 * (after - before + t * (square + t * cube))
    curve = curve.transpose(1, 0, 2).reshape(-1, 2)
    return curve if closed else np.concatenate([curve, points[-1:]])


SHAPES: dict[str, Callable[..., list[Points]]] = {
    "o": ellipse,
    "r": rectangle,
    "p": polygon,
    "s": smooth,
    "l": stroke,
}


def at(x: Number, y: Number, shapes: str, wide: Number = 1.0, tall: Number | None = None) -> str:
    """The same shapes in other units and somewhere else."""
    tall = wide if tall is None else tall
    placed = []
    for shape in shapes.split(";"):
        kind, *numbers = shape.split()
        values = [float(value) for value in numbers]
        # Widths of strokes, radii, corners and angles are not places.
        first, last = {"o": (0, 2), "r": (0, 4), "l": (2, None)}.get(kind, (0, None))
        ends = values[first:last]
        ends[0::2] = [x + value * wide for value in ends[0::2]]
        ends[1::2] = [y + value * tall for value in ends[1::2]]
        before, after = values[:first], values[first:][len(ends) :]
        if kind == "o":
            after[:2] = after[0] * wide, after[1] * tall
        else:
            before, after = [v * wide for v in before], [v * wide for v in after]
        placed.append(" ".join([kind, *map(str, before + ends + after)]))
    return "; ".join(placed)


def part(parts: dict[str, list[str]], name: str, x: Number = 0, y: Number = 0) -> list[str]:
    """A figure's own layers for one part of its template, moved to where that part is."""
    layers = (line.partition(":") for line in parts.get(name, []))
    return [f"{colour}: {at(x, y, shapes)}" for colour, _, shapes in layers]


# ---- templates: a pose and settings -> the layers of a body that looks to the right

EARS = {  # around the head, in its size
    "round": "o -.5 -.6 .3 .32",
    "point": "p -.75 -.3 -.55 -1.25 0 -.5; p -.1 -.5 .2 -1.2 .5 -.35",
    "flop": "s -.5 -.5 0 -.5 -.1 .7 -.6 .9",
    "long": "o -.5 -1.4 .24 .95 -12; o -.05 -1.4 .24 .95 8",
    "side": "o -.75 -.45 .5 .24 20",
    "fan": "s -.1 -.8 -1.3 -.9 -1.5 .2 -.8 1 -.1 .4",
}
FACE = "o .2 -.18 .13 .14", "o .23 -.22 .045 .045"  # the eye and its glint, likewise
TAILS = {  # from the top of the rump, for a body 28 deep
    "thin": "l 3 1.5 0 4 -5 9 -6 26; o -6 29 2.5 5",
    "up": "l 7 5 3 6 -12 2 -14 -20 -5 -34",
    "bushy": "s 3 4 -17 6 -34 20 -38 34 -20 28 0 15",
    "curl": "l 2.5 2 0 8 -6 4 -7 9 -3 8",
    "short": "o -1 8 4 4",
    "horse": "s 3 2 -7 5 -11 39 -4 34 0 10",
}


def beast(
    pose: int, parts: dict[str, list[str]], length: Number, depth: Number, leg: Number,
    thick: Number = 6, neck: Number = 10, rise: Number = 10, head: Number = 10, muzzle: Number = 8,
    snout: Number = 0.5, ear: str = "round", tail: str = "thin", coat: str = "fur",
    grazes: Number = 0, paw: str = "dark",
) -> list[str]:  # fmt: skip
    """An animal on four legs; its part `face` moves with the head, `back` with the back."""
    top, hip, chest = -leg - depth, -length / 2, length / 2
    rise = (rise, rise + 2, -leg / 2 if grazes else rise - 4)[pose]
    x, y = chest * 0.85 + neck, top + depth * 0.3 - rise  # the middle of the head
    step = (0, 0.16, -0.12)[pose] * leg
    near = [(hip * 0.78, step), (chest * 0.72, -step)]
    far = [(hip * 0.5, 2 - step), (chest * 0.42, 2 + step)]

    def legs(hips: list[tuple[Number, Number]], wide: Number) -> str:
        ends = f"l {thick * 1.5 * wide} {thick * wide}", top + depth * 0.6, -thick * 0.4
        return "; ".join(
            f"{ends[0]} {h} {ends[1]} {h + by * 0.7} {-leg / 2} {h + by} {ends[2]}"
            for h, by in hips
        )

    feet = "; ".join(at(h + by + 1, -thick * 0.35, "o 0 0 .75 .45", thick) for h, by in near)
    trunk = "s -.5 .4 -.35 .03 0 .06 .375 0 .5 .35 .425 .8 0 1 -.4 .9"
    throat = f"l {depth * 0.72} {head * 1.05} {chest * 0.68} {top + depth * 0.42} {x} {y}"
    nose = f"l {head * 1.05} {head * snout * 1.4} {x} {y} {x + muzzle} {y + muzzle * 0.3}"
    tip = at(x + muzzle + head * snout * 0.45, y + muzzle * 0.28 - 0.5, "o 0 0 .14 .12", head)
    return [
        f"{'deep' if tail == 'horse' else 'main'}/{coat}: {at(hip, top, TAILS[tail], depth / 28)}",
        f"dark/{coat}: {legs(far, 0.92)}",
        f"main/{coat}: {at(0, top, trunk, length, depth)}; {legs(near, 1)}; {throat}; "
        f"{at(x, y, 'o 0 0 .72 .66', head)}; {nose}",
        f"{paw}: {feet}",
        *part(parts, "back", 0, top),
        f"dark/{coat}: {at(x, y, EARS[ear], head)}",
        f"black: {tip}; {at(x, y, FACE[0], head)}",
        f"white: {at(x, y, FACE[1], head)}",
        *part(parts, "face", x, y),
    ]


def bird(
    pose: int, parts: dict[str, list[str]], size: Number, plump: Number = 0.75, neck: Number = 8,
    arch: Number = 0, head: Number = 8, beak: Number = 7, hook: Number = 0, leg: Number = 12,
    tail: Number = 16, lift: Number = -6, wing: str = "dark", breast: str = "light",
    bill: str = "orange",
) -> list[str]:  # fmt: skip
    """A bird on two legs; its part `crown` moves with the head."""
    tilt = (-18, -28, -10)[pose]
    y = -leg - size * plump * 0.9
    hx, hy = size * 0.75 + neck * 0.3, y - size * 0.45 - neck
    bend = f"{hx - arch} {(y + hy) / 2 + arch * 0.3} {hx - arch * 0.6} {hy + 5}" if arch else ""
    legs = f"l 1.8 1.5 -2 {y + 8} -3 0; l 1.8 1.5 5 {y + 8} 5 0; l 1.6 1 -3 0 4 0; l 1.6 1 5 0 12 0"
    feathers = f"s -.7 {-2 / size} {-1 - tail / size} {(lift - 4) / size} "
    feathers += f"{-1 - tail * 0.9 / size} {(lift + 5) / size} -.6 .35"
    folded = f"s .5 -.2 0 -.42 -1.15 {(0, 0, -6)[pose] / size} -.5 .35 .2 .32"
    throat = f"l {size * 0.9} {head * 1.2} {size * 0.5} {y - size * 0.2} {bend} {hx} {hy}"
    reach, edge = head + beak, head * 0.7
    mouth = f"s {edge} {-head * 0.35} {reach} {hook} "
    mouth += f"{reach - beak * 0.2} {hook + 2} {edge} {head * 0.4}"
    return [
        *([f"{bill}: {legs}"] if leg else []),
        f"{wing}/feathers: {at(0, y, feathers, size)}",
        f"main/feathers: {at(0, y, f'o 0 0 1 {plump} {tilt}', size)}; {throat}; "
        f"{at(hx, hy, 'o 0 0 1 .92', head)}",
        f"{breast}/feathers: {at(0, y, f'o .42 .22 .5 {plump * 0.6} {tilt - 25}', size)}",
        f"{wing}/feathers: {at(0, y, folded, size)}",
        f"{bill}: {at(hx, hy, mouth)}",
        f"black: {at(hx, hy, 'o .35 -.2 .19 .2', head)}",
        f"white: {at(hx, hy, 'o .4 -.26 .07 .07', head)}",
        *part(parts, "crown", hx, hy),
    ]


def fish(
    pose: int, parts: dict[str, list[str]], length: Number, depth: Number, tail: Number = 14,
    fin: Number = 10, belly: str = "light",
) -> list[str]:  # fmt: skip
    """A fish that swims; its part `marks` lies on the body."""
    end, up = -1 - tail / length, -1 - fin / depth
    fins = f"s -.8 0 {end} -1 {-1 - tail * 0.6 / length} 0 {end} 1; s -.4 -.7 -.1 {up} .4 -.8; "
    fins += f"s -.3 .7 -.2 {1 + fin * 0.8 / depth} .2 .8"
    body = "s -1 0 -.5 -.75 .2 -1 .8 -.5 1 0 .75 .5 .2 1 -.5 .75"
    eye = at(0.68 * length, -0.18 * depth, "o 0 0 .2 .2", depth)
    pupil = at(0.71 * length, -0.18 * depth, "o 0 0 .11 .11", depth)
    mouth = at(0, 0, "l .02 .02 .95 .12 .8 .2", length, depth)
    return [
        f"dark/scales: {at(0, 0, fins, length, depth)}",
        f"main/scales: {at(0, 0, body, length, depth)}",
        f"{belly}: {at(0, 0, 's -.4 .45 .3 .45 .8 .3 .2 .92', length, depth)}",
        *part(parts, "marks"),
        f"dark: {at(0, 0, 's .2 .1 -.15 .4 -.1 -.05', length, depth)}",
        f"white: {eye}",
        f"black: {pupil}; {mouth}",
    ]


def person(
    pose: int,
    parts: dict[str, list[str]],
    hair: str = "brown",
    legs: str = "blue",
    dress: Number = 0,
) -> list[str]:
    """Somebody in clothes of the thing's colour who looks at us; parts `hat` and `tool`."""
    arm = (0, -18, 6)[pose]
    trousers = f"{legs}/cloth: p -10 -46 10 -46 11 -4 2 -4 0 -34 -2 -4 -11 -4"
    skirt = "main/cloth: p -10 -52 10 -52 17 -22 -17 -22"
    hands = f"l 5 4 -17 {-50 + arm * 0.2} -19 {-44 + arm * 0.5}; "
    hands += f"l 5 4 17 {-50 + arm} 20 {-44 + arm * 1.6}"
    sleeves = f"l 8 6 -10 -65 -16 -56 -18 {-49 + arm * 0.3}; "
    sleeves += f"l 8 6 10 -65 17 {-56 + arm * 0.5} 19 {-49 + arm * 1.3}"
    return [
        f"{hair}/fur: {'s -13 -84 0 -97 13 -84 14 -66 -14 -66' if dress else 'o 0 -84 11.5 11'}",
        f"skin: {'l 5 4 -6 -24 -6 -4; l 5 4 6 -24 6 -4; ' if dress else ''}{hands}",
        "black: o -7 -2 6 3; o 7 -2 6 3",
        skirt if dress else trousers,
        f"main/cloth: s -11 -69 11 -69 13 -50 11 -43 -11 -43 -13 -50; {sleeves}",
        "skin: r -3 -73 3 -67; o 0 -80 9.5 10.5",
        f"{hair}/fur: s -10 -82 -8 -92 8 -92 10 -82 4 -87 -5 -87",
        "black: o -3.6 -80 1.2 1.5; o 3.6 -80 1.2 1.5",
        "red: s -3 -75 0 -74.4 3 -75 0 -73",
        *part(parts, "hat"),
        *part(parts, "tool"),
    ]


TEMPLATES: dict[str, Callable[..., list[str]]] = {
    "beast": beast,
    "bird": bird,
    "fish": fish,
    "person": person,
}
