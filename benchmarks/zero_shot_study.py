"""Zero-shot classes of mini-ImageNet: python benchmarks/zero_shot_study.py DATA --out RUNS

DATA holds flickr8k/, coco/, mini-imagenet/ and classnames/: captions, image features, features of
100 ImageNet classes, their names, and prompt templates. Bridges are fitted on Flickr8k's 6000
training pairs, on 368 pairs of COCO, and on other COCO captions and images with 10 known pairs and
with none. Every step is a `platobridge` command, printed as it runs; what is there is not made
again. Ends with the tables of results/mini-imagenet.md.
"""

import argparse
import json
import shlex
from collections.abc import Iterator
from pathlib import Path

from bridge import embeddings
from bridge.__main__ import main as platobridge

COLUMNS = ("cosine", "csls", "balanced")
CAPTIONS = {
    "flickr8k": "flickr8k/dataset_flickr8k.json",
    "coco": "coco/captions.jsonl",
    "coco-pairs": "coco/pairs_captions.jsonl",
}
ROWS = {  # of all-MiniLM-L6-v2, made before
    "flickr8k": "flickr8k/text_minilm",
    "coco": "coco/text_minilm",
    "coco-pairs": "coco/pairs_text_minilm",
}
IMAGES = {
    "flickr8k": "flickr8k/images_lite0",
    "coco": "coco/uncaptioned_images_lite0",
    "coco-pairs": "coco/pairs_images_lite0",
    "mini-imagenet": "mini-imagenet/images_lite0",
}
PAIRED = {
    "Flickr8k, 6000 pairs": "flickr8k",
    "COCO, 368 pairs": "coco-pairs",
}
TEMPLATES = {
    "captions, nine": "captions",
    "single: a photo of a X.": "single",
    "name alone": "name",
    "open_clip, seven": "classnames/open_clip_SIMPLE_IMAGENET_TEMPLATES.json",
    "open_clip, eighty": "classnames/open_clip_OPENAI_IMAGENET_TEMPLATES.json",
}


class Study:
    def __init__(self, data: Path, out: Path, encoder: str, seeds: int):
        self.data, self.out, self.encoder, self.seeds = data, out, encoder, seeds
        self.imported = encoder == "package:minilm"

    def run(self, *words: object) -> None:
        words = [str(word) for word in words]
        print("platobridge " + shlex.join(words), flush=True)
        if code := platobridge(words):
            raise SystemExit(code)

    def table(self, side: str, name: str) -> Path:
        return self.out / f"{side}-{name}.safetensors"

    def prepare(self) -> None:
        for name, rows in IMAGES.items():
            self.features(rows, "efficientnet-lite0", self.table("images", name))
        for name, captions in CAPTIONS.items():
            out = self.table("text", name)
            if self.imported:
                self.features(ROWS[name], "all-MiniLM-L6-v2", out)
            else:
                words = ("--encoder", self.encoder, "--out", out)
                self.run("embed", "text", self.data / captions, *words)
        for side in ("text", "images"):
            if not (both := self.table(side, "coco-both")).exists():
                joined(self.table(side, "coco"), self.table(side, "coco-pairs"), both)
        karpathy = json.loads((self.data / CAPTIONS["flickr8k"]).read_text())
        train = [each["filename"] for each in karpathy["images"] if each["split"] == "train"]
        (self.out / "flickr8k-train.txt").write_text("\n".join(train) + "\n")

    def features(self, rows: str, encoder: str, out: Path) -> None:
        file = self.data / f"{rows}.safetensors"
        ids = self.data / f"{rows}.ids.txt"
        self.run("data", "import", file, "--ids", ids, "--encoder", encoder, "--out", out)

    def fit(self) -> dict[tuple[str, str], list[Path]]:
        """Bridges by what they were fitted on and how; several are seeds."""
        made: dict[tuple[str, str], list[Path]] = {}
        for said, name in PAIRED.items():
            pairs = ("--pairs", self.out / "flickr8k-train.txt") if name == "flickr8k" else ()
            for method in ("rotation", "ridge"):
                out = self.out / f"bridge-{name}-{method}"
                sides = (self.table("text", name), self.table("images", name))
                self.run("fit", *sides, *pairs, "--method", method, "--out", out)
                made[said, method] = [out]
        for said, name, pairs in (
            ("COCO, 10 pairs", "coco-both", ("--pairs", 10)),
            ("COCO, no pairs", "coco", ()),
        ):
            made[said, "unpaired"] = []
            for seed in range(self.seeds):
                out = self.out / f"bridge-{name}-unpaired-{seed}"
                sides = (self.table("text", name), self.table("images", name))
                how = ("--unpaired", *pairs, "--seed", seed, "--workers", 1, "--allow-failed")
                self.run("fit", *sides, *how, "--out", out)
                made[said, "unpaired"].append(out)
        return made

    def measure(
        self, bridges: list[Path], *, templates: str = "captions", center: str = "bridge",
        names: str = "file", blind: int = 0,
    ) -> dict:  # fmt: skip
        """The report of one way to ask; `names` is file (curated) or wordnet."""
        classes = self.data / "mini-imagenet" / "classes.json"
        if names == "wordnet":
            ids = json.loads(classes.read_text())
            classes = self.out / "wnids.txt"
            classes.write_text("\n".join(ids) + "\n")
        file = self.data / templates
        given = file if file.is_file() else templates
        name = "-".join((bridges[0].name, Path(templates).stem, center, names, f"blind{blind}"))
        out = self.out / f"{name}.json"
        words = ["eval", "zero-shot", "--images", self.table("images", "mini-imagenet")]
        words += ["--classes", classes, "--templates", given, "--center", center]
        words += ["--blind-match", blind, "--out", out]
        for bridge in bridges:
            words += ["--bridge", bridge]
        if self.imported:
            words += ["--text-encoder", self.encoder]
        self.run(*words)
        return json.loads(out.read_text())


def joined(first: Path, second: Path, out: Path) -> None:
    """Two embeddings files of one encoder as one."""
    embeddings.save(embeddings.load(first).joined(embeddings.load(second)), out)


def share(metrics: dict, key: str) -> str:
    """.136 (.127-.146), or without the interval where there is none."""
    shown = f"{metrics[key]:.3f}".removeprefix("0")
    if reach := metrics.get(f"{key}.interval"):
        low, high = (f"{bound:.3f}".removeprefix("0") for bound in reach)
        shown += f" ({low}-{high})"
    return shown


def tables(study: Study, made: dict[tuple[str, str], list[Path]]) -> Iterator[str]:
    yield from heads("Top-1 and Top-5", "bridge | means | Top-1 | Top-5 | mean per class |"
                     " csls Top-1 * | csls Top-5 * | balanced Top-1 * | balanced Top-5 *")  # fmt: skip
    keys = ["cosine.top1", "cosine.top5", "cosine.mean_per_class"]
    keys += [f"{column}.top{k}" for column in COLUMNS[1:] for k in (1, 5)]
    for (said, method), bridges in made.items():
        for center in ("bridge", "own"):
            found = study.measure(bridges, center=center)["metrics"]
            means = "the bridge's" if center == "bridge" else "their own *"
            cells = [share(found, key) for key in keys[:3]]
            cells += [share({key: found[key]}, key) for key in keys[3:]]
            yield f"| {said}, {method} | {means} | {' | '.join(cells)} |"

    yield from heads("Each seed", "bridge | seed | verdict | Top-1 | Top-5")
    for (said, method), bridges in made.items():
        if len(bridges) > 1:
            for one in study.measure(bridges)["metrics"]["bridges"]:
                cells = [share(one, key) for key in ("cosine.top1", "cosine.top5")]
                yield f"| {said}, {method} | {one['seed']} | {one['verdict']} | {' | '.join(cells)} |"

    yield from heads(
        "Prompts and names, Top-1 / Top-5 by cosine",
        "prompts | names | " + " | ".join(f"{said}, {method}" for said, method in made),
    )
    ways = [(said, templates, "file") for said, templates in TEMPLATES.items()]
    ways += [("captions, nine", "captions", "wordnet")]
    for said, templates, names in ways:
        cells = []
        for bridges in made.values():
            found = study.measure(bridges, templates=templates, names=names)["metrics"]
            cells.append(
                " / ".join(share({k: found[k]}, k) for k in ("cosine.top1", "cosine.top5"))
            )
        shown = "curated" if names == "file" else "WordNet's, averaged"
        yield f"| {said} | {shown} | {' | '.join(cells)} |"

    first = next(iter(made.values()))
    report = study.measure(first, blind=5)
    found, chance = report["metrics"], report["chance"]
    yield "\n### Without any map\n"
    yield (
        f"Clusters matched to class texts, five seeds: Top-1 {share(found, 'blind_match.top1')}, "
        f"chance {chance['blind_match.top1']:.3f}; seeds "
        + ", ".join(f"{each:.3f}" for each in found["blind_match.seeds"])
        + f". Clusters named by the labels: {found['blind_match.oracle']:.3f} "
        f"(shuffled labels {chance['blind_match.oracle']:.3f})."
    )
    yield from heads("Most confused (first bridge)", "shown | taken for | share of its images")
    for bridges in list(made.values())[:1]:
        for pair in study.measure(bridges)["metrics"]["confusions"][:12]:
            yield f"| {pair['name']} | {pair['taken_for_name']} | {pair['share']:.2f} |"


def heads(title: str, columns: str) -> Iterator[str]:
    yield f"\n### {title}\n"
    yield f"| {columns} |"
    yield "|---" * (columns.count("|") + 1) + "|"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=Path("runs/mini-imagenet"))
    parser.add_argument("--encoder", default="package:minilm", help="as in platobridge embed text")
    parser.add_argument("--seeds", type=int, default=3, help="of the fits without pairs")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    study = Study(asked.data, asked.out, asked.encoder, asked.seeds)
    study.prepare()
    text = "\n".join(tables(study, study.fit()))
    (asked.out / "tables.md").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
