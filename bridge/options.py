"""Command-line options that mean the same everywhere."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what stands at --out.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of every random choice.")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, mps.")]
Dtype = Annotated[str, typer.Option(help="Precision of the model: fp32, bf16 or fp16.")]
TextFile = Annotated[Path, typer.Argument(help="Text embeddings.", metavar="TEXT")]
ImageFile = Annotated[Path, typer.Argument(help="Image embeddings.", metavar="IMAGES")]
EmbeddingsOut = Annotated[Path, typer.Option("--out", "-o", help="Embeddings file to write.")]
ReportOut = Annotated[Path, typer.Option("--out", "-o", help="Report (JSON) to write.")]
DropFitted = Annotated[
    bool, typer.Option("--drop-fitted", help="Leave out images that the bridge was fitted on.")
]
Beams = Annotated[int, typer.Option(min=1, help="Beams of the search; 1 is greedy.")]
LengthPenalty = Annotated[
    float, typer.Option(help="Exponent of the length; larger means longer captions.")
]
MaxTokens = Annotated[int, typer.Option(min=1, help="Most tokens of a caption.")]
Project = Annotated[
    bool | None,
    typer.Option(
        "--project/--no-project",
        help="Move images among the remembered captions first; by default for a bridge without "
        "pairs and a decoder that was trained without noise.",
    ),
]


class ImageKey(StrEnum):
    name = "name"
    path = "path"
    id = "id"
