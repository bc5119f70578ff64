"""What is scored: captions that a system wrote and the references, matched by image."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bridge.captions import iter_captions
from bridge.errors import InputError
from bridge.files import PathLike
from bridge.foreign import brief, decode, fault, first_bytes, parse, refuse_binary

RESULTS = "captions as [{image_id, caption}] (JSON or JSON Lines)"


def read_results(path: PathLike) -> dict[str, str]:
    """Captions that some system wrote, by image: the official `[{image_id, caption}]` as JSON or
    JSON Lines, a list with `prediction` in its place, or `{image: caption}` (or a list of one).

    Raises InputError for another shape and for an image with two captions.
    """
    path = Path(path)
    found: dict[str, str] = {}
    doubled = []
    for image_id, caption in results_in(path):
        if image_id in found:
            doubled.append(image_id)
        found[image_id] = caption
    if doubled:
        raise InputError(
            f"{path}: expected one caption an image, got two and more for {named(doubled)}"
        )
    if not found:
        raise InputError(f"{path}: expected captions to score, got none")
    return found


def results_in(path: Path) -> Iterator[tuple[str, str]]:
    head = first_bytes(path, RESULTS)
    refuse_binary(path, head, RESULTS)
    text = decode(path, path.read_bytes())
    if head.lstrip()[:1] == b"{" and text.count("\n{"):
        lines = enumerate(text.split("\n"), 1)
        parsed: Any = [parse(path, line, number) for number, line in lines if line.strip()]
    else:
        parsed = parse(path, text)
    if isinstance(parsed, dict):
        for image_id, caption in parsed.items():
            one = caption[0] if isinstance(caption, list) and len(caption) == 1 else caption
            yield image_id, as_caption(path, f"image {image_id}", one)
        return
    if not isinstance(parsed, list):
        raise InputError(f"{path}: expected {RESULTS}, got {brief(parsed)}")
    for number, item in enumerate(parsed):
        place = f"item {number}"
        if not isinstance(item, dict) or "image_id" not in item:
            raise fault(path, place, f"expected image_id and caption, got {brief(item)}")
        key = "prediction" if "prediction" in item and "caption" not in item else "caption"
        yield str(item["image_id"]), as_caption(path, place, item.get(key))


def as_caption(path: Path, place: str, value: Any) -> str:
    if not isinstance(value, str):
        raise fault(path, place, f"expected a caption as text, got {brief(value)}")
    return value


def read_references(
    path: PathLike, *, split: str | None = None, image_key: str = "name"
) -> dict[str, list[str]]:
    """References by image, from any captions file that platobridge reads."""
    found: dict[str, list[str]] = {}
    for caption in iter_captions(path, split=split, image_key=image_key):
        found.setdefault(caption.image_id, []).append(caption.text)
    return found


def matched(
    captions: Mapping[str, str], references: Mapping[str, Sequence[str]], *, partial: bool
) -> list[str]:
    """The images to score, in the order of the references.

    Raises InputError that names captions of unknown images, and images without a caption unless
    `partial` leaves them out.
    """
    unknown = [image_id for image_id in captions if image_id not in references]
    if unknown:
        some = next(iter(references))
        raise InputError(
            f"{len(unknown)} of {len(captions)} captions are of images that the references do not "
            f"have: {named(unknown)}; references are named like {some!r} (--image-key id takes "
            "COCO's numbers)"
        )
    missing = [image_id for image_id in references if image_id not in captions]
    if missing and not partial:
        raise InputError(
            f"{len(missing)} of {len(references)} images have no caption: {named(missing)}; add "
            "them, or score the others with --partial"
        )
    return [image_id for image_id in references if image_id in captions]


def named(ids: Sequence[str]) -> str:
    shown = ", ".join(map(repr, ids[:3]))
    return shown if len(ids) <= 3 else f"{shown} and {len(ids) - 3} more"
