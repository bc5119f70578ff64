"""The whole path on a drawn world: pictures and captions, a text JEPA, bridges, measurements.

Every step writes files and is skipped when they are there, so that an interrupted run goes on.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bridge import console, embeddings, fitting, maps, world
from bridge.captions import Caption, read_captions, write_captions
from bridge.embed import embed_captions, embed_images
from bridge.embeddings import Embeddings
from bridge.encode_text import text_encoder
from bridge.encode_vision import vision_encoder
from bridge.files import write_json
from bridge.images import read_image
from eval import report as reports
from eval.measure import measure_alignment, measure_retrieval
from eval.page import Page
from eval.report import Report

PICTURES = 2200  # of which the last TEST are held out from every fit
TEST = 1000
CAPTIONED = 12_000  # scenes that are told but not drawn: training text needs no picture
METHODS = ("ridge", "rotation")


@dataclass
class Quickstart:
    """Where the run lies, what it is made with, and how long each step took."""

    out: Path
    seed: int
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, title: str) -> Iterator[Callable[[int, int], None]]:
        """A progress bar, and a note of the time."""
        start = time.monotonic()
        with console.progress_bar(title) as progress:
            yield progress
        self.seconds[title] = round(time.monotonic() - start, 1)
