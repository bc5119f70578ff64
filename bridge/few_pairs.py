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
from bridge.finishing import finish
from bridge.sides import COMPONENTS, HELD_OUT, WIDE, Side
from bridge.transport import Map, Rows, rotation_of, unit
from bridge.verdict import LEAST_SPREAD

FOLDS = 5
CONTEST = 16  # candidates with each part of the known pairs held out


def contest(
    sides: Sequence[Side],
    problem: Problem,
    found: Search,
    cores: Cores,
    linear: bool,
    seed: int,
) -> dict[str, float]:
    """Ranks of known pairs that are held out in turn, with unpaired rows and without.

    Ranks are among unpaired rows of the other side. `known_rank` and `alone_rank` are geometric
    means of the share of rows that come before the right one, over both directions; chance .37.
    `known_spread` and `alone_spread` are standard deviations of their logarithms over the pairs, of
    which there are `held_pairs`; `alone_lead` is by how many standard errors the pairs alone do
    better (Student's paired t).
    """
    order = np.random.default_rng((seed, 9)).permutation(len(sides[0].known))
    parts, folds = np.array_split(order, min(FOLDS, len(order))), []
    for place, fold in enumerate(parts):
        rest = np.setdiff1d(order, fold)
        known = [side.components(COMPONENTS, known=True)[rest] for side in sides]
        without = replace(problem, known=known[0].T @ known[1], pairs=len(rest))
        start = held_out_start(without, found, cores, (seed, 11, place))
        cores.progress("held-out pairs", place, len(parts))
        folds.append(ranks_of_fold(sides, without, start, fold, rest, linear, seed))
    cores.progress("held-out pairs", len(parts), len(parts))
    logs = {
        name: np.concatenate([np.log(share).reshape(2, -1).mean(0) for share in shares])
        for name, shares in zip(("known", "alone"), zip(*folds, strict=True), strict=True)
    }
    count = len(order)
    signs: dict[str, float] = {"held_pairs": float(count)}
    for name, of_pairs in logs.items():
        signs[f"{name}_rank"] = float(np.exp(of_pairs.mean()))
        signs[f"{name}_spread"] = float(of_pairs.std(ddof=1))
    ahead = logs["known"] - logs["alone"]
    error = max(float(ahead.std(ddof=1)), LEAST_SPREAD) / count**0.5
    return signs | {"alone_lead": float(ahead.mean()) / error}


def ranks_of_fold(
    sides: Sequence[Side],
    problem: Problem,
    start: Map,
    fold: np.ndarray,
    rest: np.ndarray,
    linear: bool,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Shares of ranks of the held-out pairs by finished maps, with unpaired rows and without."""
    wide = [side.components(WIDE, known=True) for side in sides]
    galleries = [unit(side.rows[: 4 * HELD_OUT] @ side.basis) for side in sides]
    held = [rows[fold] for rows in wide]
    rotation = polish(problem, start, np.random.default_rng((seed, 12)))
    told = [replace(side, known=side.known[rest]) for side in sides]
    to_image, to_text, _ = finish(told, rotation, linear, seed)
    return (
        rank_shares(to_image, to_text, held, galleries),
        rank_shares(*alone([rows[rest] for rows in wide]), held, galleries),
    )


def held_out_start(
    problem: Problem, found: Search, cores: Cores, seed: tuple[int, int, int]
) -> Map:
    """A start that knows the other pairs only, in place of a search for each part held out.

    The best map before pairs had a part in it, if the search stayed in its basin; else the mean of
    a few candidates that the pairs guide; without a search the pairs' own rotation. What is found
    from there is no better than what the search with all pairs finds, so that the contest favours
    the pairs alone, not the unpaired rows.
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
