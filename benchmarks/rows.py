"""Rows of a long experiment as JSON lines: written as they are made, found again, never made twice."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from joblib import Parallel, delayed


def read(out: Path) -> dict[str, dict]:
    """Rows by name; a last line that was cut short by an end of the run does not count."""
    whole = out.read_text(encoding="utf-8") if out.exists() else ""
    lines = whole[: whole.rfind("\n") + 1].splitlines()
    return {row["name"]: row for row in map(json.loads, lines)}


def fill(
    out: Path, names: Iterable[str], make: Callable[[str], dict], jobs: int
) -> dict[str, dict]:
    """All rows of these names; those that are missing are made, `jobs` at a time, and appended."""
    made = read(out)
    wanted = list(names)
    missing = [name for name in wanted if name not in made]
    out.parent.mkdir(parents=True, exist_ok=True)
    whole = out.read_bytes() if out.exists() else b""
    with out.open("wb") as file:  # without a line that was cut short
        file.write(whole[: whole.rfind(b"\n") + 1])
        file.flush()
        work = Parallel(n_jobs=jobs, return_as="generator_unordered")
        for place, row in enumerate(work(delayed(make)(name) for name in missing), 1):
            file.write(json.dumps(row, allow_nan=False).encode() + b"\n")
            file.flush()
            made[row["name"]] = row
            print(f"{place}/{len(missing)} {row['name']}", flush=True)
    return {name: made[name] for name in wanted}
