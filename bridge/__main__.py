"""The `platobridge` command: a table of subcommands, each imported only when it is called."""

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated

import typer

from bridge.errors import InputError

COMMANDS = {  # name: (where it lives, what it does)
    "quickstart": (
        "train.cli:quickstart",
        "The whole path on a drawn world: train, embed, fit, measure.",
    ),
    "data": ("bridge.cli:data", "Bring captions and features into platobridge's formats."),
    "train": ("train.cli:train", "Train a text JEPA on captions."),
    "train-decoder": (
        "train.cli:train_decoder",
        "Train a decoder, which turns embeddings into captions.",
    ),
    "embed": ("bridge.cli:embed", "Turn captions or images into embeddings."),
    "fit": ("bridge.cli:fit", "Fit a bridge between text and image embeddings."),
    "caption": ("bridge.cli_caption:caption", "Write a sentence for each image."),
    "classify": ("bridge.cli_search:classify", "Name what is in images, from class names alone."),
    "search": ("bridge.cli_search:search", "Find images for a text, or texts for an image."),
    "app": ("bridge.cli_app:app", "Caption, classify and search in the browser."),
    "eval": ("eval.cli:app", "Measure alignment, retrieval, captions and zero-shot."),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code (2 for a bad input, told in one line)."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    # Threads that spin long while they wait make a small model ten times slower as soon as
    # anything else runs on the machine. Read when torch is loaded, which is later.
    os.environ.setdefault("GOMP_SPINCOUNT", "30000")
    try:
        code = build(called=arguments[0] if arguments else None)(
            arguments, prog_name="platobridge", standalone_mode=True
        )
    except SystemExit as stop:
        code = stop.code
    except InputError as error:
        sys.stderr.write(f"platobridge: {error}\n")
        code = 2
    except OSError as error:  # a full disk, a folder that may not be written, a file for a folder
        if error.filename is None:
            raise
        sys.stderr.write(f"platobridge: {error.filename}: {error.strerror}\n")
        code = 2
    return int(code or 0)


def build(called: str | None) -> typer.Typer:
    """The command line, with only the called subcommand imported and a line for each other."""
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(version_option)
    for name, (home, line) in COMMANDS.items():
        command = load(home) if name == called else placeholder
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, help=line)
        else:
            app.command(name, help=None if name == called else line)(command)
    return app


def load(home: str) -> Callable | typer.Typer:
    module, attribute = home.split(":")
    return getattr(import_module(module), attribute)


def placeholder() -> None:
    """Stands in the list of commands for one that is not called."""


def show_version(wanted: bool | None) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"platobridge {version('platobridge')}")
        raise typer.Exit


Version = Annotated[
    bool | None,
    typer.Option("--version", callback=show_version, is_eager=True, help="Print the version."),
]


def version_option(version: Version = None) -> None:
    """Bridges between text and vision encoders that were trained apart."""


if __name__ == "__main__":
    sys.exit(main())
