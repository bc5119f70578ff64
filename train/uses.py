"""What the quickstart's bridge is good for: captions and class names of held-out pictures."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bridge import world
from bridge.captions import Caption, write_captions
from bridge.classes import read_classes
from bridge.console import Move
from bridge.decode import load_decoder
from bridge.embed import embed_images
from bridge.embeddings import Embeddings
from bridge.encode_text import text_encoder
from bridge.encode_vision import VisionEncoder
from bridge.maps import Bridge
from bridge.prompts import embed_prompts, read_templates
from eval.decoding import measure_decoder
from eval.labelled import labelled
from eval.measure_zero_shot import measure_zero_shot
from eval.report import Report
from train.config import DecoderConfig, DecoderOptim, Writer
from train.decoder import run as train_decoder

CAPTIONED = 300  # pictures, the first of those held out
TOLD = 3000  # scenes whose captions the decoder learns from
DRAWN = 2  # pictures of each class
DECODER = DecoderConfig(
    writer=Writer(size="tiny"),
    optim=DecoderOptim(steps=300, batch=128, lr=3e-3),
)


@dataclass(frozen=True)
class Scenes:
    """Captions by image id, and the ids of held-out pictures."""

    captions: Sequence[Caption]
    held_out: Sequence[str]

    def references(self, count: int) -> dict[str, list[str]]:
        """The captions of the first held-out pictures."""
        wanted: dict[str, list[str]] = {image_id: [] for image_id in self.held_out[:count]}
        for caption in self.captions:
            if caption.image_id in wanted:
                wanted[caption.image_id].append(caption.text)
        return wanted


def learn_to_write(
    encoder: Path, told: Sequence[Caption], out: Path, *, seed: int, progress: Move
) -> Path:
    """Train the decoder of an encoder on captions of scenes that are not held out."""
    file = out / "told.jsonl"
    if not file.exists():
        scenes = set(list(dict.fromkeys(caption.image_id for caption in told))[:TOLD])
        write_captions(file, (caption for caption in told if caption.image_id in scenes))
    config = DECODER.model_copy(update={"seed": seed})
    spec = text_encoder(f"jepa:{encoder}", device="cpu")
    folder = encoder / "decoder"
    return train_decoder(config, file, spec, out=folder, device="cpu", progress=progress)


def caption_pictures(
    decoder: Path,
    bridge: Bridge,
    images: Embeddings,
    text: Embeddings,
    scenes: Scenes,
    *,
    progress: Move,
) -> tuple[Report, dict[str, str]]:
    """Captions of held-out pictures through the bridge, and their scores."""
    references = scenes.references(CAPTIONED)
    return measure_decoder(
        load_decoder(decoder, device="cpu"),
        bridge,
        images.of_images(tuple(references)),
        references,
        text,
        tokenizer="python",
        progress=progress,
    )


def classify_pictures(
    out: Path,
    encoder: Path,
    vision: VisionEncoder,
    bridge: Bridge,
    *,
    seed: int,
    progress: Move,
) -> Report:
    """Zero-shot classification of fresh pictures of the world's classes."""
    classes = read_classes("world")
    folder = out / "classes"
    world.build_classes(folder, classes.ids, per_class=DRAWN, seed=seed)
    images = embed_images(folder, vision, out / "classes.safetensors", progress=progress)
    words = text_encoder(f"jepa:{encoder}", device="cpu")
    prompts = embed_prompts(classes, read_templates("captions"), words)
    shown = labelled(images, classes)
    return measure_zero_shot(shown, classes, prompts, {"good views": bridge}).report
