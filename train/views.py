"""Which texts a step sees, and how they are laid out: a pure function of seed and step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from bridge.errors import InputError
from train.data import Tokens

OVERHEAD = 64  # what a chunk costs beside its tokens, in tokens (measured at the tiny size)


@dataclass(frozen=True)
class Words:
    """What masking needs to know of a vocabulary: which ids are special or go on a word."""

    mask_id: int
    special: np.ndarray
    inside: np.ndarray

    @classmethod
    def of(cls, tokenizer) -> "Words":
        pieces = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
        special = np.zeros(len(pieces), bool)
        special[tokenizer.all_special_ids] = True
        inside = np.array([(piece or "").startswith("##") for piece in pieces])
        return cls(tokenizer.mask_token_id, special, inside)

    def masked(self, text: np.ndarray, scores: np.ndarray, share: float) -> np.ndarray:
        """`text` with the words of lowest score masked, all pieces of a word together.

        At least one word is masked and at least one is kept, except in a text of one word, which
        stays as it is.
        """
        places = np.flatnonzero(~self.special[text])
        if not len(places):
            return text
        word = np.cumsum(~self.inside[text[places]])
        word -= word[0]  # a text can begin inside a word where it was cut
        count = int(word[-1]) + 1
        hidden = np.zeros(count, bool)
        hidden[np.argsort(scores[:count])[: np.clip(round(share * count), 1, count - 1)]] = True
        masked = text.copy()
        masked[places[hidden[word]]] = self.mask_id
        return masked


class Draw(NamedTuple):
    """The first views of a batch's images, then the second ones."""

    texts: list[np.ndarray]
    single: float  # share of the images that have one text


def draw(
    tokens: Tokens,
    words: Words,
    kind: str,
    share: float,
    batch: int,
    seed: Sequence[int],
    rank: int = 0,
    ranks: int = 1,
) -> Draw:
    """Two views of each of `batch` random images, of which this rank gets its share.

    good-views: two different texts of the image; of an image with one text, that text with a
    `share` of its words masked, and the text. bad-views: one text of the image masked, and whole.
    next-token: the two texts of good-views, nothing masked. All ranks draw the same and cut it up,
    so that the number of processes changes nothing. Raises InputError for fewer images than
    `batch`.
    """
    if tokens.groups < batch:
        raise InputError(
            f"expected at least {batch} images for a batch, got captions of {tokens.groups}; "
            "give more captions or a smaller optim.batch"
        )
    random = np.random.default_rng(seed)
    groups = random.choice(tokens.groups, batch, replace=False)
    sizes = tokens.group_start[groups + 1] - tokens.group_start[groups]
    first = random.integers(sizes)
    second = (first + 1 + random.integers(np.maximum(sizes - 1, 1))) % sizes
    if kind == "bad-views":
        second = first
    scores = random.random((batch, 512))
    mine = slice(rank * batch // ranks, (rank + 1) * batch // ranks)
    start = tokens.group_start[groups]
    views = [[tokens.text(i) for i in (start + which)[mine]] for which in (first, second)]
    if kind != "next-token":
        for i in np.flatnonzero(first[mine] == second[mine]):
            views[0][i] = words.masked(views[0][i], scores[mine][i], share)
    return Draw(views[0] + views[1], float((sizes == 1).mean()))


@dataclass(frozen=True)
class Batch:
    """Texts in chunks of like length; row i of the concatenated chunks is text `order[i]`."""

    chunks: list[tuple[Int[Tensor, "_ _"], Int[Tensor, "_ _"]]]
    order: Int[Tensor, " b"]
    tokens: int
    cells: int

    @property
    def back(self) -> Int[Tensor, " b"]:
        """Where each text stands in the concatenated chunks."""
        return self.order.argsort()


def lay_out(texts: Sequence[np.ndarray], pad: int, device: torch.device) -> Batch:
    """Pad texts in chunks of like length: a random batch padded to its longest is half padding."""
    lengths = np.array([len(text) for text in texts])
    order = np.argsort(lengths, kind="stable")
    chunks, cells = [], 0
    for start, stop in cuts(lengths[order]):
        ids, mask = padded([texts[i] for i in order[start:stop]], pad)
        cells += ids.numel()
        chunks.append((ids.to(device, non_blocking=True), mask.to(device, non_blocking=True)))
    return Batch(chunks, torch.from_numpy(order).to(device), int(lengths.sum()), cells)


def cuts(lengths: np.ndarray) -> list[tuple[int, int]]:
    """Cut ascending lengths into chunks of the least cost: padded tokens, and OVERHEAD a chunk."""
    longest, count = np.unique(lengths, return_counts=True)
    ends = np.concatenate([[0], np.cumsum(count)])
    cost, best = [0], []
    for stop in range(1, len(ends)):
        padded_tokens = (ends[stop] - ends[:stop]) * longest[stop - 1]
        totals = np.array(cost) + padded_tokens + OVERHEAD
        best.append(int(totals.argmin()))
        cost.append(int(totals.min()))
    found, stop = [], len(best)
    while stop:
        found.append((int(ends[best[stop - 1]]), int(ends[stop])))
        stop = best[stop - 1]
    return found[::-1]


def padded(texts: Sequence[np.ndarray], pad: int) -> tuple[Int[Tensor, "n t"], Int[Tensor, "n t"]]:
    """Ids and mask of some texts, padded at the right to the longest."""
    ids = np.full((len(texts), max(map(len, texts))), pad, np.int64)
    mask = np.zeros_like(ids)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = text
        mask[row, : len(text)] = 1
    return torch.from_numpy(ids), torch.from_numpy(mask)
