"""The arrows of the layout: who may import whom, and which file owns which heavy package."""

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = {"bridge", "eval", "train", "app"}
MAY_IMPORT = {
    "bridge": set(),
    "eval": {"bridge"},
    "train": {"bridge"},
    "app.py": {"bridge", "eval"},
}
PROGRAMS = {
    *("train/cli.py", "train/quickstart.py", "train/uses.py"),
    *("train/few_pairs.py", "train/__main__.py"),
}
ONLY_IN = {
    "timm": {"bridge/encode_vision.py", "bridge/classes.py"},
    "accelerate": {"train/loop.py"},
    "matplotlib": {"eval/report.py"},
    "numba": {"bridge/assignment.py"},
    "ot": {"bridge/rivals.py"},
    "huggingface_hub": {"bridge/sharing.py"},
    "gradio": {"app.py"},
    "pycocoevalcap": {"eval/captioning.py"},
}
LIGHT = {"typer", "bridge", "eval", *sys.stdlib_module_names}


def sources(part: str) -> list[Path]:
    place = ROOT / part
    return [place] if place.is_file() else sorted(place.rglob("*.py"))


def imported(nodes) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0]


@pytest.mark.parametrize("part", MAY_IMPORT)
def test_imports_point_one_way(part):
    for path in sources(part):
        name = path.relative_to(ROOT).as_posix()
        allowed = MAY_IMPORT[part] | {part.removesuffix(".py")}
        allowed |= {"eval"} if name in PROGRAMS else set()
        for package in imported(ast.walk(ast.parse(path.read_text(encoding="utf-8")))):
            assert package not in OURS - allowed, f"{name} may not import {package}"
            assert name in ONLY_IN.get(package, {name}), f"{package} belongs to {ONLY_IN[package]}"


@pytest.mark.parametrize(
    "path",
    [
        "bridge/__main__.py",
        "bridge/cli.py",
        "bridge/cli_app.py",
        "bridge/cli_search.py",
        "eval/cli.py",
        "eval/cli_zero_shot.py",
        "train/cli.py",
    ],
)
def test_command_lines_import_nothing_heavy_at_the_top(path):
    body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
    assert set(imported(body)) <= LIGHT


@pytest.mark.parametrize("package", ["bridge", "eval", "train"])
def test_our_packages_are_the_ones_imported(package):
    found = Path(importlib.import_module(package).__file__)
    assert found.parent == ROOT / package, f"another installed package took the name: {found}"


HELPS = [
    [],
    ["quickstart"],
    ["train"],
    ["data", "import"],
    ["embed", "text"],
    ["embed", "images"],
    ["fit"],
    ["eval", "alignment"],
    ["eval", "retrieval"],
    ["eval", "zero-shot"],
    ["eval", "captioning"],
    ["train-decoder"],
    ["caption"],
    ["classify"],
    ["search"],
    ["app"],
]


@pytest.mark.parametrize("command", HELPS, ids=" ".join)
def test_help_loads_no_heavy_package(command):
    code = (
        "import sys; from bridge.__main__ import main; code = main(sys.argv[1:]);"
        "heavy = {'torch', 'transformers', 'gradio', 'timm', 'numpy'} & set(sys.modules);"
        "sys.exit(f'imported {heavy}' if heavy else code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command, "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Usage: platobridge" in done.stdout and "--help" in done.stdout
