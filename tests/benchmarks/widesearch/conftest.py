"""One question with every kind of column, in our layout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from relaybench.benchmarks.widesearch.questions import Question, load_questions

COLUMNS: dict[str, dict[str, Any]] = {
    "town": {"preprocess": ["norm_str"], "metric": ["exact_match"]},
    "people": {"preprocess": ["extract_number"], "metric": ["number_near"], "criterion": 0.1},
    "founded": {"preprocess": ["norm_date"], "metric": ["date_near"]},
    "site": {"preprocess": ["norm_str"], "metric": ["url_match"]},
    "mayor": {"preprocess": ["norm_str"], "metric": ["llm_judge"], "criterion": "the same person"},
}
GOLD = """Town,People,Founded,Site,Mayor
Ash,1000,2001-05-01,https://ash.example/home,Ann Ames
Birch,2000,2002-06-01,https://birch.example,Bob Brown
"""
RESPONSE = """Here you are:
```markdown
| Town | People | Founded | Site | Mayor |
| --- | --- | --- | --- | --- |
| **Ash** | about 1,050 | May 2001 | http://ash.example | ann ames |
| Birch | 2000 | 2002-06-20 | https://birch.example | Bob Brown |
```"""


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("widesearch")
    question = {
        "instance_id": "ws_en_900",
        "query": "List the towns.",
        "evaluation": {"unique_columns": ["town"], "required": list(COLUMNS), "eval_pipeline": COLUMNS},
        "language": "en",
        "topic": "Towns",
    }
    (folder / "widesearch_en70.jsonl").write_text(json.dumps(question) + "\n")
    (folder / "widesearch_zh65.jsonl").write_text("")
    (folder / "widesearch_gold").mkdir()
    (folder / "widesearch_gold" / "ws_en_900.csv").write_text("\ufeff" + GOLD, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def question(data: Path) -> Question:
    return load_questions(data)["ws_en_900"]


@pytest.fixture(scope="session")
def shares(data: Path) -> Path:
    """A decomposition of the question: a town each, and nobody for the third searcher."""
    path = data / "shares.jsonl"
    line = {"instance_id": "ws_en_900", "author": "a test", "date": "2026-12-03", "axis": "town"}
    path.write_text(json.dumps(line | {"units": [["Ash"], ["Birch"], ["all others"]]}) + "\n")
    return path
