"""What a page or a program is told of an image or a text: plain values, by one bridge each."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor

from bridge.classes import ClassList
from bridge.decode import Candidate, Decoding
from bridge.embeddings import Embeddings
from bridge.errors import InputError
from bridge.opened import OpenBridge
from bridge.prompts import embed_prompts, read_templates
from bridge.search import classify, search
from eval.gallery import Gallery

VOTES, VOTING = 30, 0.01  # remembered captions that vote where no decoder writes: most, and share
REPEATS = 3  # so many times as many texts are looked at, for those that differ
NO_DECODER = (
    "no decoder belongs to this bridge, and no captions lie beside it; train one with "
    "`platobridge train-decoder`, or start the page with --decoder or --texts and --captions"
)
LONGEST_QUERY = 1000  # characters


@dataclass(frozen=True, eq=False)
class Shown:
    """A bridge on show, under a name, with the pictures and captions beside it."""

    name: str
    opened: OpenBridge
    gallery: Gallery = field(default_factory=Gallery)

    @cached_property
    def unseen(self) -> Gallery:
        return self.gallery.unseen_by(self.opened.bridge)

    @property
    def has_decoder(self) -> bool:
        try:
            return bool(self.opened.decoder_folder())
        except InputError:
            return False

    def row_of(self, picture: Image.Image) -> Float[Tensor, "1 d"]:
        return self.opened.image_rows([picture])


@dataclass(frozen=True)
class Wish:
    """How a caption is wanted: `write` by the language model, if there is one, or remembered."""

    candidates: int = 3
    near: int = 5
    write: bool = True
    beams: int = 4
    length_penalty: float = 1.0
    max_tokens: int = 24


def distance(shown: Shown, row: Float[Tensor, "1 d"]) -> dict[str, Any]:
    """Whether the image lies far from those that the bridge was fitted on; None if unknown."""
    bridge = shown.opened.bridge
    if bridge.reach is None:
        return {"far": None, "kept": None, "least": None}
    kept = float(bridge.reach.kept(row - bridge.image.mean)[0])
    least = bridge.reach.least
    return {"far": kept < least, "kept": round(kept, 4), "least": round(least, 4)}


def caption(shown: Shown, picture: Image.Image, wish: Wish) -> dict[str, Any]:
    """A sentence with its rivals, and the remembered captions nearest to the image.

    Without a decoder there is no sentence, but the nearest captions of the gallery. Raises
    InputError where there are none of these either.
    """
    row = shown.row_of(picture)
    told = {"bridge": shown.name} | distance(shown, row)
    if not shown.has_decoder:
        if shown.unseen.texts is None:
            raise InputError(NO_DECODER)
        near = near_texts(shown, row, wish.near)
        found = [{"text": each["text"], "score": each["cosine"]} for each in near]
        return told | {"caption": None, "written": False, "candidates": [], "near": found}
    opened, decoder = shown.opened, shown.opened.decoder
    mapped = opened.bridge.to_text(row)
    write = wish.write and decoder.model is not None
    if write:
        how = Decoding(
            beams=wish.beams,
            max_tokens=wish.max_tokens,
            length_penalty=wish.length_penalty,
            project=decoder.projects(opened.paired),
        )
        (made,) = opened.captions(row, how, count=wish.candidates)
    else:
        votes = min(VOTES, max(1, round(VOTING * len(decoder.memory))))
        (made,) = decoder.remembered(mapped, votes, count=wish.candidates)
    (near,) = decoder.remembered(mapped, count=REPEATS * wish.near)
    return told | {
        "caption": made[0].text,
        "written": write,
        "candidates": [scored(each) for each in made],
        "near": differing(near, wish.near),
    }


def differing(found: Sequence[Candidate], most: int) -> list[dict[str, Any]]:
    """The first few that say different things: many pictures bear the same caption."""
    first = {each.text: each for each in reversed(found)}
    kept = sorted(first.values(), key=lambda each: -each.score)[:most]
    return [scored(each) for each in kept]


def scored(candidate: Candidate) -> dict[str, Any]:
    return {"text": candidate.text, "score": round(candidate.score, 4)}


def classified(
    shown: Shown, picture: Image.Image, classes: ClassList, top: int = 5
) -> dict[str, Any]:
    """The classes nearest to an image, best first, with their cosines."""
    row = shown.row_of(picture)
    prompts = prompts_of(shown.opened, tuple(classes.names.items()))
    scores, places = classify(shown.opened.bridge, prompts, classes, row, top)
    found = zip(places[0].tolist(), scores[0].tolist(), strict=True)
    return {
        "bridge": shown.name,
        **distance(shown, row),
        "classes": [
            {"name": classes.labels[place], "cosine": round(score, 4)} for place, score in found
        ],
    }


@lru_cache(maxsize=16)
def prompts_of(opened: OpenBridge, names: tuple[tuple[str, tuple[str, ...]], ...]) -> Embeddings:
    """Rows of all sentences of these classes: the same list is asked again and again."""
    classes = ClassList("classes", "classes", dict(names))
    return embed_prompts(classes, read_templates("captions"), opened.words)


def found_images(shown: Shown, text: str, top: int = 10) -> dict[str, Any]:
    """Pictures of the gallery nearest to a text, best first."""
    index = needed(shown.unseen.images, "pictures", "--images")
    rows = shown.opened.text_rows([text])
    scores, places = search(shown.opened.bridge, rows, index, "image", top)
    captions = shown.gallery.caption_of
    found = [
        {"image": index.ids[at], "caption": captions.get(index.ids[at], ""), "cosine": round(c, 4)}
        for at, c in zip(places[0].tolist(), scores[0].tolist(), strict=True)
    ]
    return {"bridge": shown.name, "searched": len(index), "images": found}


def found_texts(shown: Shown, picture: Image.Image, top: int = 10) -> dict[str, Any]:
    """Captions of the gallery, or else of the decoder's memory, nearest to an image."""
    row = shown.row_of(picture)
    texts = shown.unseen.texts
    if texts is None and shown.has_decoder:
        memory = shown.opened.decoder.memory
        mapped = shown.opened.bridge.to_text(row)
        (near,) = shown.opened.decoder.remembered(mapped, count=REPEATS * top)
        found = [{"text": each["text"], "cosine": each["score"]} for each in differing(near, top)]
        return {
            "bridge": shown.name,
            **distance(shown, row),
            "searched": len(memory),
            "texts": found,
        }
    return {
        "bridge": shown.name,
        **distance(shown, row),
        "searched": len(needed(texts, "captions", "--texts")),
        "texts": near_texts(shown, row, top),
    }


def near_texts(shown: Shown, row: Float[Tensor, "1 d"], top: int) -> list[dict[str, Any]]:
    """Captions of the gallery that differ, nearest first."""
    index, captions = needed(shown.unseen.texts, "captions", "--texts"), shown.gallery.captions
    count = min(REPEATS * top, len(index))
    scores, places = search(shown.opened.bridge, row, index, "text", count)
    found = [
        Candidate(captions.get(index.ids[place], index.ids[place]), score)
        for place, score in zip(places[0].tolist(), scores[0].tolist(), strict=True)
    ]
    return [{"text": each["text"], "cosine": each["score"]} for each in differing(found, top)]


def needed(table: Embeddings | None, what: str, option: str) -> Embeddings:
    if table is None:
        raise InputError(f"there are no {what} to search in; start the page with {option} FILE")
    return table


def query_of(text: str | None) -> str:
    """A text to look for, without blanks around it; raises InputError for none or a long one."""
    text = (text or "").strip()
    if not text:
        raise InputError("type what to look for, such as: a white horse in the snow")
    if len(text) > LONGEST_QUERY:
        raise InputError(f"expected at most {LONGEST_QUERY} characters, got {len(text)}")
    return text


def chosen(shown: Sequence[Shown], names: Sequence[str] | None) -> list[Shown]:
    """The bridges of these names, in their order on show; the first one where none is named."""
    if not names:
        return list(shown[:1])
    known = {each.name: each for each in shown}
    if strange := [name for name in names if name not in known]:
        raise InputError(f"there is no bridge {strange[0]!r} here; there are {', '.join(known)}")
    return [each for each in shown if each.name in names]


def warm(shown: Shown) -> None:
    """Run each model once on next to nothing, so that the first visitor does not wait."""
    shown.opened.text_rows(["a cat"])
    row = shown.row_of(Image.new("RGB", (64, 64)))
    if shown.has_decoder:
        torch.manual_seed(0)
        list(shown.opened.captions(row, Decoding(beams=2, max_tokens=2)))
