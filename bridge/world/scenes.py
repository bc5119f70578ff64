"""Scenes of the picture-book world: what is where, with uneven and correlated statistics.

Frequent and rare, colours that belong to things and things that keep company are what lets two
encoders that saw different scenes be matched: a world of symmetric factors could not be.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from random import Random

from bridge.errors import InputError
from bridge.world.things import BY_NAME, PLACES, WEATHERS, Place, WorldClass

NOISE = 0.15
SIDES = ("left", "middle", "right")
COUNTS = {1: 0.66, 2: 0.15, 3: 0.1, 5: 0.09}
FLOCKS = frozenset(["farm animal", "bird", "sea animal", "fruit", "vegetable", "flying insect"])


@dataclass(frozen=True)
class Thing:
    """So many of one class in one colour; `size` is small, plain or big for what it is."""

    of: WorldClass
    colour: str
    count: int = 1
    size: str = "plain"


@dataclass(frozen=True)
class Scene:
    """What a picture shows and its captions tell.

    `main` fills the picture at its `side`, `second` stands smaller beside it, `clutter` are small
    things that no caption names. `look` seeds everything that has no words: poses, shades, grain.
    """

    place: Place
    weather: str
    main: Thing
    second: Thing | None
    side: str
    clutter: tuple[Thing, ...]
    noise: float
    look: int


def scene(seed: int, index: int, *, noise: float = NOISE) -> Scene:
    """Scene number `index` of the world `seed`, whatever other scenes are asked for.

    `noise` in [0, 1] is how often pictures hold clutter, and how grainy and badly lit they are.
    """
    chance = Random(f"scene {seed} {index}")
    place = by_rank(chance, PLACES, 0.6)
    return compose(chance, place, BY_NAME[by_rank(chance, place.things, 0.8)], noise)


def class_scene(wclass: WorldClass, index: int, seed: int, *, noise: float = NOISE) -> Scene:
    """Scene number `index` whose main thing is of the class, in one of the places it belongs to."""
    chance = Random(f"class {seed} {wclass.id} {index}")
    home = [place for place in PLACES if wclass.name in place.things]
    return compose(chance, chance.choice(home), wclass, noise)


def compose(chance: Random, place: Place, wclass: WorldClass, noise: float) -> Scene:
    check_share("noise", noise)
    counts = COUNTS if wclass.group in FLOCKS else {1: 0.85, 2: 0.1, 3: 0.05}
    main = Thing(
        wclass,
        by_rank(chance, wclass.colours, 1.0),
        chance.choices(list(counts), list(counts.values()))[0],
        chance.choices(("plain", "big", "small"), (0.7, 0.17, 0.13))[0],
    )
    second = None
    if chance.random() < 0.5:
        # Things keep company: those that are near in the list are often seen together.
        others = [name for name in companions(place, wclass.name) if name != wclass.name]
        friend = BY_NAME[by_rank(chance, others, 1.0)]
        second = Thing(friend, by_rank(chance, friend.colours, 1.0))
    weather = "day"
    if place.weather:
        odds = [share for share, _ in WEATHERS.values()]
        weather = chance.choices(["day", *WEATHERS], [1 - sum(odds), *odds])[0]
    side, look = chance.choice(SIDES), chance.getrandbits(32)
    # Drawn last, so that the noise changes nothing that captions tell.
    clutter = tuple(
        Thing(each, by_rank(chance, each.colours, 1.0))
        for each in (BY_NAME[chance.choice(place.things)] for _ in range(2))
        if chance.random() < noise
    )
    return Scene(place, weather, main, second, side, clutter, noise, look)


@cache
def companions(place: Place, name: str) -> tuple[str, ...]:
    """The things of a place, those that are listed near `name` first."""
    if name not in place.things:
        return place.things
    at = place.things.index(name)
    near = sorted(range(len(place.things)), key=lambda i: (abs(i - at), i))
    return tuple(place.things[i] for i in near)


def by_rank(chance: Random, choices: Sequence, power: float):
    """One of the choices; the k-th comes with a weight of k to the minus `power` (Zipf)."""
    return chance.choices(choices, cum_weights=zipf(len(choices), power))[0]


@cache
def zipf(n: int, power: float) -> tuple[float, ...]:
    return tuple(accumulate(rank**-power for rank in range(1, n + 1)))


def check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise InputError(f"expected {name} between 0 and 1, got {value}")
