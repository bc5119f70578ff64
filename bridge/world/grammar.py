"""Tells scenes of the picture-book world in words, each time as somebody else would."""

from functools import cache
from random import Random

from bridge.errors import InputError
from bridge.world.scenes import NOISE, Scene, Thing, by_rank, check_share
from bridge.world.things import BY_NAME, DAYLIGHT, GROUPS, WEATHERS, Place

# Colours whose name in the palette is not what people say.
SAYS = {
    "coffee": "chocolate", "emerald": "dark green", "leaf": "light green", "sandy": "sand-coloured",
    "wood": "wooden",
}  # fmt: skip
PATIENCE = 100  # sentences in a row that were told before, until there seem to be no others
MISTAKEN = ("red", "blue", "green", "white", "brown", "black")
SIZES = {"small": ("small", "little"), "big": ("big", "large", "huge")}
MANY_ANYWAY = frozenset(["books", "crayons", "eggs", "grapes", "pencils", "scissors"])
BARE = MANY_ANYWAY | {  # neither article nor plural
    "bread", "broccoli", "cheese", "corn", "fire", "maize", "saturn", "something to eat",
}  # fmt: skip
PLURALS = {
    "aircraft": "aircraft", "child": "children", "deer": "deer", "elk": "elk", "goose": "geese",
    "loaf": "loaves", "moose": "moose", "mouse": "mice", "ox": "oxen", "person": "people",
    "sheep": "sheep", "squid": "squid", "trout": "trout", "wolf": "wolves",
}  # fmt: skip
MANY = {
    1: ("a", "a", "a", "one", "the"), 2: ("two", "two", "a pair of"), 3: ("three", "three", "some"),
    5: ("five", "many", "several", "a group of", "lots of"),
}  # fmt: skip
OPENINGS = (
    "a picture of",
    "this picture shows",
    "we can see",
    "a drawing of",
    "here we have",
    "look,",
)
BESIDE = ("and", "next to", "near", "with", "beside", "in front of", "together with")


def captions(scene: Scene, n: int = 5, *, noise: float = NOISE) -> list[str]:
    """Tell a scene as `n` people would: other words and order, other details left out.

    `noise` in [0, 1] is how often they leave out still more, are vague ("an animal") or mistaken.
    At 0 all that is said is true and every caption says what the main thing is. The texts differ
    from each other; raises InputError if the grammar does not have `n` ways to tell the scene.
    """
    check_share("noise", noise)
    chance = Random(f"captions {scene.look}")
    told: dict[str, None] = {}
    repeated = 0
    while len(told) < n:
        before = len(told)
        told[sentence(scene, chance, noise)] = None
        repeated = repeated + 1 if len(told) == before else 0
        if repeated == PATIENCE:
            raise InputError(f"expected at most {before} captions of this scene, got {n}")
    return list(told)


def sentence(scene: Scene, chance: Random, noise: float) -> str:
    """One caption: the main thing, and by chance its company, what it does, where and when."""

    def tells(share: float) -> bool:
        return chance.random() < share * (1 - noise)

    subject = phrase(scene.main, scene.place, chance, noise)
    many = scene.main.count > 1 or (subject.split()[-1] in MANY_ANYWAY and " of " not in subject)
    verb = "are" if many else "is"
    beside = ""
    if scene.second and tells(0.55):
        beside = f" {chance.choice(BESIDE)} {phrase(scene.second, scene.place, chance, noise)}"
    exactly = chance.random() < 0.65
    said = scene.place.phrases if exactly else scene.place.wider
    where = chance.choice(said) if tells(0.8) else ""
    when = ""
    if scene.weather in WEATHERS:
        when = chance.choice(WEATHERS[scene.weather][1]) if tells(0.65) else ""
    elif scene.place.weather and tells(0.08):
        when = chance.choice(DAYLIGHT)
    side = f"on the {scene.side}" if scene.side != "middle" and tells(0.06) else ""
    doing = chance.choice(GROUPS[scene.main.of.group][1]) if tells(0.4) else ""

    ends = [part for part in (where, when, side) if part]
    chance.shuffle(ends)
    start = ends.pop() if ends and chance.random() < 0.25 else ""
    form = chance.random()
    if form < 0.2:
        text = f"there {verb} {subject}{beside}"
    elif form < 0.4 and doing:
        text = f"{subject} {verb} {doing}{beside.replace(' and ', ' near ')}"
    elif form < 0.55 and not start:
        text = f"{chance.choice(OPENINGS)} {subject}{beside}"
    else:
        text = f"{subject}{' ' + doing if doing and not beside else ''}{beside}"
    text = " ".join(part for part in (f"{start}," if start else "", text, *ends) if part)
    return f"{text[0].upper()}{text[1:]}." if chance.random() < 0.7 else text


def phrase(thing: Thing, place: Place, chance: Random, noise: float) -> str:
    """Number, size, colour and name, as in "two small red tractors"."""
    of, colour = thing.of, thing.colour
    if chance.random() < noise / 4:
        of = BY_NAME[chance.choice(place.things)]  # takes it for something else
    if chance.random() < noise / 4:
        colour = chance.choice(MISTAKEN)
    name, roll = by_rank(chance, of.names, 1.2), chance.random()
    if roll < min(0.6, 1.5 * noise):
        name = GROUPS[of.group][0]
    elif roll > 0.85:
        name = of.kind
    words = [name if thing.count == 1 else plural(name)]
    said = SAYS.get(colour, colour)
    new = not of.pattern and not set(said.split()) & set(name.split())
    if (
        new
        and of.worn != "-"
        and chance.random() < (0.6 if len(of.colours) > 1 else 0.2) * (1 - noise)
    ):
        words = [*words, of.worn.format(said)] if of.worn else [said, *words]
    if thing.size in SIZES and chance.random() < 0.45 * (1 - noise):
        words.insert(0, chance.choice(SIZES[thing.size]))
    if name in BARE:
        return " ".join(words)
    number = chance.choice(MANY[thing.count])
    if number == "a" and words[0][0] in "aeio":
        number = "an"
    return " ".join([number, *words])


@cache
def plural(name: str) -> str:
    """English plural of a name; of "cup of coffee" the cup."""
    for link in (" of ", " with ", " in ", " by "):
        if link in name:
            head, rest = name.split(link, 1)
            return plural(head) + link + rest
    *before, noun = name.split()
    if noun in BARE:
        return name
    if noun in PLURALS:
        noun = PLURALS[noun]
    elif noun.endswith("man"):
        noun = noun[:-3] + "men"
    elif noun.endswith("shelf"):
        noun = noun[:-1] + "ves"
    elif noun.endswith(("s", "x", "ch", "sh")):
        noun = noun if noun.endswith("fish") else noun + "es"
    elif noun.endswith("y") and noun[-2] not in "aeou":
        noun = noun[:-1] + "ies"
    else:
        noun += "s"
    return " ".join([*before, noun])
