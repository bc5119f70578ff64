"""platobridge embed, fit and data: arguments in, one call of the library, a file out."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bridge.errors import InputError
from bridge.options import Device, Dtype, EmbeddingsOut, ImageFile, Overwrite, Seed, TextFile

embed = typer.Typer(no_args_is_help=True, help="Turn captions or images into embeddings.")
data = typer.Typer(no_args_is_help=True, help="Bring captions and features in.")

Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first item that is faulty.")]
Batch = Annotated[int, typer.Option(min=1, help="Items that go through the model together.")]


@embed.command("images")
def embed_images(
    folder: Annotated[Path, typer.Argument(help="Folder of images.")],
    out: EmbeddingsOut,
    encoder: Annotated[
        str, typer.Option(help="timm:NAME, hf:NAME, package:efficientnet-lite0 or a local folder.")
    ] = "timm:vit_base_patch14_dinov2.lvd142m",
    pooling: Annotated[str, typer.Option(help="default, cls, mean or cls+mean.")] = "default",
    image_size: Annotated[
        int | None,
        typer.Option(
            min=16, help="Pixels; by default the model's, at most 224 for models of 448 and more."
        ),
    ] = None,
    resize: Annotated[
        str, typer.Option(help="The model's own preprocessing (model), or squash to a square.")
    ] = "model",
    weights: Annotated[
        Path | None, typer.Option(help="Checkpoint file for a timm model; no hub is asked.")
    ] = None,
    batch_size: Batch = 32,
    workers: Annotated[int | None, typer.Option(min=1, help="Threads that decode.")] = None,
    strict: Strict = False,
    device: Device = "auto",
    dtype: Dtype = "fp32",
    overwrite: Overwrite = False,
) -> None:
    """Embed all images below FOLDER with a frozen vision model.

    A file that cannot be read is named and left out. An interrupted run goes on where it stopped.
    """
    from bridge import console
    from bridge.embed import embed_images as run
    from bridge.embeddings import check_out
    from bridge.encode_vision import vision_encoder
    from bridge.images import find_images

    check_out(out)
    find_images(folder)  # before the model is loaded: a wrong folder should say so at once
    model = vision_encoder(
        encoder,
        pooling=pooling,
        image_size=image_size,
        resize=resize,
        weights=weights,
        device=device,
        dtype=dtype,
    )
    with console.progress_bar("images") as progress:
        made = run(
            folder,
            model,
            out,
            batch_size=batch_size,
            workers=workers,
            strict=strict,
            overwrite=overwrite,
            progress=progress,
        )
    for problem in made.about["unreadable"]:
        console.warn(f"left out: {problem['reason']}")
    console.note(f"{out}: {len(made)} rows of width {made.width} from {made.encoder}")


@embed.command("text")
def embed_text(
    captions: Annotated[Path, typer.Argument(help="Captions file of any known format.")],
    out: EmbeddingsOut,
    encoder: Annotated[
        str, typer.Option(help="jepa:FOLDER, hf:NAME, package:minilm or a local folder.")
    ],
    split: Annotated[
        str | None,
        typer.Option(help="Only this split, e.g. test; train takes Karpathy's restval too."),
    ] = None,
    layer: Annotated[
        int | None, typer.Option(help="Hidden state to take, 0 the embeddings, -1 the last.")
    ] = None,
    pooling: Annotated[
        str, typer.Option(help="default, mean, cls, last or projector.")
    ] = "default",
    max_tokens: Annotated[int | None, typer.Option(help="Cut longer captions there.")] = None,
    batch_size: Batch = 64,
    strict: Strict = False,
    device: Device = "auto",
    dtype: Dtype = "fp32",
    device_map: Annotated[
        str | None, typer.Option(help="Spread a large model over devices: auto.")
    ] = None,
    revision: Annotated[str | None, typer.Option(help="Revision on the hub.")] = None,
    trust_remote_code: Annotated[
        bool, typer.Option("--trust-remote-code", help="Run code that the model brings along.")
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Embed all captions of a file with a frozen text model."""
    from bridge import console
    from bridge.captions import iter_captions
    from bridge.embed import embed_captions as run
    from bridge.embeddings import check_out
    from bridge.encode_text import text_encoder

    check_out(out)
    next(iter_captions(captions, split=split))  # a wrong file should say so before a model loads
    model = text_encoder(
        encoder,
        layer=layer,
        pooling=pooling,
        max_tokens=max_tokens,
        device=device,
        dtype=dtype,
        device_map=device_map,
        revision=revision,
        trust_remote_code=trust_remote_code,
    )
    with console.progress_bar("captions") as progress:
        made = run(
            captions,
            model,
            out,
            split=split,
            batch_size=batch_size,
            strict=strict,
            overwrite=overwrite,
            progress=progress,
        )
    for fault in made.about["faulty"]:
        console.warn(f"left out: {fault}")
    if made.about["truncated"]:
        console.warn(
            f"{made.about['truncated']} captions reached the limit of {model.max_tokens} tokens"
        )
    console.note(f"{out}: {len(made)} rows of width {made.width} from {made.encoder}")


class ImageKey(StrEnum):
    name = "name"
    path = "path"
    id = "id"


@data.callback()
def keep_the_group() -> None:
    """Bring captions and features into platobridge's formats."""


@data.command("import")
def import_(
    source: Annotated[
        Path,
        typer.Argument(
            help="Captions (COCO or Karpathy JSON, token.txt, CSV, JSON Lines, tar shards) or "
            "features (.npy, .npz, safetensors, a clip-retrieval folder)."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="NAME.jsonl for captions, NAME.safetensors else.")
    ],
    split: Annotated[str | None, typer.Option(help="Captions: only this split.")] = None,
    image_key: Annotated[
        ImageKey, typer.Option(help="Captions: what an image is called, see docs/formats.md.")
    ] = ImageKey.name,
    strict: Strict = False,
    ids: Annotated[
        Path | None, typer.Option(help="Features: file with one id a row, in their order.")
    ] = None,
    key: Annotated[str | None, typer.Option(help="Features: which array to take.")] = None,
    caption_ids: Annotated[
        bool | None,
        typer.Option(
            "--caption-ids/--no-caption-ids",
            help="Features: whether ids are IMAGE#K, captions of IMAGE; by default seen from them.",
        ),
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="Features: name of the encoder that made them.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Bring captions or features that exist already into platobridge's formats."""
    from bridge import console

    if out.suffix == ".jsonl":
        import_captions(source, out, split, image_key.value, strict, overwrite)
    elif out.suffix == ".safetensors":
        from bridge.features import convert_features

        made = convert_features(
            source, out, ids, key=key, name=encoder, caption_ids=caption_ids, overwrite=overwrite
        )
        images = len(set(made.image_ids))
        console.note(f"{out}: {len(made)} rows of width {made.width}, {images} images")
    else:
        raise InputError(
            f"expected --out to end in .jsonl (captions) or .safetensors (features), got {out}"
        )


def import_captions(
    source: Path, out: Path, split: str | None, image_key: str, strict: bool, overwrite: bool
) -> None:
    """Rewrite captions of any known format as JSON Lines, and say what was left out."""
    from bridge import console
    from bridge.captions import iter_captions, write_captions

    if out.exists() and not overwrite:
        raise InputError(f"{out} exists; name another file, or replace it with --overwrite")
    faults: list = []
    captions = iter_captions(
        source, split=split, strict=strict, problems=faults.append, image_key=image_key
    )
    count = write_captions(out, captions)
    for fault in faults:
        console.warn(f"left out: {fault}")
    console.note(f"{out}: {count} captions")


class Method(StrEnum):
    ridge = "ridge"
    ols = "ols"
    rotation = "rotation"


class Captions(StrEnum):
    mean = "mean"
    each = "each"


def fit(
    text: TextFile,
    images: ImageFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="Bridge folder to write.")],
    method: Annotated[Method, typer.Option(help="How the map is fitted.")] = Method.ridge,
    pairs: Annotated[
        int | None, typer.Option(min=1, help="Use only so many of the shared images.")
    ] = None,
    captions: Annotated[
        Captions, typer.Option(help="Average the captions of an image, or pair each with it.")
    ] = Captions.mean,
    unit: Annotated[
        bool, typer.Option("--unit/--no-unit", help="Scale centred rows to length 1.")
    ] = True,
    penalty: Annotated[
        float | None,
        typer.Option(
            help="Ridge penalty, in mean eigenvalues; by default chosen on held-out pairs."
        ),
    ] = None,
    seed: Seed = 0,
    overwrite: Overwrite = False,
) -> None:
    """Fit a bridge from the images that TEXT and IMAGES share."""
    from bridge import console, embeddings, fitting
    from bridge.files import already_made, check_folder_of
    from bridge.maps import load
    from bridge.provenance import digest

    text_rows, image_rows = embeddings.load(text), embeddings.load(images)
    check_folder_of(out, "bridge.json", "bridge folder")
    request = {
        "inputs": {"text": digest(text), "image": digest(images)},
        "method": str(method),
        "pairs": pairs,
        "captions": str(captions),
        "unit": unit,
        "penalty": penalty,
        "seed": seed,
    }
    made_by = load(out).about.get("request", {}) if out.exists() and not overwrite else None
    if already_made(out, made_by, request, overwrite=overwrite):
        console.note(f"{out} is already made with these settings")
        return
    with console.messages.status("fitting"):
        fitted = fitting.fit(
            text_rows,
            image_rows,
            method=method.value,
            pairs=pairs,
            captions=captions.value,
            unit=unit,
            penalty=penalty,
            seed=seed,
        )
    fitted.about["request"] = request
    fitted.save(out, overwrite=overwrite)
    console.note(f"{out}: {method} from {fitted.about['pairs']} pairs")
    for direction, found in fitted.about["diagnostics"].items():
        console.note(f"  {direction}: " + ", ".join(f"{k} {v:.4g}" for k, v in found.items()))
