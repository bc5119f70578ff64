"""Whether unpaired rows help where some pairs are known: pairs held out in turn decide."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from bridge import fitting, paired
from bridge.basins import SAME_BASIN
from bridge.blind_search import GUIDED_SHARE, Search, guided_by_pairs
from bridge.consensus import Problem, average, polish, same
from bridge.cores import Cores
from bridge.sides import HELD_OUT, WIDE, Side
from bridge.transport import Map, Rows, rotation_of, unit

FOLDS = 5
CONTEST = 16  # candidates with each part of the known pairs held out


def contest(
    sides: Sequence[Side],
    problem: Problem,
    found: Search,
    known: Sequence[Rows],
    cores: Cores,
    seed: int,
) -> dict[str, float]:
    """Mean log rank of known pairs that are held out in turn, with unpaired rows and without.

    Ranks are among unpaired rows of the other side. `known_rank` and `alone_rank` are geometric
    means of the share of rows that come before the right one, over both directions; chance .37.
    `known_error` and `alone_error` are standard errors of their logarithms, over the pairs.
    """
    generator = np.random.default_rng((seed, 9))
    wide = [side.components(WIDE, known=True) for side in sides]
    galleries = [side.rows[: 4 * HELD_OUT] for side in sides]
    wide_galleries = [unit(g @ side.basis) for g, side in zip(galleries, sides, strict=True)]
    narrow = [problem.text[: 4 * HELD_OUT], problem.image[: 4 * HELD_OUT]]
    order = generator.permutation(len(known[0]))
    shares: dict[str, list[np.ndarray]] = {"known": [], "alone": []}
    for place, fold in enumerate(np.array_split(order, min(FOLDS, len(order)))):
        rest = np.setdiff1d(order, fold)
        cross = known[0][rest].T @ known[1][rest]
        without = replace(problem, known=cross, pairs=len(rest))
        start = held_out_start(without, found, cores, (seed, 11, place))
        rotation = polish(without, start, generator)
        held = [side[fold] for side in known]
        shares["known"].append(rank_shares(rotation, rotation.T, held, narrow))
        maps = alone([side[rest] for side in wide])
        shares["alone"].append(rank_shares(*maps, [side[fold] for side in wide], wide_galleries))
    signs = {}
    for name, parts in shares.items():
        of_pairs = np.concatenate([np.log(part).reshape(2, -1).mean(0) for part in parts])
        signs[f"{name}_rank"] = float(np.exp(of_pairs.mean()))
        signs[f"{name}_error"] = float(of_pairs.std(ddof=1) / len(of_pairs) ** 0.5)
    return signs


def held_out_start(
    problem: Problem, found: Search, cores: Cores, seed: tuple[int, int, int]
) -> Map:
    """Where a search would have begun its last refinement had it known these pairs only.

    The blind map, if the search stayed in its basin; else what candidates guided by the pairs tend
    to; without a search the pairs' own rotation.
    """
    if found.blind is None:
        return rotation_of(problem.known)
    if same(problem, found.rotation, found.blind) > SAME_BASIN:
        return found.blind
    stage = f"held-out pairs {seed[2] + 1}"
    return average(guided_by_pairs(problem, cores, stage, CONTEST, seed), GUIDED_SHARE)


def alone(pairs: Sequence[Rows]) -> tuple[Map, Map]:
    """Ridge maps in both directions from the pairs alone."""
    text, image = (torch.from_numpy(np.ascontiguousarray(side)) for side in pairs)
    folds = [
        paired.moments(text[part], image[part])
        for part in np.array_split(np.arange(len(text)), min(FOLDS, len(text)))
    ]
    whole = paired.total(folds)
    maps = []
    penalty = None if len(folds) > 1 else 1.0
    for way, parts in ((whole, folds), (whole.reversed(), [fold.reversed() for fold in folds])):
        maps.append(fitting.ridge_one_way(way, parts, penalty)[0].numpy().astype(np.float32))
    return maps[0], maps[1]


def rank_shares(
    to_image: Map, to_text: Map, pairs: Sequence[Rows], galleries: Sequence[Rows]
) -> np.ndarray:
    """Share of the other side's rows, itself counted, that are as near as the right one."""
    shares = []
    for query, right, gallery, weight in (
        (pairs[0], pairs[1], galleries[1], to_text),
        (pairs[1], pairs[0], galleries[0], to_image),
    ):
        score = (query * unit(right @ weight)).sum(1)
        others = query @ unit(gallery @ weight).T
        shares.append(((others >= score[:, None]).sum(1) + 1) / (len(gallery) + 1))
    return np.concatenate(shares)
