"""fit(): check both sides once, join them on image id, call one fitter, note where it came from."""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from bridge import paired
from bridge.channel import Channel, fitted_channel
from bridge.embeddings import Embeddings, check_finite
from bridge.errors import InputError
from bridge.maps import Bridge, Space
from bridge.paired import Moments
from bridge.provenance import id_hash, versions
from bridge.reach import MOST_ROWS, Reach, fitted_reach

FOLDS = 5
ONE_FOLD_FROM = 2000  # so many pairs choose the penalty well when a single fold is held out
BLOCK = 8192
CHANNEL_FROM = 20  # pairs; fewer say nothing of the map's errors


@dataclass(frozen=True, eq=False)
class Pairs:
    """Text and image embeddings joined on image id, read in blocks.

    Pair i is image row `image_rows[i]` with the text rows `text_rows[start[i]:start[i + 1]]`.
    """

    text: Embeddings
    image: Embeddings
    image_rows: np.ndarray
    text_rows: np.ndarray
    start: np.ndarray

    def __len__(self) -> int:
        return len(self.image_rows)

    @property
    def image_ids(self) -> list[str]:
        return [self.image.image_ids[row] for row in self.image_rows]

    def take(self, indices: np.ndarray) -> "Pairs":
        """The pairs at `indices`, in that order."""
        counts = np.diff(self.start)[indices]
        rows = [self.text_rows[self.start[i] : self.start[i + 1]] for i in indices]
        start = np.concatenate([[0], np.cumsum(counts)])
        return Pairs(self.text, self.image, self.image_rows[indices], np.concatenate(rows), start)

    def blocks(
        self, captions: Literal["mean", "each"] = "mean"
    ) -> Iterator[tuple[Float[Tensor, "n d_text"], Float[Tensor, "n d_image"]]]:
        """Rows of both sides, pair by pair: the mean of an image's texts, or each of them."""
        for first in range(0, len(self), BLOCK):
            start = self.start[first : first + BLOCK + 1]
            counts = torch.from_numpy(np.diff(start))
            text = self.text.rows[self.text_rows[start[0] : start[-1]]].float()
            image = self.image.rows[self.image_rows[first : first + BLOCK]].float()
            pair_of_row = torch.repeat_interleave(torch.arange(len(counts)), counts)
            if captions == "each":
                yield text, image[pair_of_row]
            else:
                total = torch.zeros(len(counts), text.shape[1]).index_add_(0, pair_of_row, text)
                yield total / counts[:, None], image


def join(text: Embeddings, image: Embeddings) -> Pairs:
    """Pair texts with images on image id, in the order of the image rows.

    Raises InputError if an image id stands on two image rows or none is shared.
    """
    row_of = {image_id: row for row, image_id in enumerate(image.image_ids)}
    if len(row_of) < len(image):
        raise InputError(
            f"expected one image row an image, got {len(image)} rows of {len(row_of)} images; "
            "are the two files in the wrong order (TEXT first, then IMAGES)?"
        )
    partner = np.array([row_of.get(image_id, -1) for image_id in text.image_ids])
    text_rows = np.flatnonzero(partner >= 0)
    if not len(text_rows):
        raise InputError(
            f"text and images share no image id: texts have ids like {text.image_ids[0]!r}, "
            f"images like {image.image_ids[0]!r}; both must name an image in the same way"
        )
    text_rows = text_rows[np.argsort(partner[text_rows], kind="stable")]
    image_rows, start = np.unique(partner[text_rows], return_index=True)
    return Pairs(text, image, image_rows, text_rows, np.append(start, len(text_rows)))


def fit(
    text: Embeddings,
    image: Embeddings,
    *,
    method: str = "ridge",
    pairs: int | Sequence[str] | None = None,
    captions: Literal["mean", "each"] = "mean",
    unit: bool = True,
    penalty: float | None = None,
    seed: int = 0,
) -> Bridge:
    """Fit a bridge from the pairs that two embeddings share.

    `method` is ridge, ols or rotation. `pairs` limits the fit to so many images, drawn by `seed`,
    or to those that it names.
    `captions` averages the texts of an image or pairs each with it. `unit` scales centred rows to
    length 1. `penalty` is ridge's, in units of the mean eigenvalue (see paired.RidgePath); by
    default each direction takes the one of best R^2 on held-out pairs. Raises InputError for an
    unknown method, too few pairs, rows that are not finite or all the same.
    """
    if method not in METHODS:
        raise InputError(f"expected a method of {', '.join(METHODS)}, got {method!r}")
    if penalty is not None and (method != "ridge" or not 0 <= penalty < float("inf")):
        raise InputError(
            f"a finite penalty of at least 0 goes with --method ridge, got {penalty} for {method}"
        )
    check_finite(text, "text embeddings")
    check_finite(image, "image embeddings")
    joined = draw(join(text, image), pairs, seed)
    spaces = fit_spaces(joined, captions, unit)
    folds = fold_moments(joined, spaces, captions)
    total = paired.total(folds)
    weights, diagnostics = FITTERS[method](total, folds, penalty)
    channel = held_out_channel(method, total, folds, diagnostics)
    about = {
        "method": method,
        "settings": {"captions": captions, "unit": unit, "penalty": penalty},
        "paired": True,
        "pairs": len(joined),
        "seed": seed,
        "text": text.about,
        "image": image.about,
        "diagnostics": diagnostics,
        "versions": versions(),
    }
    fitted_on = torch.tensor(sorted(map(id_hash, joined.image_ids)))
    reach = image_reach(joined, spaces[1])
    maps = (weight.float() for weight in weights)
    return Bridge(*spaces, *maps, fitted_on, about, channel, reach)


def draw(joined: Pairs, pairs: int | Sequence[str] | None, seed: int) -> Pairs:
    """The joined pairs, so many or those that are named, in random order: folds are random too."""
    if not (pairs is None or isinstance(pairs, int)):
        place = {image_id: index for index, image_id in enumerate(joined.image_ids)}
        check_named(pairs, place)
        joined, pairs = joined.take(np.array([place[image_id] for image_id in pairs])), None
    wanted = len(joined) if pairs is None else pairs
    if wanted > len(joined):
        raise InputError(f"expected {wanted} pairs, but text and images share {len(joined)} images")
    if wanted < 2:
        raise InputError(f"a fit needs at least 2 pairs, got {wanted}")
    return joined.take(np.random.default_rng(seed).permutation(len(joined))[:wanted])


def check_named(pairs: Sequence[str], shared: Container[str]) -> None:
    """Raise InputError for a named pair that is not among the images of both sides."""
    if missing := [image_id for image_id in pairs if image_id not in shared]:
        raise InputError(
            f"expected pairs that stand on both sides, got {missing[0]!r} (and "
            f"{len(missing) - 1} more) that does not"
        )


def fit_spaces(joined: Pairs, captions: str, unit: bool) -> tuple[Space, Space]:
    """Mean and mean centred length of either side, over the pairs that are fitted."""
    n, sums = 0, [0.0, 0.0]
    for block in joined.blocks(captions):
        n += len(block[0])
        sums = [total + rows.double().sum(0) for total, rows in zip(sums, block, strict=True)]
    means = [(total / n).float() for total in sums]
    lengths = [0.0, 0.0]
    for block in joined.blocks(captions):
        for side, rows in enumerate(block):
            lengths[side] += float((rows - means[side]).norm(dim=1).double().sum()) / n
    for name, mean, length in zip(("text", "image"), means, lengths, strict=True):
        if length <= 1e-6 * float(mean.norm()):
            raise InputError(f"all {name} rows of the pairs are the same; nothing can be fitted")
    return Space(means[0], unit, lengths[0]), Space(means[1], unit, lengths[1])


def image_reach(joined: Pairs, space: Space) -> Reach | None:
    """From the first pairs: they come in random order."""
    rows = joined.image.rows[joined.image_rows[:MOST_ROWS]].float()
    return fitted_reach(rows - space.mean)


def fold_moments(joined: Pairs, spaces: tuple[Space, Space], captions: str) -> list[Moments]:
    """Moments of the pairs in FOLDS parts; all texts of an image are in the same part."""
    folds = []
    for part in np.array_split(np.arange(len(joined)), min(FOLDS, len(joined))):
        blocks = joined.take(part).blocks(captions)
        entered = ((spaces[0].enter(text), spaces[1].enter(image)) for text, image in blocks)
        folds.append(paired.total(paired.moments(text, image) for text, image in entered))
    return folds


Weights = tuple[Tensor, Tensor]
Fitter = Callable[[Moments, list[Moments], float | None], tuple[Weights, dict]]


def fit_rotation(pairs: Moments, _folds: list[Moments], _penalty: None) -> tuple[Weights, dict]:
    weight = paired.rotation(pairs)
    return (weight, weight.T), {}


def fit_ols(pairs: Moments, _folds: list[Moments], _penalty: None) -> tuple[Weights, dict]:
    return (paired.ols(pairs), paired.ols(pairs.reversed())), {}


def fit_ridge(pairs: Moments, folds: list[Moments], penalty: float | None) -> tuple[Weights, dict]:
    held_out = folds[:1] if pairs.n >= ONE_FOLD_FROM else folds
    to_image, image_diagnostics = ridge_one_way(pairs, held_out, penalty)
    to_text, text_diagnostics = ridge_one_way(
        pairs.reversed(), [fold.reversed() for fold in held_out], penalty
    )
    return (to_image, to_text), {"to_image": image_diagnostics, "to_text": text_diagnostics}


def ridge_one_way(
    pairs: Moments, held_out: list[Moments], penalty: float | None
) -> tuple[Tensor, dict]:
    if penalty is not None:
        return paired.ridge(pairs, penalty), {"penalty": penalty}
    chosen, r2 = paired.choose_penalty(held_out, pairs)
    return paired.ridge(pairs, chosen), {"penalty": chosen, "held_out_r2": r2}


def held_out_channel(
    method: str, pairs: Moments, folds: list[Moments], diagnostics: dict
) -> Channel | None:
    """How mapped images lie around their texts, on folds that the map was not fitted on."""
    if pairs.n < CHANNEL_FROM:
        return None
    n, sums = 0, [0.0, 0.0, 0.0]
    for fold in folds[:1] if pairs.n >= ONE_FOLD_FROM else folds:
        rest = pairs - fold
        known, held = rest.about_means_of(rest).reversed(), fold.about_means_of(rest)
        if method == "ridge":
            weight = paired.ridge(known, diagnostics["to_text"]["penalty"])
        else:
            weight = {"ols": paired.ols, "rotation": paired.rotation}[method](known)
        cross = weight.T @ held.text_image.T
        parts = held.text_text, cross, weight.T @ held.image_image @ weight
        n, sums = n + fold.n, [old + new for old, new in zip(sums, parts, strict=True)]
    return fitted_channel(n, *sums)


FITTERS: dict[str, Fitter] = {"ridge": fit_ridge, "ols": fit_ols, "rotation": fit_rotation}
METHODS = tuple(FITTERS)
