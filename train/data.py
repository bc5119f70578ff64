"""Captions -> token ids -> batches of views, each batch a pure function of seed and step."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from bridge.captions import Caption
from bridge.errors import InputError


@dataclass(frozen=True)
class Tokens:
    """All texts as one array of ids; text i is `ids[text_start[i]:text_start[i + 1]]`.

    Group g (the texts of one image) holds the texts `group_start[g]` to `group_start[g + 1]`.
    """

    ids: np.ndarray
    text_start: np.ndarray
    group_start: np.ndarray

    @property
    def groups(self) -> int:
        return len(self.group_start) - 1

    def text(self, index: int | np.integer) -> np.ndarray:
        return self.ids[self.text_start[index] : self.text_start[index + 1]]


def tokenize(captions: Sequence[Caption], tokenizer, max_tokens: int) -> Tokens:
    """Token ids of all captions, those of one image side by side."""
    of_image: dict[str, list[str]] = {}
    for caption in captions:
        of_image.setdefault(caption.image_id, []).append(caption.text)
    texts = [text for group in of_image.values() for text in group]
    ids = tokenizer(texts, truncation=True, max_length=max_tokens)["input_ids"]
    lengths = np.array([len(text) for text in ids])
    return Tokens(
        ids=np.concatenate(ids).astype(np.int32),
        text_start=np.concatenate([[0], np.cumsum(lengths)]),
        group_start=np.concatenate([[0], np.cumsum([len(g) for g in of_image.values()])]),
    )


def good_views(tokens: Tokens, batch: int, seed: int, step: int) -> np.ndarray:
    """Two different texts of each of `batch` random images: text indices, batch x 2.

    An image with a single text gives it twice.
    """
    if tokens.groups < batch:
        raise InputError(
            f"expected at least {batch} images for a batch, got captions of {tokens.groups}; "
            "give more captions or a smaller optim.batch"
        )
    random = np.random.default_rng((seed, step))
    groups = random.choice(tokens.groups, batch, replace=False)
    sizes = tokens.group_start[groups + 1] - tokens.group_start[groups]
    first = random.integers(sizes)
    second = (first + 1 + random.integers(np.maximum(sizes - 1, 1))) % sizes
    return tokens.group_start[groups][:, None] + np.stack([first, second], 1)


def pad(texts: Sequence[np.ndarray]) -> tuple[Int[Tensor, "n t"], Int[Tensor, "n t"]]:
    """Ids and mask of some texts, padded at the right to the longest."""
    longest = max(map(len, texts))
    ids = torch.zeros(len(texts), longest, dtype=torch.long)
    mask = torch.zeros(len(texts), longest, dtype=torch.long)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = torch.from_numpy(text.astype(np.int64))
        mask[row, : len(text)] = 1
    return ids, mask
