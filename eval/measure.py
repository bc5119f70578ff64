"""From embeddings and a bridge to a report: choose the items, refuse a leak, measure, note all."""

import time
from collections.abc import Mapping

from bridge.embeddings import Embeddings, check_finite, image_means
from bridge.errors import InputError
from bridge.maps import Bridge
from bridge.provenance import versions
from eval.alignment import alignment
from eval.report import Report
from eval.retrieval import DIRECTIONS, partners, retrieval

SPACES = ("query", "text", "image")


def measure_alignment(
    text: Embeddings,
    image: Embeddings,
    *,
    bridge: Bridge | None = None,
    k: int = 10,
    center: bool = True,
    captions: str = "mean",
    drop_fitted: bool = False,
    seed: int = 0,
    inputs: Mapping[str, str] | None = None,
) -> Report:
    """Alignment of the items that both sides share, one text row an image.

    `captions` is mean (of an image's texts) or first. With a bridge, texts are mapped into image
    space before. Raises InputError as `items` does.
    """
    start = time.monotonic()
    text, image, noted = items(text, image, bridge, captions=captions, drop_fitted=drop_fitted)
    text_rows, image_rows = text.rows.float(), image.rows.float()
    if bridge:
        text_rows, image_rows = bridge.both_in("image", text_rows, image_rows)
    found = alignment(text_rows, image_rows, k=k, center=center, seed=seed)
    asked = {
        "k": k,
        "center": center,
        "captions": captions,
        "bridge": bridge is not None,
        "drop_fitted": drop_fitted,
        "seed": seed,
    }
    return report("alignment", found, asked, noted | judged(bridge), inputs, start)


def measure_retrieval(
    text: Embeddings,
    image: Embeddings,
    bridge: Bridge,
    *,
    space: str = "query",
    captions: str = "each",
    drop_fitted: bool = False,
    inputs: Mapping[str, str] | None = None,
) -> Report:
    """Retrieval through a bridge among items that it was not fitted on.

    `captions` is each (any text of an image counts for it), mean or first. `space` is query (each
    gallery is mapped into its query's space, see Bridge.both_in), text or image.
    """
    if space not in SPACES:
        raise InputError(f"expected a space of {', '.join(SPACES)}, got {space!r}")
    start = time.monotonic()
    text, image, noted = items(text, image, bridge, captions=captions, drop_fitted=drop_fitted)
    image_of_text = partners(text.image_ids, image.image_ids)
    found: dict = {"metrics": {}, "chance": {}, "settings": {}}
    for direction in DIRECTIONS:
        here = direction.split("_")[0] if space == "query" else space
        sides = bridge.both_in(here, text.rows.float(), image.rows.float())
        one_way = retrieval(*sides, image_of_text, directions=[direction])
        found = {part: found[part] | one_way[part] for part in found}
    asked = {"space": space, "captions": captions, "drop_fitted": drop_fitted}
    return report("retrieval", found, asked, noted | judged(bridge), inputs, start)


def judged(bridge: Bridge | None) -> dict:
    """The verdict on a bridge that was fitted without pairs: its figures never go without it."""
    verdict = bridge.about.get("verdict") if bridge else None
    if verdict is None:
        return {}
    return {"verdict": {"level": verdict["level"], "reasons": list(verdict["reasons"])}}


def report(
    task: str, found: dict, asked: dict, noted: dict, inputs: Mapping | None, start: float
) -> Report:
    return Report(
        task=task,
        metrics=found["metrics"],
        chance=found["chance"],
        settings=found["settings"] | noted | asked,
        inputs=dict(inputs or {}),
        versions=versions(),
        seconds=round(time.monotonic() - start, 3),
    )


def items(
    text: Embeddings,
    image: Embeddings,
    bridge: Bridge | None,
    *,
    captions: str,
    drop_fitted: bool,
) -> tuple[Embeddings, Embeddings, dict[str, int]]:
    """The images that both sides share, in the order of `image`, and counts of what was chosen.

    Raises InputError if they share too few, if the bridge belongs to other encoders, or if it was
    fitted on some of these images and `drop_fitted` is not set.
    """
    if captions not in ("each", "mean", "first"):
        raise InputError(f"expected captions of each, mean, first, got {captions!r}")
    if len(set(image.image_ids)) < len(image):
        raise InputError(
            f"expected one image row an image, got {len(image)} rows of "
            f"{len(set(image.image_ids))} images; are the two files in the wrong order?"
        )
    check_finite(text, "text embeddings")
    check_finite(image, "image embeddings")
    texts_of = set(text.image_ids)
    shared = [image_id for image_id in image.image_ids if image_id in texts_of]
    noted = {"shared_images": len(shared)}
    if bridge:
        bridge.check_encoder("text", text)
        bridge.check_encoder("image", image)
        fitted = bridge.are_seen(shared)
        noted["fitted_images_dropped" if drop_fitted else "fitted_images"] = int(fitted.sum())
        if fitted.any() and not drop_fitted:
            raise InputError(
                f"the bridge was fitted on {int(fitted.sum())} of the {len(shared)} images, which "
                "would flatter it; give other images, or leave these out with --drop-fitted"
            )
        shared = [image_id for image_id, seen in zip(shared, fitted, strict=True) if not seen]
    if len(shared) < 4:
        raise InputError(
            f"expected at least 4 images to measure on, got {len(shared)}: texts have ids like "
            f"{text.image_ids[0]!r}, images like {image.image_ids[0]!r}"
        )
    text, image = text.of_images(shared), image.of_images(shared)
    if captions == "mean":
        text = image_means(text)
    elif captions == "first":
        first = {image_id: row for row, image_id in reversed(list(enumerate(text.image_ids)))}
        text = text.take([first[image_id] for image_id in shared])
    return text, image, noted | {"texts": len(text), "images": len(image)}
