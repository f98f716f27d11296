"""Data: tasks and ground truth of WorkBench, from a folder in the official layout.

`queries/` holds the 2024 tasks (rules v1, 690), `multi_domain_tasks_and_outcomes_v2.csv` the 2026 text and truth of
the multi-domain split (rules v2, 210). Text and truth always come from the same file. Ids are `<domain>-<row>`.
"""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from relaybench.benchmarks.workbench.sandbox import Base, Rules
from relaybench.errors import UserError, nearest

SPLITS = (
    "analytics",
    "calendar",
    "customer_relationship_manager",
    "email",
    "multi_domain",
    "project_management",
)
MULTI = "multi_domain"
V2_FILE = "multi_domain_tasks_and_outcomes_v2.csv"
_ID = re.compile(r"([a-z_]+)-(\d{1,4})", re.ASCII)


class Query(Struct, frozen=True):
    """One task with its truth."""

    id: str
    text: str
    truth: tuple[str, ...]
    """Official actions that reach the right state; empty where nothing is to be done."""
    template: str
    """Base template: ten paraphrases share it, so train and test are split by it."""
    domains: tuple[str, ...]
    """Domains whose tools the official "domains" tool set offers; `crm` is spelt out."""


def load_queries(data_dir: Path, rules: Rules, split: str | None = None) -> dict[str, Query]:
    """Tasks by id, in file order; all splits, or one. UserError for an unknown split or one without v2 truth."""
    if split is not None and split not in SPLITS:
        raise UserError(f"workbench has no split {split!r}{nearest(split, SPLITS)} (known: {', '.join(SPLITS)})")
    if rules == "v2" and split not in (None, MULTI):
        raise UserError(f"rules v2 exist for {MULTI} only, not for {split}; use rules v1 or the split {MULTI}")
    splits = (MULTI,) if rules == "v2" else SPLITS if split is None else (split,)
    return {query.id: query for name in splits for query in _read(data_dir, rules, name)}


@cache
def load_base(data_dir: Path) -> Base:
    """The sandbox databases of a data folder, parsed once a process."""
    return Base(data_dir)


def normal_id(text: str) -> str:
    """An id with its row zero-padded to three digits ("email-7" -> "email-007"); other texts unchanged."""
    match = _ID.fullmatch(text)
    return f"{match[1]}-{int(match[2]):03d}" if match else text


def task_id(where: str, row: dict[str, Any]) -> str:
    """The normal id of a row of answers or actions. Raises UserError where it has none."""
    if "id" not in row:
        raise UserError(f'{where} has no field "id"{nearest("id", row)}; give each row its task id')
    if not isinstance(row["id"], str):
        raise UserError(f'{where}: "id" is {row["id"]!r}; it must be a string such as "multi_domain-007"')
    return normal_id(row["id"])


def revision_of(data_dir: Path, queries: Iterable[Query]) -> str:
    """Twelve hex digits that name the sandbox databases and these tasks with their truth."""
    digest = sha256(msgspec.json.encode(list(queries)))
    for path in sorted((data_dir / "sandbox").glob("*.csv")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


@cache
def _read(data_dir: Path, rules: Rules, split: str) -> tuple[Query, ...]:
    path = data_dir / V2_FILE if rules == "v2" else data_dir / "queries" / f"{split}_queries_and_answers.csv"
    text, truth = ("task", "outcome") if rules == "v2" else ("query", "answer")
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except FileNotFoundError as error:
        raise UserError(
            f"no WorkBench tasks at {path}; "
            "get them with `relaybench data fetch workbench` or `relaybench data import workbench DIR`"
        ) from error
    try:
        return tuple(
            Query(
                id=f"{split}-{number:03d}",
                text=row[text],
                truth=tuple(ast.literal_eval(row[truth])),
                template=row["base_template"],
                domains=tuple(_domain(name) for name in ast.literal_eval(row["domains"])),
            )
            for number, row in enumerate(rows)
        )
    except (KeyError, ValueError, SyntaxError, TypeError) as error:
        raise UserError(f"{path} is not a WorkBench task file ({error}); fetch or import the data again") from error


def _domain(label: str) -> str:
    return "customer_relationship_manager" if label == "crm" else label
