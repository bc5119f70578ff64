"""What the quickstart finds without pairs, and with a few of them, beside what all pairs give."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bridge import fitting, maps
from bridge.captions import Caption, write_captions
from bridge.console import Move
from bridge.embed import embed_captions
from bridge.embeddings import Embeddings
from bridge.encode_text import text_encoder
from bridge.maps import Bridge
from bridge.unpaired import Effort, fit_unpaired
from eval.measure import measure_retrieval
from eval.report import Report, plot_lines

FEW = 10  # pairs of the bridge that is kept
CURVE = (FEW, 30, 100, 300)  # numbers of pairs
UNDRAWN = 3000  # scenes that are told and not drawn
BLIND = Effort(candidates=160, generations=8, children=40, settled=2)
GUIDED = Effort(candidates=60, generations=2, children=30, settled=2)
RANKS = ("text_to_image.recall@10", "text_to_image.median_rank")
RANKS += ("image_to_text.recall@10", "image_to_text.median_rank")


@dataclass(frozen=True)
class Sides:
    """Texts of scenes that were not drawn, and of drawn ones; their pictures; and a test."""

    undrawn: Embeddings
    drawn: Embeddings
    pictures: Embeddings
    test: tuple[Embeddings, Embeddings]

    def measure(self, bridge: Bridge) -> Report:
        return measure_retrieval(*self.test, bridge, captions="mean")

    def known(self, pairs: int) -> list[str]:
        return list(dict.fromkeys(self.drawn.image_ids))[:pairs]


def embed_undrawn(
    captions: Sequence[Caption], drawn: Sequence[str], encoder: Path, out: Path
) -> Embeddings:
    """Rows of captions of scenes of which there is no picture, kept in the folder `out`."""
    file, pictures = out / "undrawn.jsonl", set(drawn)
    if not file.exists():
        told = dict.fromkeys(c.image_id for c in captions if c.image_id not in pictures)
        some = set(list(told)[:UNDRAWN])
        write_captions(file, (caption for caption in captions if caption.image_id in some))
    words = text_encoder(f"jepa:{encoder}", device="cpu")
    return embed_captions(file, words, out / "undrawn.safetensors")


@dataclass(frozen=True)
class FewPairs:
    """Bridges by what they were fitted from, and curves of R@10 over the number of pairs."""

    bridges: dict[str, Bridge]
    reports: dict[str, Report]
    alone: list[float]
    with_others: list[float]


def kept(folder: Path, fit: Callable[[], Bridge]) -> Bridge:
    """The bridge in a folder, fitted first if there is none."""
    if not folder.exists():
        fit().save(folder)
    return maps.load(folder)


def fit_few(sides: Sides, every: Bridge, out: Path, *, seed: int, progress: Move) -> FewPairs:
    """A bridge from no pair, and both ways to use each number of pairs of the curve.

    `every` is the bridge from all pairs, to compare with; the others are kept in the folder `out`.
    """
    steps = 1 + len(CURVE)
    progress(0, steps)
    blind = kept(
        out / "bridge-no-pairs",
        lambda: fit_unpaired(sides.undrawn, sides.pictures, effort=BLIND, seed=seed),
    )
    bridges, reports = {"no pairs": blind}, {"no pairs": sides.measure(blind)}
    alone, with_others = [], []
    for place, pairs in enumerate(CURVE, 1):
        progress(place, steps)
        known = sides.known(pairs)
        pairs_text = sides.drawn.of_images(known)
        simple = fitting.fit(pairs_text, sides.pictures.of_images(known), method="ridge")
        text = sides.undrawn.joined(pairs_text)
        helped = kept(
            out / f"bridge-{pairs}-pairs",
            partial(fit_unpaired, text, sides.pictures, pairs=known, effort=GUIDED, seed=seed),
        )
        for name, bridge, curve in (
            (f"{pairs} pairs alone", simple, alone),
            (f"{pairs} pairs", helped, with_others),
        ):
            report = sides.measure(bridge)
            curve.append(report.metrics[RANKS[0]])
            if pairs == FEW:
                bridges[name], reports[name] = bridge, report
    progress(steps, steps)
    bridges["all pairs"], reports["all pairs"] = every, sides.measure(every)
    return FewPairs(bridges, reports, alone, with_others)


def plot_few(found: FewPairs, path: Path) -> None:
    """R@10 from text to image over the number of known pairs, with and without unpaired rows."""
    blind, key = found.reports["no pairs"], RANKS[0]
    plot_lines(
        CURVE,
        {"pairs and unpaired rows": found.with_others, "pairs alone (ridge)": found.alone},
        {
            "all pairs": found.reports["all pairs"].metrics[key],
            "no pairs": blind.metrics[key],
            "chance": blind.chance[key],
        },
        ("known pairs", "right image among the first ten of its texts"),
        path,
    )
