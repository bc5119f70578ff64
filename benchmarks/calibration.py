"""Problems of which the truth is known, small and many: what verdicts are calibrated on."""

from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from benchmarks.planted import planted
from benchmarks.problems import Problem, of_planted, retrieved, table
from bridge import world
from bridge.embed import embed_captions, embed_images
from bridge.embeddings import Embeddings, image_means
from bridge.encode_text import text_encoder
from bridge.encode_vision import vision_encoder

ROWS, WIDTH, TESTS = 2000, 64, 300
SCENES = 3000
WORLDS = {"plain": 0.15, "noisy": 0.6}  # noise of captions and pictures
FEW_PLACES = ("farm", "street", "kitchen", "living room", "garden")


def of_gaussians(_cache: Path, seed: int) -> Problem:
    """Isotropic rows and a turned copy of others: there is a truth, and nothing that tells it."""
    draw = np.random.default_rng(seed)
    turn = np.linalg.qr(draw.standard_normal((WIDTH, WIDTH)))[0]
    text, image, both = (draw.standard_normal((ROWS, WIDTH)) for _ in range(3))
    sides = table(both, "p"), table(both @ turn, "p")
    return Problem(
        table(text, "t"),
        table(image @ turn, "i"),
        tuple(side.take(range(TESTS, ROWS)) for side in sides),
        *retrieved(*(side.take(range(TESTS)) for side in sides)),
    )


def of_unrelated(_cache: Path, seed: int) -> Problem:
    """Two planted spaces of different worlds: no map is right."""
    text, image = planted(1, ROWS, WIDTH, seed), planted(1, ROWS, WIDTH, seed + 10_000)
    paired = table(text.paired_text, "p"), table(image.paired_image, "p")
    chance = {"nothing": 0.0}
    return Problem(
        table(text.text, "t"), table(image.image, "i"), paired, lambda bridge: chance, chance
    )


def of_world(cache: Path, seed: int, kind: str, places: tuple[str, ...] = ()) -> Problem:
    """Captions of some scenes of a drawn world, and pictures of others."""
    text, image = embedded(cache, kind)
    scenes = [
        i
        for i in range(SCENES)
        if not places or world.scene(0, i, noise=WORLDS[kind]).place.id in places
    ]
    order = [world.image_id(i) for i in np.random.default_rng(seed).permutation(scenes)]
    tests, rest = order[:TESTS], order[TESTS:]
    half = len(rest) // 2
    return Problem(
        text.of_images(rest[:half]),
        image.of_images(rest[half:]),
        (text.of_images(rest), image.of_images(rest)),
        *retrieved(text.of_images(tests), image.of_images(tests)),
    )


@lru_cache
def embedded(cache: Path, kind: str) -> tuple[Embeddings, Embeddings]:
    """Captions (their means) and pictures of a world, through encoders that are packages."""
    folder, noise = cache / kind, WORLDS[kind]
    world.build(
        folder,
        pictures=SCENES,
        seed=0,
        per_scene=3,
        caption_noise=noise,
        picture_noise=noise,
        jobs=1,
    )
    text = embed_captions(
        folder / "captions.jsonl",
        text_encoder("package:minilm", device="cpu"),
        folder / "text.safetensors",
    )
    image = embed_images(
        folder / "images",
        vision_encoder("package:efficientnet-lite0", device="cpu"),
        folder / "images.safetensors",
    )
    return image_means(text), image


FAMILIES: dict[str, tuple[Callable[[Path, int], Problem], int]] = {  # and how many of each
    **{
        f"planted-{level}": (
            lambda _, seed, level=level: of_planted(level, ROWS, WIDTH, 100 + seed),
            25,
        )
        for level in (1, 2, 3, 4)
    },
    "gaussians": (of_gaussians, 20),
    "unrelated": (of_unrelated, 20),
    "world": (partial(of_world, kind="plain"), 20),
    "world, noisy": (partial(of_world, kind="noisy"), 20),
    "world, few places": (partial(of_world, kind="plain", places=FEW_PLACES), 20),
}
