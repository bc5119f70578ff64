"""platobridge eval captioning: its options."""

from pathlib import Path
from typing import Annotated

import typer

from bridge.errors import InputError
from bridge.options import (
    Beams,
    Device,
    DropFitted,
    ImageKey,
    LengthPenalty,
    MaxTokens,
    Overwrite,
    Project,
    ReportOut,
    Seed,
)


def captioning(
    references: Annotated[
        Path, typer.Option(help="Captions to compare with: a captions file of any known format.")
    ],
    out: ReportOut,
    results: Annotated[
        Path | None, typer.Option(help="Captions of any system, [{image_id, caption}].")
    ] = None,
    bridge: Annotated[Path | None, typer.Option(help="Bridge folder.")] = None,
    decoder: Annotated[
        Path | None, typer.Option(help="Decoder folder; by default that of the text encoder.")
    ] = None,
    images: Annotated[
        Path | None, typer.Option(help="Image embeddings to write captions for.")
    ] = None,
    text: Annotated[
        Path | None,
        typer.Option(help="Embeddings of the references, for the checks that need no image."),
    ] = None,
    split: Annotated[str | None, typer.Option(help="Only references of this split.")] = None,
    image_key: Annotated[
        ImageKey, typer.Option(help="What references call an image; id for COCO's results.")
    ] = ImageKey.name,
    metrics: Annotated[
        str, typer.Option(help="Of cider, bleu, rouge, meteor (Java), spice (its parser).")
    ] = "cider,bleu,rouge",
    tokenizer: Annotated[str, typer.Option(help="auto, ptb (Java) or python.")] = "auto",
    df: Annotated[
        Path | None, typer.Option(help="Captions whose document frequencies CIDEr should use.")
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Score only the images that have a result.")
    ] = False,
    beams: Beams = 4,
    length_penalty: LengthPenalty = 1.0,
    max_tokens: MaxTokens = 24,
    project: Project = None,
    save_captions: Annotated[
        Path | None, typer.Option(help="Write the captions there, [{image_id, caption}].")
    ] = None,
    drop_fitted: DropFitted = False,
    seed: Seed = 0,
    device: Device = "auto",
    overwrite: Overwrite = False,
) -> None:
    """Score captions: those of --results, or those written through --bridge for --images.

    Beside them stand what people reach on the same references, one constant sentence, and shuffled
    captions (chance). CIDEr depends on the number of images: compare it at equal numbers only.
    """
    from eval.run_captioning import Asked, run

    if (results is None) == (bridge is None):
        raise InputError("expected either --results, or --bridge with --images")
    if bridge and not images:
        raise InputError("--bridge needs --images, the embeddings of images to caption")
    asked = Asked(
        metrics=tuple(name.strip() for name in metrics.split(",") if name.strip()),
        tokenizer=tokenizer,
        split=split,
        image_key=image_key.value,
        partial=partial,
        beams=beams,
        length_penalty=length_penalty,
        max_tokens=max_tokens,
        project=project,
        drop_fitted=drop_fitted,
        seed=seed,
    )
    files = {
        "references": references,
        "results": results,
        "bridge": bridge,
        "decoder": decoder,
        "images": images,
        "text": text,
        "df": df,
    }
    given = {name: path for name, path in files.items() if path}
    run(asked, given, out, device=device, save_captions=save_captions, overwrite=overwrite)
