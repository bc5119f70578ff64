"""The picture-book world: pictures and captions of scenes, without any data set.

A scene is a value that follows from a seed and an index. `captions` tells it as different people
would, `draw` paints it, `build` writes many of both to files.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from joblib import Parallel, delayed

from bridge.captions import Caption, write_captions
from bridge.errors import InputError
from bridge.files import (
    PathLike,
    already_made,
    check_folder_of,
    remove,
    replacing,
    write_json,
)
from bridge.world.drawing import draw
from bridge.world.grammar import captions
from bridge.world.scenes import NOISE, Scene, Thing, check_share, class_scene, scene
from bridge.world.things import CLASSES, WorldClass

__all__ = [
    "CLASSES",
    "Scene",
    "Thing",
    "WorldClass",
    "build",
    "build_classes",
    "captions",
    "class_scene",
    "draw",
    "image_id",
    "scene",
]

FORMAT = 2  # of what `build` writes; a change of the drawings or the grammar counts it up
BATCH = 16  # pictures that a process draws at a time


def image_id(index: int) -> str:
    """The name of the picture of scene `index`, which its captions carry too."""
    return f"scene-{index:06d}.jpg"


def build(
    out: PathLike,
    *,
    pictures: int,
    seed: int,
    caption_scenes: int = 0,
    per_scene: int = 5,
    caption_noise: float = NOISE,
    picture_noise: float = NOISE,
    size: int = 224,
    jobs: int = -1,
    overwrite: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Write the pictures and captions of a world into the folder `out`, whole or resumable.

    Scenes 0 to `pictures` are drawn (`images/scene-000000.jpg` ...) and told, the following
    `caption_scenes` are only told; `captions.jsonl` holds `per_scene` captions of each. `jobs`
    processes draw (-1: one per core). A run with the same settings goes on where it stopped;
    other settings than the existing folder's raise InputError unless `overwrite`.
    """
    out = Path(out)
    if pictures < 0 or caption_scenes < 0 or per_scene < 1:
        raise InputError(
            "expected pictures and caption_scenes of at least 0 and per_scene of at least 1, "
            f"got {pictures}, {caption_scenes} and {per_scene}"
        )
    check_share("caption_noise", caption_noise)
    check_share("picture_noise", picture_noise)
    request = {
        "format": FORMAT,
        "seed": seed,
        "pictures": pictures,
        "caption_scenes": caption_scenes,
        "per_scene": per_scene,
        "caption_noise": caption_noise,
        "picture_noise": picture_noise,
        "size": size,
    }
    about = out / "world.json"
    made_by = json.loads(about.read_text()) if about.exists() else None
    if not already_made(out, made_by, request, overwrite=overwrite):
        for old in (out / "images", out / "captions.jsonl"):
            remove(old)
        write_json(about, request)

    if not (out / "captions.jsonl").exists():
        write_captions(
            out / "captions.jsonl",
            (
                Caption(image_id(index), text, f"{image_id(index)}#{k}")
                for index in range(pictures + caption_scenes)
                for k, text in enumerate(
                    captions(scene(seed, index), per_scene, noise=caption_noise)
                )
            ),
        )
    paint(
        {
            out / "images" / image_id(index): partial(scene, seed, index, noise=picture_noise)
            for index in range(pictures)
        },
        size,
        jobs,
        progress,
    )


def build_classes(
    out: PathLike,
    ids: Sequence[str],
    *,
    per_class: int,
    seed: int,
    picture_noise: float = NOISE,
    size: int = 224,
    jobs: int = -1,
    overwrite: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Draw `per_class` pictures of each of these classes, `<out>/<class id>/000.jpg` and so on.

    The class is a picture's main thing; others may stand beside it, as in every scene. Settings,
    `jobs` and a repeated run as in `build`. Raises InputError for an id that is no class.
    """
    out, known = Path(out), {each.id: each for each in CLASSES}
    check_folder_of(out, "classes.json", "folder of drawn classes")
    if strange := [class_id for class_id in ids if class_id not in known]:
        raise InputError(f"{strange[0]!r} is no class of the drawn world")
    check_share("picture_noise", picture_noise)
    request = {
        "format": FORMAT,
        "seed": seed,
        "classes": list(ids),
        "per_class": per_class,
        "picture_noise": picture_noise,
        "size": size,
    }
    about = out / "classes.json"
    made_by = json.loads(about.read_text()) if about.exists() else None
    if not already_made(out, made_by, request, overwrite=overwrite):
        remove(out)
        write_json(about, request)
    paint(
        {
            out / class_id / f"{index:03d}.jpg": partial(
                class_scene, known[class_id], index, seed, noise=picture_noise
            )
            for class_id in ids
            for index in range(per_class)
        },
        size,
        jobs,
        progress,
    )


def paint(
    wanted: Mapping[Path, Callable[[], Scene]],
    size: int,
    jobs: int,
    progress: Callable[[int, int], object] | None,
) -> None:
    """Draw the pictures that are not there yet."""
    missing = [(path, of) for path, of in wanted.items() if not path.exists()]
    batches = [missing[start : start + BATCH] for start in range(0, len(missing), BATCH)]
    done = len(wanted) - len(missing)
    drawing = Parallel(n_jobs=jobs if len(batches) > 2 else 1, return_as="generator_unordered")
    for drawn in drawing(delayed(write_pictures)(batch, size) for batch in batches):
        done += drawn
        if progress:
            progress(done, len(wanted))


def write_pictures(batch: Sequence[tuple[Path, Callable[[], Scene]]], size: int) -> int:
    for path, of in batch:
        with replacing(path) as temporary:
            draw(of(), size).save(temporary, format="JPEG", quality=90)
    return len(batch)
