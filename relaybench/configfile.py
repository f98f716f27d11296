"""Reading a config file: YAML, `key=value` overrides, and what is wrong said in one line.

Overrides are dotted, list items by number ("engines.0.model=NAME"; "engine." is short for "engines.0."). An unknown
key is an error that names the nearest known one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from relaybench.config import RunConfig
from relaybench.errors import UserError, nearest

Checked = TypeVar("Checked", bound=BaseModel)


def load_config(path: Path, overrides: list[str] | None = None) -> RunConfig:
    """Read and check a run config. Raises UserError with file, place, cause and mend."""
    data = read_yaml(path)
    for override in overrides or []:
        _override(data, override)
    return check(data, str(path))


def check(data: Any, where: str) -> RunConfig:
    """A checked RunConfig from plain data. Raises UserError that says `where`."""
    if not isinstance(data, dict):
        raise UserError(f"{where}: a run config is a mapping with benchmark, engines and systems; this is not")
    try:
        return RunConfig.model_validate(data)
    except ValidationError as error:
        raise UserError(f"{where}: {explain(error)}") from None


def load_settings(path: Path, model: type[Checked]) -> Checked:
    """Read and check any other settings file. Raises UserError with file, place, cause and mend."""
    try:
        return model.model_validate(read_yaml(path))
    except ValidationError as error:
        raise UserError(f"{path}: {explain(error, model)}") from None


def read_yaml(path: Path) -> Any:
    """YAML as plain data. Raises UserError for a missing or malformed file."""
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        near = nearest(path.name, [p.name for p in path.parent.glob("*.yaml")]) if path.parent.is_dir() else ""
        raise UserError(f"no config file {path}{near or '; see configs/run/ for examples'}") from None
    except (IsADirectoryError, UnicodeDecodeError):
        raise UserError(f"{path} is not a text file; name a YAML config such as configs/run/ledger.yaml") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}" if mark else ""
        raise UserError(
            f"{path}:{line} is not valid YAML ({getattr(error, 'problem', None) or 'syntax'}); mend that line"
        ) from None


def _override(data: Any, override: str) -> None:
    """Set one `a.b.0.c=value` in plain data; `engine.` is short for `engines.0.`."""
    path, equals, text = override.partition("=")
    if not equals or not path:
        raise UserError(f"'{override}' is not key=value; write for example limit=10 or engines.0.model=NAME")
    parts = path.split(".")
    if parts[0] == "engine":
        parts[0:1] = ["engines", "0"]
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        value = text
    place = data
    for part in parts[:-1]:
        place = _enter(place, part, path)
    last = parts[-1]
    if isinstance(place, list):
        place[_index(place, last, path)] = value
    elif isinstance(place, dict):
        place[last] = value
    else:
        raise UserError(f"'{path}' leads into a plain value; set the key above it")


def _enter(place: Any, part: str, path: str) -> Any:
    if isinstance(place, list):
        return place[_index(place, part, path)]
    if isinstance(place, dict):
        return place.setdefault(part, {})
    raise UserError(f"'{path}' leads into a plain value at '{part}'; set the key above it")


def _index(place: list[Any], part: str, path: str) -> int:
    if not part.isdigit() or int(part) >= len(place):
        raise UserError(f"'{path}': '{part}' is not an item number from 0 to {len(place) - 1}")
    return int(part)


def explain(error: ValidationError, root: type[BaseModel] = RunConfig) -> str:
    """The first error in words: where, what, and the nearest known name for a typo."""
    errors = sorted(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
    first = errors[0]
    known, loc = _walk(first["loc"], root)
    place, last = _place(loc[:-1]), str(loc[-1]) if loc else ""
    if first["type"] == "extra_forbidden":
        names = [name for model in known for name in model.model_fields]
        return f"unknown key '{last}'{place}{nearest(last, names) or '; known: ' + ', '.join(sorted(set(names)))}"
    if first["type"] == "missing":
        return f"'{last}' is missing{place}; add it"
    if first["type"].startswith("union_tag"):
        context = first.get("ctx", {})
        key = str(context.get("discriminator", "")).strip("'")
        tags = [tag.strip(" '") for tag in str(context.get("expected_tags", "")).split(",") if tag.strip()]
        got = str(context.get("tag", ""))
        where = _place(loc)
        if not got:
            tags = tags or _tags(first["loc"], root)
            return f"'{key}' is missing{where}; known: {', '.join(tags)}"
        return f"unknown {key} '{got}'{where}{nearest(got, tags) or '; known: ' + ', '.join(tags)}"
    if first["type"] == "literal_error":
        names = [part.strip(" '") for part in str(first["ctx"]["expected"]).replace(" or ", ",").split(",")]
        got = str(first["input"])
        return f"unknown value '{got}' for '{last}'{place}{nearest(got, names) or '; known: ' + ', '.join(names)}"
    message = first["msg"].removeprefix("Value error, ")
    got = "" if first["type"] == "value_error" else f" (got {first['input']!r})"
    return f"{_place(loc).removeprefix(' under ') or 'config'}: {message}{got}"


def _tags(loc: tuple[int | str, ...], root: type[BaseModel]) -> list[str]:
    """Discriminator values of the union at `loc`."""
    models, _ = _walk((*loc, ""), root)
    fields = [model.model_fields.get("kind") or model.model_fields.get("name") for model in models]
    return [str(get_args(f.annotation)[0]) for f in fields if f is not None and get_args(f.annotation)]


def _walk(loc: tuple[int | str, ...], root: type[BaseModel]) -> tuple[list[type[BaseModel]], list[int | str]]:
    """Models that could hold the last part of `loc`, and `loc` without the union tags pydantic puts in."""
    models: list[type[BaseModel]] = [root]
    kept: list[int | str] = []
    for i, part in enumerate(loc):
        if isinstance(part, int):
            kept.append(part)
            continue
        tagged = [m for m in models if part in _literals(m)]
        if tagged and not any(part in m.model_fields for m in models):
            models = tagged
            continue
        kept.append(part)
        if i < len(loc) - 1:
            models = [
                sub for m in models if part in m.model_fields for sub in _submodels(m.model_fields[part].annotation)
            ]
    return models, kept


def _literals(model: type[BaseModel]) -> set[str]:
    fields = [model.model_fields[name] for name in ("kind", "name") if name in model.model_fields]
    return {str(value) for f in fields if get_origin(f.annotation) is Literal for value in get_args(f.annotation)}


def _submodels(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for arg in get_args(annotation) for model in _submodels(arg)]


def _place(loc: list[int | str]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(".")
    return f" under {text}" if text else ""
