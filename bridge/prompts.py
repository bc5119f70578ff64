"""Class names in sentences, and one row a class from the rows of its sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor

from bridge.captions import Caption
from bridge.classes import ClassList, some
from bridge.embed import WINDOW, Progress, chunks, embed_window
from bridge.embeddings import Embeddings
from bridge.encode_text import TextEncoder
from bridge.errors import InputError
from bridge.files import PathLike
from bridge.foreign import brief, decode, fault, first_bytes, parse, refuse_binary
from bridge.geometry import unit

FAMILIES = {  # {} is the name, {a} the name with its article
    "captions": (  # as people caption photos, for encoders that were trained on captions
        "{a}.",
        "a photo of {a}.",
        "a close up of {a}.",
        "a large {}.",
        "a small {}.",
        "one {} by itself.",
        "there is {a} here.",
        "{a} can be seen in the picture.",
        "a {} with something behind it.",
    ),
    "single": ("a photo of a {}.",),
    "name": ("{}",),
}
EXPECTED = "templates (a line each, a JSON list, or JSON {class: [sentences]})"
BATCH = 64


@dataclass(frozen=True)
class Templates:
    """Sentences with a place for a class's name: the same for all classes, or each its own.

    `{}` and `{c}` stand for a name, `{a}` for a name with its article. Class by class, by id or
    usual name, a sentence may also be whole, without such a place.
    """

    source: str
    common: tuple[str, ...] = ()
    of_class: dict[str, tuple[str, ...]] | None = None


def read_templates(source: PathLike) -> Templates:
    """A family of ours (`captions`, `single`, `name`), or a file as other tools export them.

    Raises InputError for a file of another kind and for a common template without `{}` or `{c}`.
    """
    if source in FAMILIES:
        return Templates(str(source), FAMILIES[source])
    path = Path(source)
    head = first_bytes(path, EXPECTED)
    refuse_binary(path, head, EXPECTED)
    text = decode(path, path.read_bytes())
    document = parse(path, text) if text.lstrip()[:1] in "[{" else text.splitlines()
    if isinstance(document, dict):
        return Templates(
            str(path), of_class={key: sentences(path, key, of) for key, of in document.items()}
        )
    common = sentences(path, "templates", document)
    for template in common:
        if fill(template, "x") == template:
            raise fault(path, "templates", f"expected {{}} or {{c}} for the name in {template!r}")
    return Templates(str(path), common)


def sentences(path: Path, place: str, listed: object) -> tuple[str, ...]:
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise fault(path, place, f"expected a list of sentences, got {brief(listed)}")
    found = tuple(each.strip() for each in listed if each.strip())
    if not found:
        raise fault(path, place, "expected at least one sentence, got none")
    return found


def fill(template: str, name: str) -> str:
    """The sentence of one name: "a photo of an oboe." """
    article = "an" if name[0].lower() in "aeio" else "a"
    named = template.replace("{a}", f"{article} {name}")
    return named.replace("{c}", name).replace("{}", name)


def prompts(classes: ClassList, templates: Templates) -> list[Caption]:
    """Every sentence of every name of every class; its image id is the class's id.

    Raises InputError if class by class templates lack a class.
    """
    of_class = {key.lower(): of for key, of in (templates.of_class or {}).items()}
    lacking, found = [], []
    for class_id, names in classes.names.items():
        own = of_class.get(class_id.lower()) or of_class.get(names[0].lower())
        lacking += [] if own or templates.common else [class_id]
        texts = [fill(each, name) for name in names for each in own or templates.common]
        found += [
            Caption(class_id, text, f"{class_id}#{k}")
            for k, text in enumerate(dict.fromkeys(texts))
        ]
    if lacking:
        raise InputError(f"{templates.source}: no sentences for the classes {some(lacking)}")
    return found


def embed_prompts(
    classes: ClassList,
    templates: Templates,
    encoder: TextEncoder,
    *,
    progress: Progress = lambda done, total: None,
) -> Embeddings:
    """Text rows of all prompts; `image_ids` are class ids."""
    wanted, rows = prompts(classes, templates), []
    for window in chunks(wanted, WINDOW * BATCH):
        rows.append(embed_window(window, encoder, BATCH, lambda done: None)[0])
        progress(sum(map(len, rows)), len(wanted))
    return Embeddings(
        torch.cat(rows),
        tuple(each.id for each in wanted),
        tuple(each.image_id for each in wanted),
        {"encoder": encoder.about, "templates": templates.source},
    )


def class_of_prompt(prompts: Embeddings, ids: Sequence[str]) -> Int[Tensor, " p"]:
    """The place in `ids` of the class of each prompt."""
    place = {class_id: at for at, class_id in enumerate(ids)}
    return torch.tensor([place[class_id] for class_id in prompts.image_ids])


def class_rows(
    rows: Float[Tensor, "p d"], class_of: Int[Tensor, " p"], centre: Float[Tensor, " d"]
) -> Float[Tensor, "c d"]:
    """One row a class, in the encoder's own coordinates: the mean direction of its prompts.

    Prompts are made unit vectors around `centre` before they are averaged, so that none counts
    more for being long (Radford et al., Learning transferable visual models from natural language
    supervision, ICML 2021, who centre on nothing). Every class 0..c-1 has a prompt.
    """
    return centre + group_means(unit(rows.float() - centre), class_of)


def group_means(rows: Float[Tensor, "p d"], group: Int[Tensor, " p"]) -> Float[Tensor, "c d"]:
    count = torch.bincount(group)
    total = torch.zeros(len(count), rows.shape[1], dtype=torch.float64)
    return (total.index_add_(0, group, rows.double()) / count[:, None]).float()
