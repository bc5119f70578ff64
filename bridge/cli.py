"""platobridge embed, fit and data: arguments in, one call of the library, a file out."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bridge.errors import InputError
from bridge.options import (
    Device,
    Dtype,
    EmbeddingsOut,
    ImageFile,
    ImageKey,
    Overwrite,
    Seed,
    TextFile,
)

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
    consensus = "consensus"
    mini_vec2vec = "mini-vec2vec"
    rosetta = "rosetta"
    gw = "gw"
    wasserstein_procrustes = "wasserstein-procrustes"
    third_moment = "third-moment"
    class_qap = "class-qap"


FROM_PAIRS = (Method.ridge, Method.ols, Method.rotation)  # all others go with --unpaired


class Captions(StrEnum):
    mean = "mean"
    each = "each"


def fit(
    text: TextFile,
    images: ImageFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="Bridge folder to write.")],
    method: Annotated[
        Method | None,
        typer.Option(
            help="ridge (default), ols, rotation; with --unpaired consensus (default), or a "
            "published one to compare with."
        ),
    ] = None,
    unpaired: Annotated[
        bool, typer.Option("--unpaired", help="TEXT and IMAGES belong to different images.")
    ] = False,
    pairs: Annotated[
        str | None,
        typer.Option(
            metavar="N|FILE",
            help="Use only N of the shared images, or those that FILE names, one a line.",
        ),
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
    drop_shared: Annotated[
        bool,
        typer.Option(
            "--drop-shared", help="Unpaired: leave shared images out of one side, at random."
        ),
    ] = False,
    linear: Annotated[
        bool, typer.Option("--linear/--no-linear", help="Unpaired: end with a map by ridge.")
    ] = True,
    budget: Annotated[
        str | None, typer.Option(help="Unpaired: most time to search in, as 90s or 2m.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Unpaired: processes.")] = None,
    allow_failed: Annotated[
        bool, typer.Option("--allow-failed", help="Unpaired: exit with 0 even if no map was found.")
    ] = False,
    seed: Seed = 0,
    overwrite: Overwrite = False,
) -> None:
    """Fit a bridge from the images that TEXT and IMAGES share, or without pairs by --unpaired.

    An unpaired bridge has a verdict: reliable, coarse or failed (exit code 3, the bridge is written
    nevertheless). An interrupted search goes on where it stopped.
    """
    from bridge import console, embeddings, fitting
    from bridge.files import already_made, check_folder_of, remove
    from bridge.maps import load
    from bridge.provenance import digest

    method = method or (Method.consensus if unpaired else Method.ridge)
    if unpaired == (method in FROM_PAIRS):
        raise InputError(
            f"{method} is no method for a fit {'without' if unpaired else 'from'} pairs; "
            f"{', '.join(FROM_PAIRS)} go without --unpaired, all others with it"
        )
    text_rows, image_rows = embeddings.load(text), embeddings.load(images)
    check_folder_of(out, "bridge.json", "bridge folder")
    request = {
        "inputs": {"text": digest(text), "image": digest(images)},
        "method": str(method),
        "pairs": pairs,
        "seed": seed,
    }
    if unpaired:
        request |= {"drop_shared": drop_shared, "linear": linear, "budget": budget}
    else:
        request |= {"captions": str(captions), "unit": unit, "penalty": penalty}
    known = known_pairs(pairs)
    seconds = None if budget is None else duration(budget)
    made = load(out) if out.exists() and not overwrite else None
    made_by = made and made.about.get("request", {})
    if already_made(out, made_by, request, overwrite=overwrite):
        console.note(f"{out} is already made with these settings")
        finished(made, allow_failed)
        return
    if unpaired:
        from bridge.unpaired import check_method, fit_unpaired

        check_method(method.value, known, seconds)
        journal = journal_of(out, request, overwrite)
        with stages() as progress:
            fitted = fit_unpaired(
                text_rows,
                image_rows,
                method=method.value,
                pairs=known,
                drop_shared=drop_shared,
                linear=linear,
                seed=seed,
                budget=seconds,
                workers=workers,
                journal=journal,
                progress=progress,
            )
    else:
        with console.messages.status("fitting"):
            fitted = fitting.fit(
                text_rows,
                image_rows,
                method=method.value,
                pairs=known,
                captions=captions.value,
                unit=unit,
                penalty=penalty,
                seed=seed,
            )
    fitted.about["request"] = request
    fitted.save(out, overwrite=overwrite)
    if unpaired:
        remove(journal)
        console.note(f"{out}: " + "; ".join(fitted.about["notes"]))
    else:
        console.note(f"{out}: {method} from {fitted.about['pairs']} pairs")
        for direction, found in fitted.about["diagnostics"].items():
            console.note(f"  {direction}: " + ", ".join(f"{k} {v:.4g}" for k, v in found.items()))
    finished(fitted, allow_failed)


def finished(fitted, allow_failed: bool) -> None:
    """Print the verdict of an unpaired bridge, and leave with 3 if it failed."""
    from bridge import console

    verdict = fitted.about.get("verdict")
    if verdict is None:
        return
    console.results.print(f"verdict: {verdict['level']}", markup=False)
    for reason in verdict["reasons"]:
        console.note(f"  {reason}")
    if disputed := verdict.get("deciding_images"):
        console.note(
            "  another basin competes; captions of these images would help to decide, as --pairs: "
            + ", ".join(disputed)
        )
    if verdict["level"] == "failed" and not allow_failed:
        raise typer.Exit(3)


def known_pairs(asked: str | None) -> int | list[str] | None:
    """--pairs: a number, or the image ids that a file names."""
    from bridge.files import existing

    if asked is None:
        return None
    if asked.removeprefix("-").isdecimal():
        if int(asked) < 1:
            raise InputError(f"expected --pairs of at least 1, got {asked}")
        return int(asked)
    lines = existing(Path(asked), "list of pairs (or number)").read_text(encoding="utf-8")
    return [line.strip() for line in lines.splitlines() if line.strip()]


def duration(text: str) -> float:
    """Seconds in 90, 90s, 2m or 1.5h."""
    units = {"s": 1, "m": 60, "h": 3600}
    number, factor = (text[:-1], units[text[-1]]) if text[-1:] in units else (text, 1)
    try:
        seconds = float(number) * factor
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        raise InputError(f"expected a --budget such as 90s, 2m or 1h, got {text!r}")
    return seconds


def journal_of(out: Path, request: dict, overwrite: bool) -> Path:
    """The folder beside `out` in which a search of this request keeps its candidates."""
    import json

    from bridge.files import remove, write_json

    folder = out.with_name(f"{out.name}.partial")
    noted = folder / "request.json"
    same = noted.exists() and json.loads(noted.read_text(encoding="utf-8")) == request
    if folder.exists() and not same:
        if not (overwrite or noted.exists()):
            raise InputError(f"{folder} is in the way and no unfinished search; move it")
        if not overwrite:
            raise InputError(
                f"{folder} holds an unfinished search of other settings; finish that one, name "
                "another --out, or start over with --overwrite"
            )
        remove(folder)
    write_json(noted, request)
    return folder


@contextmanager
def stages() -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar a stage of the search."""
    from bridge import console

    with ExitStack() as bars:
        opened: dict = {}

        def progress(stage: str, done: int, total: int) -> None:
            if stage not in opened:
                bars.close()
                opened[stage] = bars.enter_context(console.progress_bar(stage))
            opened[stage](done, total)

        yield progress
