"""platobridge eval zero-shot: files in, one measurement, a report with its plot."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bridge.errors import InputError
from bridge.options import Device, Overwrite, ReportOut, Seed

CONFUSED = 5  # pairs of classes that the terminal shows; the report has more


class Center(StrEnum):
    bridge = "bridge"
    own = "own"


class OneSpace(StrEnum):
    image = "image"
    text = "text"


def zero_shot(
    bridge: Annotated[
        list[Path],
        typer.Option(
            metavar="FOLDER", help="Bridge folder; several, as the seeds of a fit, give a spread."
        ),
    ],
    images: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER|EMBEDDINGS",
            help="Folder with a folder a class (ImageNet's, Kaggle's imagenet100), or embeddings "
            "whose ids name the class.",
        ),
    ],
    classes: Annotated[
        str,
        typer.Option(
            metavar="cmc|kaggle|world|FILE",
            help="One of the two ImageNet-100, the drawn world's 100, or a file of classes.",
        ),
    ],
    out: ReportOut,
    names: Annotated[
        Path | None, typer.Option(help="File of names by class id, in place of WordNet's.")
    ] = None,
    truth: Annotated[
        Path | None, typer.Option(help="CSV of images and their class ids, if no folder says it.")
    ] = None,
    templates: Annotated[
        str, typer.Option(help="Sentences for the names: captions, single, name or a file.")
    ] = "captions",
    ceiling: Annotated[
        Path | None, typer.Option(help="Bridge from pairs on the same encoders, to stand beside.")
    ] = None,
    center: Annotated[
        Center, typer.Option(help="Means of the bridge, or of these classes and images themselves.")
    ] = Center.bridge,
    space: Annotated[
        OneSpace, typer.Option(help="Compare in the image or in the text encoder's space.")
    ] = OneSpace.image,
    blind_match: Annotated[
        int, typer.Option(min=0, help="Runs of the classifier that uses no map; 0 for none.")
    ] = 1,
    text_encoder: Annotated[
        str | None, typer.Option(help="Text encoder, for a bridge of imported features.")
    ] = None,
    image_encoder: Annotated[
        str | None, typer.Option(help="Vision encoder, likewise, for a folder of images.")
    ] = None,
    device: Device = "auto",
    seed: Seed = 0,
    overwrite: Overwrite = False,
) -> None:
    """Measure naming images by their class from class names alone: Top-1 and Top-5.

    Beside the JSON report, which has a line for each class, stands a plot of the confusions.
    Columns csls and balanced look at all test images at once (transductive).
    """
    from bridge import console, maps
    from bridge.classes import read_classes
    from bridge.files import already_made
    from bridge.prompts import read_templates
    from eval import report as reports
    from eval.measure_zero_shot import measure_zero_shot

    plot = out.with_suffix(".png")
    reports.check_out(out)
    check_plot(out, plot, overwrite)
    offered, sentences = read_classes(classes, names), read_templates(templates)
    bridges = dict(zip(names_of(bridge), map(maps.load, bridge), strict=True))
    settings = {
        "classes": offered.source,
        "templates": sentences.source,
        "center": center.value,
        "space": space.value,
        "blind_seeds": blind_match,
        "text_encoder_given": text_encoder,
        "image_encoder_given": image_encoder,
        "seed": seed,
    }
    inputs = digests(
        {f"bridge {name}": path for name, path in zip(bridges, bridge, strict=True)}
        | {"ceiling": ceiling, "names": names, "truth": truth}
        | {"classes": file_or_none(classes), "templates": file_or_none(templates)},
        images,
    )
    made_by = reports.request_of(out, settings) if out.exists() and not overwrite else None
    wanted = {"task": "zero-shot", "settings": settings, "inputs": inputs}
    if already_made(out, made_by, wanted, overwrite=overwrite):
        console.note(f"{out} was made before with these settings")
        show(reports.load(out))
        return
    some_bridge = next(iter(bridges.values()))
    shown = load_images(images, offered, some_bridge, image_encoder, device, out, truth, overwrite)
    prompts = encode_names(offered, sentences, some_bridge, text_encoder, device)
    with console.messages.status("classifying"):
        found = measure_zero_shot(
            shown,
            offered,
            prompts,
            bridges,
            ceiling=None if ceiling is None else maps.load(ceiling),
            center=center.value,
            space=space.value,
            blind_seeds=blind_match,
            seed=seed,
            inputs=inputs,
            asked=settings,
        )
        reports.plot_confusions(found.confusion, offered.labels, plot)
    found.report.save(out, overwrite=overwrite)
    show(found.report)


def check_plot(out: Path, plot: Path, overwrite: bool) -> None:
    if plot.exists() and not out.exists() and not overwrite:
        raise InputError(f"{plot} exists; name another --out, or replace it with --overwrite")


def names_of(bridges: Sequence[Path]) -> list[str]:
    """Folder names, or whole paths where two are the same."""
    short = [path.resolve().name for path in bridges]
    names = short if len(set(short)) == len(short) else [str(path) for path in bridges]
    if len(set(names)) < len(names):
        raise InputError("the same --bridge is named twice; name each once")
    return names


def file_or_none(source: str) -> Path | None:
    """The file that was named, None for a name that needs none, as cmc or captions."""
    return Path(source) if Path(source).is_file() else None


def digests(files: Mapping[str, Path | None], images: Path) -> dict[str, str]:
    """A digest of each input; of a folder of images by names, sizes and times."""
    from bridge.embed import named_images, stamp
    from bridge.files import existing
    from bridge.provenance import digest

    found = {name: digest(path) for name, path in files.items() if path is not None}
    if existing(images, "image folder or embeddings file").is_dir():
        return found | {"images": stamp(*zip(*named_images(images), strict=True))}
    return found | {"images": digest(images)}


def load_images(
    images: Path,
    classes,
    bridge,
    encoder: str | None,
    device: str,
    out: Path,
    truth: Path | None,
    overwrite: bool,
):
    """Labelled image rows: those of an embeddings file, or of a folder that is embedded now."""
    from bridge import console, embeddings
    from bridge.embed import embed_images, named_images
    from bridge.search import vision_encoder_for
    from eval.labelled import images_to_embed, labelled

    if not images.is_dir():
        return labelled(embeddings.load(images), classes, truth)
    root, wanted = images_to_embed(images, classes, truth)
    model = vision_encoder_for(bridge, encoder, device=device)
    with console.progress_bar("images") as progress:
        made = embed_images(
            root,
            model,
            out.with_suffix(".images.safetensors"),
            wanted=wanted,
            overwrite=overwrite,
            progress=progress,
        )
    for problem in made.about["unreadable"]:
        console.warn(f"left out: {problem['reason']}")
    others = sum(not wanted(name) for _, name in named_images(root))
    return replace(labelled(made, classes, truth), left_out=others)


def encode_names(classes, templates, bridge, encoder: str | None, device: str):
    from bridge import console
    from bridge.prompts import embed_prompts
    from bridge.search import text_encoder_for

    model = text_encoder_for(bridge, encoder, device=device)
    with console.progress_bar("class names") as progress:
        return embed_prompts(classes, templates, model, progress=progress)


def show(report) -> None:
    """The tables of a report: columns, ceiling, each bridge, and what is confused most."""
    from bridge import console
    from eval import report as reports

    console.results.print(reports.zero_shot_table(report))
    if len(report.metrics["bridges"]) > 1:
        console.results.print(reports.bridges_table(report))
    for pair in report.metrics["confusions"][:CONFUSED]:
        console.note(f"{pair['name']} taken for {pair['taken_for_name']}: {pair['share']:.0%}")
    console.note("* looks at all test images at once, without their labels (transductive)")
    if report.settings["supervised_features"]:
        console.warn(
            f"{report.settings['image_encoder']} was trained with ImageNet labels: a result of "
            "supervised features, not of zero-shot recognition"
        )
