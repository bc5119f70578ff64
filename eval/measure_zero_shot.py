"""From images, class names and bridges to a report of what was named rightly, and what was not."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float, Int
from torch import Tensor

from bridge.classes import WNID, ClassList
from bridge.embeddings import Embeddings, check_finite
from bridge.errors import InputError
from bridge.maps import Bridge, Side
from bridge.prompts import class_of_prompt, class_rows, group_means
from eval.blind_match import measure_blind_match
from eval.labelled import Labelled
from eval.measure import report
from eval.report import Report
from eval.retrieval import CSLS_K, wilson
from eval.zero_shot import (
    CENTRES,
    COLUMNS,
    SHARPNESS,
    TRANSDUCTIVE,
    Outcome,
    chance,
    classified,
    figures,
    mean_of,
)

MOST_CONFUSED = 30
LABELLED_TRAINING = re.compile(r"lite0|in\d+k")  # as timm marks such weights: a1_in1k, ft_in22k


@dataclass(frozen=True, eq=False)
class ZeroShot:
    """A report, and the confusions of its cosine column (shown x taken for, images)."""

    report: Report
    confusion: Float[Tensor, "c c"]


def measure_zero_shot(
    shown: Labelled,
    classes: ClassList,
    prompts: Embeddings,
    bridges: Mapping[str, Bridge],
    *,
    ceiling: Bridge | None = None,
    center: str = "bridge",
    space: Side = "image",
    blind_seeds: int = 0,
    seed: int = 0,
    inputs: Mapping[str, str] | None = None,
    asked: Mapping[str, Any] | None = None,
) -> ZeroShot:
    """Zero-shot classification through one bridge, or through several as their mean and spread.

    `prompts` are those of `bridge.prompts.embed_prompts`. Metrics are `<column>.top1`, `.top5` and
    `.mean_per_class`; under `ceiling.` those of a bridge from pairs, under `blind_match.` those of
    `blind_seeds` runs of the classifier that needs no map. `bridges` lists each bridge with its
    verdict, `classes` each class, `confusions` what is most often taken for what. `asked` is noted
    among the settings. Raises InputError for rows of other encoders than the bridges', and for a
    bridge that was fitted on some of these images.
    """
    if center not in CENTRES:
        raise InputError(f"expected a center of {', '.join(CENTRES)}, got {center!r}")
    start = time.monotonic()
    check_finite(shown.images, "image embeddings")
    class_of, label = class_of_prompt(prompts, classes.ids), shown.label

    def through(name: str, bridge: Bridge) -> dict[str, Outcome]:
        check_bridge(name, bridge, prompts, shown.images)
        return classified(bridge, prompts, class_of, shown, center=center, space=space)

    found = {name: through(name, bridge) for name, bridge in bridges.items()}
    pooled = {column: mean_of([one[column] for one in found.values()]) for column in COLUMNS}
    level = by_chance(len(classes))
    parts = {"": (columns_of(pooled, label), level)}
    if ceiling:
        parts["ceiling."] = (columns_of(through("the ceiling", ceiling), label), level)
    if blind_seeds:
        texts = class_rows(prompts.rows, class_of, group_means(prompts.rows, class_of).mean(0))
        seeds = range(seed, seed + blind_seeds)
        parts["blind_match."] = measure_blind_match(shown.images.rows, texts, label, seeds)
    listed = {
        "bridges": [
            about_bridge(name, bridge) | columns_of(found[name], label)
            for name, bridge in bridges.items()
        ],
        "classes": per_class(pooled, label, classes),
        "confusions": confusions(pooled["cosine"].confusion, classes),
    }
    chosen = {"center": center, "space": space, "blind_seeds": blind_seeds, "seed": seed}
    chosen |= {"transductive": list(COLUMNS if center == "own" else TRANSDUCTIVE)}
    measured = {
        "metrics": prefixed(parts, 0) | listed,
        "chance": prefixed(parts, 1),
        "settings": about_test(shown, classes, prompts) | chosen,
    }
    made = report("zero-shot", measured, dict(asked or {}), {}, inputs, start)
    return ZeroShot(made, pooled["cosine"].confusion)


def by_chance(classes: int) -> dict[str, float]:
    return {f"{column}.{key}": at for column in COLUMNS for key, at in chance(classes).items()}


def prefixed(parts: Mapping[str, tuple], place: int) -> dict[str, Any]:
    return {
        f"{prefix}{key}": value
        for prefix, part in parts.items()
        for key, value in part[place].items()
    }


def about_test(shown: Labelled, classes: ClassList, prompts: Embeddings) -> dict[str, Any]:
    return {
        "images": len(shown),
        "images_of_other_classes": shown.left_out,
        "class_count": len(classes),
        "classes": classes.source,
        "names": classes.named_by,
        "templates": prompts.about.get("templates"),
        "prompts": len(prompts),
        "csls_k": CSLS_K,
        "sharpness": SHARPNESS,
        "text_encoder": prompts.encoder,
        "image_encoder": shown.images.encoder,
        "supervised_features": supervised(shown.images.encoder, classes),
    }


def supervised(encoder: str, classes: ClassList) -> bool:
    """Whether an image encoder's name says that it was trained with labels of ImageNet classes."""
    of_imagenet = any(WNID.fullmatch(class_id) for class_id in classes.ids)
    return of_imagenet and LABELLED_TRAINING.search(encoder) is not None


def check_bridge(name: str, bridge: Bridge, prompts: Embeddings, images: Embeddings) -> None:
    bridge.check_encoder("text", prompts)
    bridge.check_encoder("image", images)
    if seen := int(bridge.are_seen(images.image_ids).sum()):
        raise InputError(
            f"{name} was fitted on {seen} of the {len(images)} images, which would flatter it; "
            "classify other images"
        )


def columns_of(found: Mapping[str, Outcome], label: Int[Tensor, " n"]) -> dict[str, Any]:
    return {
        f"{column}.{key}": value
        for column, outcome in found.items()
        for key, value in figures(outcome, label).items()
    }


def about_bridge(name: str, bridge: Bridge) -> dict[str, Any]:
    """What a bridge was fitted from, and the verdict of one that was fitted without pairs."""
    said = {key: bridge.about.get(key) for key in ("method", "paired", "pairs", "seed")}
    return {"bridge": name, **said, "verdict": bridge.about.get("verdict", {}).get("level")}


def per_class(
    found: Mapping[str, Outcome], label: Int[Tensor, " n"], classes: ClassList
) -> list[dict[str, Any]]:
    """A line for each class: its names, its images, and what was found of them by each column."""
    lines = []
    for place, (class_id, names) in enumerate(classes.names.items()):
        here = label == place
        line: dict[str, Any] = {"class": class_id, "names": list(names), "images": int(here.sum())}
        for column, outcome in found.items():
            for k, hits in outcome.found.items():
                line[f"{column}.top{k}"] = float(hits[here].mean())
            line[f"{column}.top1.interval"] = list(wilson(line[f"{column}.top1"], line["images"]))
        lines.append(line)
    return lines


def confusions(
    confusion: Float[Tensor, "c c"], classes: ClassList, most: int = MOST_CONFUSED
) -> list[dict[str, Any]]:
    """The pairs of classes of which the first is most often taken for the second."""
    share = confusion / confusion.sum(1, keepdim=True)
    share.fill_diagonal_(0)
    top = share.flatten().topk(min(most, len(share) * (len(share) - 1)))
    places = [divmod(at, len(share)) for at in top.indices.tolist()]
    return [
        {
            "class": classes.ids[shown],
            "name": classes.labels[shown],
            "taken_for": classes.ids[taken],
            "taken_for_name": classes.labels[taken],
            "images": float(confusion[shown, taken]),
            "share": float(share[shown, taken]),
        }
        for shown, taken in places
        if share[shown, taken] > 0
    ]
