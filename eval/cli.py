"""platobridge eval: load files, one measurement, one report."""

import time
from pathlib import Path
from typing import Annotated

import typer

from bridge.errors import InputError
from bridge.options import ImageFile, Overwrite, ReportOut, Seed, TextFile

app = typer.Typer(no_args_is_help=True, help="Measure alignment and retrieval.")
