"""Rows: the JSON lines that `score` and `replay` read and write, one task a line.

Files ending in .gz are compressed. A bad line stops the work with a UserError that names file, line and mend.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from relaybench.errors import UserError, nearest


def lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """("FILE: line N", object) of each line that is not blank."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield f"{path}: line {number}", _object(f"{path}: line {number}", line)
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise UserError(f"cannot read {path} ({error.strerror}); name a readable .jsonl or .jsonl.gz file") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UserError(f"{path} is no whole gzip file ({error}); compress it again or drop the .gz ending") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text ({error.reason}); save it as UTF-8 JSON lines") from error


def _object(where: str, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise UserError(f"{where} is not JSON ({error}); write one JSON object a line") from error
    if not isinstance(row, dict):
        raise UserError(f"{where} is a JSON {type(row).__name__}; write one JSON object a line")
    return row


def once(where: str, name: str, seen: set[str]) -> None:
    if name in seen:
        raise UserError(f"{where}: {name!r} was already given; keep one row a task")
    seen.add(name)


def texts(where: str, row: dict[str, Any], field: str, nested: str | None = None) -> list[str]:
    """A field that is a list of strings, or of objects with a string under `nested`."""
    if field not in row:
        raise UserError(f'{where} has no field "{field}"{nearest(field, row)}; it lists the actions, [] for none')
    value = row[field]
    items: list[Any] = [_inner(item, nested) for item in value] if isinstance(value, list) else [None]
    if any(not isinstance(item, str) for item in items):
        allowed = f'strings or objects with a string "{nested}"' if nested else "strings"
        raise UserError(f'{where}: "{field}" must be a list of {allowed}')
    return items


def _inner(item: Any, nested: str | None) -> Any:
    return item.get(nested) if nested and isinstance(item, dict) else item


def error_text(where: str, row: dict[str, Any]) -> str:
    error = row.get("error") or ""
    if not isinstance(error, str):
        raise UserError(f'{where}: "error" is {error!r}; it must be a string, "" for none')
    return error


def write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    data = text.encode("utf-8", "surrogatepass")
    try:
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    except OSError as error:
        raise UserError(f"cannot write {path} ({error.strerror}); name a file in a folder that exists") from error
