"""Scores of small tables, worked out by hand, and responses of any form."""

from __future__ import annotations

import json
from asyncio import run
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybench.benchmarks.widesearch.judge import ExactJudge
from relaybench.benchmarks.widesearch.questions import Question
from relaybench.benchmarks.widesearch.scoring import Verdict, evaluate, score_answers
from relaybench.errors import UserError
from tests.benchmarks.widesearch.conftest import RESPONSE

pytest.importorskip("pandas", reason="no pandas: run `scripts/install benchmarks`")
pytest.importorskip("dateparser", reason="no dateparser: run `scripts/install benchmarks`")


def verdict(question: Question, response: str | None) -> Verdict:
    return run(evaluate(question, response, ExactJudge()))


def test_a_right_table_scores_one(question: Question) -> None:
    assert verdict(question, RESPONSE) == Verdict(1, 1, 1, 1, 1, 1, 1)


def test_a_table_without_a_fence_is_found(question: Question) -> None:
    assert verdict(question, RESPONSE.replace("```markdown", "").replace("```", "")).score == 1


def test_a_wrong_cell_costs_its_row_and_one_cell(question: Question) -> None:
    found = verdict(question, RESPONSE.replace("Bob Brown", "Eve Evans"))
    assert (found.score, found.precision_by_row, found.recall_by_row) == (0, 0.5, 0.5)
    assert found.f1_by_item == pytest.approx(9 / 10)


def test_a_missing_row_costs_recall_only(question: Question) -> None:
    found = verdict(question, "\n".join(line for line in RESPONSE.split("\n") if "Birch" not in line))
    assert (found.precision_by_item, found.recall_by_item, found.recall_by_row) == (1, 0.5, 0.5)


def test_other_columns_are_no_table(question: Question) -> None:
    assert verdict(question, RESPONSE.replace("| Mayor ", "| Major ")).error == "required_columns"


@pytest.mark.parametrize("response", [None, "", "I could not find it.", "a | b"])
def test_no_table(question: Question, response: str | None) -> None:
    assert verdict(question, response).error == "response_df"


def test_no_common_row_is_an_error_as_officially(question: Question) -> None:
    found = verdict(question, RESPONSE.replace("Ash", "Oak").replace("Birch", "Elm"))
    assert found.error is not None
    assert found.error.endswith("people_number_near")


TABLES = st.lists(st.lists(st.text(max_size=8), min_size=1, max_size=7), min_size=1, max_size=4)


@given(text=st.text() | TABLES.map(lambda rows: "\n".join("|" + "|".join(row) + "|" for row in rows)))
def test_no_response_raises(question: Question, text: str) -> None:
    for response in (text, f"```markdown\n{text}\n```", RESPONSE.replace("Birch", text)):
        assert 0 <= verdict(question, response).precision_by_item <= 1


def test_rows_and_trials(data: Path, tmp_path: Path) -> None:
    answers, out = tmp_path / "a.jsonl", tmp_path / "o.jsonl"
    rows = [{"instance_id": "ws_en_900", "response": text, "trial": i} for i, text in enumerate((RESPONSE, "none"))]
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    summary = score_answers(answers, ExactJudge(), data, out)
    assert (summary.tasks, summary.answers, summary.average["score"], summary.best["score"]) == (1, 2, 0.5, 1)
    first, second = map(json.loads, out.read_text().splitlines())
    assert (first["score"], first["trial"], second["error"]) == (1, 0, "response_df")
    assert "response" not in first


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"response": ""}, 'no field "instance_id"'),
        ({"instance_id": "ws_en_900"}, 'no field "response"'),
        ({"instance_id": "ws_en_901", "response": ""}, "did you mean 'ws_en_900'"),
        ({"instance_id": 3, "response": ""}, "no question 3"),
        ({"instance_id": "ws_en_900", "response": []}, "is a list"),
    ],
)
def test_a_bad_row_is_named(row: dict[str, object], message: str, data: Path, tmp_path: Path) -> None:
    answers = tmp_path / "a.jsonl"
    answers.write_text(json.dumps(row) + "\n")
    with pytest.raises(UserError, match=message):
        score_answers(answers, ExactJudge(), data)
