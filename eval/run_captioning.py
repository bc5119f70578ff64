"""platobridge eval captioning: from files to a report, its table, and the captions."""

from dataclasses import asdict, dataclass
from pathlib import Path

from rich.table import Table
from rich.text import Text

from bridge import console, embeddings
from bridge.decode import Decoding
from bridge.errors import InputError
from bridge.files import already_made, write_json
from bridge.opened import Choice, open_bridge
from bridge.provenance import digest
from eval import report as reports
from eval.caption_results import read_references, read_results
from eval.captioning import FEW, LEVELS, measure_captions
from eval.decoding import measure_decoder
from eval.report import Report, cell, figure


@dataclass(frozen=True)
class Asked:
    """The settings of one measurement; with the inputs they are its request."""

    metrics: tuple[str, ...]
    tokenizer: str
    split: str | None
    image_key: str
    partial: bool
    beams: int
    length_penalty: float
    max_tokens: int
    project: bool | None
    drop_fitted: bool
    seed: int


def run(
    asked: Asked,
    files: dict[str, Path],
    out: Path,
    *,
    device: str = "auto",
    save_captions: Path | None = None,
    overwrite: bool = False,
) -> None:
    """Make the report at `out`, or find it made by the same request; print its table."""
    reports.check_out(out)
    if save_captions and save_captions.exists() and not overwrite:
        raise InputError(
            f"{save_captions} exists; name another file, or replace it with --overwrite"
        )
    opened = None
    if "bridge" in files:
        opened = open_bridge(files["bridge"], Choice(decoder=files.get("decoder"), device=device))
        files = files | {"decoder": opened.decoder_folder()}
    inputs = {name: digest(path) for name, path in files.items()}
    wanted = {"task": "captioning", "request": asdict(asked), "inputs": inputs}
    made = reports.load(out) if out.exists() and not overwrite else None
    made_by = made and {
        "task": made.task,
        "request": made.settings.get("request", {}),
        "inputs": made.inputs,
    }
    if already_made(out, made_by, wanted, overwrite=overwrite):
        console.note(f"{out} was made before with these settings")
    else:
        made, captions = measure(asked, files, inputs, opened)
        made.settings["request"] = asdict(asked)
        made.save(out, overwrite=overwrite)
        if save_captions:
            lines = [{"image_id": key, "caption": text} for key, text in captions.items()]
            write_json(save_captions, lines)
    if made.settings["tokenizer"] == "python" and asked.tokenizer == "auto":
        console.warn("no Java here: captions were tokenized by our own tokenizer, as good as PTB's")
    if made.settings["images"] < FEW:
        console.warn(
            f"CIDEr on {made.settings['images']} images is high by chance; compare it with the "
            "levels beside it only"
        )
    console.results.print(table(made))


def measure(asked: Asked, files: dict[str, Path], inputs: dict[str, str], opened):
    """The report, and the captions by image."""
    told = {"split": asked.split, "image_key": asked.image_key}
    references = read_references(files["references"], **told)
    frequencies = read_references(files["df"]) if "df" in files else None
    settings = {"metrics": asked.metrics, "tokenizer": asked.tokenizer, "seed": asked.seed}
    settings |= {"inputs": inputs, "frequencies": frequencies}
    if opened is None:
        captions = read_results(files["results"])
        with console.messages.status("scoring"):
            report = measure_captions(
                {"captions": captions}, references, partial=asked.partial, **settings
            )
        return report, captions
    text = embeddings.load(files["text"]) if "text" in files else None
    how = Decoding(
        beams=asked.beams,
        max_tokens=asked.max_tokens,
        length_penalty=asked.length_penalty,
        project=opened.decoder.projects(opened.paired) if asked.project is None else asked.project,
    )
    with console.progress_bar("captions") as progress:
        return measure_decoder(
            opened.decoder,
            opened.bridge,
            embeddings.load(files["images"]),
            references,
            text,
            how=how,
            drop_fitted=asked.drop_fitted,
            progress=progress,
            **settings,
        )


def table(report: Report) -> Table:
    """A row a system, level and check, a column a metric."""
    columns = [name for name in HEADS if f"shuffled.{name}" in report.metrics]
    keys = dict.fromkeys(key.rpartition(".")[0] for key in report.metrics)
    systems = [key for key in keys if f"{key}.{columns[0]}" in report.metrics]
    order = [name for name in systems if name not in LEVELS and not name.startswith("check")]
    order += [name for name in LEVELS if name in systems]
    order += [name for name in systems if name.startswith("check")]
    low, mean, high = report.settings["references_per_image"]
    each = f"{mean:.1f}" if low != high else f"{low}"
    made = Table(
        title=f"{report.settings['images']} images, {each} references each, "
        f"{report.settings['tokenizer']} tokens; shuffled is chance",
        title_justify="left",
    )
    made.add_column("captions")
    for name in columns:
        made.add_column(HEADS[name], justify="right", no_wrap=True)
    for name in order:
        cells = (
            (cell if metric == columns[0] else plain)(report.metrics, f"{name}.{metric}")
            for metric in columns
        )
        made.add_row(Text(name), *cells, style="dim" if name in LEVELS else None)
    return made


def plain(metrics: dict, key: str) -> str:
    return figure(metrics.get(key))


HEADS = {
    "cider": "CIDEr (95 %)",
    "bleu_4": "BLEU-4",
    "rouge": "ROUGE-L",
    "meteor": "METEOR",
    "spice": "SPICE",
}
