"""A memory of captions: texts with their rows, searched in blocks so that any size fits."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor

from bridge import embeddings
from bridge.captions import Caption
from bridge.embeddings import Embeddings
from bridge.errors import InputError
from bridge.files import existing, replacing
from bridge.geometry import unit

BLOCK = 65_536  # remembered rows that are compared at once
TEMPERATURE = 0.01  # of the mixture that projection takes (Li et al., DeCap, ICLR 2023)


@dataclass(frozen=True, eq=False)
class Memory:
    """Captions and their rows in a text encoder's space, compared by cosine from `mean`.

    Rows may be memory-mapped; a search holds `BLOCK` of them at a time.
    """

    table: Embeddings
    texts: Sequence[str]
    mean: Float[Tensor, " d"]

    def __post_init__(self):
        if len(self.table) != len(self.texts):
            raise InputError(
                f"expected a row a remembered caption, got {len(self.table)} rows and "
                f"{len(self.texts)} captions"
            )

    def __len__(self) -> int:
        return len(self.texts)

    def directions(self, places: slice | Int[Tensor, " b"]) -> Float[Tensor, "b d"]:
        """Centred unit rows of some captions."""
        return unit(self.table.rows[places].float() - self.mean)

    def blocks(self) -> Iterator[Float[Tensor, "b d"]]:
        for first in range(0, len(self), BLOCK):
            yield self.directions(slice(first, first + BLOCK))

    def nearest(
        self, rows: Float[Tensor, "n d"], k: int
    ) -> tuple[Float[Tensor, "n k"], Int[Tensor, "n k"]]:
        """Cosines and places of the k captions nearest to each row, best first."""
        query, k = unit(rows - self.mean), min(k, len(self))
        values = torch.full((len(rows), 0), 0.0)
        places = torch.zeros((len(rows), 0), dtype=torch.long)
        first = 0
        for block in self.blocks():
            here = (query @ block.T).topk(min(k, len(block)), dim=1)
            values = torch.cat([values, here.values], 1)
            places = torch.cat([places, here.indices + first], 1)
            values, kept = values.topk(min(k, values.shape[1]), dim=1)
            places = places.gather(1, kept)
            first += len(block)
        return values, places

    def project(
        self, rows: Float[Tensor, "n d"], temperature: float = TEMPERATURE
    ) -> Float[Tensor, "n d"]:
        """Replace each row by the softmax mixture of the memory, with its own length.

        Whatever a badly mapped row is, the mixture lies among captions. Weights are
        exp(cosine / temperature), summed block by block with the greatest cosine so far taken out.
        Li et al., DeCap: decoding CLIP latents for zero-shot captioning, ICLR 2023.
        """
        query = unit(rows - self.mean)
        top = torch.full((len(rows), 1), -torch.inf)
        mixed = torch.zeros_like(query)
        for block in self.blocks():
            scores = query @ block.T / temperature
            new_top = torch.maximum(top, scores.max(1, keepdim=True).values)
            mixed = mixed * (top - new_top).exp() + (scores - new_top).exp() @ block
            top = new_top  # the sum of weights is a length, which is replaced below
        return unit(mixed) * (rows - self.mean).norm(dim=1, keepdim=True) + self.mean

    def save(self, folder: Path) -> None:
        """Write `memory.safetensors` and `memory.jsonl` into an existing folder."""
        embeddings.save(self.table, folder / "memory.safetensors", overwrite=True)
        with replacing(folder / "memory.jsonl") as temporary:
            lines = (json.dumps(text, ensure_ascii=False) for text in self.texts)
            temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def load_memory(folder: Path, mean: Float[Tensor, " d"]) -> Memory:
    """Open the memory in a decoder's folder; its rows are memory-mapped."""
    lines = existing(folder / "memory.jsonl", "memory of captions").read_text(encoding="utf-8")
    texts = [json.loads(line) for line in lines.split("\n") if line]
    return Memory(embeddings.load(folder / "memory.safetensors"), texts, mean)


def remember(table: Embeddings, captions: Sequence[Caption], mean: Float[Tensor, " d"]) -> Memory:
    """The memory of these captions, whose rows are found in `table` by caption id.

    Raises InputError for no captions and for one without a row.
    """
    if not captions:
        raise InputError("expected captions to remember, got none")
    rows = table.of_captions([caption.id for caption in captions])
    return Memory(rows, [caption.text for caption in captions], mean)
