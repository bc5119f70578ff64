"""Problems on which ways to fit a bridge without pairs, or with a few, are compared."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from benchmarks.planted import CLUSTERS, class_accuracy, planted
from bridge.embed import embed_captions
from bridge.embeddings import Embeddings, image_means
from bridge.encode_text import TextEncoder, text_encoder
from bridge.features import import_features
from bridge.geometry import unit
from bridge.maps import Bridge
from eval.measure import measure_retrieval


@dataclass(frozen=True, eq=False)
class Problem:
    """Sides to fit from, in which `pairs` are known, and what is measured of a bridge.

    `paired` is what a fit from pairs is given to show the ceiling. `chance` has a level for every
    figure that `measure` gives.
    """

    text: Embeddings
    image: Embeddings
    paired: tuple[Embeddings, Embeddings]
    measure: Callable[[Bridge], dict[str, float]]
    chance: dict[str, float]
    pairs: list[str] | None = None


def table(rows: np.ndarray, prefix: str) -> Embeddings:
    ids = tuple(f"{prefix}{i}" for i in range(len(rows)))
    return Embeddings(torch.from_numpy(np.ascontiguousarray(rows, np.float32)), ids, ids)


def of_planted(level: int, n: int, d: int, seed: int) -> Problem:
    """Unpaired rows of a planted level; the share of test images whose class is found first."""
    found = planted(level, n, d, seed)

    def measure(bridge: Bridge) -> dict[str, float]:
        def to_image(rows: np.ndarray) -> np.ndarray:
            return bridge.to_image(torch.from_numpy(rows)).numpy()

        return {"class top-1": class_accuracy(to_image, found)}

    return Problem(
        table(found.text, "t"),
        table(found.image, "i"),
        (table(found.paired_text, "p"), table(found.paired_image, "p")),
        measure,
        {"class top-1": 1 / CLUSTERS},
    )


def of_copy(n: int, d: int, seed: int, *, other_rows: bool) -> Problem:
    """A space against itself, turned: the same rows or others; the share of test rows found first.

    The same rows have a match each, that no noise hides; of other rows only the shape is the same.
    """
    found = planted(1, 2 * n, d, seed)
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0].astype(np.float32)
    test = table(found.test_text, "test"), table(found.test_text @ turn, "test")

    def measure(bridge: Bridge) -> dict[str, float]:
        return {"R@1": measure_retrieval(*test, bridge).metrics["text_to_image.recall@1"]}

    return Problem(
        table(found.text[:n], "t"),
        table((found.text[n:] if other_rows else found.text[:n]) @ turn, "i"),
        (table(found.paired_text, "p"), table(found.paired_text @ turn, "p")),
        measure,
        {"R@1": 1 / len(found.test_text)},
    )


# ---- real features


@lru_cache
def features(folder: Path, name: str) -> Embeddings:
    """Rows of one of the feature tables; captions averaged, an image's row each."""
    path = folder / f"{name}.safetensors"
    return image_means(import_features(path, path.with_suffix(".ids.txt")))


def retrieved(text: Embeddings, image: Embeddings) -> tuple[Callable, dict[str, float]]:
    """Median rank and R@10 from text to image, and chance."""
    keys = {"median rank": "text_to_image.median_rank", "R@10": "text_to_image.recall@10"}

    def measure(bridge: Bridge) -> dict[str, float]:
        metrics = measure_retrieval(text, image, bridge, captions="mean").metrics
        return {name: metrics[key] for name, key in keys.items()}

    return measure, {"median rank": (len(image) + 1) / 2, "R@10": 10 / len(image)}


@dataclass(frozen=True)
class Texts:
    """What the text side is embedded by: MiniLM, whose rows are stored, or an encoder folder."""

    encoder: Path | None = None
    pooling: str = "default"

    def model(self) -> TextEncoder:
        spec = f"jepa:{self.encoder}" if self.encoder else "package:minilm"
        return text_encoder(spec, pooling=self.pooling, device="cpu")

    def rows(self, captions: Path, stored: str) -> Embeddings:
        """Means of the captions of each image; those of an encoder are kept beside it."""
        if not self.encoder:
            return features(captions.parent, stored)
        name = f"{captions.parent.name}-{captions.stem}-{self.pooling}.safetensors"
        return image_means(embed_captions(captions, self.model(), self.encoder.parent / name))


@lru_cache
def flickr8k(data: Path, texts: Texts) -> tuple[Embeddings, Embeddings, dict[str, list[str]]]:
    """Both sides, and the images of train, val and test."""
    folder = data / "flickr8k"
    content = json.loads((folder / "dataset_flickr8k.json").read_text(encoding="utf-8"))
    ids: dict[str, list[str]] = {"train": [], "val": [], "test": []}
    for one in content["images"]:
        ids[one["split"]].append(one["filename"])
    text = texts.rows(folder / "dataset_flickr8k.json", "text_minilm")
    return text, features(folder, "images_lite0"), ids


def of_flickr8k(data: Path, texts: Texts, pairs: int, seed: int) -> Problem:
    """Captions of one half of the training images, the other half; pairs of the validation ones."""
    text, image, ids = flickr8k(data, texts)
    draw = np.random.default_rng(seed)
    train = [ids["train"][i] for i in draw.permutation(len(ids["train"]))]
    known = [ids["val"][i] for i in draw.permutation(len(ids["val"]))[:pairs]]
    half = len(train) // 2
    measure, chance = retrieved(text.of_images(ids["test"]), image.of_images(ids["test"]))
    return Problem(
        text.of_images(train[:half] + known),
        image.of_images(train[half:] + known),
        (text.of_images(train), image.of_images(train)),
        measure,
        chance,
        known or None,
    )


def of_coco(data: Path, texts: Texts, pairs: int, seed: int) -> Problem:
    """Captions of COCO images, and other images; 250 of the 368 pairs are for the test.

    The ceiling has the other 118, and the 6000 pairs of Flickr8k: COCO has no more here.
    """
    folder = data / "coco"
    paired_text = texts.rows(folder / "pairs_captions.jsonl", "pairs_text_minilm")
    paired_image = features(folder, "pairs_images_lite0")
    order = np.random.default_rng(seed).permutation(len(paired_image))
    ids = [paired_image.ids[i] for i in order]
    test, rest = ids[:250], ids[250:]
    text = texts.rows(folder / "captions.jsonl", "text_minilm")
    image = features(folder, "uncaptioned_images_lite0")
    measure, chance = retrieved(paired_text.of_images(test), paired_image.of_images(test))
    more_text, more_image, flickr = flickr8k(data, texts)

    def both(bridge: Bridge) -> dict[str, float]:
        return measure(bridge) | {"mini-ImageNet top-5": top5(data, texts, bridge)}

    return Problem(
        text.joined(paired_text).of_images([*text.ids, *rest[:pairs]]),
        image.joined(paired_image).of_images([*image.ids, *rest[:pairs]]),
        (
            more_text.joined(paired_text).of_images(flickr["train"] + rest),
            more_image.joined(paired_image).of_images(flickr["train"] + rest),
        ),
        both,
        chance | {"mini-ImageNet top-5": 0.05},
        rest[:pairs] or None,
    )


@lru_cache
def prompts(data: Path, texts: Texts) -> tuple[list[str], torch.Tensor]:
    """Classes of mini-ImageNet and a row for "a photo of a" each of them."""
    path = data / "mini-imagenet" / "classes.json"
    names: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return list(names), texts.model().encode([f"a photo of a {name}." for name in names.values()])


def top5(data: Path, texts: Texts, bridge: Bridge) -> float:
    """Share of images whose class is among the five nearest prompts, each side about its mean."""
    image = features(data / "mini-imagenet", "images_lite0")
    classes, text = prompts(data, texts)
    labels = torch.tensor([classes.index(i.split("/")[0]) for i in image.image_ids])
    mapped = unit(text - text.mean(0)) @ bridge.to_image_weight
    rows = image.rows.float()
    near = (unit(rows - rows.mean(0)) @ unit(mapped).T).topk(5).indices
    return float((near == labels[:, None]).any(1).float().mean())


@dataclass(frozen=True)
class Spec:
    """How a problem is made for a seed, how many seeds it has, and what it is compared by."""

    make: Callable[[Path | None, int], Problem]
    seeds: int
    kind: str  # planted, large, or with the default effort real, pairs, own, own pairs
    needs: tuple[str, ...] = ()  # folders of the data


def real(make: Callable, needs: tuple[str, ...], pairs: int, seeds: int, texts: Texts) -> Spec:
    kind = "pairs" if pairs else "real"
    return Spec(lambda data, seed: make(data, texts, pairs, seed), seeds, kind, needs)


FLICKR8K = ("flickr8k",)
COCO = ("coco", "mini-imagenet", "flickr8k")
MINILM = Texts()


def specs(encoders: Mapping[str, Path]) -> dict[str, Spec]:
    """All problems; those on real features once more for each encoder of one's own, by its name."""
    levels = {
        f"planted-{level}": Spec(
            lambda data, seed, level=level: of_planted(level, 4000, 128, seed), 5, "planted"
        )
        for level in (1, 2, 3)
    }
    own = {}
    for name, folder in encoders.items():
        for part, pooling in (("backbone", "default"), ("projector", "projector")):
            texts = Texts(folder, pooling)
            for set_name, make, needs in (
                ("flickr8k", of_flickr8k, FLICKR8K),
                ("coco", of_coco, COCO),
            ):
                for pairs, also, kind in ((0, "", "own"), (10, "-10-pairs", "own pairs")):
                    spec = real(make, needs, pairs, 1, texts)
                    own[f"{set_name}{also}, {name} {part}"] = replace(spec, kind=kind)
    return {
        **levels,
        "rotated-copy": Spec(
            lambda data, seed: of_copy(4000, 128, seed, other_rows=False), 1, "planted"
        ),
        "rotated-half": Spec(
            lambda data, seed: of_copy(4000, 128, seed, other_rows=True), 1, "planted"
        ),
        "large": Spec(lambda data, seed: of_planted(2, 10_000, 256, seed), 1, "large"),
        "flickr8k": real(of_flickr8k, FLICKR8K, 0, 5, MINILM),
        **{
            f"flickr8k-{n}-pairs": real(of_flickr8k, FLICKR8K, n, 5, MINILM)
            for n in (5, 10, 50, 100)
        },
        "coco": real(of_coco, COCO, 0, 3, MINILM),
        "coco-10-pairs": real(of_coco, COCO, 10, 3, MINILM),
        **own,
    }
