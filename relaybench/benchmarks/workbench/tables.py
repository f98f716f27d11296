"""Tables: the rows of one WorkBench database, as the official pandas frames behave.

A table is columns, row labels and rows of cells. Rows are tuples and are shared between copies, so a fork costs
one list copy and an untouched row is compared by identity. A missing cell (NaN or None there) is None here. The
label of a row matters: the official code appends under "number of rows" and thereby may overwrite a row.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

Row = tuple[object, ...]

CASE_SENSITIVE = frozenset({"status", "list_name", "board"})
# What pandas' read_csv takes for a missing value in a column of strings.
MISSING = frozenset(
    {"", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null", "-NaN", "-nan", "1.#IND", "1.#QNAN"}
    | {"#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN"}
)


class Table:
    """Columns, labels and rows; `labels[i]` belongs to `rows[i]`. Labels may repeat."""

    __slots__ = ("columns", "labels", "rows")

    def __init__(self, columns: Sequence[str], rows: Sequence[Row] = (), labels: Sequence[int] | None = None):
        self.columns = tuple(columns)
        self.rows = list(rows)
        self.labels = list(range(len(self.rows))) if labels is None else list(labels)

    @classmethod
    def read(cls, path: Path) -> Table:
        """A CSV file with a header line; every cell a string or None."""
        with path.open(encoding="utf-8", newline="") as file:
            header, *lines = csv.reader(file)
        return cls(header, [tuple(None if cell in MISSING else cell for cell in line) for line in lines])

    def fork(self) -> Table:
        """An independent copy that shares the row tuples."""
        return Table(self.columns, self.rows, self.labels)

    def column(self, name: str) -> list[object]:
        position = self.columns.index(name)
        return [row[position] for row in self.rows]

    def where(self, name: str, value: object) -> list[Row]:
        position = self.columns.index(name)
        return [row for row in self.rows if row[position] == value]

    def records(self, rows: Sequence[Row]) -> list[dict[str, object]]:
        return [dict(zip(self.columns, row, strict=True)) for row in rows]

    def next_number(self, name: str) -> int:
        """One more than the largest id, the largest by string order. ValueError if that is not a number."""
        return int(max(self.column(name))) + 1  # type: ignore[type-var, call-overload, no-any-return]

    def append(self, cells: Mapping[str, object], label: int) -> None:
        """A new last row under `label`; columns not named are missing."""
        self.rows.append(tuple(cells.get(name) for name in self.columns))
        self.labels.append(label)

    def put(self, cells: Mapping[str, object], label: int) -> None:
        """The row of that label is replaced in place, or appended where no row has it."""
        if label in self.labels:
            self.rows[self.labels.index(label)] = tuple(cells.get(name) for name in self.columns)
        else:
            self.append(cells, label)

    def relabel(self) -> None:
        self.labels = list(range(len(self.rows)))

    def update(self, key: str, value: object, name: str, new: object) -> None:
        """Set column `name` of every row whose `key` is `value`; an unknown column is added, empty elsewhere."""
        if name not in self.columns:
            self.columns += (name,)
            self.rows = [(*row, None) for row in self.rows]
        where, at = self.columns.index(key), self.columns.index(name)
        for i, row in enumerate(self.rows):
            if row[where] == value:
                self.rows[i] = (*row[:at], new, *row[at + 1 :])

    def delete(self, key: str, value: object) -> None:
        where = self.columns.index(key)
        kept = [i for i, row in enumerate(self.rows) if row[where] != value]
        self.rows, self.labels = [self.rows[i] for i in kept], [self.labels[i] for i in kept]

    def __eq__(self, other: object) -> bool:
        """Raw equality: columns, labels, rows and their order."""
        if not isinstance(other, Table):
            return NotImplemented
        return self.columns == other.columns and self.labels == other.labels and self.rows == other.rows

    __hash__ = None  # type: ignore[assignment]


def _fold(columns: Sequence[str], row: Row) -> Row:
    """The row lower-cased as the official scorer does: a cell that is no string becomes missing."""
    return tuple(
        cell if name in CASE_SENSITIVE else cell.lower() if isinstance(cell, str) else None
        for name, cell in zip(columns, row, strict=True)
    )


def same_outcome(a: Table, b: Table) -> bool:
    """The official 2024 comparison: case folded, row order and row labels count."""
    if a.columns != b.columns or a.labels != b.labels:
        return False
    columns = a.columns
    return all(x is y or _fold(columns, x) == _fold(columns, y) for x, y in zip(a.rows, b.rows, strict=True))


def same_rows(a: Table, b: Table, fold: bool) -> bool:
    """The 2026 comparison: the same rows in any order, labels ignored; `fold`: whether case is."""
    if a.columns != b.columns or len(a.rows) != len(b.rows):
        return False
    if a.rows == b.rows:
        return True
    ours, theirs = (sorted(repr(_fold(table.columns, row) if fold else row) for row in table.rows) for table in (a, b))
    return ours == theirs


def sha16(value: object) -> str:
    """The first 16 hex digits of the SHA-256 of the compact, non-ASCII JSON of `value`."""
    return _sha(_compact(value))


def digest(table: Table) -> dict[str, object]:
    """What a final state is compared by: row count and the digests of rows, sorted rows and labels."""
    rows = [_row_json(tuple(None if cell is None else str(cell) for cell in row)) for row in table.rows]
    columns = _compact(list(table.columns))
    return {
        "n": len(rows),
        "rows": _sha(f"[{columns},[{','.join(text for _, text in rows)}]]"),
        "rows_sorted": _sha(f"[{columns},[{','.join(text for _, text in sorted(rows))}]]"),
        "index": sha16([str(label) for label in table.labels]),
    }


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@lru_cache(maxsize=16384)
def _row_json(row: tuple[str | None, ...]) -> tuple[str, str]:
    """A row's sort key (plain JSON) and its compact JSON. Most rows of a state are those of the base."""
    return json.dumps(row), _compact(row)
