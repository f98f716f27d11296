"""Pins: what is known beforehand about a file of benchmark data, and how a copy is held to it.

`Sha256` for byte copies; `Rows` for a CSV file whose bytes may differ (quoting, line ends) though its content may not;
`FirstSeen` where nothing is known: the hash of the first copy is kept in the manifest, and later copies are held to it.
Each has `wrong(path, digest, seen)`: what is wrong with the file, "" when nothing is, given its SHA-256 and that of the
first copy seen (None when there was none); and `identity(digest)`, equal for copies that differ in nothing of import.
"""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path

from msgspec import Struct


class Sha256(Struct, frozen=True):
    """The file's own SHA-256, in hex."""

    digest: str

    kind = "pinned by SHA-256"

    def identity(self, digest: str) -> str:
        return digest

    def wrong(self, path: Path, digest: str, seen: str | None) -> str:
        if digest == self.digest:
            return ""
        return f"{path.stat().st_size:,} bytes with SHA-256 {digest[:12]}..., expected {self.digest[:12]}..."


class Rows(Struct, frozen=True):
    """One digest a row, in order (`row_digest` of the cells in `columns`)."""

    columns: tuple[str, ...]
    digests: tuple[str, ...]

    kind = "checked row by row"

    def identity(self, digest: str) -> str:
        return hashlib.sha256(" ".join(self.digests).encode()).hexdigest()

    def wrong(self, path: Path, digest: str, seen: str | None) -> str:
        try:
            with path.open(encoding="utf-8", newline="") as file:
                found = [row_digest([row[column] for column in self.columns]) for row in csv.DictReader(file)]
        except (UnicodeDecodeError, csv.Error, KeyError) as error:
            return f"not a CSV file in UTF-8 with columns {', '.join(self.columns)} ({type(error).__name__})"
        if len(found) != len(self.digests):
            return f"{len(found)} rows, expected {len(self.digests)}"
        differing = [row for row in range(len(found)) if found[row] != self.digests[row]]
        return f"{len(differing)} of {len(found)} rows differ, the first is row {differing[0]}" if differing else ""


class FirstSeen(Struct, frozen=True):
    """Nothing is known beforehand."""

    kind = "unpinned (first seen)"

    def identity(self, digest: str) -> str:
        return digest

    def wrong(self, path: Path, digest: str, seen: str | None) -> str:
        if seen is None or seen == digest:
            return ""
        return f"SHA-256 {digest[:12]}..., but its first copy had {seen[:12]}..."


Pin = Sha256 | Rows | FirstSeen


def row_digest(cells: list[str]) -> str:
    """The first 12 hex digits of the SHA-256 of the cells as a compact JSON list."""
    compact = json.dumps(cells, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(compact.encode()).hexdigest()[:12]


def file_digest(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
