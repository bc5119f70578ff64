"""Good views, bad views and next token on Flickr8k: python benchmarks/views.py FLICKR8K --out RUNS

FLICKR8K is a folder with dataset_flickr8k.json and images_lite0.safetensors (and its .ids.txt).
Every step is a `platobridge` command, printed as it runs and written to RUNS/commands.txt; what is
there already is not made again, so that an interrupted study goes on. Ends with the tables of
results/flickr8k-views.md.
"""

import argparse
import json
import shlex
import statistics
from collections import defaultdict
from pathlib import Path

from bridge.__main__ import main as platobridge

# SIGReg sees a narrow projection: along random slices of a wide one even rows of few dimensions look
# normal. docs/log.md has the weights that were tried.
SIGREG = ["objective.anticollapse=sigreg", "objective.sigreg.weight=0.2", "model.projector=1"]
SETTINGS = {  # name of the objective: settings that differ from configs/flickr8k-small.yaml
    "good views, VICReg": [],
    "good views, SIGReg": SIGREG,
    "bad views, VICReg": ["objective.kind=bad-views"],
    "bad views, SIGReg": ["objective.kind=bad-views", *SIGREG],
    "next token": ["objective.kind=next-token"],
    "next token + VICReg": ["objective.kind=next-token", "objective.beside_tokens=0.1"],
}
SIZES = {
    "small": [],
    "11m": ["model.size=11m", "model.vocabulary=package:minilm"],
}
WITH_VICREG = ["good views, VICReg", "bad views, VICReg", "next token"]
WITH_SIGREG = ["good views, SIGReg", "bad views, SIGReg"]
PLAN = [  # in the order of their worth, should time run out
    *(("small", name, 0) for name in WITH_VICREG),
    *(("11m", name, 0) for name in WITH_VICREG),
    *(("small", name, seed) for seed in (1, 2) for name in WITH_VICREG),
    *(("small", name, seed) for seed in range(3) for name in WITH_SIGREG),
    ("small", "next token + VICReg", 0),
]


class Study:
    def __init__(self, data: Path, out: Path):
        self.data, self.out, self.commands = data, out, []

    def run(self, *words: object) -> None:
        """One command, noted; a finished one returns at once."""
        words = [str(word) for word in words]
        self.commands.append("platobridge " + shlex.join(words))
        print(self.commands[-1], flush=True)
        if code := platobridge(words):
            raise SystemExit(code)

    def prepare(self) -> None:
        karpathy = self.data / "dataset_flickr8k.json"
        for split in ("train", "test"):
            if not (file := self.out / f"{split}.jsonl").exists():
                self.run("data", "import", karpathy, "--split", split, "--out", file)
        if not (images := self.out / "images.safetensors").exists():
            rows = self.data / "images_lite0.safetensors"
            ids = rows.with_suffix(".ids.txt")
            name = "efficientnet-lite0"
            self.run("data", "import", rows, "--ids", ids, "--encoder", name, "--out", images)

    def measure(self, size: str, name: str, seed: int) -> dict[str, float]:
        """Train, embed, fit and measure one encoder; its figures by name."""
        folder = self.out / f"{size}-{name}-{seed}".replace(" ", "-").replace(",", "")
        encoder = folder / "run" / "encoder"
        figures = folder / "figures.json"
        if figures.exists():
            return json.loads(figures.read_text())
        configured = ["configs/flickr8k-small.yaml", f"data.captions={self.out / 'train.jsonl'}"]
        chosen = ["data.split=null", f"seed={seed}", *SIZES[size], *SETTINGS[name]]
        self.run("train", *configured, *chosen, "--out", folder / "run")
        for split in ("train", "test"):
            captions, rows = self.out / f"{split}.jsonl", folder / f"{split}.safetensors"
            self.run("embed", "text", captions, "--encoder", f"jepa:{encoder}", "--out", rows)
        test, images = folder / "test.safetensors", self.out / "images.safetensors"
        found = {}
        for captions in ("mean", "first"):
            report = folder / f"alignment-{captions}.json"
            self.run("eval", "alignment", test, images, "--captions", captions, "--out", report)
            found[f"mutual_knn.{captions}"] = metrics(report)["mutual_knn"]
        for method in ("rotation", "ridge"):
            bridge = folder / method
            self.run(
                "fit", folder / "train.safetensors", images, "--method", method, "--out", bridge
            )
            for captions, space in (("mean", "query"), ("mean", "image"), ("each", "query")):
                report = folder / f"{method}-{captions}-{space}.json"
                how = ["--captions", captions, "--space", space, "--out", report]
                self.run("eval", "retrieval", test, images, "--bridge", bridge, *how)
                found |= {
                    f"{method}.{captions}.{space}.{key}": value
                    for key, value in metrics(report).items()
                }
        last = json.loads((folder / "run" / "metrics.jsonl").read_text().splitlines()[-1])
        found |= {key: last[key] for key in ("effective_rank", "padding") if key in last}
        figures.write_text(json.dumps(found))
        return found


def metrics(report: Path) -> dict[str, float]:
    return json.loads(report.read_text())["metrics"]


def line(name: str, runs: list[dict[str, float]], keys: list[str]) -> str:
    """Mean over seeds, with the standard deviation where there are several."""
    cells = []
    for key in keys:
        values = [run[key] for run in runs if key in run]
        if not values:
            cells.append("-")
            continue
        digits = 3 if key.startswith("mutual") or "recall" in key else 1
        cell = f"{statistics.mean(values):.{digits}f}"
        if len(values) > 1:
            cell += f" ± {statistics.stdev(values):.{digits}f}"
        cells.append(cell.replace("0.", ".") if digits == 3 else cell)
    return f"| {name} | {len(runs)} | " + " | ".join(cells) + " |"


def tables(found: dict[tuple[str, str], list[dict[str, float]]]) -> None:
    heads = [f"{way} R@{k}" for way in ("t2i", "i2t") for k in (1, 5, 10)]
    groups = [
        (
            "Alignment, no map",
            ["mutual 10-NN, mean of five", "one caption", "effective rank"],
            ["mutual_knn.mean", "mutual_knn.first", "effective_rank"],
        )
    ]
    for method in ("rotation", "ridge"):
        for captions, space in (("mean", "query"), ("mean", "image"), ("each", "query")):
            keys = [
                f"{method}.{captions}.{space}.{way}.recall@{k}"
                for way in ("text_to_image", "image_to_text")
                for k in (1, 5, 10)
            ]
            groups.append((f"{method}, {captions} caption, ranked in {space} space", heads, keys))
    for title, columns, keys in groups:
        print(f"\n### {title}\n\n| encoder | seeds | " + " | ".join(columns) + " |")
        print("|---" * (len(columns) + 2) + "|")
        for (size, name), runs in found.items():
            print(line(f"`{size}`, {name}", runs, keys))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("data", type=Path)
    arguments.add_argument("--out", type=Path, default=Path("runs/flickr8k-views"))
    arguments.add_argument("--only", default="", help="runs whose size or objective holds this")
    asked = arguments.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    study = Study(asked.data, asked.out)
    study.prepare()
    found = defaultdict(list)
    for size, name, seed in PLAN:
        if asked.only in f"{size} {name}":
            found[size, name].append(study.measure(size, name, seed))
    with (asked.out / "commands.txt").open("a") as file:
        file.writelines(f"{command}\n" for command in study.commands)
    tables(found)


if __name__ == "__main__":
    main()
