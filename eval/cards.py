"""Answers as HTML that stands in a page: cards, bars, tables, a map. All text is escaped."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bridge.files import PathLike
from bridge.images import read_image
from bridge.maps import Bridge
from eval.answers import Shown
from eval.gallery import Gallery, Point
from eval.page import as_jpeg, as_png
from eval.report import Report, figure, plot_curve

STYLE = Path(__file__).with_name("cards.css")
SHOW_POINT = Path(__file__).with_name("map.js")
THUMBNAIL = 256  # pixels
TINY = 96
FIGURES = {  # of a report card: how each is called, and where it comes from
    "retrieval.text_to_image.recall@1": "right image first, by caption",
    "retrieval.text_to_image.recall@10": "right image among ten",
    "retrieval.text_to_image.median_rank": "median rank of the right image",
    "retrieval.image_to_text.recall@1": "a right caption first, by image",
    "retrieval.image_to_text.recall@10": "a right caption among ten",
    "no map.mutual_knn": "shared 10 nearest neighbours, no map",
    "through the bridge.mutual_knn": "shared 10 nearest neighbours, through the bridge",
    "through the bridge.cka": "CKA, through the bridge",
}
Answer = Mapping[str, Any]


def column(title: str, body: str) -> str:
    return f'<section class="card"><h3>{escape(title)}</h3>{body}</section>'


def columns(cards: Sequence[str]) -> str:
    return f'<div class="cards">{"".join(cards)}</div>'


def warning(answer: Answer) -> str:
    """Said of an image that lies far from what the bridge was fitted on."""
    if not answer.get("far"):
        return ""
    return (
        '<p class="far" role="alert"><strong>Far from what this bridge knows.</strong> '
        f"Only {answer['kept']:.0%} of this image lies where the pictures lie that the bridge was "
        f"fitted on (it takes {answer['least']:.0%}). What follows is a guess.</p>"
    )


def caption_card(answer: Answer) -> str:
    body = warning(answer)
    if answer["caption"] is None:
        body += '<p class="note">No decoder belongs to this bridge, so it writes no sentence.</p>'
    else:
        kind = "guess" if answer["far"] else "sentence"
        body += f'<p class="{kind}">{escape(answer["caption"])}</p>'
        score = "log-probability a token" if answer["written"] else "cosine"
        body += listed(f"Candidates ({score})", answer["candidates"], "score")
    return body + listed("Nearest known captions (cosine)", answer["near"], "score")


def listed(title: str, found: Sequence[Answer], score: str) -> str:
    if not found:
        return ""
    items = "".join(
        f"<li><span>{escape(each['text'])}</span><span>{each[score]:.2f}</span></li>"
        for each in found
    )
    return f'<h4>{escape(title)}</h4><ol class="scored">{items}</ol>'


def classes_card(answer: Answer) -> str:
    """Bars from the lowest of the shown cosines to the highest: lengths rank, and no more."""
    cosines = [each["cosine"] for each in answer["classes"]]
    low = min(0.0, *cosines) if len(cosines) > 1 else 0.0
    span = max(max(cosines) - low, 1e-9)
    bars = "".join(
        f'<li><span class="name">{escape(each["name"])}</span>'
        f'<span class="bar"><i style="width:{100 * (each["cosine"] - low) / span:.1f}%"></i></span>'
        f'<span class="score">{each["cosine"]:.2f}</span></li>'
        for each in answer["classes"]
    )
    return warning(answer) + f'<ol class="bars" aria-label="Classes by cosine">{bars}</ol>'


def texts_card(answer: Answer) -> str:
    return warning(answer) + listed(
        f"Nearest of {answer['searched']:,} captions (cosine)", answer["texts"], "cosine"
    )


def images_card(answer: Answer, gallery: Gallery) -> str:
    tiles = "".join(
        tile(gallery, each["image"], each["caption"], f"{each['cosine']:.2f}")
        for each in answer["images"]
    )
    return (
        f"<h4>Nearest of {answer['searched']:,} pictures (cosine)</h4>"
        f'<ul class="tiles">{tiles}</ul>'
    )


def tile(gallery: Gallery, image_id: str, caption: str, score: str) -> str:
    said = escape(caption or image_id)
    shown = picture(gallery.picture(image_id), caption or image_id)
    return f"<li>{shown}<p><span>{said}</span><span>{score}</span></p></li>"


def picture(path: PathLike | None, alt: str, side: int = THUMBNAIL) -> str:
    """A small picture that the page holds itself; its alternative text where there is none."""
    if path is None:
        return f'<div class="missing">{escape(alt)}</div>'
    small = read_image(path)
    small.thumbnail((side, side))
    return f'<img src="{as_jpeg(small)}" alt="{escape(alt)}">'


def about_card(bridge: Bridge, known: str) -> str:
    """How a bridge was fitted, on what, and how far it can be trusted."""
    about = bridge.about
    text, image = (about.get(side, {}) for side in ("text", "image"))
    facts = {
        "Method": about.get("method", "unknown"),
        "Pairs": pairs_line(about),
        "Fitted on": known or f"{len(bridge.fitted_on):,} images",
        "Text encoder": encoder_line(text),
        "Image encoder": encoder_line(image),
        "Widths": f"text {len(bridge.text.mean)}, image {len(bridge.image.mean)}",
        "Knows its range": "yes" if bridge.reach else "no: fit it again to have far images named",
    }
    rows = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts.items())
    return verdict_line(about) + f'<dl class="facts">{rows}</dl>'


def report(facts: str, pictures: str) -> str:
    return f'<div class="report"><div>{facts}</div><div>{pictures}</div></div>'


def pairs_line(about: Mapping[str, Any]) -> str:
    if about.get("paired", True):
        return f"{about['pairs']:,} known pairs" if "pairs" in about else "paired"
    return f"unpaired, {about.get('pairs', 0)} known pairs"


def encoder_line(side: Mapping[str, Any]) -> str:
    name = side.get("encoder", {}).get("name", "unknown")
    kind, _, rest = name.partition(":")
    return f"{kind}:…/{'/'.join(Path(rest).parts[-3:])}" if rest.startswith("/") else name


def verdict_line(about: Mapping[str, Any]) -> str:
    if about.get("paired", True) or "verdict" not in about:
        return ""
    verdict = about["verdict"]
    reasons = "; ".join(verdict["reasons"])
    return (
        f'<p class="verdict {escape(verdict["level"])}"><strong>Judged without labels: '
        f"{escape(verdict['level'])}.</strong> {escape(reasons)}.</p>"
    )


def figures_table(reports: Mapping[str, Report], count: int) -> str:
    """What was measured on pairs that the bridge was not fitted on, beside chance."""
    if not reports:
        return '<p class="note">Nothing measured: no pairs that the bridge has not seen.</p>'
    lines = []
    for key, said in FIGURES.items():
        part, _, name = key.partition(".")
        report = reports[part]
        cells = figure(report.metrics.get(name)), figure(report.chance.get(name))
        lines.append(f"<tr><th>{said}</th><td>{cells[0]}</td><td>{cells[1]}</td></tr>")
    return (
        f"<h4>Measured on {count:,} pictures it was not fitted on</h4>"
        "<table><thead><tr><th></th><th>found</th><th>chance</th></tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def curve(reports: Mapping[str, Report]) -> str:
    """The alignment curve as a picture."""
    if not reports:
        return ""
    alignments = {name: reports[name] for name in ("no map", "through the bridge")}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "curve.png"
        plot_curve(alignments, path)
        source = as_png(path)
    alt = "Overlap of the nearest neighbours against the number of items, with chance"
    return f'<figure><img src="{source}" alt="{alt}"></figure>'


def map_card(points: Sequence[Point], gallery: Gallery) -> str:
    """Texts and images of one space in a plane; what is hovered over or focused shows itself."""
    if not points:
        return '<p class="note">No map: no pictures with captions lie beside this bridge.</p>'
    by_pair: dict[int, list[Point]] = {}
    for point in points:
        by_pair.setdefault(point.pair, []).append(point)
    lines, marks = [], []
    for pair in by_pair.values():
        ends = [place(point) for point in pair]
        if len(ends) == 2:
            (a, b), (c, d) = ends
            lines.append(f'<line x1="{a}" y1="{b}" x2="{c}" y2="{d}"/>')
        marks += [mark(point, gallery) for point in pair]
    return (
        '<div class="map"><svg viewBox="0 0 640 620" role="application" tabindex="0" '
        'aria-label="Map of texts and images in one space; arrow keys go from dot to dot">'
        f"<g>{''.join(lines)}</g>{''.join(marks)}</svg>"
        '<p class="legend"><span class="text">text</span><span class="image">image</span>'
        "<span>a line joins what belongs together; near means alike (t-SNE)</span></p>"
        '<div class="seen" aria-live="polite"><p class="note">Point at a dot, or go from dot to '
        "dot with the arrow keys, to see what it is.</p></div></div>"
    )


def place(point: Point) -> tuple[str, str]:
    return f"{14 + 612 * point.x:.1f}", f"{14 + 592 * point.y:.1f}"


def mark(point: Point, gallery: Gallery) -> str:
    x, y = place(point)
    said = gallery.caption_of.get(point.image_id, point.image_id)
    path = gallery.picture(point.image_id) if point.side == "image" else None
    source = ""
    if path:
        small = read_image(path)
        small.thumbnail((TINY, TINY))
        source = f' data-picture="{as_jpeg(small)}"'
    label = f"{point.side}: {said}"
    return (
        f'<circle class="{point.side}" cx="{x}" cy="{y}" r="5" '
        f'data-side="{point.side}" data-said="{escape(said)}"{source}>'
        f"<title>{escape(label)}</title></circle>"
    )


def side_by_side(answers: Sequence[Answer], card: Callable[[Answer], str]) -> str:
    """One card a bridge, under its name."""
    return columns(
        [
            column(
                answer["bridge"],
                f'<p class="note">{escape(answer["error"])}</p>'
                if "error" in answer
                else card(answer),
            )
            for answer in answers
        ]
    )


def known_line(shown: Sequence[Shown]) -> str:
    """What the bridges on show were fitted on, for the head of the page."""
    known = {each.gallery.known for each in shown} - {""}
    counts = dict.fromkeys(f"{len(each.opened.bridge.fitted_on):,} images" for each in shown)
    what = "; ".join(sorted(known) or counts)
    if all(each.opened.bridge.reach for each in shown):
        far = "images that lie far from these get a warning"
    else:
        far = "but nothing here can tell whether an image lies far from these"
    return f"Fitted on {what}. It knows nothing else; {far}."
