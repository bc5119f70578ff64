"""Finding an image by a text and a text by an image, once both are rows of one space.

A query's right answers are the gallery rows of its image: one image for a text, any of its
captions for an image. Equal scores are ordered at random, in expectation: a gallery of equal rows
scores exactly chance, and chance is computed as the score of just such a gallery.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from bridge.errors import InputError
from bridge.geometry import cosine_blocks, hubness
from eval.alignment import TIE, check_rows

DIRECTIONS = ("text_to_image", "image_to_text")
RECALL_AT = (1, 5, 10)
CSLS_K = 10
NINETY_FIVE = 1.959964  # standard deviations of a normal that hold 95 %
HALF = 1e-9  # rounding allowed when a recall is compared with one half


@dataclass(frozen=True, eq=False)
class Places:
    """Where each query finds the first of its right answers, as counts of gallery rows.

    `better` wrong rows score above the best right one; `tied` wrong and `right` right rows score
    the same. `closer` is the share of wrong rows that score above a right one, ties counted half,
    averaged over all right ones.
    """

    better: Int[Tensor, " n"]
    tied: Int[Tensor, " n"]
    right: Int[Tensor, " n"]
    closer: Float[Tensor, " n"]

    def found(self, k: int) -> Float[Tensor, " n"]:
        """Probability that a right row is among the first k, with ties in random order.

        Of `tied + right` equal rows some fill the places that are left; all of these are wrong
        with probability C(tied, places) / C(tied + right, places), here as a product.
        """
        places = (k - self.better).clamp(min=0)
        missed = torch.ones_like(self.closer)
        for i in range(1, int(self.right.max()) + 1):
            factor = (self.tied - places + i).clamp(min=0) / (self.tied + i).double()
            missed = torch.where(i <= self.right, missed * factor, missed)
        return 1 - missed

    def recall(self, k: int) -> float:
        return float(self.found(k).mean())

    def median_rank(self, gallery: int) -> float:
        """Rank up to which half of the queries have found a right row.

        The middle of the two ranks between which an even number of queries is split, as usual.
        """
        ranks = range(1, gallery + 1)
        low = bisect_left(ranks, 0.5 - HALF, key=self.recall)
        high = bisect_right(ranks, 0.5 + HALF, key=self.recall)
        return (ranks[low] + ranks[min(high, gallery - 1)]) / 2


def by_chance(answers: Int[Tensor, " n"], gallery: int) -> Places:
    """Places in a gallery of equal rows: recall@k is 1 - C(N - m, k) / C(N, k) for m answers."""
    half = torch.full(answers.shape, 0.5, dtype=torch.float64)
    return Places(torch.zeros_like(answers), gallery - answers, answers, half)


def places(
    query: Float[Tensor, "n d"],
    gallery: Float[Tensor, "m d"],
    answers: Int[Tensor, "n a"],
    *,
    csls: bool = False,
    block: int | None = None,
) -> Places:
    """Rank the gallery for every query by cosine, or by CSLS, `block` queries at a time.

    `answers` are the gallery rows that are right for a query, filled up with -1. CSLS subtracts
    from twice the cosine the mean cosine of a gallery row to its 10 nearest queries, and that of
    the query, which changes no rank (Conneau et al., Word translation without parallel data, ICLR
    2018); it therefore looks at all queries at once.
    """
    hubs = hubness(query, gallery, k=CSLS_K) / 2 if csls else torch.zeros(1, device=query.device)
    parts = []
    for start, cosine in cosine_blocks(query, gallery, block=block):
        parts.append(places_of(cosine.sub_(hubs), answers[start : start + len(cosine)]))
    return Places(*(torch.cat(part).cpu() for part in zip(*parts, strict=True)))


def places_of(
    score: Float[Tensor, "n m"], answers: Int[Tensor, "n a"]
) -> tuple[Int[Tensor, " n"], Int[Tensor, " n"], Int[Tensor, " n"], Float[Tensor, " n"]]:
    """The fields of `Places` from a block of scores."""
    absent = answers < 0
    right = score.gather(1, answers.clamp(min=0)).masked_fill(absent, -torch.inf)

    def above_and_at(level: Float[Tensor, " n"], among: Float[Tensor, "n _"]) -> tuple:
        above = (among > level[:, None] + TIE).sum(1)
        return above, (among >= level[:, None] - TIE).sum(1) - above

    best = right.amax(1)
    better, at_best = above_and_at(best, score)
    _, right_at_best = above_and_at(best, right)
    wrong = score.shape[1] - (~absent).sum(1)
    closer = torch.zeros(len(score), dtype=torch.float64, device=score.device)
    for level, none in zip(right.T, absent.T, strict=True):
        above, at = above_and_at(level, score)
        right_above, right_at = above_and_at(level, right)
        share = ((above - right_above) + (at - right_at) / 2).double() / wrong
        closer += torch.where(none, 0.0, share)
    return better, at_best - right_at_best, right_at_best, closer / (~absent).sum(1)


def interval(found: Float[Tensor, " n"], image: Int[Tensor, " n"]) -> tuple[float, float]:
    """95 % interval of a mean of shares in 0..1; texts of one image count as one draw.

    Wilson's score interval (1927) with the number of queries divided by the design effect (Kish
    1965): images are the sample, and the captions of one image succeed and fail together.
    """
    n, mean = len(found), float(found.mean())
    images = int(image.max()) + 1
    off = torch.zeros(images, dtype=torch.float64).index_add_(0, image, found - mean)
    variance = float(off.square().sum()) / n**2
    drawn = len(image.unique())
    return wilson(mean, min(mean * (1 - mean) / variance, n) if variance > 0 else drawn)


def wilson(mean: float, n: int | float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share that `n` independent draws gave."""
    square = NINETY_FIVE**2 / n
    middle = (mean + square / 2) / (1 + square)
    reach = (square * mean * (1 - mean) + square**2 / 4) ** 0.5 / (1 + square)
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


def retrieval(
    text: Float[Tensor, "t d_text"],
    image: Float[Tensor, "i d_image"],
    image_of_text: Int[Tensor, " t2"] | None = None,
    *,
    directions: Sequence[str] = DIRECTIONS,
    block: int | None = None,
) -> dict[str, dict[str, Any]]:
    """Recall@1, 5, 10, median rank and FOSCTTM: `metrics`, `chance` and `settings` of a report.

    Both tables are in one space already, centred as they should be (`Bridge.both_in`); where the
    two directions are ranked in different spaces, call it once for each. `image_of_text[j]` is the
    image row of text j, row j itself if it is left out; every image needs a text.

    Keys are `<direction>.<metric>`, and `<direction>.csls.<metric>` with CSLS instead of plain
    cosines; `<key>.interval` holds a recall's 95 % interval. FOSCTTM is the fraction of samples
    closer than the true match (Liu et al., 2019), ties half: 0 is perfect and .5 chance. Raises
    InputError for unequal widths, wrong indices, rows that are not finite.
    """
    check_space(text, image)
    partner = torch.arange(len(text)) if image_of_text is None else image_of_text.cpu().long()
    check_partners(partner, len(text), len(image))
    metrics: dict[str, Any] = {}
    chance: dict[str, float] = {}
    for direction in directions:
        if direction == "text_to_image":
            query, gallery, answers, group = text, image, partner[:, None], partner
        elif direction == "image_to_text":
            query, gallery, answers = image, text, texts_of_image(partner, len(image))
            group = torch.arange(len(image))
        else:
            raise InputError(f"directions are {' and '.join(DIRECTIONS)}, got {direction!r}")
        level = figures(by_chance((answers >= 0).sum(1), len(gallery)), len(gallery))
        for name, csls in ((direction, False), (f"{direction}.csls", True)):
            found = places(query, gallery, answers.to(query.device), csls=csls, block=block)
            metrics |= {
                f"{name}.{key}": value for key, value in figures(found, len(gallery)).items()
            }
            chance |= {f"{name}.{key}": value for key, value in level.items()}
            for k in RECALL_AT:
                metrics[f"{name}.recall@{k}.interval"] = list(interval(found.found(k), group))
    settings = {"texts": len(text), "images": len(image), "csls_k": CSLS_K}
    return {"metrics": metrics, "chance": chance, "settings": settings}


def figures(found: Places, gallery: int) -> dict[str, float]:
    return {
        **{f"recall@{k}": found.recall(k) for k in RECALL_AT},
        "median_rank": found.median_rank(gallery),
        "foscttm": float(found.closer.mean()),
    }


def texts_of_image(image_of_text: Int[Tensor, " t"], images: int) -> Int[Tensor, "i a"]:
    """Rows of the texts of each image, in order, filled up with -1."""
    order = image_of_text.argsort(stable=True)
    counts = torch.bincount(image_of_text, minlength=images)
    place = torch.arange(len(order)) - (counts.cumsum(0) - counts)[image_of_text[order]]
    table = torch.full((images, int(counts.max())), -1)
    table[image_of_text[order], place] = order
    return table


def partners(text_image_ids: Sequence[str], image_ids: Sequence[str]) -> Int[Tensor, " t"]:
    """The image row of each text, by image id; the third argument of `retrieval`.

    Raises InputError for an image id on two image rows and for a text without an image.
    """
    row_of = {image_id: row for row, image_id in enumerate(image_ids)}
    if len(row_of) < len(image_ids):
        raise InputError(
            f"expected one image row an image, got {len(image_ids)} rows of {len(row_of)} images"
        )
    if missing := [image_id for image_id in text_image_ids if image_id not in row_of]:
        raise InputError(
            f"{len(missing)} texts belong to images that are not there, the first to "
            f"{missing[0]!r}; keep the texts of the images at hand"
        )
    return torch.tensor([row_of[image_id] for image_id in text_image_ids], dtype=torch.long)


def check_space(text: Tensor, image: Tensor) -> None:
    if text.shape[1] != image.shape[1]:
        raise InputError(
            f"text and image rows must be of one space, got widths {text.shape[1]} and "
            f"{image.shape[1]}; map one side with a bridge first"
        )
    check_rows(text, "text")
    check_rows(image, "image")


def check_partners(image_of_text: Int[Tensor, " t"], texts: int, images: int) -> None:
    """Raise InputError unless each text names an image row and each image row has a text."""
    if images < 2:
        raise InputError(f"retrieval needs at least 2 images, got {images}")
    if len(image_of_text) != texts:
        raise InputError(
            f"expected an image row for each of {texts} texts, got {len(image_of_text)}"
        )
    if not 0 <= int(image_of_text.min()) <= int(image_of_text.max()) < images:
        raise InputError(
            f"image rows of texts must be in 0..{images - 1}, got "
            f"{int(image_of_text.min())}..{int(image_of_text.max())}; "
            "say whose texts they are if there is not one a row"
        )
    if bare := images - len(image_of_text.unique()):
        raise InputError(f"{bare} of {images} images have no text; leave them out")
