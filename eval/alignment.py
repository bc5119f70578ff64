"""How alike two spaces are, item by item, before any map is fitted between them.

Row i of the text table and row i of the image table are one item. Nothing here pairs a text with
an image directly: each side is compared with itself, and then the two comparisons with each other.
"""

from collections.abc import Sequence
from itertools import count, takewhile
from typing import Any

import torch
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from torch import Tensor

from bridge.errors import InputError
from bridge.geometry import center as centered
from bridge.geometry import cosine_blocks, nearest

TIE = 1e-6  # cosines nearer than this are equal: float32 products differ by half of it with blocks
NULL_CKNNA = 20  # permutations whose mean is the chance level of CKNNA


def neighbours(
    rows: Float[Tensor, "n d"],
    k: int,
    *,
    center: bool = True,
    block: int | None = None,
    name: str = "embedding",
) -> tuple[Float[Tensor, "n k"], Int[Tensor, "n k"]]:
    """Cosines and indices of each row's k nearest other rows; ties go to the lower index.

    Rows are centred first unless `center` is off. `block` rows are compared at a time, so memory
    beyond the rows and the two n x k tables does not grow with n. Raises InputError for k outside
    1..n-1, rows that hold NaN or infinity, and rows that are all the same.
    """
    check_rows(rows, name)
    if not 1 <= k < len(rows):
        raise InputError(
            f"k must be between 1 and n - 1 = {len(rows) - 1}, got {k}; "
            "take a smaller k or more items"
        )
    if torch.equal(rows, rows[:1].expand_as(rows)):
        raise InputError(
            f"all {name} rows are the same, so none is nearer than another; "
            "did the encoder collapse?"
        )
    rows = rows.to(torch.promote_types(rows.dtype, torch.float32))
    rows = centered(rows) if center else rows
    cosine, index = nearest(rows, rows, k + 1, exclude_self=True, block=block)
    open_end = cosine[:, k - 1] - cosine[:, k] <= TIE  # which of the equal ones belong?
    cosine, index = cosine[:, :k].clone(), index[:, :k].clone()
    tied = open_end.nonzero()[:, 0]
    if len(tied):
        cosine[tied], index[tied] = lowest_of_tied(rows, tied, cosine[tied, k - 1], k, block)
    return cosine, index


def lowest_of_tied(
    rows: Float[Tensor, "n d"],
    tied: Int[Tensor, " t"],
    level: Float[Tensor, " t"],
    k: int,
    block: int | None,
) -> tuple[Float[Tensor, "t k"], Int[Tensor, "t k"]]:
    """Neighbours of rows `tied`: those above `level`, then those at it with the lowest index."""
    cosines, indices = [], []
    for start, cosine in cosine_blocks(rows[tied], rows, block=block):
        here = slice(start, start + len(cosine))
        cosine.scatter_(1, tied[here, None], -torch.inf)
        at = level[here, None]
        standing = (cosine > at + TIE).byte() + (cosine >= at - TIE).byte()  # 2 in, 1 tied, 0 out
        index = standing.sort(dim=1, descending=True, stable=True).indices[:, :k]
        indices.append(index)
        cosines.append(cosine.gather(1, index))
    return torch.cat(cosines), torch.cat(indices)


def overlap(text: Int[Tensor, "n k"], image: Int[Tensor, "n k"]) -> float:
    """Mean share of a row's entries in one index table that the other table's row also has."""
    shared = sum(int((text == column[:, None]).sum()) for column in image.T)
    return shared / text.numel()


def mutual_knn(
    text: Float[Tensor, "n d_text"],
    image: Float[Tensor, "m d_image"],
    *,
    k: int = 10,
    center: bool = True,
    block: int | None = None,
) -> float:
    """Mean over items i of |N_k(text i) and N_k(image i)| / k, in 0..1; chance is k / (n - 1).

    N_k are the k nearest other items by cosine, of centred rows unless `center` is off: overlap of
    two neighbourhoods, not reciprocal neighbours. Huh et al., The Platonic Representation
    Hypothesis, ICML 2024 (who do not centre). Raises InputError for unequal numbers of rows, and
    as `neighbours` does.
    """
    check_items(text, image)
    return overlap(
        neighbours(text, k, center=center, block=block, name="text")[1],
        neighbours(image, k, center=center, block=block, name="image")[1],
    )


def calibrate(
    text: Int[Tensor, "n k"],
    image: Int[Tensor, "n k"],
    *,
    permutations: int = 200,
    seed: int = 0,
) -> dict[str, float]:
    """Score two index tables against the same tables with the items of one side permuted.

    `calibrated` is (s - s0) / (1 - s0) with s0, here `null_95`, the 95 % quantile of the permuted
    scores: 1 for equal tables, 0 or less for no more than chance. `p_value` is the share of
    permuted scores that reach s, s itself counted among them; .5 is expected by chance. A
    permutation only renames indices, so no cosine is computed again. Raises InputError for fewer
    than 100 permutations. Calibration against permuted rows: arXiv 2602.14486, 2026.
    """
    if permutations < 100:
        raise InputError(f"a 95 % quantile needs at least 100 permutations, got {permutations}")
    score = overlap(text, image)
    orders = permuted_orders(len(text), permutations, seed)
    null = torch.tensor(
        [overlap(text, renamed(image, order)) for order in orders], dtype=torch.float64
    )
    level = float(null.quantile(0.95))
    return {
        "calibrated": (score - level) / (1 - level) if level < 1 else 0.0,
        "null_95": level,
        "p_value": (1 + int((null >= score).sum())) / (1 + permutations),
    }


def permuted_orders(n: int, permutations: int, seed: int):
    generator = torch.Generator().manual_seed(seed)
    return (torch.randperm(n, generator=generator) for _ in range(permutations))


def renamed(index: Int[Tensor, "n k"], order: Int[Tensor, " n"]) -> Int[Tensor, "n k"]:
    """The neighbour table of the same rows put in another order."""
    order = order.to(index.device)
    return order.argsort()[index[order]]


def curve_sizes(n: int, k: int) -> list[int]:
    """1, 2, 5, 10, ... from 10 k up to below n, then n itself."""
    series = (step * 10**power for power in count() for step in (1, 2, 5))
    return [size for size in takewhile(lambda size: size < n, series) if size >= 10 * k] + [n]


def curve(
    text: Float[Tensor, "n d_text"],
    image: Float[Tensor, "m d_image"],
    *,
    k: int = 10,
    center: bool = True,
    sizes: Sequence[int] | None = None,
    subsets: int = 5,
    seed: int = 0,
    block: int | None = None,
) -> list[dict[str, Any]]:
    """Mutual k-NN of random subsets: a point {n, mutual_knn, spread, subsets, chance} a size.

    The score falls as the set grows, so that only scores of equal n compare. Up to `subsets`
    disjoint pieces of one random order are measured at each size and averaged; a first piece lies
    in the first piece of every larger size. `spread` is their standard deviation, None of one.
    On why one n is not enough: Back into Plato's Cave, arXiv 2604.18572, 2026.
    """
    check_items(text, image)
    n = len(text)
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed)).to(text.device)
    points = []
    for size in curve_sizes(n, k) if sizes is None else sizes:
        if not k < size <= n:
            raise InputError(
                f"sizes of the curve must be between k + 1 = {k + 1} and {n}, got {size}"
            )
        pieces = [order[i * size : (i + 1) * size] for i in range(min(subsets, n // size))]
        scores = [
            mutual_knn(text[piece], image[piece], k=k, center=center, block=block)
            for piece in pieces
        ]
        points.append(point(size, scores, k))
    return points


def point(n: int, scores: list[float], k: int) -> dict[str, Any]:
    found = torch.tensor(scores, dtype=torch.float64)
    return {
        "n": n,
        "mutual_knn": float(found.mean()),
        "spread": float(found.std()) if len(scores) > 1 else None,
        "subsets": len(scores),
        "chance": k / (n - 1),
    }


def cka(
    text: Float[Tensor, "n d_text"], image: Float[Tensor, "m d_image"], *, block: int = 8192
) -> float:
    """Centred kernel alignment with linear kernels, unbiased: at most 1, chance is 0.

    Kornblith et al., Similarity of neural network representations revisited, ICML 2019, with the
    unbiased HSIC of Song et al., Feature selection via dependence maximization, JMLR 2012,
    equation 5. No n x n kernel is formed: for centred rows a kernel's row sums are 0, so those of
    the kernel without its diagonal are minus the squared lengths, and the trace is that of
    d x d products, summed in float64. Raises InputError for fewer than 4 items, unequal numbers of
    rows, rows that are not finite or all the same.
    """
    check_items(text, image)
    if len(text) < 4:
        raise InputError(f"unbiased CKA needs at least 4 items, got {len(text)}")
    for rows, name in ((text, "text"), (image, "image")):
        check_rows(rows, name)
    means = [rows.mean(0, dtype=torch.float64) for rows in (text, image)]
    products, lengths = [0.0, 0.0, 0.0], []
    for start in range(0, len(text), block):
        here = slice(start, start + block)
        a, b = text[here].double() - means[0], image[here].double() - means[1]
        pairs = ((a, b), (a, a), (b, b))
        products = [
            sum_ + left.T @ right for sum_, (left, right) in zip(products, pairs, strict=True)
        ]
        lengths.append(torch.stack([a.square().sum(1), b.square().sum(1)]))
    a, b = torch.cat(lengths, dim=1)

    def hsic(product: Tensor, a: Tensor, b: Tensor) -> float:
        trace = product.square().sum() - a @ b
        return float(hsic_unbiased(len(a), trace, a.sum(), b.sum(), a @ b))

    both, own = hsic(products[0], a, b), (hsic(products[1], a, a), hsic(products[2], b, b))
    if min(own) <= 0:
        raise InputError("CKA needs rows that differ; all rows of one side are the same")
    return both / (own[0] * own[1]) ** 0.5


def hsic_unbiased(n: int, trace, text_sum, image_sum, sums_product):
    """Song et al. 2012, equation 5, from tr(KL), the sums of K and of L, and 1'KL1.

    K and L are n x n kernels with zeros on the diagonal.
    """
    outer = text_sum * image_sum / ((n - 1) * (n - 2))
    return (trace + outer - 2 * sums_product / (n - 2)) / (n * (n - 3))


def cknna(
    text: Float[Tensor, "n d_text"],
    image: Float[Tensor, "m d_image"],
    *,
    k: int = 10,
    center: bool = True,
    block: int | None = None,
) -> float:
    """CKA of the items that are neighbours in both spaces: 1 for equal spaces, chance near 0.

    Unbiased HSIC (see `cka`) of the cosine kernels, of which only entries (i, j) with j among the
    k nearest of i on both sides are kept, against the same of each side with itself. Huh et al.
    2024, appendix, in the form of their published code; 0 where a side has too few reciprocal
    neighbours to be scaled by. Chance is small but not 0 (`alignment` measures it by permutation).
    Raises InputError as `mutual_knn` does, and for k < 2 or n < 4.
    """
    check_items(text, image)
    if k < 2 or len(text) < 4:
        raise InputError(f"CKNNA needs k >= 2 and at least 4 items, got k = {k}, n = {len(text)}")
    return cknna_of(
        neighbours(text, k, center=center, block=block, name="text"),
        neighbours(image, k, center=center, block=block, name="image"),
    )


def cknna_of(text: tuple[Tensor, Tensor], image: tuple[Tensor, Tensor]) -> float:
    """CKNNA of two tables (cosines, indices) of nearest neighbours."""
    text_kernel, image_kernel = sparse(*text), sparse(*image)
    both = sparse(torch.ones_like(text[0]), text[1]) * sparse(torch.ones_like(image[0]), image[1])

    def hsic(left: csr_array, right: csr_array) -> float:
        products = left.sum(axis=0) @ right.sum(axis=1)
        trace = (left * right.T.tocsr()).sum()
        return hsic_unbiased(left.shape[0], trace, left.sum(), right.sum(), products)

    own = hsic(text_kernel, text_kernel), hsic(image_kernel, image_kernel)
    if min(own) <= 0:
        return 0.0
    return float(hsic(text_kernel * both, image_kernel * both) / (own[0] * own[1]) ** 0.5)


def sparse(values: Float[Tensor, "n k"], index: Int[Tensor, "n k"]) -> csr_array:
    """The n x n matrix with `values` at row i, columns `index[i]`."""
    n, k = index.shape
    start = torch.arange(0, n * k + 1, k)
    parts = (values.double().flatten(), index.flatten(), start)
    matrix = csr_array(tuple(part.cpu().numpy() for part in parts), shape=(n, n))
    matrix.sort_indices()
    return matrix


def alignment(
    text: Float[Tensor, "n d_text"],
    image: Float[Tensor, "m d_image"],
    *,
    k: int = 10,
    center: bool = True,
    permutations: int = 200,
    subsets: int = 5,
    seed: int = 0,
    block: int | None = None,
) -> dict[str, dict[str, Any]]:
    """Everything above for one pair of tables: `metrics`, `chance` and `settings` of a report.

    `metrics["curve"]` holds the points of `curve`, the last of which is the whole set. Raises
    InputError as `mutual_knn`, `calibrate` and `cknna` do.
    """
    check_items(text, image)
    n = len(text)
    tables = [
        neighbours(rows, k, center=center, block=block, name=name)
        for rows, name in ((text, "text"), (image, "image"))
    ]
    score = overlap(tables[0][1], tables[1][1])
    against_null = calibrate(tables[0][1], tables[1][1], permutations=permutations, seed=seed)
    smaller = curve_sizes(n, k)[:-1]
    points = curve(
        text, image, k=k, center=center, sizes=smaller, subsets=subsets, seed=seed, block=block
    )
    metrics = {
        "mutual_knn": score,
        "mutual_knn.calibrated": against_null["calibrated"],
        "mutual_knn.p_value": against_null["p_value"],
        "cka": cka(text, image),
        "curve": [*points, point(n, [score], k)],
    }
    chance = {
        "mutual_knn": k / (n - 1),
        "mutual_knn.null_95": against_null["null_95"],
        "mutual_knn.calibrated": 0.0,
        "mutual_knn.p_value": 0.5,
        "cka": 0.0,
    }
    if k > 1:
        metrics["cknna"] = cknna_of(*tables)
        null = [
            cknna_of(tables[0], (tables[1][0][order], renamed(tables[1][1], order)))
            for order in permuted_orders(n, NULL_CKNNA, seed)
        ]
        chance["cknna"] = sum(null) / len(null)
    settings = {"n": n, "k": k, "center": center, "permutations": permutations}
    settings |= {"subsets": subsets, "seed": seed}
    return {"metrics": metrics, "chance": chance, "settings": settings}


def check_rows(rows: Float[Tensor, "n d"], name: str) -> None:
    """Raise InputError that names the first row with a NaN or an infinity."""
    bad = ~torch.isfinite(rows).all(dim=1)
    if bad.any():
        first = int(bad.nonzero()[0])
        raise InputError(
            f"{int(bad.sum())} {name} rows hold NaN or infinity, the first is row {first}; "
            "embed again in float32, or drop them"
        )


def check_items(text: Float[Tensor, "n d_text"], image: Float[Tensor, "m d_image"]) -> None:
    """Raise InputError unless there is one text row for each image row."""
    if len(text) != len(image):
        raise InputError(
            f"row i of text and of image must be one item, got {len(text)} text rows and "
            f"{len(image)} image rows; average an image's texts, and keep the images that have some"
        )
