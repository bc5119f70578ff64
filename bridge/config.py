"""Settings: frozen models are the schema, YAML says what differs, `a.b=value` wins."""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from bridge.errors import InputError
from bridge.files import PathLike, existing


class Settings(BaseModel):
    """A group of settings; defaults live here and nowhere else.

    Types are strict: a number in quotes, a `yes` where text is expected or 1.5 steps are errors.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


S = TypeVar("S", bound=Settings)


class Loader(yaml.SafeLoader):
    """YAML 1.1 as PyYAML reads it, but for `3e-4`, which is a number since YAML 1.2."""


Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?$"),
    list("-+.0123456789"),
)


def load(schema: type[S], path: PathLike | None, overrides: Sequence[str] = ()) -> S:
    """Settings from a YAML file and `a.b=value` words; raises InputError on what is wrong."""
    raw = read_yaml(existing(path, "settings file")) if path else {}
    for word in overrides:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise InputError(f"expected a setting as a.b=value, got {word!r}")
        put(raw, name, parse(text, name))
    return build(schema, raw)


def put(raw: dict[str, Any], name: str, value: Any) -> None:
    *parents, leaf = name.split(".")
    for depth, parent in enumerate(parents, 1):
        raw = raw.setdefault(parent, {})
        if not isinstance(raw, dict):
            group = ".".join(parents[:depth])
            raise InputError(f"setting {name}: {group} is a value, {raw!r}, not a group")
    raw[leaf] = value


def read_yaml(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (UnicodeDecodeError, OSError) as error:
        raise InputError(f"{path}: expected settings in YAML, got {error}") from error
    raw = parse(text, str(path)) or {}
    if not isinstance(raw, dict):
        raise InputError(f"{path}: expected settings as `name: value`, got {type(raw).__name__}")
    return raw


def parse(text: str, place: str) -> Any:
    try:
        return yaml.load(text, Loader)
    except yaml.YAMLError as error:
        raise InputError(f"{place}: not YAML: {' '.join(str(error).split())}") from error


def write_yaml(path: Path, settings: Settings) -> None:
    """Write all settings, defaults too, so that the file still says the same in a later version."""
    text = yaml.safe_dump(settings.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    path.write_text(text, encoding="utf-8")


def build(schema: type[S], raw: dict[str, Any]) -> S:
    """Check `raw` against a schema; pydantic's first complaint becomes one line."""
    try:
        return schema.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] == "extra_forbidden":
            raise InputError(unknown(schema, first["loc"])) from error
        place = ".".join(str(part) for part in first["loc"] if not is_type(part))
        what = first["msg"].removeprefix("Value error, ")
        if isinstance(first["input"], str) and "number" in what:
            what += " without quotes"
        raise InputError(f"setting {place}: {what}, got {first['input']!r}") from error


def is_type(part: str | int) -> bool:
    """Whether a part of pydantic's place names a member of a union, not a setting."""
    return part in {"str", "int", "float", "bool"} or "[" in str(part)


def unknown(schema: type[Settings], place: tuple) -> str:
    """What to write instead: a near name in the same group, else the same name in another."""
    *groups, name = map(str, place)
    group = schema
    for part in groups:
        group = group.model_fields[part].annotation
    names = list(group.model_fields)
    near = get_close_matches(name, names, n=1)
    elsewhere = [dotted for dotted in leaves(schema) if dotted.rpartition(".")[2] == name]
    if near or elsewhere:
        hint = f"did you mean {(near or elsewhere)[0]}?"
    else:
        hint = f"there are {', '.join(names)}"
    return f"no setting {'.'.join([*groups, name])}; {hint}"


def leaves(schema: type[Settings], prefix: str = "") -> Iterator[str]:
    for name, field in schema.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Settings):
            yield from leaves(kind, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"
