"""Captions through a bridge and a decoder, measured, with checks that say which of the two errs.

The checks feed the decoder with rows of texts instead of images: if it writes well from them, what
is lost is lost by the bridge.
"""

import time
from collections.abc import Callable, Mapping, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from bridge.decode import Candidate, Decoder, Decoding
from bridge.embeddings import Embeddings, check_finite
from bridge.errors import InputError
from bridge.geometry import unit
from bridge.maps import Bridge
from bridge.search import noted as noted_encoder
from eval.captioning import DEFAULT, measure_captions
from eval.report import Report

CHECKED = 500  # images that the checks look at
COSINES = (0.9, 0.8, 0.6)
CONSENSUS = 30
Progress = Callable[[int, int], object]


def measure_decoder(
    decoder: Decoder,
    bridge: Bridge,
    images: Embeddings,
    references: Mapping[str, Sequence[str]],
    text: Embeddings | None = None,
    *,
    how: Decoding | None = None,
    metrics: Sequence[str] = DEFAULT,
    tokenizer: str = "auto",
    frequencies: Mapping[str, Sequence[str]] | None = None,
    drop_fitted: bool = False,
    seed: int = 0,
    inputs: Mapping[str, str] | None = None,
    progress: Progress = lambda done, total: None,
) -> tuple[Report, dict[str, str]]:
    """Caption images that have references, and score; returns the report and the captions.

    Beside the decoder's stand the nearest remembered captions and the consensus of CONSENSUS of
    them, the captions of other images (`check shuffled images`: what the decoder says whatever it
    sees), and with `text` (rows of the references) the checks of `text_checks`. Raises InputError
    for images that the bridge or the decoder was fitted on unless `drop_fitted`.
    """
    start = time.monotonic()
    bridge.check_encoder("image", images)
    decoder.check_encoder(noted_encoder(bridge, "text"), len(bridge.text.mean))
    check_finite(images, "image embeddings")
    images, noted = unseen(decoder, bridge, images, references, drop_fitted)
    references = {image_id: references[image_id] for image_id in images.image_ids}
    mapped = bridge.to_text(images.rows.float())
    how = how or Decoding(project=decoder.projects(bridge.about.get("paired", True)))
    written = first_of(decoder.captions(mapped, how), len(images), progress)
    systems = {"captions": written} if decoder.model else {}
    systems["nearest"] = first_of(decoder.remembered(mapped), len(images))
    systems["consensus"] = first_of(decoder.remembered(mapped, CONSENSUS), len(images))
    if decoder.model:
        order = torch.randperm(len(written), generator=torch.Generator().manual_seed(seed)).tolist()
        following = dict(zip(order, order[1:] + order[:1], strict=True))
        systems["check shuffled images"] = [written[following[i]] for i in range(len(written))]
    named = {
        name: dict(zip(images.image_ids, captions, strict=True))
        for name, captions in systems.items()
    }
    settings = {"seed": seed, "metrics": metrics, "tokenizer": tokenizer}
    noted |= {"decoding": vars(how), "kind": decoder.about["kind"]}
    report = measure_captions(
        named, references, frequencies=frequencies, inputs=inputs, noted=noted, **settings
    )
    if text is not None and decoder.model:
        checks = text_checks(decoder, text, references, how, settings)
        report.metrics.update(checks.metrics)
        report.chance.update(checks.chance)
    report = Report(**{**vars(report), "seconds": round(time.monotonic() - start, 3)})
    return report, next(iter(named.values()))


def unseen(
    decoder: Decoder,
    bridge: Bridge,
    images: Embeddings,
    references: Mapping[str, Sequence[str]],
    drop_fitted: bool,
) -> tuple[Embeddings, dict[str, int]]:
    """The images that have references and that neither bridge nor decoder was fitted on."""
    if len(set(images.image_ids)) < len(images):
        raise InputError("expected one image row an image; are these text embeddings?")
    told = [image_id for image_id in images.image_ids if image_id in references]
    if not told:
        raise InputError(
            f"no image has references: images are named like {images.image_ids[0]!r}, references "
            f"like {next(iter(references))!r}"
        )
    remembered = set(decoder.memory.table.image_ids)
    seen = bridge.are_seen(told) | [image_id in remembered for image_id in told]
    if seen.any() and not drop_fitted:
        raise InputError(
            f"the bridge or the decoder was fitted on {int(seen.sum())} of the {len(told)} images, "
            "which would flatter it; give other images, or leave these out with --drop-fitted"
        )
    kept = [image_id for image_id, was in zip(told, seen, strict=True) if not was]
    if not kept:
        raise InputError("all images were fitted on; give others")
    return images.of_images(kept), {"fitted_images_dropped": int(seen.sum())}


def first_of(captions, count: int, progress: Progress = lambda done, total: None) -> list[str]:
    """The best candidate of each row."""
    found: list[str] = []
    candidates: list[Candidate]
    for candidates in captions:
        found.append(candidates[0].text)
        progress(len(found), count)
    return found


def text_checks(
    decoder: Decoder,
    text: Embeddings,
    references: Mapping[str, Sequence[str]],
    how: Decoding,
    settings: dict,
) -> Report:
    """What the decoder makes of text rows, of rows of no image, and of other images' rows.

    `others`: the mean row of an image's captions but the first, and the same turned away to a
    cosine, towards the row of another image; `mean`: one row for all, the mean of all texts. These
    are scored against all references. `self`: a caption's own row, against that caption alone.
    """
    decoder.check_encoder(text.about.get("encoder", {}), text.width)
    have = set(text.image_ids)
    chosen = [image_id for image_id in references if image_id in have][:CHECKED]
    rows_of: dict[str, list[int]] = {image_id: [] for image_id in chosen}
    for row, image_id in enumerate(text.image_ids):
        if image_id in rows_of:
            rows_of[image_id].append(row)
    first = text.rows[[rows[0] for rows in rows_of.values()]].float()
    others = torch.stack([text.rows[rows[1:] or rows].float().mean(0) for rows in rows_of.values()])
    asked = {"check others": others, "check mean": decoder.mean.expand_as(first)}
    for cosine in COSINES:
        asked[f"check others at {cosine}"] = turned(others, decoder.mean, cosine)
    gold = {image_id: references[image_id] for image_id in chosen}
    systems = {name: written(decoder, rows, how, chosen) for name, rows in asked.items()}
    report = measure_captions(systems, gold, frequencies=references, **settings)
    alone = {image_id: [references[image_id][0]] for image_id in chosen}
    itself = measure_captions(
        {"check self": written(decoder, first, how, chosen)},
        alone,
        frequencies=references,
        **settings,
    )
    for part in ("metrics", "chance"):
        found = {**getattr(report, part), **getattr(itself, part)}
        kept = {key: value for key, value in found.items() if key.startswith("check")}
        getattr(report, part).clear()
        getattr(report, part).update(kept)
    return report


def written(
    decoder: Decoder, rows: Float[Tensor, "n d"], how: Decoding, image_ids: Sequence[str]
) -> dict[str, str]:
    captions = first_of(decoder.captions(rows, how), len(rows))
    return dict(zip(image_ids, captions, strict=True))


def turned(
    rows: Float[Tensor, "n d"], mean: Float[Tensor, " d"], cosine: float
) -> Float[Tensor, "n d"]:
    """Rows turned to a cosine with themselves, each towards the next row: an error of the kind
    that a bridge makes, unlike a random direction, which is orthogonal to every caption."""
    here = unit(rows - mean)
    away = here.roll(1, 0)
    away = unit(away - (away * here).sum(1, keepdim=True) * here)
    length = (rows - mean).norm(dim=1, keepdim=True)
    return (cosine * here + (1 - cosine**2) ** 0.5 * away) * length + mean
