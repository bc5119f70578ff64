"""What is built is what a user gets."""

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def sources() -> set[str]:
    return {"app.py"} | {
        path.relative_to(ROOT).as_posix()
        for package in ("bridge", "train", "eval")
        for path in (ROOT / package).rglob("*")
        if path.suffix in (".py", ".txt", ".css", ".js")
    }


@pytest.mark.slow
def test_the_wheel_holds_the_packages_and_runs(tmp_path):
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", str(tmp_path), str(ROOT)]
    subprocess.run([*build, "--quiet"], check=True)
    [wheel] = tmp_path.glob("platobridge-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert sources() <= names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/"))]

    # a fresh environment that sees this one's libraries but not the checkout
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps"]
    subprocess.run([*install, "--quiet", str(wheel)], check=True)
    here = next(path for path in sys.path if path.endswith("site-packages"))
    code = f"import sys; sys.path.append({here!r}); import app, bridge, train, eval; print(bridge.__file__)"
    done = subprocess.run(
        [python, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert str(tmp_path / "venv") in done.stdout
    command = [
        python, "-c", f"import sys; sys.path.append({here!r}); "
        "from bridge.__main__ import main; sys.exit(main(['--version']))",
    ]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("platobridge ")
