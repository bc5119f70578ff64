"""Named classes: ids, and what people call each. Lists that come along, files, words as typed."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import chain
from pathlib import Path

from bridge.errors import InputError
from bridge.files import PathLike
from bridge.foreign import brief, decode, fault, first_bytes, parse, refuse_binary

IMAGENET_100 = ("cmc", "kaggle")  # two different sets of 100 classes, 8 of which they share
LISTS = (*IMAGENET_100, "world")
WORLD = 100
WNID = re.compile(r"n\d{8}")
LINE = re.compile(r"(?:(n\d{8})(?=[\s,]|$)|([^\t]+)\t)?[\s,]*(.*)")
EXPECTED = "classes (a line each, or JSON {id: name or names})"

Names = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class ClassList:
    """Classes by id, with the names of each, the usual one first.

    An id is a WordNet id where there is one, and stands in folder names and image ids. `source` is
    the list or file of the ids, `named_by` whose names they are. Raises InputError for fewer than
    two classes, a class without a name, and two of the same usual name.
    """

    source: str
    named_by: str
    names: Names

    def __post_init__(self):
        if len(self.names) < 2:
            raise InputError(f"{self.source}: expected at least 2 classes, got {len(self.names)}")
        for class_id, names in self.names.items():
            if not names:
                raise InputError(f"{self.source}: class {class_id!r} has no name")
        usual: dict[str, str] = {}
        for class_id, (name, *_) in self.names.items():
            other = usual.setdefault(name.lower(), class_id)
            if other != class_id:
                raise InputError(
                    f"{self.source}: classes {other!r} and {class_id!r} are both called {name!r}; "
                    "give them names that differ"
                )

    def __len__(self) -> int:
        return len(self.names)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(self.names)

    @property
    def labels(self) -> tuple[str, ...]:
        """The usual name of each class."""
        return tuple(names[0] for names in self.names.values())


def without_shared(classes: ClassList) -> ClassList:
    """Each class's usual name, and those further ones that no other class bears.

    "Grass snake" for both the garter snake and the green snake would count for either.
    """
    names = classes.names
    bearers = Counter(chain.from_iterable({n.lower() for n in each} for each in names.values()))
    own = {
        class_id: (usual, *(name for name in rest if bearers[name.lower()] == 1))
        for class_id, (usual, *rest) in names.items()
    }
    return replace(classes, names=own)


def read_classes(source: PathLike, names: PathLike | None = None) -> ClassList:
    """Classes of a list that comes along (`cmc`, `kaggle`, `world`) or of a file.

    A file has a line a class, or is JSON: `{id: name}`, `{id: [names]}` or `[names]`. Commas part
    the names of a class; a line may begin with a WordNet id, or with any id and a tab, and one that
    begins with # is a remark. A further name that another class bears too is left out. `names` is
    such a file too, whose names replace the list's for all its ids; WordNet ids that bear no name
    get WordNet's. Raises InputError for a file that is not of this kind, a WordNet id that does not
    exist, and as `ClassList` does.
    """
    if source == "world":
        listed, named_by = world(), "the drawn world"
    elif source in IMAGENET_100:
        text = (files("bridge") / "class_lists" / f"{source}.txt").read_text(encoding="utf-8")
        listed, named_by = dict(from_lines(Path(source), text)), "WordNet"
    else:
        listed, named_by = read_file(Path(source)), str(source)
    if names is not None:
        given, named_by = read_file(Path(names)), str(names)
        if missing := [class_id for class_id in listed if not given.get(class_id)]:
            raise InputError(
                f"{names}: expected names of all {len(listed)} classes of {source}, "
                f"got none for {some(missing)}"
            )
        listed = {class_id: given[class_id] for class_id in listed}
    bare = [
        class_id for class_id, known in listed.items() if not known and WNID.fullmatch(class_id)
    ]
    if bare:
        listed |= wordnet_names(bare, str(source))
        named_by = "WordNet" if len(bare) == len(listed) else f"{named_by} and WordNet"
    return without_shared(ClassList(str(source), named_by, listed))


def typed_classes(labels: str) -> ClassList:
    """Classes as typed in one line: "cat, dog, fire engine"."""
    words = [word for word in map(str.strip, labels.split(",")) if word]
    if doubled := [word for word, count in Counter(words).items() if count > 1]:
        raise InputError(f"labels: {doubled[0]!r} is named twice")
    return ClassList("labels", "labels", {word: (word,) for word in words})


def written_classes(text: str, most: int) -> ClassList:
    """Classes as written into a form, one a line, with a file's freedoms (see `read_classes`).

    Raises InputError for fewer than two, more than `most`, and one that comes twice.
    """
    pairs = list(from_lines(Path("classes"), text))
    if len(pairs) > most:
        raise InputError(f"expected at most {most:,} classes, got {len(pairs):,}")
    if doubled := [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]:
        raise InputError(f"class {doubled[0]!r} is named twice")
    return without_shared(ClassList("classes", "classes", dict(pairs)))


def world() -> Names:
    """100 classes of the drawn world, from all its parts, called by the plain word."""
    from bridge.world.things import CLASSES

    plain = [each for each in CLASSES if each.name == each.kind]
    chosen = [plain[i * len(plain) // WORLD] for i in range(WORLD)]
    return {each.id: each.names for each in chosen}


def wordnet_names(wnids: Sequence[str], source: str) -> Names:
    """The lemmas of WordNet, from timm's table of ImageNet synsets."""
    from timm.data import ImageNetInfo

    table, found = ImageNetInfo(), {}
    for wnid in wnids:
        try:
            found[wnid] = split_names(table.label_name_to_description(wnid))
        except KeyError:
            raise InputError(
                f"{source}: {wnid!r} is no WordNet id of ImageNet; correct it, or give its name"
            ) from None
    return found


def read_file(path: Path) -> Names:
    head = first_bytes(path, EXPECTED)
    refuse_binary(path, head, EXPECTED)
    text = decode(path, path.read_bytes())
    pairs = from_json(path, text) if text.lstrip()[:1] in "[{" else from_lines(path, text)
    found: Names = {}
    for class_id, names in pairs:
        if class_id in found:
            raise InputError(f"{path}: class {class_id!r} comes twice")
        found[class_id] = names
    return found


def from_lines(path: Path, text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if line and line[0] != "#":
            wnid, other, rest = LINE.fullmatch(line).groups()
            names = split_names(rest)
            if not (wnid or other or names):
                raise fault(path, f"line {number}", f"expected a class, got {brief(line)}")
            yield wnid or (other.strip() if other else names[0]), names


def from_json(path: Path, text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    document = parse(path, text)
    pairs = document.items() if isinstance(document, dict) else [(name, name) for name in document]
    for class_id, names in pairs:
        listed = [names] if isinstance(names, str) else names
        if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
            place = f"class {brief(class_id)}"
            raise fault(path, place, f"expected a name or a list of names, got {brief(names)}")
        yield class_id, tuple(chain.from_iterable(map(split_names, listed)))


def split_names(text: str) -> tuple[str, ...]:
    """The names that commas part, as words: `tench, Tinca_tinca`."""
    words = (" ".join(name.replace("_", " ").split()) for name in text.split(","))
    return tuple(dict.fromkeys(word for word in words if word))


def some(ids: Sequence[str], most: int = 3) -> str:
    """The first few ids, and how many more there are."""
    more = f" and {len(ids) - most} more" if len(ids) > most else ""
    return ", ".join(map(repr, ids[:most])) + more
