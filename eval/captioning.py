"""Caption metrics that can be trusted: pycocoevalcap's scorers, and what their numbers mean.

CIDEr depends on how many images are scored and on how many references they have, and a number
alone says little. So every report carries both, an interval, and the levels that people, shuffled
captions and one constant sentence reach on the same references.
"""

import math
import multiprocessing
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider_scorer import CiderScorer
from pycocoevalcap.rouge.rouge import Rouge

from bridge.errors import InputError
from bridge.provenance import versions
from eval.caption_results import matched
from eval.ptb import chosen, tokens
from eval.report import Report

METRICS = ("cider", "bleu", "rouge", "meteor", "spice")
DEFAULT = ("cider", "bleu", "rouge")
FEW = 100  # images below which CIDEr's document frequencies are mostly chance
LEVEL_IMAGES = 1000  # on which levels are measured, with document frequencies of all
LEVELS = ("human", "constant", "shuffled")
BOOTSTRAP = 1000
METEOR_SECONDS = 1200

Frequencies = Mapping[tuple[str, ...], float]


@dataclass(frozen=True)
class Documents:
    """In how many images' references each n-gram (1 to 4 words) occurs, and of how many images."""

    count: int
    frequency: Frequencies


@dataclass(frozen=True)
class Tokenized:
    """One caption an image and its references, as tokens joined by blanks, in one order."""

    captions: list[str]
    references: list[list[str]]

    def take(self, indices: Sequence[int]) -> "Tokenized":
        return Tokenized([self.captions[i] for i in indices], [self.references[i] for i in indices])


class Cider(CiderScorer):
    """The stock scorer with document frequencies that may come from more images than it scores.

    It sets `ref_len`, the log of their number, to that of the images it scores; here it is fixed.
    """

    documents: Documents

    @property
    def ref_len(self) -> float:
        return math.log(self.documents.count)

    @ref_len.setter
    def ref_len(self, _: float | None) -> None:
        pass


def documents_of(references: Sequence[Sequence[str]]) -> Documents:
    """Document frequencies of tokenized references, one list an image."""
    scorer = CiderScorer()
    for some in references:
        scorer.cook_append(None, some)
    scorer.compute_doc_freq()
    return Documents(len(references), dict(scorer.document_frequency))


def cider(scored: Tokenized, documents: Documents | None = None) -> np.ndarray:
    """CIDEr-D of each image (0 to 10); the score of the set is their mean.

    Vedantam et al., CIDEr: consensus-based image description evaluation, CVPR 2015. `documents`
    are by default the references scored against. One image without them raises InputError: the
    inverse document frequency of every word would be log(1) = 0.
    """
    if documents is None and len(scored.captions) == 1:
        raise InputError(
            "CIDEr of a single image is 0 whatever its caption, as each word occurs in every "
            "image; score more images, or give document frequencies of others with --df"
        )
    scorer = Cider()
    scorer.documents = documents or documents_of(scored.references)
    scorer.document_frequency.update(scorer.documents.frequency)
    for caption, references in zip(scored.captions, scored.references, strict=True):
        scorer += (caption, references)
    return np.array(scorer.compute_cider(), dtype=float)


def bleu(scored: Tokenized) -> list[float]:
    """BLEU-1 to BLEU-4 of the set (0 to 1), Papineni et al., ACL 2002."""
    found, _ = Bleu(4).compute_score(*keyed(scored), verbose=0)
    return [float(value) for value in found]


def rouge(scored: Tokenized) -> np.ndarray:
    """ROUGE-L of each image (0 to 1), Lin, ROUGE, 2004."""
    return np.array(Rouge().compute_score(*keyed(scored))[1], dtype=float)


def meteor(scored: Tokenized) -> np.ndarray:
    """METEOR 1.5 of each image (0 to 1), Denkowski & Lavie, 2014; raises InputError if Java fails.

    In a process of its own: where Java dies, the package waits for it for ever.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=meteor_in_process, args=(there, scored), daemon=True)
    process.start()
    there.close()
    try:
        found = here.recv() if here.poll(METEOR_SECONDS) else "it took too long"
    except EOFError:
        found = "its process died"
    process.kill()
    if isinstance(found, str):
        raise InputError(f"METEOR could not be computed with Java: {found}; leave meteor out")
    return found


def meteor_in_process(connection: Any, scored: Tokenized) -> None:
    from pycocoevalcap.meteor.meteor import Meteor

    try:
        connection.send(np.array(Meteor().compute_score(*keyed(scored))[1], dtype=float))
    except Exception as error:  # whatever it was, the waiting side should hear of it
        connection.send(f"{type(error).__name__}: {error}")


def spice(scored: Tokenized) -> np.ndarray:
    """SPICE of each image, Anderson et al., ECCV 2016; InputError where its parser is missing."""
    from importlib.util import find_spec

    folder = Path(find_spec("pycocoevalcap").submodule_search_locations[0]) / "spice" / "lib"
    if not list(folder.glob("stanford-corenlp-3.6.0*.jar")):
        raise InputError(
            "spice needs Stanford CoreNLP 3.6.0, which pycocoevalcap downloads: run its "
            f"get_stanford_models.sh where there is a network (into {folder}), or leave spice out"
        )
    from pycocoevalcap.spice.spice import Spice

    _, each = Spice().compute_score(*keyed(scored))
    return np.array([one["All"]["f"] for one in each], dtype=float)


def keyed(scored: Tokenized) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    """References and captions as the package wants them."""
    references = dict(enumerate(scored.references))
    return references, {index: [caption] for index, caption in enumerate(scored.captions)}


# ---- levels


def human(references: list[list[str]]) -> Tokenized:
    """One reference of each image (the first, second, third … by turns) against its others."""
    turns = [place % len(some) for place, some in enumerate(references)]
    held = [some[turn] for some, turn in zip(references, turns, strict=True)]
    rest = [some[:turn] + some[turn + 1 :] for some, turn in zip(references, turns, strict=True)]
    return Tokenized(held, rest)


def shuffled(scored: Tokenized, generator: np.random.Generator) -> Tokenized:
    """Every image with a caption of another one: the chance level.

    Moved along a random order: lists of photos often have like ones side by side.
    """
    order = generator.permutation(len(scored.captions))
    moved = np.empty_like(order)
    moved[order] = np.roll(order, 1)
    return Tokenized([scored.captions[i] for i in moved], scored.references)


def constant(references: list[list[str]]) -> str:
    """The reference that is most like all: of the greatest mean tf-idf cosine."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [text for some in references for text in some]
    vectors = TfidfVectorizer(token_pattern=r"\S+", ngram_range=(1, 2)).fit_transform(texts)
    return texts[int((vectors @ np.asarray(vectors.mean(0)).T).argmax())]


# ---- the report


def score_all(
    systems: Mapping[str, Tokenized],
    metrics: Sequence[str],
    documents: Mapping[str, Documents],
) -> dict[str, dict[str, np.ndarray]]:
    """Per-image scores of several sets of captions, by set and metric; BLEU as four of the set."""
    found: dict[str, dict[str, np.ndarray]] = {name: {} for name in systems}
    for name, scored in systems.items():
        if "cider" in metrics:
            found[name]["cider"] = cider(scored, documents.get(name))
        if "bleu" in metrics:
            found[name]["bleu"] = np.array(bleu(scored))
    everything = Tokenized(
        [caption for scored in systems.values() for caption in scored.captions],
        [some for scored in systems.values() for some in scored.references],
    )
    ends = np.cumsum([len(scored.captions) for scored in systems.values()])[:-1]
    for metric, function in {"rouge": rouge, "meteor": meteor, "spice": spice}.items():
        if metric in metrics:  # of each image by itself, so that Java starts once for all sets
            for name, part in zip(systems, np.split(function(everything), ends), strict=True):
                found[name][metric] = part
    return found


def measure_captions(
    systems: Mapping[str, Mapping[str, str]],
    references: Mapping[str, Sequence[str]],
    *,
    metrics: Sequence[str] = DEFAULT,
    tokenizer: str = "auto",
    frequencies: Mapping[str, Sequence[str]] | None = None,
    partial: bool = False,
    seed: int = 0,
    inputs: Mapping[str, str] | None = None,
    noted: Mapping[str, Any] | None = None,
) -> Report:
    """Score captions of one or several systems (by name, then image) against references.

    Beside them stand the levels `human`, `constant` and `shuffled`, which is chance, measured on
    at most LEVEL_IMAGES images. CIDEr and its like are 0 to 10, the others 0 to 1. `frequencies`
    are references of other images, whose document frequencies CIDEr then uses. Raises InputError
    as `matched` and `cider` do, and for an unknown metric.
    """
    start = time.monotonic()
    if unknown := [name for name in metrics if name not in METRICS]:
        raise InputError(f"expected metrics of {', '.join(METRICS)}, got {unknown[0]!r}")
    if not systems:
        raise InputError("expected captions to score, got none")
    names = [matched(captions, references, partial=partial) for captions in systems.values()]
    if any(ids != names[0] for ids in names):
        raise InputError("expected captions of the same images of every system")
    ids, by = names[0], chosen(tokenizer)
    gold = grouped_tokens([references[image_id] for image_id in ids], by)
    written = [[captions[image_id] for image_id in ids] for captions in systems.values()]
    scored = {
        name: Tokenized(some, gold)
        for name, some in zip(systems, grouped_tokens(written, by), strict=True)
    }
    others = list(frequencies.values()) if frequencies else []
    fixed = documents_of(grouped_tokens(others, by)) if others else None
    if "cider" in metrics and fixed is None and len(ids) == 1:
        cider(next(iter(scored.values())))  # says why it cannot be
    sets, documents = with_levels(scored, gold, fixed, np.random.default_rng(seed))
    each = score_all(sets, metrics, documents)
    figures = summarised(each, np.random.default_rng((seed, 1)))
    for name, some in scored.items():
        figures[f"{name}.length_ratio"] = length_ratio(some)
        figures[f"{name}.distinct"] = len(set(some.captions)) / len(ids)
    counts = [len(some) for some in gold]
    settings = {
        "images": len(ids),
        "references_per_image": [min(counts), float(np.mean(counts)), max(counts)],
        "tokenizer": by,
        "metrics": list(metrics),
        "cider_documents": len(frequencies) if frequencies else len(ids),
        "constant": sets["constant"].captions[0],
        "seed": seed,
    }
    chance = {
        key: figures[f"shuffled.{key.split('.', 1)[1]}"]
        for key in figures
        if f"shuffled.{key.split('.', 1)[1]}" in figures and not key.endswith("interval")
    }
    return Report(
        task="captioning",
        metrics=figures,
        chance=chance,
        settings=settings | dict(noted or {}),
        inputs=dict(inputs or {}),
        versions=versions() | {"pycocoevalcap": version("pycocoevalcap")},
        seconds=round(time.monotonic() - start, 3),
    )


def grouped_tokens(groups: Sequence[Sequence[str]], tokenizer: str) -> list[list[str]]:
    """Tokens of several lists of captions by one call of the tokenizer: Java starts slowly."""
    flat = iter(tokens([text for some in groups for text in some], tokenizer))
    return [[next(flat) for _ in some] for some in groups]


def with_levels(
    scored: dict[str, Tokenized],
    gold: list[list[str]],
    fixed: Documents | None,
    generator: np.random.Generator,
) -> tuple[dict[str, Tokenized], dict[str, Documents]]:
    """The systems and the levels, and the document frequencies that each is scored with."""
    documents = fixed or documents_of(gold)
    sets = dict(scored)
    some = np.sort(generator.permutation(len(gold))[:LEVEL_IMAGES]).tolist()
    frequencies = dict.fromkeys([*scored, "constant", "shuffled"], documents)
    told = [i for i in some if len(gold[i]) > 1]
    if len(told) > 1:
        held = human([refs if len(refs) > 1 else [*refs, ""] for refs in gold])
        sets["human"] = held.take(told)
        frequencies["human"] = fixed or documents_of(held.references)
    first = Tokenized([refs[0] for refs in gold], gold)
    sets["constant"] = Tokenized([constant(gold)] * len(some), first.take(some).references)
    sets["shuffled"] = shuffled(first, generator).take(some)
    return sets, frequencies


def summarised(
    each: Mapping[str, Mapping[str, np.ndarray]], generator: np.random.Generator
) -> dict[str, Any]:
    """Means of sets, with bootstrap intervals over images (document frequencies held fixed)."""
    figures: dict[str, Any] = {}
    for name, values in each.items():
        for metric, value in values.items():
            if metric == "bleu":
                figures |= {f"{name}.bleu_{n}": float(v) for n, v in enumerate(value, 1)}
                continue
            figures[f"{name}.{metric}"] = float(value.mean())
            if name not in LEVELS:
                figures[f"{name}.{metric}.interval"] = bootstrap(value, generator)
    return figures


def bootstrap(values: np.ndarray, generator: np.random.Generator) -> list[float]:
    """The middle 95 % of means over images drawn with replacement."""
    drawn = generator.integers(len(values), size=(BOOTSTRAP, len(values)))
    return [float(end) for end in np.quantile(values[drawn].mean(1), [0.025, 0.975])]


def length_ratio(scored: Tokenized) -> float:
    """Tokens of the captions over tokens of the references that are nearest in length."""
    written = [len(caption.split()) for caption in scored.captions]
    nearest = [
        min((len(text.split()) for text in some), key=lambda size: (abs(size - length), size))
        for length, some in zip(written, scored.references, strict=True)
    ]
    return sum(written) / max(1, sum(nearest))
