"""Centring, unit rows, cosines in blocks, nearest neighbours, hubness."""

from collections.abc import Iterator

import torch
from jaxtyping import Float, Int
from torch import Tensor

CELLS = 1 << 25  # similarities held at once: 128 MiB of float32, whatever the number of rows


def center(
    rows: Float[Tensor, "n d"], mean: Float[Tensor, " d"] | None = None
) -> Float[Tensor, "n d"]:
    """Subtract a mean, by default the rows' own (summed in float64)."""
    return rows - (rows.mean(0, dtype=torch.float64).to(rows.dtype) if mean is None else mean)


def unit(rows: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
    """Scale rows to length 1; a row of zeros stays zero."""
    return torch.nn.functional.normalize(rows, dim=1)


def cosine_blocks(
    query: Float[Tensor, "n d"], gallery: Float[Tensor, "m d"], *, block: int | None = None
) -> Iterator[tuple[int, Float[Tensor, "b m"]]]:
    """Yield (first query row, cosines to the whole gallery), `block` query rows at a time.

    The default block keeps the memory flat in m.
    """
    query, gallery = unit(query.float()), unit(gallery.float()).T
    block = block or max(1, min(1024, CELLS // gallery.shape[1]))
    for start in range(0, len(query), block):
        yield start, query[start : start + block] @ gallery


def nearest(
    query: Float[Tensor, "n d"],
    gallery: Float[Tensor, "m d"],
    k: int,
    *,
    exclude_self: bool = False,
    block: int | None = None,
) -> tuple[Float[Tensor, "n k"], Int[Tensor, "n k"]]:
    """The k gallery rows of largest cosine for each query row, best first: cosines and indices.

    With `exclude_self` query and gallery are one table and no row is its own neighbour.
    """
    values, indices = [], []
    for start, cosine in cosine_blocks(query, gallery, block=block):
        if exclude_self:
            rows = torch.arange(len(cosine), device=cosine.device)
            cosine[rows, rows + start] = -torch.inf  # not a small number: all cosines may be < 0
        top = cosine.topk(k, dim=1)
        values.append(top.values)
        indices.append(top.indices)
    return torch.cat(values), torch.cat(indices)


def hubness(
    query: Float[Tensor, "n d"], gallery: Float[Tensor, "m d"], *, k: int = 10
) -> Float[Tensor, " m"]:
    """Mean cosine of each gallery row to its k nearest queries, the correction that CSLS subtracts.

    Conneau et al., Word translation without parallel data, ICLR 2018, equation 2.
    """
    return nearest(gallery, query, min(k, len(query)))[0].mean(1)
