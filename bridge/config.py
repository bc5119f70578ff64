"""Settings: frozen models are the schema, YAML says what differs, `a.b=value` wins."""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from bridge.errors import InputError
from bridge.files import PathLike, existing


class Settings(BaseModel):
    """A group of settings; defaults live here and nowhere else."""

    model_config = ConfigDict(extra="forbid", frozen=True)


S = TypeVar("S", bound=Settings)


def load(schema: type[S], path: PathLike | None, overrides: Sequence[str] = ()) -> S:
    """Settings from a YAML file and `a.b=value` words; raises InputError that names what is wrong."""
    raw = read_yaml(existing(path, "settings file")) if path else {}
    for word in overrides:
        dotted, equals, text = word.partition("=")
        if not equals:
            raise InputError(f"expected a setting as a.b=value, got {word!r}")
        *parents, leaf = dotted.split(".")
        node = raw
        for parent in parents:
            node = node.setdefault(parent, {})
        node[leaf] = yaml.safe_load(text)
    return build(schema, raw)


def read_yaml(path: Path) -> dict[str, Any]:
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(raw, dict):
        raise InputError(f"{path}: expected settings as `name: value`, got {type(raw).__name__}")
    return raw


def build(schema: type[S], raw: dict[str, Any]) -> S:
    """Check `raw` against a schema; pydantic's first complaint becomes one line.

    PyYAML reads `3e-4` as text; pydantic turns text that is a number into the number.
    """
    try:
        return schema.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden":
            raise InputError(unknown(schema, first["loc"])) from error
        raise InputError(f"setting {place}: {first['msg']}, got {first['input']!r}") from error


def unknown(schema: type[Settings], place: tuple) -> str:
    for part in place[:-1]:
        schema = schema.model_fields[part].annotation
    names = list(schema.model_fields)
    near = get_close_matches(str(place[-1]), names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
    return f"no setting {'.'.join(map(str, place))}; {hint}"
