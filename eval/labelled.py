"""Which class an image shows, by the folder it lies in, its file's name, or a table.

Everything goes by class id, never by a class's number: programs number the folders of one data set
in different orders.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import torch
from jaxtyping import Int
from torch import Tensor

from bridge.caption_formats import IMAGE_FIELDS
from bridge.classes import ClassList, some
from bridge.embed import named_images
from bridge.embeddings import Embeddings
from bridge.errors import InputError
from bridge.files import PathLike, existing
from bridge.foreign import brief, decode, fault, first_bytes, refuse_binary

CLASS_FIELDS = ("class", "class_id", "label", "wnid", "synset", "predictionstring")
NAME_FIELDS = (*IMAGE_FIELDS, "imageid", "path", "file", "name", "id")
VALIDATION = ("val.X", "val", "validation")  # Kaggle's ImageNet100, and others beside their train/
EXPECTED = "a CSV table of images and their classes"

ClassOf = Callable[[str], str | None]  # image name -> class id, if it tells one


@dataclass(frozen=True, eq=False)
class Labelled:
    """Image rows, and the place of each one's class in the class list; every class has an image.

    `left_out` counts images of no class of the list.
    """

    images: Embeddings
    label: Int[Tensor, " n"]
    left_out: int

    def __len__(self) -> int:
        return len(self.images)


def labelled(images: Embeddings, classes: ClassList, truth: PathLike | None = None) -> Labelled:
    """The images that show a class of the list. Raises InputError as `check_cover` does."""
    class_of = by_table(truth) if truth else by_name(classes)
    named = [class_of(image_id) for image_id in images.image_ids]
    check_cover(images.image_ids, named, classes)
    place = {class_id: at for at, class_id in enumerate(classes.ids)}
    rows = [row for row, class_id in enumerate(named) if class_id in place]
    label = torch.tensor([place[named[row]] for row in rows])
    chosen = images if len(rows) == len(images) else images.take(rows)
    return Labelled(chosen, label, len(images) - len(rows))


def images_to_embed(
    folder: PathLike, classes: ClassList, truth: PathLike | None = None
) -> tuple[Path, Callable[[str], bool]]:
    """Where a data set's validation images lie, and which of their names show a class of the list.

    Raises InputError as `check_cover` does, before any image is opened.
    """
    root = validation_part(folder)
    class_of = by_table(truth) if truth else by_name(classes)
    names = [name for _, name in named_images(root)]
    check_cover(names, [class_of(name) for name in names], classes)
    ids = set(classes.ids)
    return root, lambda name: class_of(name) in ids


def by_name(classes: ClassList) -> ClassOf:
    """The nearest folder above an image that is a class id, or one before _ in its own name."""
    ids = set(classes.ids)

    def class_of(name: str) -> str | None:
        path = PurePosixPath(name)
        above = (*reversed(path.parts[:-1]), path.stem.split("_")[0])
        return next((part for part in above if part in ids), None)

    return class_of


def by_table(path: PathLike) -> ClassOf:
    """The class that a CSV table gives to an image's name, with or without folder and suffix."""
    table = read_truth(Path(path))

    def class_of(name: str) -> str | None:
        file = PurePosixPath(name)
        keys = (name, str(file.with_suffix("")), file.name, file.stem)
        return next((table[key] for key in keys if key in table), None)

    return class_of


def read_truth(path: Path) -> Mapping[str, str]:
    """Image name -> class id; of a class field with more in it ("n01440764 12 40 ...") the first.

    Raises InputError for a table without such columns and for an image of two classes.
    """
    refuse_binary(path, first_bytes(path, EXPECTED), EXPECTED)
    reader = csv.reader(decode(path, path.read_bytes()).splitlines())
    header = [name.strip().lower() for name in next(reader, [])]
    columns = [
        next((header.index(name) for name in fields if name in header), None)
        for fields in (NAME_FIELDS, CLASS_FIELDS)
    ]
    if None in columns:
        wanted = f"image (or {NAME_FIELDS[1]}, imageid …) and class (or label, wnid …)"
        raise fault(path, "line 1", f"expected columns {wanted}, got {brief(header)}")
    table: dict[str, str] = {}
    for row in reader:
        if len(row) > max(columns):
            name, value = (row[column].strip() for column in columns)
            class_id = value.split()[0] if header[columns[1]] == "predictionstring" else value
            if table.setdefault(name, class_id) != class_id:
                what = f"{name!r} is of class {table[name]!r} and of {class_id!r}"
                raise fault(path, f"line {reader.line_num}", what)
    return table


def check_cover(names: Sequence[str], class_of: Sequence[str | None], classes: ClassList) -> None:
    """Raise InputError that names the difference unless every class of the list has an image.

    Images of other classes are no fault: a whole ImageNet folder serves for any of its parts.
    """
    missing = sorted(set(classes.ids) - set(class_of))
    if not missing:
        return
    others = {str(PurePosixPath(name).parent) for name in names}
    others |= {class_id for class_id in class_of if class_id}
    others = sorted({other.rsplit("/", 1)[-1] for other in others} - set(classes.ids) - {"."})
    holds = f"they lie in {len(others)} other folders, as {some(others)}" if others else ""
    holds = holds or f"images are called like {names[0]!r}"
    listed = "is this another list of classes?" if others else "they need a folder a class"
    raise InputError(
        f"expected images of all {len(classes)} classes of {classes.source}, got none of "
        f"{len(missing)}: {some(missing)}; {holds}; {listed}"
    )


def validation_part(folder: PathLike) -> Path:
    """The folder of validation images in a data set that also has training images."""
    folder = existing(folder, "image folder")
    return next((folder / part for part in VALIDATION if (folder / part).is_dir()), folder)
