"""The two sides of a fit without pairs: tables apart, shuffled, in principal components."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from bridge import fitting
from bridge.embeddings import Embeddings, check_finite, image_means
from bridge.errors import InputError
from bridge.maps import Space
from bridge.transport import Map, Rows, unit

COMPONENTS = 64  # in which maps are searched; fewer lose content, more are too loose to start in
WIDE = 256  # components of the finished map
FEWEST_ROWS = 50
MOST_ROWS = 50_000  # of a side; more rows cost time and hardly help
HELD_OUT = 500


@dataclass(frozen=True, eq=False)
class Side:
    """One side's rows (centred, unit), and the components in which they are matched."""

    space: Space
    basis: Map  # width x components, of decreasing variance
    rows: Rows
    known: Rows  # of the known pairs, in their order
    origin: np.ndarray  # which row of the table each of `rows` is

    def components(self, count: int, *, known: bool = False) -> Rows:
        """Rows in the first `count` components, of unit length again."""
        rows = self.known if known else self.rows
        return unit(rows @ self.basis[:, :count]).astype(np.float32)


def part(
    text: Embeddings,
    image: Embeddings,
    pairs: int | Sequence[str] | None,
    drop_shared: bool,
    seed: int,
) -> tuple[Embeddings, Embeddings, list[str], list[str]]:
    """Text means and images that share the known pairs only, these pairs, and notes for people."""
    check_finite(text, "text embeddings")
    check_finite(image, "image embeddings")
    on_text, on_image = set(text.image_ids), set(image.image_ids)
    shared = sorted(on_text & on_image)
    generator = np.random.default_rng((seed, 7))
    if pairs is None:
        if shared and not drop_shared:
            raise InputError(
                f"text and images share {len(shared)} images, and a fit without pairs may not see "
                "them on both sides; --drop-shared leaves each out of one side at random, "
                "--pairs N makes N of them known pairs"
            )
        known: list[str] = []
    elif isinstance(pairs, int):
        if not 1 <= pairs <= len(shared):
            raise InputError(
                f"expected --pairs between 1 and the {len(shared)} images that text and images "
                f"share, got {pairs}"
            )
        known = [str(i) for i in generator.permutation(shared)[:pairs]]
    else:
        known = list(dict.fromkeys(map(str, pairs)))
        fitting.check_named(known, on_text & on_image)
    rest = [i for i in shared if i not in set(known)]
    leave_text = generator.random(len(rest)) < 0.5
    no_text = {image_id for image_id, leave in zip(rest, leave_text, strict=True) if leave}
    no_image = set(rest) - no_text
    notes = [f"{len(known)} known pairs"] if known else []
    if rest:
        notes.append(
            f"{len(rest)} images that stood on both sides were left out of one: the texts of "
            f"{len(no_text)}, the rows of {len(no_image)}"
        )
    with_text = [i for i in dict.fromkeys(text.image_ids) if i not in no_text]
    with_image = [i for i in dict.fromkeys(image.image_ids) if i not in no_image]
    text, image = text.of_images(with_text), image.of_images(with_image)
    return image_means(text), image_means(image), known, notes


def prepare(
    table: Embeddings, name: str, known: Sequence[str], generator: np.random.Generator
) -> Side:
    """Centre, scale and rotate one side into its principal components, in random order."""
    row_of = {image_id: row for row, image_id in enumerate(table.image_ids)}
    known_at = np.array([row_of[image_id] for image_id in known], dtype=int)
    free = np.setdiff1d(np.arange(len(table)), known_at)
    origin = generator.permutation(free)[:MOST_ROWS]
    rows = table.rows[torch.from_numpy(np.concatenate([origin, known_at]))].float()
    distinct = len(torch.unique(rows[: len(origin)], dim=0))
    if distinct < FEWEST_ROWS:
        raise InputError(
            f"expected at least {FEWEST_ROWS} different {name} rows to fit without pairs, got "
            f"{distinct} among {len(origin)}; hundreds are needed for a map that can be trusted"
        )
    mean = rows.mean(0, dtype=torch.float64).float()
    length = float((rows - mean).norm(dim=1).mean())
    if length <= 1e-6 * max(1e-12, float(mean.norm())):
        raise InputError(f"all {name} rows are the same; did the encoder collapse?")
    space = Space(mean, True, length)
    entered = space.enter(rows).numpy()
    values, vectors = np.linalg.eigh(entered.T.astype(np.float64) @ entered)
    full = int((values > 1e-9 * values[-1]).sum())
    basis = vectors[:, ::-1][:, : min(WIDE, full, len(rows) // 4)].astype(np.float32)
    return Side(space, basis, entered[: len(origin)], entered[len(origin) :], origin)


def hold_out(rows: Rows) -> tuple[Rows, Rows]:
    """Rows on which maps are compared, and those that they are fitted on."""
    count = min(HELD_OUT, len(rows) // 5)
    return rows[:count], rows[count:]
