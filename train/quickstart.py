"""The whole path on a drawn world: pictures and captions, a text JEPA, bridges, measurements.

Every step writes files and finds them again, so that an interrupted run goes on.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich import box
from rich.table import Table

from bridge import console, fitting, world
from bridge.captions import Caption, read_captions, write_captions
from bridge.embed import embed_captions, embed_images
from bridge.embeddings import Embeddings
from bridge.encode_text import text_encoder
from bridge.encode_vision import vision_encoder
from bridge.files import PathLike, already_made, check_folder_of, remove, write_json
from bridge.geometry import nearest
from bridge.images import read_image
from bridge.maps import Bridge
from bridge.provenance import versions
from eval.measure import measure_alignment, measure_retrieval
from eval.page import Page
from eval.report import Report, figure, plot_curve
from train.config import Model, Objective, Optim, TrainConfig
from train.few_pairs import RANKS, FewPairs, Sides, embed_undrawn, fit_few, plot_few
from train.loop import run as train
from train.uses import CAPTIONED as SENTENCES
from train.uses import Scenes, caption_pictures, classify_pictures, learn_to_write

VISION = "package:efficientnet-lite0"
PICTURES = 2200
TEST = 1000  # the first pictures are held out from training and from every fit
CAPTIONED = 10_000  # scenes that are told but not drawn: training on text needs no picture
METHODS = ("ridge", "rotation")
TRAINED = TrainConfig(  # as in configs/world-tiny.yaml
    model=Model(size="tiny", vocabulary=4000, max_tokens=48),
    optim=Optim(steps=110, batch=256),
)


def trained(**differs: object) -> TrainConfig:
    """The same model, captions, steps and batch with another objective."""
    return TRAINED.model_copy(update=differs)


ENCODERS = {
    "untrained": trained(optim=TRAINED.optim.model_copy(update={"steps": 0})),
    "next token": trained(objective=Objective(kind="next-token")),
    "bad views": trained(objective=Objective(kind="bad-views")),
    "good views": TRAINED,
}
SHOWN = 8  # pictures in the report
RETRIEVED = ("recall@1", "recall@10", "median_rank")


@dataclass
class Clock:
    """How long each step took, for the report."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, title: str) -> Iterator[console.Move]:
        start = time.monotonic()
        with console.progress_bar(title) as progress:
            yield progress
        self.seconds[title] = round(time.monotonic() - start, 1)


@dataclass(frozen=True)
class Found:
    """What the run measured: an alignment an encoder, a retrieval an encoder and method."""

    alignment: dict[str, Report]
    mapped: Report
    retrieval: dict[tuple[str, str], Report]
    captioning: Report
    captions: dict[str, str]  # of held-out pictures
    classes: Report
    few: FewPairs


def run(out: PathLike, *, seed: int = 0, overwrite: bool = False) -> None:
    """Make `out` hold a world, an encoder, embeddings, bridges and the reports on them."""
    out, clock = Path(out), Clock()
    request = {"seed": seed, "pictures": PICTURES, "captioned": CAPTIONED}
    request |= {"training": TRAINED.model_dump(mode="json")}
    begin(out, request, overwrite)
    with clock.step("drawing") as progress:
        world.build(
            out / "world",
            pictures=PICTURES,
            caption_scenes=CAPTIONED,
            seed=seed,
            progress=progress,
        )
    drawn, told = split_captions(out)
    texts = {}
    for name, config in ENCODERS.items():
        folder = out / name.replace(" ", "-")
        with clock.step(f"training: {name}") as progress:
            chosen = config.model_copy(update={"seed": seed})
            encoder = train(chosen, told, out=folder / "run", device="cpu", progress=progress)
        with clock.step(f"embedding captions: {name}") as progress:
            texts[name] = embed_captions(
                drawn,
                text_encoder(f"jepa:{encoder}", device="cpu"),
                folder / "captions.safetensors",
                progress=progress,
            )
    vision = vision_encoder(VISION, resize="squash", device="cpu")
    with clock.step("embedding pictures") as progress:
        images = embed_images(
            out / "world" / "images", vision, out / "images.safetensors", progress=progress
        )
    with clock.step("fitting and measuring") as progress:
        bridges = fit_all(out, texts, images)
        alignment, mapped, retrieval = measure_all(texts, images, bridges)
        progress(1, 1)
    best, encoder = bridges["good views", "ridge"], out / "good-views" / "run" / "encoder"
    with clock.step("training: a decoder") as progress:
        decoder = learn_to_write(encoder, told, out, seed=seed, progress=progress)
    with clock.step("captioning pictures") as progress:
        scenes = Scenes(read_captions(drawn), [world.image_id(index) for index in range(TEST)])
        captioning, captions = caption_pictures(
            decoder, best, images, texts["good views"], scenes, progress=progress
        )
    with clock.step("classifying pictures") as progress:
        classes = classify_pictures(out, encoder, vision, best, seed=seed, progress=progress)
    with clock.step("fitting with few pairs or none") as progress:
        undrawn = embed_undrawn(told, images.ids, encoder, out / "good-views")
        few = fit_apart(out, undrawn, texts["good views"], images, best, seed, progress)
    found = Found(alignment, mapped, retrieval, captioning, captions, classes, few)
    report = summarise(found, request, clock)
    report.save(out / "report.json", overwrite=True)
    write_page(out, report, found, texts["good views"], images, best)
    for table in tables(report):
        console.results.print(table)
    total = sum(clock.seconds.values())
    console.note(f"report: {out / 'report.html'} and report.json ({total:.0f} s)")


def begin(out: Path, request: dict, overwrite: bool) -> None:
    """Note what is asked for; refuse a folder where something else was."""
    file = out / "quickstart.json"
    check_folder_of(out, file.name, "quickstart's folder")
    if overwrite:
        remove(out)
    made_by = json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
    already_made(out, made_by, request, overwrite=False)
    write_json(file, request)


def split_captions(out: Path) -> tuple[Path, list[Caption]]:
    """The file of captions of drawn scenes, and the captions to train on: none of a test scene."""
    captions = read_captions(out / "world" / "captions.jsonl")
    test = {world.image_id(index) for index in range(TEST)}
    drawn = {world.image_id(index) for index in range(PICTURES)}
    file = out / "captions.jsonl"
    if not file.exists():
        write_captions(file, (caption for caption in captions if caption.image_id in drawn))
    return file, [caption for caption in captions if caption.image_id not in test]


def halves(table: Embeddings) -> tuple[Embeddings, Embeddings]:
    """Test rows and the rows to fit on."""
    test = [world.image_id(index) for index in range(TEST)]
    rest = [world.image_id(index) for index in range(TEST, PICTURES)]
    return table.of_images(test), table.of_images(rest)


def fit_all(
    out: Path, texts: dict[str, Embeddings], images: Embeddings
) -> dict[tuple[str, str], Bridge]:
    """A bridge for every encoder and method, from pairs that are no test pairs."""
    bridges = {}
    for name, text in texts.items():
        for method in METHODS:
            fitted = fitting.fit(halves(text)[1], halves(images)[1], method=method)
            fitted.save(out / name.replace(" ", "-") / f"bridge-{method}", overwrite=True)
            bridges[name, method] = fitted
    return bridges


def measure_all(
    texts: dict[str, Embeddings], images: Embeddings, bridges: dict[tuple[str, str], Bridge]
) -> tuple[dict[str, Report], Report, dict[tuple[str, str], Report]]:
    """Alignment of each encoder, of the best one through its bridge, and retrieval by bridge."""
    test = halves(images)[0]
    best = bridges["good views", "ridge"]
    return (
        {name: measure_alignment(halves(text)[0], test) for name, text in texts.items()},
        measure_alignment(halves(texts["good views"])[0], test, bridge=best),
        {
            (name, method): measure_retrieval(halves(texts[name])[0], test, bridge, captions="each")
            for (name, method), bridge in bridges.items()
        },
    )


def fit_apart(
    out: Path,
    undrawn: Embeddings,
    text: Embeddings,
    images: Embeddings,
    best: Bridge,
    seed: int,
    progress: console.Move,
) -> FewPairs:
    """Bridges from texts and pictures of different scenes, with few known pairs or none."""
    (test_text, drawn), (test_image, pictures) = halves(text), halves(images)
    sides = Sides(undrawn, drawn, pictures, (test_text, test_image))
    return fit_few(sides, best, out / "good-views", seed=seed, progress=progress)


def summarise(found: Found, request: dict, clock: Clock) -> Report:
    """One report of everything, each figure under its encoder and method."""
    metrics: dict = {}
    chance: dict = {}
    parts = {f"{name}.alignment": report for name, report in found.alignment.items()}
    parts["good views, through ridge.alignment"] = found.mapped
    parts |= {f"{name}, {method}.retrieval": r for (name, method), r in found.retrieval.items()}
    parts |= {"captioning": found.captioning, "classes": found.classes}
    parts |= {f"{name}.unpaired": report for name, report in found.few.reports.items()}
    for prefix, part in parts.items():
        metrics |= {f"{prefix}.{key}": value for key, value in part.metrics.items()}
        chance |= {f"{prefix}.{key}": value for key, value in part.chance.items()}
    settings = request | {"test_images": TEST, "vision": VISION, "seconds": clock.seconds}
    settings["verdicts"] = {
        name: bridge.about.get("verdict") for name, bridge in found.few.bridges.items()
    }
    return Report(
        task="quickstart",
        metrics=metrics,
        chance=chance,
        settings=settings,
        inputs={},
        versions=versions(),
        seconds=sum(clock.seconds.values()),
    )


HEADS = {
    "alignment": ("mutual 10-NN", "calibrated", "CKA"),
    "retrieval": ("image R@1", "R@10", "rank", "text R@1", "R@10", "rank"),
    "captioning": ("CIDEr", "BLEU-4", "ROUGE-L"),
    "classes": ("Top-1", "Top-5"),
    "unpaired": ("image R@10", "rank", "text R@10", "rank", "verdict"),
}
WRITTEN = {  # as a report names them: as people read them
    "shuffled": "chance: a caption of another picture",
    "constant": "one sentence for all",
    "nearest": "nearest known caption",
    "captions": "written by the decoder",
    "check others": "written from texts, not pictures",
    "human": "people",
}


def rows(report: Report, task: str) -> list[tuple[str, ...]]:
    """Chance first, then a line for each encoder (and method), or way to a caption or class."""
    if task == "captioning":
        keys = ("cider", "bleu_4", "rouge")
        return [
            (name, *(figure(report.metrics[f"captioning.{key}.{metric}"]) for metric in keys))
            for key, name in WRITTEN.items()
        ]
    if task == "classes":
        names = {"chance": report.chance, "good views, ridge": report.metrics}
        return [
            (name, *(figure(values[f"classes.cosine.{key}"]) for key in ("top1", "top5")))
            for name, values in names.items()
        ]
    if task == "unpaired":
        verdicts = report.settings["verdicts"]
        values = [("chance", report.chance, next(iter(verdicts)), "")]
        values += [
            (name, report.metrics, name, found["level"] if found else "")
            for name, found in verdicts.items()
        ]
        return [
            (shown, *(figure(table[f"{name}.unpaired.{key}"]) for key in RANKS), verdict)
            for shown, table, name, verdict in values
        ]
    if task == "alignment":
        keys = ["mutual_knn", "mutual_knn.calibrated", "cka"]
        names = [*ENCODERS, "good views, through ridge"]
    else:
        keys = [f"{way}.{key}" for way in ("text_to_image", "image_to_text") for key in RETRIEVED]
        names = [f"{name}, {method}" for name in ENCODERS for method in METHODS]
    lines = [("chance", *(figure(report.chance[f"{names[0]}.{task}.{key}"]) for key in keys))]
    for name in names:
        values = (figure(report.metrics[f"{name}.{task}.{key}"]) for key in keys)
        lines.append((name, *values))
    return lines


def titles() -> dict[str, str]:
    return {
        "alignment": "Alignment of captions and pictures\n"
        f"of {TEST} held-out scenes, no map fitted",
        "retrieval": f"Images found by one caption, texts found by image (rank: median);\n"
        f"{TEST} held-out scenes, bridges fitted on {PICTURES - TEST} others",
        "captioning": f"Captions of {SENTENCES} held-out pictures, through the ridge bridge",
        "classes": "Classes of fresh pictures\nfrom their names alone",
        "unpaired": "Without pairs, and with few: texts and pictures of different scenes;\n"
        "a scene's mean caption finds its picture, and the other way round",
    }


def tables(report: Report) -> Iterator[Table]:
    for task, title in titles().items():
        table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
        for position, head in enumerate(("", *HEADS[task])):
            table.add_column(head, justify="right" if position else "left", no_wrap=True)
        for line in rows(report, task):
            table.add_row(*line, style="dim" if line[0].startswith("chance") else None)
        yield table


def write_page(
    out: Path, report: Report, found: Found, text: Embeddings, image: Embeddings, bridge: Bridge
) -> None:
    """report.html: the tables, the alignment curve, pictures with their nearest captions."""
    page = Page(
        "platobridge quickstart",
        f"Text encoders learned from captions of {CAPTIONED + PICTURES - TEST:,} drawn scenes and "
        f"never saw a picture; {VISION.split(':')[1]} (trained on ImageNet labels) never read a "
        "word. How alike are their spaces, and how far does one linear map carry? The encoders "
        f"differ in what they were trained for, {TRAINED.optim.steps} steps each: good views (two "
        "captions of one scene), bad views (a caption and the same with words masked), next token.",
    )
    for task, title in titles().items():
        page.heading(title)
        page.table(("", *HEADS[task]), rows(report, task))
    page.heading("Alignment against the number of items")
    curves = found.alignment | {"good views, through ridge": found.mapped}
    plot_curve(curves, out / "alignment.png")
    page.figure(
        out / "alignment.png",
        "Mutual 10-nearest-neighbour overlap against the number of scenes, for each encoder",
        "Means over random subsets of the held-out scenes; the dashed line is chance, k / (n - 1).",
    )
    page.heading("Few pairs, with unpaired rows and without")
    plot_few(found.few, out / "few-pairs.png")
    page.figure(
        out / "few-pairs.png",
        "Recall at 10 from text to image against the number of known pairs",
        "Held-out scenes, mean of their captions. Unpaired rows are other pictures, and captions "
        "of scenes that were never drawn; held-out pairs decide whether they enter at all.",
    )
    page.heading("Pictures, what the decoder writes of them, and the captions nearest to them")
    page.note(
        "In each card first the sentence that the decoder wrote. Below it the nearest among "
        f"{TEST * 5:,} captions of held-out scenes; bold ones were written for the picture. Both "
        "through the ridge bridge."
    )
    page.cards(cards(out, found.captions, halves(text)[0], halves(image)[0], bridge))
    page.note(
        ", ".join(f"{step} {seconds:.0f} s" for step, seconds in report.settings["seconds"].items())
    )
    page.save(out / "report.html")


def cards(out: Path, written: dict[str, str], text: Embeddings, image: Embeddings, bridge: Bridge):
    """The first test pictures, each with its written caption and its five nearest ones."""
    of_row = {c.id: c.text for c in read_captions(out / "captions.jsonl")}
    queries = image.take(range(SHOWN))
    texts, images = bridge.both_in("image", text.rows, queries.rows)
    found = []
    for image_id, near in zip(queries.ids, nearest(images, texts, 5)[1].tolist(), strict=True):
        lines = [(of_row[text.ids[row]], text.image_ids[row] == image_id) for row in near]
        picture = read_image(out / "world" / "images" / image_id)
        found.append((picture, f"“{written[image_id]}”", lines))
    return found
