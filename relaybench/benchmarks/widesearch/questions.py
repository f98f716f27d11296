"""Questions: what table is asked for and how its cells are judged, with the gold table."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct, field

from relaybench.errors import UserError


class Column(Struct, frozen=True):
    """How the cells of one column are judged."""

    preprocess: tuple[str, ...] = ()
    """norm_str, extract_number, norm_date."""
    metric: tuple[str, ...] = ()
    """exact_match, url_match, in_match, number_near, date_near, llm_judge."""
    criterion: str | float | None = None
    """Words for the judge, or the relative tolerance of number_near."""


class Evaluation(Struct, frozen=True):
    """What the table must hold. Column names are in lower case without spaces."""

    unique_columns: tuple[str, ...]
    """The key: it says which row is which."""
    required: tuple[str, ...]
    """All columns, in order."""
    eval_pipeline: dict[str, Column]


class Question(Struct, frozen=True):
    """One task."""

    instance_id: str
    query: str
    evaluation: Evaluation
    language: str
    topic: str
    note: str = ""
    gold: Path = field(default_factory=Path)
    """CSV file of the right table."""

    def __hash__(self) -> int:
        return hash(self.instance_id)


FILES = ("widesearch_en70.jsonl", "widesearch_zh65.jsonl")


def load_questions(data_dir: Path) -> dict[str, Question]:
    """All questions by instance_id, English first. Raises UserError for missing or foreign files."""
    return {question.instance_id: question for name in FILES for question in _read(data_dir, name)}


@cache
def _read(data_dir: Path, name: str) -> tuple[Question, ...]:
    path = data_dir / name
    mend = "get them with `relaybench data fetch widesearch` or `relaybench data import widesearch DIR`"
    try:
        rows = [msgspec.json.decode(line, type=Question) for line in path.read_bytes().splitlines() if line.strip()]
    except OSError as error:
        raise UserError(f"no WideSearch questions at {path} ({error.strerror}); {mend}") from error
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise UserError(f"{path} is not a file of WideSearch questions ({error}); {mend}") from error
    gold = data_dir / "widesearch_gold"
    return tuple(msgspec.structs.replace(row, gold=gold / f"{row.instance_id}.csv") for row in rows)
