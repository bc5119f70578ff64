"""Naming what images show from class names alone: scores, top-k, confusions, and what to expect.

Cosines of images to classes come in blocks that are computed anew at every pass, so that memory
holds no table of all images by all classes. Ties are broken at random, in expectation, as in
`eval.retrieval`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from bridge.embeddings import Embeddings
from bridge.geometry import unit
from bridge.maps import Bridge, Side
from bridge.prompts import class_rows, group_means
from eval.alignment import TIE
from eval.labelled import Labelled
from eval.retrieval import CSLS_K, Places, interval, places_of, wilson

TOP = (1, 5)
COLUMNS = ("cosine", "csls", "balanced")
TRANSDUCTIVE = ("csls", "balanced")  # computed from all test images at once, without their labels
SHARPNESS = 4.0  # of the balanced column: cosines over their deviation, times this
UNBALANCED = 0.01  # a class's share of the images may be off by this part of it
PASSES = 100
BLOCK = 1024
CENTRES = ("bridge", "own")

Blocks = Iterable[tuple[int, Float[Tensor, "_ c"]]]


@dataclass(frozen=True, eq=False)
class Cosines:
    """Cosines of all images to all classes: (first image row, block), anew at every pass."""

    classes: Float[Tensor, "c d"]
    images: Float[Tensor, "n e"]
    into: Callable[[Tensor], Tensor]
    block: int = BLOCK

    def __iter__(self) -> Iterator[tuple[int, Float[Tensor, "b c"]]]:
        classes = unit(self.classes).T
        for start in range(0, len(self.images), self.block):
            rows = self.images[start : start + self.block].float()
            yield start, unit(self.into(rows)) @ classes


def cosines(
    bridge: Bridge,
    classes: Float[Tensor, "c d_text"],
    images: Float[Tensor, "n d_image"],
    *,
    space: Side = "image",
    block: int = BLOCK,
) -> Cosines:
    """Both sides in one space of a bridge. In that of the images, the query's, hubs are fewer."""
    here, _ = bridge.both_in(space, classes, images[:0].float())
    return Cosines(here, images, lambda rows: bridge.both_in(space, classes[:0], rows)[1], block)


def hubs(blocks: Blocks, k: int = CSLS_K) -> Float[Tensor, " c"]:
    """Mean cosine of each class to its k nearest images: what CSLS subtracts.

    `bridge.geometry.hubness`, without a table of all images.
    """
    best = None
    for _, cosine in blocks:
        best = cosine if best is None else torch.cat([best, cosine])
        best = best.topk(min(k, len(best)), dim=0).values
    return best.mean(0)


def balance(blocks: Blocks, sharpness: float = SHARPNESS) -> Float[Tensor, " c"]:
    """What to add to each class's cosines so that all classes get the same share of the images.

    An image is dealt out to the classes by a softmax of its scores, cosines being divided by their
    deviation and multiplied by `sharpness`; offsets are the column potentials of the entropic
    transport plan with uniform margins (Sinkhorn; Cuturi 2013).
    """
    scale = sharpness / max(deviation(blocks), 1e-12)
    offset: Tensor | float = 0.0
    for _ in range(PASSES):
        load, n = 0.0, 0
        for _, cosine in blocks:
            load = load + (scale * cosine + offset).softmax(dim=1).sum(0, dtype=torch.float64)
            n += len(cosine)
        off = (load * len(load) / n).clamp(min=1e-30)
        offset = offset - off.log().float()
        if (off - 1).abs().max() < UNBALANCED:
            break
    return offset / scale


def deviation(blocks: Blocks) -> float:
    """Standard deviation of all cosines."""
    cells, total, square = 0, 0.0, 0.0
    for _, cosine in blocks:
        cells += cosine.numel()
        total += float(cosine.sum(dtype=torch.float64))
        square += float(cosine.square().sum(dtype=torch.float64))
    return max(square / cells - (total / cells) ** 2, 0.0) ** 0.5


@dataclass(frozen=True, eq=False)
class Outcome:
    """Probability that an image's class is among its first k, and images taken for each class."""

    found: dict[int, Float[Tensor, " n"]]
    confusion: Float[Tensor, "c c"]  # shown x taken for; counts, ties shared out


def outcomes(
    blocks: Blocks, label: Int[Tensor, " n"], offsets: Mapping[str, Float[Tensor, " c"]]
) -> dict[str, Outcome]:
    """Classify all images in one pass, once with each table of what is added to the cosines."""
    classes = len(next(iter(offsets.values())))
    parts: dict[str, list] = {name: [] for name in offsets}
    confusion = {name: torch.zeros(classes, classes, dtype=torch.float64) for name in offsets}
    for start, cosine in blocks:
        here = label[start : start + len(cosine)]
        for name, offset in offsets.items():
            score = cosine + offset
            parts[name].append(places_of(score, here[:, None]))
            first = (score >= score.amax(1, keepdim=True) - TIE).double()
            confusion[name].index_add_(0, here, first / first.sum(1, keepdim=True))
    found = {}
    for name, each in parts.items():
        ranked = Places(*(torch.cat(part) for part in zip(*each, strict=True)))
        found[name] = Outcome({k: ranked.found(k) for k in TOP if k < classes}, confusion[name])
    return found


def classified(
    bridge: Bridge,
    prompts: Embeddings,
    class_of: Int[Tensor, " p"],
    shown: Labelled,
    *,
    center: str = "bridge",
    space: Side = "image",
    block: int = BLOCK,
) -> dict[str, Outcome]:
    """The outcome in each of `COLUMNS`.

    `center` is bridge (the means that it was fitted with) or own: the mean of the class rows and
    that of the test images, which is transductive.
    """
    rows = prompts.rows.float()
    if center == "own":
        text = group_means(rows, class_of).mean(0)
        bridge = recentred(bridge, text, mean_row(shown.images.rows))
    classes = class_rows(rows, class_of, bridge.text.mean)
    blocks = cosines(bridge, classes, shown.images.rows, space=space, block=block)
    offsets = {
        "cosine": torch.zeros(len(classes)),
        "csls": -hubs(blocks) / 2,
        "balanced": balance(blocks),
    }
    return outcomes(blocks, shown.label, offsets)


def mean_row(rows: Float[Tensor, "n d"], block: int = BLOCK) -> Float[Tensor, " d"]:
    """The mean of rows that may lie on disk, in blocks and float64."""
    parts = (rows[at : at + block].double().sum(0) for at in range(0, len(rows), block))
    return (sum(parts) / len(rows)).float()


def recentred(
    bridge: Bridge, text: Float[Tensor, " d_text"], image: Float[Tensor, " d_image"]
) -> Bridge:
    """The same map between spaces of other means."""
    return replace(
        bridge, text=replace(bridge.text, mean=text), image=replace(bridge.image, mean=image)
    )


def mean_of(found: Sequence[Outcome]) -> Outcome:
    """What several bridges find on average, image by image."""
    each = {k: torch.stack([one.found[k] for one in found]).mean(0) for k in found[0].found}
    return Outcome(each, torch.stack([one.confusion for one in found]).mean(0))


def figures(outcome: Outcome, label: Int[Tensor, " n"]) -> dict[str, Any]:
    """Top-k and the mean over classes of top-1, each with a 95 % interval."""
    images = torch.arange(len(label))
    said: dict[str, Any] = {}
    for k, found in outcome.found.items():
        said[f"top{k}"] = float(found.mean())
        said[f"top{k}.interval"] = list(interval(found, images))
    mean, reach = mean_per_class(outcome.found[1], label)
    return said | {"mean_per_class": mean, "mean_per_class.interval": list(reach)}


def mean_per_class(
    found: Float[Tensor, " n"], label: Int[Tensor, " n"]
) -> tuple[float, tuple[float, float]]:
    """Mean over classes of the share found, and Wilson's interval of as many draws as it is worth.

    Classes are fixed, the images of each are the sample.
    """
    count = torch.bincount(label).double()
    share = torch.zeros_like(count).index_add_(0, label, found) / count
    off = torch.zeros_like(count).index_add_(0, label, (found - share[label]).square())
    mean = float(share.mean())
    variance = float((off / count**2).sum()) / len(count) ** 2
    return mean, wilson(mean, mean * (1 - mean) / variance if variance > 0 else len(found))


def chance(classes: int) -> dict[str, float]:
    """Scores of images whose classes are drawn at random: k of `classes`."""
    level = {f"top{k}": k / classes for k in TOP if k < classes}
    return level | {"mean_per_class": 1 / classes}
