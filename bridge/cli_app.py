"""platobridge app: bridged models in the browser."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from bridge.options import Device


def app(
    bridges: Annotated[
        list[Path] | None,
        typer.Argument(metavar="BRIDGE", help="Bridge folders; by default the quickstart's."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen at; the default is this machine alone.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen at.")] = 7860,
    auth_file: Annotated[
        Path | None, typer.Option(help="File of NAME:PASSWORD, a line a person who may enter.")
    ] = None,
    share: Annotated[
        bool, typer.Option("--share", help="Also open a public address, at Gradio's servers.")
    ] = False,
    images: Annotated[
        Path | None, typer.Option(help="Image embeddings to search in and measure on.")
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(help="Folder of their pictures, to show them.")
    ] = None,
    texts: Annotated[
        Path | None, typer.Option(help="Text embeddings to search in and measure on.")
    ] = None,
    captions: Annotated[
        Path | None, typer.Option(help="Captions file of --texts, to show what they say.")
    ] = None,
    decoder: Annotated[
        Path | None, typer.Option(help="Decoder folder; by default that of the text encoder.")
    ] = None,
    text_encoder: Annotated[
        str | None, typer.Option(help="Text encoder, for bridges of imported features.")
    ] = None,
    image_encoder: Annotated[
        str | None, typer.Option(help="Vision encoder, for bridges of imported features.")
    ] = None,
    device: Device = "auto",
) -> None:
    """Caption, classify and search in the browser, and look at the bridges themselves.

    Several BRIDGEs are shown side by side. A quickstart's bridge brings its pictures and captions;
    for others name --images, --pictures, --texts and --captions.
    """
    settings = {name: value for name, value in locals().items() if name != "bridges"}
    import_module("app").run(bridges or [], **settings)
