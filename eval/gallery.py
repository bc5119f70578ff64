"""Pictures and captions beside a bridge: what is searched in, measured on, and shown as a map."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from sklearn.manifold import TSNE

from bridge import embeddings
from bridge.captions import iter_captions
from bridge.embeddings import Embeddings
from bridge.errors import InputError
from bridge.files import PathLike, existing
from bridge.maps import Bridge
from eval.measure import measure_alignment, measure_retrieval
from eval.report import Report

QUICKSTART = Path("runs") / "quickstart"
MEASURED = 500  # images that the report card looks at
MAPPED = 120  # pairs on the map: more would cover each other
WORLD = "drawn scenes of a picture-book world: animals, vehicles, things, in simple places"


@dataclass(frozen=True, eq=False)
class Gallery:
    """Image rows with the folder of their pictures, text rows with their captions by id.

    Either side may be missing. `known` says in words what kind of pictures these are.
    """

    images: Embeddings | None = None
    folder: Path | None = None
    texts: Embeddings | None = None
    captions: Mapping[str, str] = field(default_factory=dict)
    known: str = ""

    def unseen_by(self, bridge: Bridge) -> "Gallery":
        """The part that the bridge was not fitted on; all of it where that would be nothing."""
        images, texts = self.images, self.texts
        if images is not None:
            images = unseen(images, bridge)
        if texts is not None:
            texts = unseen(texts, bridge)
        return replace(self, images=images, texts=texts)

    def picture(self, image_id: str) -> Path | None:
        """The file of a picture, None for one that is not there or lies outside the folder."""
        if self.folder is None:
            return None
        path = (self.folder / image_id).resolve()
        return path if path.is_relative_to(self.folder.resolve()) and path.is_file() else None

    @cached_property
    def caption_of(self) -> dict[str, str]:
        """The first caption of each image, by image id."""
        first: dict[str, str] = {}
        if self.texts is not None:
            for text_id, image_id in zip(self.texts.ids, self.texts.image_ids, strict=True):
                first.setdefault(image_id, self.captions.get(text_id, ""))
        return first

    def pairs(self, most: int) -> tuple[Embeddings, Embeddings] | None:
        """Texts and images of the first `most` images that have both; None for fewer than 20."""
        if self.images is None or self.texts is None:
            return None
        told = set(self.texts.image_ids)
        shared = [image_id for image_id in self.images.image_ids if image_id in told][:most]
        if len(shared) < 20:
            return None
        return self.texts.of_images(shared), self.images.of_images(shared)


def unseen(table: Embeddings, bridge: Bridge) -> Embeddings:
    new = np.flatnonzero(~bridge.are_seen(table.image_ids))
    return table.take(new.tolist()) if len(new) else table


def gallery(
    images: PathLike | None, pictures: PathLike | None, texts: PathLike | None, captions: PathLike
) -> Gallery:
    """A gallery of these files; raises InputError for what is missing or cannot be read."""
    if captions is None and texts is not None:
        raise InputError(f"{texts}: expected --captions beside --texts, to show what they say")
    folder = existing(pictures, "folder of pictures") if pictures else None
    texts_table = embeddings.load(texts) if texts else None
    return Gallery(
        embeddings.load(images) if images else None,
        folder,
        texts_table,
        {each.id: each.text for each in iter_captions(captions)} if captions else {},
    )


def quickstart_beside(bridge: Path) -> Gallery | None:
    """The gallery of the quickstart whose bridge this is, if it is one's."""
    encoder, run = bridge.resolve().parent, bridge.resolve().parent.parent
    if not (run / "quickstart.json").exists() or not (encoder / "captions.safetensors").exists():
        return None
    found = gallery(
        run / "images.safetensors",
        run / "world" / "images",
        encoder / "captions.safetensors",
        run / "captions.jsonl",
    )
    return replace(found, known=WORLD)


def default_bridges(run: Path = QUICKSTART) -> list[Path]:
    """The quickstart's bridge; raises InputError that says which command makes one."""
    folder = run / "good-views" / "bridge-ridge"
    if not (folder / "bridge.json").exists():
        raise InputError(
            f"no bridge was named and {folder} is not there; make one with "
            "`platobridge quickstart`, or name yours: platobridge app BRIDGE"
        )
    return [folder]


def measured(bridge: Bridge, shown: Gallery) -> dict[str, Report]:
    """Alignment before and through the bridge and retrieval, on pairs that it was not fitted on.

    Empty where the gallery has too few such pairs.
    """
    pairs = shown.pairs(MEASURED)
    if pairs is None or bridge.are_seen(pairs[1].image_ids).any():
        return {}
    return {
        "no map": measure_alignment(*pairs),
        "through the bridge": measure_alignment(*pairs, bridge=bridge),
        "retrieval": measure_retrieval(*pairs, bridge),
    }


@dataclass(frozen=True)
class Point:
    """A text or an image on the map; `pair` is the number of what belongs together."""

    side: str
    pair: int
    x: float
    y: float
    image_id: str


def embedding_map(bridge: Bridge, shown: Gallery) -> list[Point]:
    """Texts and images in the text encoder's space, laid out in the unit square by t-SNE."""
    pairs = shown.pairs(MAPPED)
    if pairs is None:
        return []
    text, image = pairs
    first = {image_id: row for row, image_id in reversed(list(enumerate(text.image_ids)))}
    text = text.take([first[image_id] for image_id in image.image_ids])
    both = np.concatenate(
        [rows.numpy() for rows in bridge.both_in("text", text.rows.float(), image.rows.float())]
    )
    perplexity = min(20.0, len(both) / 4)
    layout = TSNE(init="pca", metric="cosine", perplexity=perplexity, random_state=0)
    places = layout.fit_transform(both)
    places = (places - places.min(0)) / np.maximum(np.ptp(places, axis=0), 1e-9)
    return [
        Point("text" if row < len(text) else "image", row % len(text), x, y, image_id)
        for row, ((x, y), image_id) in enumerate(
            zip(places.tolist(), [*image.image_ids] * 2, strict=True)
        )
    ]
