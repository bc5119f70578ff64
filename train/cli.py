"""platobridge train, train-decoder and quickstart."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bridge.errors import InputError
from bridge.options import Device, Overwrite, Seed

NEIGHBOURS = 10


def train(
    config: Annotated[Path, typer.Argument(help="Settings (YAML), see configs/.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Run folder to write.")],
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="[a.b=value]...", help="Settings that differ.")
    ] = None,
    find_rate: Annotated[
        bool,
        typer.Option("--find-rate", help="Search optim.lr first, with short runs in RUN-rates."),
    ] = False,
    rate_steps: Annotated[int, typer.Option(min=10, help="Steps of each of these runs.")] = 100,
    device: Device = "auto",
    overwrite: Overwrite = False,
) -> None:
    """Train a text JEPA on captions and export its encoder to RUN/encoder.

    An interrupted run goes on from its last checkpoint. For several processes:
    accelerate launch -m train CONFIG ... --out RUN
    """
    from bridge import console
    from bridge.config import load
    from train.config import TrainConfig
    from train.data import CaptionFiles
    from train.loop import run
    from train.rates import search

    chosen = load(TrainConfig, config, settings or [])
    if chosen.data.captions is None:
        raise InputError(
            "expected data.captions, the captions file to train on; give data.captions=FILE"
        )
    captions = CaptionFiles(chosen.data.captions, chosen.data.split)
    validate = validation(chosen)
    placed = {"device": device, "overwrite": overwrite}
    if find_rate:
        beside = out.with_name(f"{out.name}-rates")
        with training_bar("learning rates") as hooks:
            rate = search(chosen, captions, out=beside, steps=rate_steps, **placed, **hooks)
        optim = chosen.optim.model_copy(update={"lr": rate})
        chosen = chosen.model_copy(update={"optim": optim})
    with training_bar("training") as hooks:
        encoder = run(chosen, captions, out=out, validate=validate, **placed, **hooks)
    console.note(f"encoder: {encoder}")


@contextmanager
def training_bar(title: str) -> Iterator[dict[str, Callable]]:
    """Hooks of a run that move a bar with the loss, tokens a second and the time left."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from bridge import console

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[figures]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console.messages) as bars:
        task = bars.add_task(title, total=None, figures="")

        def report(record: dict[str, int | float]) -> None:
            shown = f"loss {record['loss']:.4g}, {record['tokens_per_second']:,.0f} tokens/s"
            bars.update(task, figures=shown)
            if found := {k: v for k, v in record.items() if k.startswith("validation.")}:
                shown = ", ".join(f"{k.split('.', 1)[1]} {v:.3f}" for k, v in found.items())
                console.note(f"step {record['step'] + 1}: {shown}")

        yield {
            "progress": lambda done, total: bars.update(task, completed=done, total=total),
            "report": report,
            "note": console.note,
        }


def validation(config) -> Callable | None:
    """A function that measures captions which the run does not train on, if some are given."""
    from bridge.captions import read_captions
    from bridge.embeddings import load

    settings = config.validation
    if settings.captions is None:
        if settings.images:
            raise InputError(
                "validation.images needs validation.captions, the captions of these images"
            )
        return None
    if (settings.captions, settings.split) == (config.data.captions, config.data.split):
        raise InputError(
            "validation.captions are those that are trained on; name another file or "
            "validation.split"
        )
    captions = read_captions(settings.captions, split=settings.split)
    images = load(settings.images) if settings.images else None
    if images:
        known = set(images.image_ids)
        captions = [caption for caption in captions if caption.image_id in known]
    found = len({caption.image_id for caption in captions})
    if found <= NEIGHBOURS:
        raise InputError(
            f"validation needs captions of more than {NEIGHBOURS} images, got {found}"
            + (" that have embeddings" if images else "")
        )
    return lambda encode: figures(captions, encode([c.text for c in captions]), images)


def figures(captions: list, rows, images) -> dict[str, float]:
    """Figures of one validation, each with its chance level.

    How often the second caption of an image is among those nearest to its first one, and the
    mutual nearest neighbours of mean captions and images, if there are image embeddings.
    """
    import torch

    from bridge.embeddings import Embeddings, image_means
    from bridge.geometry import center, nearest
    from eval.alignment import mutual_knn

    table = Embeddings(rows, tuple(c.id for c in captions), tuple(c.image_id for c in captions))
    rows_of: dict[str, list[int]] = {}
    for row, image_id in enumerate(table.image_ids):
        rows_of.setdefault(image_id, []).append(row)
    found = {}
    pairs = torch.tensor([of_image[:2] for of_image in rows_of.values() if len(of_image) > 1])
    if len(pairs) > NEIGHBOURS:
        first, second = center(rows)[pairs.T]
        right = nearest(first, second, NEIGHBOURS)[1] == torch.arange(len(pairs))[:, None]
        for k in (1, NEIGHBOURS):
            found[f"caption_recall@{k}"] = float(right[:, :k].any(1).float().mean())
            found[f"caption_recall@{k}.chance"] = k / len(pairs)
    if images:
        image = image_means(images.of_images(tuple(rows_of))).rows
        found["mutual_knn"] = mutual_knn(image_means(table).rows, image, k=NEIGHBOURS)
        found["mutual_knn.chance"] = NEIGHBOURS / (len(image) - 1)
    return found


class Kind(StrEnum):
    small = "small"
    nearest = "nearest"
    gpt2 = "gpt2"


def train_decoder(
    captions: Annotated[Path, typer.Argument(help="Captions file of any known format.")],
    encoder: Annotated[
        str, typer.Option(help="Text encoder to read: jepa:FOLDER, hf:NAME, package:minilm.")
    ],
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="[a.b=value]...", help="Settings that differ.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Decoder folder; by default `decoder` in the encoder's."),
    ] = None,
    kind: Annotated[
        Kind | None,
        typer.Option(
            help="small (default), nearest (a memory only), gpt2 (a given language model)."
        ),
    ] = None,
    split: Annotated[str | None, typer.Option(help="Only captions of this split.")] = None,
    bridge: Annotated[
        Path | None, typer.Option(help="Bridge from pairs, whose errors the decoder is to expect.")
    ] = None,
    text: Annotated[
        Path | None, typer.Option(help="Embeddings of these captions, if they exist already.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="Settings (YAML).")] = None,
    device: Device = "auto",
    overwrite: Overwrite = False,
) -> None:
    """Train a decoder, which turns a text encoder's embeddings into captions, on text alone.

    It learns to write a caption from the mean of the other captions of its image. Without --bridge
    noise leaves `cosine` of that mean. An interrupted run goes on.
    """
    from bridge import console
    from bridge.captions import iter_captions
    from bridge.config import load
    from bridge.encode_text import text_encoder
    from train.config import DecoderConfig
    from train.decoder import run

    words = [*(settings or []), *([f"writer.kind={kind}"] if kind else [])]
    chosen = load(DecoderConfig, config, words)
    out = out or decoder_place(encoder)
    next(iter_captions(captions, split=split))  # a wrong file should say so before a model loads
    model = None if text else text_encoder(encoder, device=device)
    with ExitStack() as bars:
        hooks = {"note": console.note}
        if not text:
            hooks["embedding"] = bars.enter_context(console.progress_bar("captions"))
        if chosen.writer.kind != "nearest":
            hooks |= bars.enter_context(training_bar("training"))
        made = run(
            chosen,
            captions,
            model,
            out=out,
            text=text,
            bridge=bridge,
            split=split,
            overwrite=overwrite,
            device=device,
            **hooks,
        )
    console.note(f"decoder: {made}")


def decoder_place(encoder: str) -> Path:
    """`decoder` inside a local encoder folder, where a bridge's users find it."""
    kind, _, name = encoder.rpartition(":")
    folder = Path(name)
    if kind == "package" or not folder.is_dir():
        raise InputError(f"expected --out: {encoder} is no folder that a decoder could be kept in")
    return folder / "decoder"


def quickstart(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write.")] = Path(
        "runs/quickstart"
    ),
    seed: Seed = 0,
    overwrite: Overwrite = False,
) -> None:
    """Draw a world, train a text JEPA on its captions, and bridge it to a frozen vision model.

    Needs no hub and no data set. An interrupted run goes on.
    """
    from train.quickstart import run

    run(out, seed=seed, overwrite=overwrite)
