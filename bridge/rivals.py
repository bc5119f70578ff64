"""Published ways to map two spaces without pairs, beside which our own search is measured.

A rival is a function of the rows of two sides, in unrelated order, and returns one map. Rows are
centred, of unit length and in principal components, so that maps are rotations (semi-orthogonal
where the numbers of components differ). Where a rival differs from its publication, it says how.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment, quadratic_assignment
from sklearn.cluster import KMeans

from bridge.assignment import kernel, score, tabu_search
from bridge.errors import InputError
from bridge.geometry import nearest
from bridge.transport import Map, Rows, refine, rotation_of, soft_matching, unit

MOST_CLUSTERED = 10_000  # rows of a side that are clustered at a time
MOST_ASSIGNED = 2000  # rows of a side in one exact assignment; time grows with the cube
REGULARISATION, RATE = 0.05, 500.0  # of Wasserstein Procrustes, as published

Pairs = tuple[Rows, Rows]  # known pairs; row i of both belongs together


@dataclass(frozen=True)
class Rival:
    """`fit` takes text rows, image rows, a generator and, if `takes_pairs`, known pairs or None.

    `needs` is a package of the extra `rivals`.
    """

    fit: Callable[..., Map]
    source: str
    takes_pairs: bool = False
    needs: str | None = None

    def check(self, pairs: bool) -> None:
        """Raise InputError for pairs that would not be used, and for a package that is missing."""
        if pairs and not self.takes_pairs:
            raise InputError("this method has no use for known pairs; consensus and rosetta have")
        if self.needs and find_spec(self.needs) is None:
            raise InputError(
                "this method needs the package POT; install it with "
                "`pip install 'platobridge[rivals]'`"
            )


def some(rows: Rows, count: int, generator: np.random.Generator) -> Rows:
    """At most `count` random rows."""
    return rows[generator.permutation(len(rows))[:count]]


def centroids(
    rows: Rows,
    count: int,
    generator: np.random.Generator,
    start: Rows | None = None,
    restarts: int = 1,
) -> Rows:
    """Centroids of k-means on at most MOST_CLUSTERED random rows, from `start` if it is given."""
    found = KMeans(
        count,
        init="k-means++" if start is None else start,
        n_init=restarts,
        random_state=int(generator.integers(1 << 30)),
    ).fit(some(rows, MOST_CLUSTERED, generator))
    return found.cluster_centers_.astype(np.float32)


def few_clusters(wanted: int, *sides: Rows) -> int:
    """So many clusters, or fewer where a side has less than eight rows for each."""
    return max(4, min(wanted, *(len(side) // 8 for side in sides)))


def gram(rows: Rows) -> Float[np.ndarray, "n n"]:
    """Inner products, centred in rows and columns: the kernel of linear CKA."""
    centred = rows - rows.mean(0)
    return (centred @ centred.T).astype(np.float64)


# ---- mini-vec2vec


def mini_vec2vec(
    text: Rows,
    image: Rows,
    generator: np.random.Generator,
    *,
    matchings: int = 30,
    starts: int = 30,
    moves: int = 100,
) -> Map:
    """mini-vec2vec (Dar 2025, arXiv 2510.02348) with its published settings.

    Clusters, 20 a side, are matched by their inner products, `matchings` times, each by the best
    of `starts` searches. Rows are compared by their cosines with all matched centroids; the mean
    of the 50 nearest images is a text's target. The rotation is then moved, `moves` times, to that
    of 1000 texts and the mean of their 50 nearest images, and once to that of 500 clusters. It is
    made orthogonal again after every move, which the published notebook leaves out.
    """
    count = few_clusters(20, text, image)
    matched = [matched_by_swaps(text, image, count, generator, starts) for _ in range(matchings)]
    text_anchors, image_anchors = (
        unit(np.concatenate(side)) for side in zip(*matched, strict=True)
    )
    some_text, some_image = (some(side, MOST_CLUSTERED, generator) for side in (text, image))
    target = mean_of_nearest(some_text @ text_anchors.T, some_image @ image_anchors.T, some_image)
    rotation = rotation_of(some_text.T @ target)
    for _ in range(moves):
        batch = some(text, 1000, generator)
        found = rotation_of(batch.T @ mean_of_nearest(batch @ rotation, image, image))
        rotation = rotation_of(rotation + found)
    count = few_clusters(500, text, image)
    text_centroids = centroids(text, count, generator)
    image_centroids = centroids(image, count, generator, text_centroids @ rotation)
    return rotation_of(rotation + rotation_of(text_centroids.T @ image_centroids))


def matched_by_swaps(
    text: Rows, image: Rows, count: int, generator: np.random.Generator, starts: int
) -> tuple[Rows, Rows]:
    """Centroids of both sides in matched order: the best of SciPy's swap searches."""
    sides = [centroids(side, count, generator) for side in (text, image)]
    tables = [gram(side) for side in sides]
    options = {"maximize": True, "rng": generator}
    found = [quadratic_assignment(*tables, "2opt", options) for _ in range(starts)]
    return sides[0], sides[1][max(found, key=lambda one: one.fun).col_ind]


def mean_of_nearest(query: Rows, gallery: Rows, values: Rows, k: int = 50) -> Rows:
    """Mean of the `values` of each query's k nearest gallery rows by cosine."""
    k = min(k, max(1, len(gallery) // 20))
    near = nearest(torch.from_numpy(query), torch.from_numpy(gallery), k)[1].numpy()
    return sum(values[near[:, place]] for place in range(k)) / k


# ---- Rosetta


def rosetta(
    text: Rows,
    image: Rows,
    generator: np.random.Generator,
    pairs: Pairs | None = None,
    *,
    matchings: int = 30,
    refinements: int = 100,
) -> Map:
    """Shared geometry as a Rosetta stone (Schnaus et al. 2026, arXiv 2610.09411).

    The mean cross-covariance of `matchings` of 30 clusters a side by linear CKA scores texts
    against images; exact assignments under these scores give a rotation, and as many further
    assignments as there are `refinements` refine it. Known pairs are a linear term of each
    matching, and weigh as much as all assigned rows in each rotation. Unlike there, matchings are
    found by our tabu search, and assignments are of at most 2000 rows a side instead of 10,000.
    """
    count = few_clusters(30, text, image)
    matched = [matched_by_cka(text, image, count, generator, pairs) for _ in range(matchings)]
    cross = np.mean(matched, 0)
    batch = min(MOST_ASSIGNED, len(text), len(image))
    orders = [generator.permutation(len(side)) for side in (text, image)]
    whole = min(len(text), len(image)) // batch * batch
    blocks = (order[:whole].reshape(-1, batch) for order in orders)
    assigned = sum(
        assigned_cross(text[rows], image[columns], cross)
        for rows, columns in zip(*blocks, strict=True)
    )
    rotation = rotation_of(with_pairs(assigned, whole, pairs))
    for _ in range(refinements):
        batches = (some(side, batch, generator) for side in (text, image))
        rotation = rotation_of(with_pairs(assigned_cross(*batches, rotation), batch, pairs))
    return rotation


def matched_by_cka(
    text: Rows, image: Rows, count: int, generator: np.random.Generator, pairs: Pairs | None
) -> Map:
    """Cross-covariance of matched centroids; known pairs are nodes whose match is given."""
    sides = [centroids(side, count, generator) for side in (text, image)]
    known = pairs or [side[:0] for side in sides]
    tables = [gram(np.concatenate(both)) for both in zip(sides, known, strict=True)]
    linear = 2 * tables[0][:count, count:] @ tables[1][:count, count:].T
    match = match_of(*(table[:count, :count] for table in tables), linear, generator)
    return sides[0].T @ sides[1][match] / count


def match_of(
    text: Float[np.ndarray, "c c"],
    image: Float[np.ndarray, "c c"],
    linear: Float[np.ndarray, "c c"],
    generator: np.random.Generator,
) -> Int[np.ndarray, " c"]:
    """The match that a tabu search finds for kernels that have a diagonal."""
    linear = linear + np.outer(np.diag(text), np.diag(image))
    hollow = [table - np.diag(np.diag(table)) for table in (text, image)]
    return tabu_search(*hollow, np.ascontiguousarray(linear), 1500, 6, generator)


def assigned_cross(text: Rows, image: Rows, mapping: Map) -> Map:
    """Cross-covariance of rows that the best one-to-one assignment under a map joins."""
    rows, columns = linear_sum_assignment((text @ mapping) @ image.T, maximize=True)
    return text[rows].T @ image[columns]


def with_pairs(assigned: Map, count: int, pairs: Pairs | None) -> Map:
    """The cross-covariance of assigned rows and of known pairs, which weigh the same."""
    if pairs is None:
        return assigned
    return assigned + count / len(pairs[0]) * pairs[0].T @ pairs[1]


# ---- Gromov-Wasserstein


def gw(text: Rows, image: Rows, generator: np.random.Generator) -> Map:
    """Gromov-Wasserstein alignment (Alvarez-Melis & Jaakkola 2018, arXiv 1809.00013).

    POT's entropic solver couples 500 rows a side by their cosine distances, from the uniform
    plan; the rotation is that of the rows' cross-covariance under the plan. There it is 5000 rows.
    """
    import ot

    sides = [some(side, 500, generator) for side in (text, image)]
    tables = [1 - (side @ side.T).astype(np.float64) for side in sides]
    plan = ot.gromov.entropic_gromov_wasserstein(
        *tables, loss_fun="square_loss", epsilon=5e-3, max_iter=100, warn=False
    )
    return rotation_of(sides[0].T @ plan @ sides[1])


# ---- Wasserstein Procrustes


def wasserstein_procrustes(
    text: Rows, image: Rows, generator: np.random.Generator, *, steps: int = 1000
) -> Map:
    """Unsupervised alignment with Wasserstein Procrustes (Grave et al. 2019, arXiv 1805.11222).

    A soft permutation of 500 rows under which both tables of inner products agree gives the first
    rotation. It then follows the gradient of entropic matchings of random batches, which double in
    size, from 500 rows, as their number falls to a quarter, from `steps`, in each of three epochs.
    There the permutation is of 2500 rows, and there are five epochs from 5000 batches on.
    """
    count = min(500, len(text), len(image))
    sides = [some(side, count, generator) for side in (text, image)]
    tables = ((side @ side.T).astype(np.float64) for side in sides)
    rotation = rotation_of(sides[0].T @ relaxed_permutation(*tables) @ sides[1])
    batch = 500
    for _ in range(3):
        for _ in range(steps):
            here, there = (some(side, batch, generator) for side in (text, image))
            scores = here @ rotation @ there.T
            plan = soft_matching(scores, float(scores.std()) / REGULARISATION)
            rotation = rotation_of(rotation + RATE * here.T @ (plan @ there))
        batch, steps = 2 * batch, steps // 4
    return rotation


def relaxed_permutation(
    text: Float[np.ndarray, "n n"], image: Float[np.ndarray, "n n"], steps: int = 100
) -> Float[np.ndarray, "n n"]:
    """A doubly stochastic P of small |text P - P image|, by Frank-Wolfe from the uniform one."""
    image = image * np.linalg.norm(text) / np.linalg.norm(image)
    text_square, image_square = text @ text, image @ image
    plan = np.full(text.shape, 1 / len(text))
    for step in range(1, steps + 1):
        gradient = plan @ image_square + text_square @ plan - 2 * text @ plan @ image
        corner = np.zeros_like(plan)
        corner[linear_sum_assignment(gradient)] = 1
        plan += 2 / (2 + step) * (corner - plan)
    return plan


# ---- Third moments


def third_moment(text: Rows, image: Rows, generator: np.random.Generator) -> Map:
    """Principal components in order, with the signs under which third moments agree, refined.

    Each side's first 24 components are whitened. Signs start at random 50 times and are turned one
    by one as long as the third-order tensors of both sides agree better.
    """
    count = min(24, text.shape[1], image.shape[1])
    tensors = [third_moments(side[:, :count]) for side in (text, image)]
    agreement = tensors[0] * tensors[1]
    signs = max(
        (turned_signs(agreement, generator) for _ in range(50)),
        key=lambda one: np.einsum("ijk,i,j,k", agreement, one, one, one),
    )
    start = np.zeros((text.shape[1], image.shape[1]), np.float32)
    start[range(count), range(count)] = signs
    start += 1e-4 * generator.standard_normal(start.shape).astype(np.float32)
    return refine(
        text, image, start, steps=60, batch=1000, sharpness=(3.0, 8.0), generator=generator
    )


def third_moments(rows: Rows) -> Float[np.ndarray, "r r r"]:
    """Mean of all products of three whitened components."""
    rows = rows - rows.mean(0)
    rows = rows / rows.std(0)
    return np.einsum("ni,nj,nk->ijk", rows, rows, rows, optimize=True) / len(rows)


def turned_signs(
    agreement: Float[np.ndarray, "r r r"], generator: np.random.Generator
) -> Float[np.ndarray, " r"]:
    """Signs at which no single turn raises sum_ijk agreement_ijk s_i s_j s_k."""
    signs = generator.choice([-1.0, 1.0], len(agreement))
    whole = np.arange(len(signs))
    while True:
        before = signs.copy()
        for i in range(len(signs)):
            others = np.where(whole == i, 0, signs)
            pull = 3 * others @ agreement[i] @ others + agreement[i, i, i]
            signs[i] = 1.0 if pull >= 0 else -1.0
        if (signs == before).all():
            return signs


# ---- Classes


def class_qap(text: Rows, image: Rows, generator: np.random.Generator) -> Map:
    """Classes matched by their distances (Schnaus et al., It's a (blind) match, CVPR 2025).

    Up to 100 texts are names of classes; of more, 40 centroids stand for them. Twenty times, as
    many clusters of half of the images are matched to them by standardised distances; the rotation
    is that of the match of the highest score. Unlike there, the match is found by our tabu search,
    and k-means starts 3 times, not 100.
    """
    names = len(text) <= 100
    count = len(text) if names else few_clusters(40, text, image)
    found = []
    for _ in range(20):
        nodes = text if names else unit(centroids(text, count, generator, restarts=3))
        half = some(image, max(count, len(image) // 2), generator)
        classes = unit(centroids(half, count, generator, restarts=3))
        tables = [kernel(side, "distance") for side in (nodes, classes)]
        none = np.zeros((count, count))
        match = tabu_search(*tables, none, 1500, 6, generator)
        found.append((score(*tables, none, match), nodes.T @ classes[match]))
    return rotation_of(max(found, key=lambda one: one[0])[1])


RIVALS = {
    "mini-vec2vec": Rival(mini_vec2vec, "mini-vec2vec (Dar 2025), published settings"),
    "rosetta": Rival(
        rosetta,
        "Rosetta (Schnaus et al. 2026); our assignment search, assignments of at most 2000 rows",
        takes_pairs=True,
    ),
    "gw": Rival(
        gw, "entropic Gromov-Wasserstein (Alvarez-Melis & Jaakkola 2018) on 500 rows", needs="ot"
    ),
    "wasserstein-procrustes": Rival(
        wasserstein_procrustes,
        "Wasserstein Procrustes (Grave et al. 2019), fewer and smaller batches",
    ),
    "third-moment": Rival(third_moment, "signs of principal components by third moments, refined"),
    "class-qap": Rival(class_qap, "class prototypes matched by distances (Schnaus et al. 2025)"),
}
