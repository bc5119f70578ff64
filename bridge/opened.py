"""A bridge opened for use: with the encoders that it remembers, and its decoder.

Each is loaded when it is first needed and kept, so that a page or a batch pays once.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor

from bridge import maps
from bridge.decode import Candidate, Decoder, Decoding, load_decoder, reranked
from bridge.encode_text import TextEncoder
from bridge.encode_vision import VisionEncoder
from bridge.errors import InputError
from bridge.files import PathLike
from bridge.maps import Bridge
from bridge.search import noted, text_encoder_for, vision_encoder_for

RERANKED = 4  # candidates that are compared when a caption is to be reranked


@dataclass(frozen=True)
class Choice:
    """What takes the place of what a bridge remembers: encoder specs, a decoder's folder."""

    image_encoder: str | None = None
    text_encoder: str | None = None
    decoder: PathLike | None = None
    device: str = "auto"


@dataclass(frozen=True, eq=False)
class OpenBridge:
    """A bridge with its encoders and decoder, loaded on first use.

    Bridges that are opened with one `pool` share the models that they have in common.
    """

    bridge: Bridge
    choice: Choice = Choice()
    pool: dict[str, Any] = field(default_factory=dict)

    @property
    def paired(self) -> bool:
        return self.bridge.about.get("paired", True)

    @cached_property
    def vision(self) -> VisionEncoder:
        spec, device = self.choice.image_encoder, self.choice.device
        key = f"image {spec or noted(self.bridge, 'image')}"
        return self.pooled(key, lambda: vision_encoder_for(self.bridge, spec, device=device))

    @cached_property
    def words(self) -> TextEncoder:
        spec, device = self.choice.text_encoder, self.choice.device
        key = f"text {spec or noted(self.bridge, 'text')}"
        return self.pooled(key, lambda: text_encoder_for(self.bridge, spec, device=device))

    @cached_property
    def decoder(self) -> Decoder:
        folder, device = self.decoder_folder(), self.choice.device
        found = self.pooled(f"decoder {folder}", lambda: load_decoder(folder, device=device))
        found.check_encoder(noted(self.bridge, "text"), len(self.bridge.text.mean))
        return found

    def pooled(self, key: str, load: Callable[[], Any]) -> Any:
        if key not in self.pool:
            self.pool[key] = load()
        return self.pool[key]

    def decoder_folder(self) -> Path:
        """The chosen decoder, or `decoder` in the folder of the bridge's text encoder."""
        if self.choice.decoder:
            return Path(self.choice.decoder)
        name = noted(self.bridge, "text").get("name", "unknown")
        folder = Path(name.partition(":")[2] or name) / "decoder"
        if not folder.is_dir():
            raise InputError(
                f"this bridge's text encoder ({name}) has no decoder of its own; name one with "
                f"--decoder, or train it: platobridge train-decoder CAPTIONS --encoder {name} "
                "--out DECODER"
            )
        return folder

    def image_rows(self, pictures: Sequence[Image.Image]) -> Float[Tensor, "n d"]:
        """Rows of RGB pictures in the image encoder's space."""
        rows = self.vision(torch.stack([self.vision.prepare(picture) for picture in pictures]))
        self.bridge.check_width("image", rows.shape[1])
        return rows

    def text_rows(self, texts: Sequence[str]) -> Float[Tensor, "n d"]:
        """Rows of texts in the text encoder's space."""
        rows = self.words.encode(texts)
        self.bridge.check_width("text", rows.shape[1])
        return rows

    def captions(
        self,
        rows: Float[Tensor, "n d"],
        how: Decoding,
        *,
        count: int = 1,
        rerank: bool = False,
    ) -> Iterator[list[Candidate]]:
        """`count` captions for each image row; reranked ones are those nearest to the row of all
        that the decoder gave, by the text encoder."""
        mapped = self.bridge.to_text(rows)
        made = self.decoder.captions(mapped, how, count=max(count, RERANKED) if rerank else count)
        if not rerank:
            yield from made
            return
        best = reranked(list(made), mapped, self.decoder.mean, self.text_rows)
        yield from (some[:count] for some in best)


def open_bridge(
    folder: PathLike, choice: Choice | None = None, pool: dict[str, Any] | None = None
) -> OpenBridge:
    """Open a bridge folder; its models are loaded when they are needed, once for each `pool`."""
    return OpenBridge(maps.load(folder), choice or Choice(), {} if pool is None else pool)
