"""Bridges that others use: a folder with a card, on disk or on the Hugging Face hub."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from bridge.errors import InputError
from bridge.files import PathLike, check_folder_of, existing, replacing
from bridge.maps import Bridge, load

REPORT = "platobridge.report/1"
FILES = ("bridge.json", "weights.safetensors")  # nothing else is fetched: no code, no pickle
Made = TypeVar("Made")


def save_pretrained(
    bridge: Bridge,
    folder: PathLike,
    *,
    name: str | None = None,
    reports: Sequence[PathLike] = (),
    license: str | None = None,  # noqa: A002 - the hub's word
    overwrite: bool = False,
) -> None:
    """Write a bridge folder with a card (README.md) that says how it was made and how it does.

    `reports` are files of `platobridge eval`, whose figures the card shows beside chance. `name`
    is what the card says to load, by default the folder. Raises InputError if `folder` exists or
    a report cannot be read.
    """
    folder = Path(folder)
    if folder.exists() and not overwrite:
        raise InputError(f"{folder} exists; name another folder, or replace it with overwrite=True")
    check_folder_of(folder, "bridge.json", "bridge folder")
    text = card(bridge, name or str(folder), [read_report(path) for path in reports], license)
    with replacing(folder) as temporary:
        bridge.write(temporary)
        (temporary / "README.md").write_text(text, encoding="utf-8")


def push_to_hub(
    bridge: Bridge,
    repo_id: str,
    *,
    reports: Sequence[PathLike] = (),
    license: str | None = None,  # noqa: A002
    private: bool | None = None,
    revision: str | None = None,
    token: str | bool | None = None,
    message: str = "A bridge between text and images",
) -> str:
    """Upload a bridge and its card to the hub repository OWNER/NAME; returns where it is.

    The repository is made if it is not there. Raises InputError where the hub refuses or cannot
    be reached.
    """
    from huggingface_hub import HfApi

    api = HfApi(token=token)
    with TemporaryDirectory() as place:
        folder = Path(place) / "bridge"
        name = f"hub:{repo_id}"
        save_pretrained(bridge, folder, name=name, reports=reports, license=license)
        asking(name, lambda: api.create_repo(repo_id, private=private, exist_ok=True))
        made = asking(
            name,
            lambda: api.upload_folder(
                repo_id=repo_id, folder_path=folder, revision=revision, commit_message=message
            ),
        )
    return str(made.commit_url)


def from_pretrained(
    name: PathLike, *, revision: str | None = None, token: str | bool | None = None
) -> Bridge:
    """Read a bridge from a folder, or from the hub by OWNER/NAME, hub:OWNER/NAME[@REVISION].

    What is a folder here is read here. Raises InputError for what is neither.
    """
    said = str(name)
    if not said.startswith("hub:") and (Path(name).exists() or said.count("/") != 1):
        return load(name)
    repo_id, _, stated = said.removeprefix("hub:").partition("@")
    return load(fetched(repo_id, revision or stated or None, token))


def fetched(repo_id: str, revision: str | None, token: str | bool | None) -> Path:
    """The folder in the hub's cache that holds a repository's bridge."""
    from huggingface_hub import snapshot_download

    return Path(
        asking(
            f"hub:{repo_id}",
            lambda: snapshot_download(
                repo_id, revision=revision, token=token, allow_patterns=list(FILES)
            ),
        )
    )


def asking(name: str, question: Callable[[], Made]) -> Made:
    """What the hub answers; InputError in one line where it refuses or cannot be reached."""
    from huggingface_hub.errors import HTTPError

    try:
        return question()
    except (HTTPError, OSError, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise InputError(
            f"{name}: the hub could not be used ({reason}); check the name OWNER/NAME, the network "
            "and your token (`hf auth login`), or pass a bridge folder"
        ) from error


def read_report(path: PathLike) -> dict[str, Any]:
    path = existing(path, "report")
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        if report["format"] == REPORT:
            return report
    except (OSError, ValueError, LookupError, TypeError):
        pass
    raise InputError(f"{path}: expected a report; make one with `platobridge eval`")


# ---- the card


def card(
    bridge: Bridge, name: str, reports: Sequence[dict[str, Any]] = (), licence: str | None = None
) -> str:
    """Markdown with the hub's header: what is joined, how it was fitted, how far to trust it."""
    about = bridge.about
    header = ["library_name: platobridge", "tags: [platobridge, cross-modal, text, image]"]
    header += [f"license: {licence}"] if licence else []
    sides = {side: encoder_of(about.get(side, {})) for side in ("text", "image")}
    lines = [
        "---",
        *header,
        "---",
        f"# {name.removeprefix('hub:')}",
        "",
        f"A bridge from {sides['text']} (text, width {len(bridge.text.mean)}) to "
        f"{sides['image']} (images, width {len(bridge.image.mean)}) and back. The encoders were "
        "trained apart and stay as they are; the bridge maps rows of one to rows of the other.",
        "",
        *verdict_lines(about.get("verdict")),
        *fit_lines(bridge),
        *(line for report in reports for line in report_lines(report)),
        "## Use",
        "",
        "```python",
        "import bridge",
        "",
        f'fitted = bridge.load_bridge("{name}")',
        f"images = fitted.to_image(texts)  # rows of {sides['text']}, to be compared with images",
        "```",
        "",
        "Versions: "
        + ", ".join(f"{key} {v}" for key, v in about.get("versions", {}).items())
        + ".",
    ]
    return "\n".join(lines) + "\n"


def encoder_of(side: dict[str, Any]) -> str:
    encoder = side.get("encoder", {})
    parts = [
        f"{key} {encoder[key]}" for key in ("layer", "pooling") if encoder.get(key) is not None
    ]
    return encoder.get("name", "an unknown encoder") + (f" ({', '.join(parts)})" if parts else "")


def verdict_lines(verdict: dict[str, Any] | None) -> Iterator[str]:
    if verdict:
        yield from ("## Verdict", "")
        yield f"Fitted without pairs or with few, and judged without labels: **{verdict['level']}**"
        yield from ("", *(f"- {reason}" for reason in verdict["reasons"]), "")


def fit_lines(bridge: Bridge) -> Iterator[str]:
    about = bridge.about
    known = "known pairs" if not about.get("paired") else "pairs"
    yield from ("## Fit", "", "| | |", "|---|---|")
    yield f"| method | {about.get('method', 'unknown')} |"
    yield f"| {known} | {about.get('pairs', 'unknown')} |"
    yield f"| images behind the fit | {len(bridge.fitted_on)} |"
    for key, value in (about.get("settings") or {}).items():
        yield f"| {key} | {plain(value)} |"
    yield f"| seed | {about.get('seed', 'unknown')} |"
    for note in about.get("notes", ()):
        yield f"| note | {note} |"
    yield ""


def plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {plain(part)}" for key, part in value.items())
    return "default" if value is None else str(value)


def report_lines(report: dict[str, Any]) -> Iterator[str]:
    """A table of a report's figures beside chance, and the settings that made them."""
    yield from (
        f"## Measured: {report['task']}",
        "",
        "| figure | value | chance |",
        "|---|---|---|",
    )
    for key, value in report["metrics"].items():
        if isinstance(value, int | float):
            chance = report["chance"].get(key)
            level = "-" if chance is None else f"{chance:.4g}"
            yield f"| {key.replace('_', ' ').replace('.', ' ')} | {value:.4g} | {level} |"
    settings = {key: value for key, value in report["settings"].items() if key != "verdict"}
    said = ", ".join(f"{key} {plain(value)}" for key, value in settings.items())
    yield from ("", f"Settings: {said}.", "")
