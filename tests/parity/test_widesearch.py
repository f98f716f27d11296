"""Agreement with the official WideSearch scorer, its two model calls stubbed (shared/oracles/widesearch)."""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from relaybench.benchmarks.widesearch.judge import ExactJudge
from relaybench.benchmarks.widesearch.questions import Question, load_questions
from relaybench.benchmarks.widesearch.scoring import MEASURES, evaluate

pytest.importorskip("pandas", reason="no pandas: run `scripts/install benchmarks`")
pytest.importorskip("dateparser", reason="no dateparser: run `scripts/install benchmarks`")


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.open(path, "rt", encoding="utf-8")]


class CountingJudge(ExactJudge):
    """The official code's calls are part of what must agree."""

    def __init__(self) -> None:
        self.aligned = self.judged = 0

    async def align(self, values: Any, references: Any) -> dict[str, str]:
        self.aligned += 1
        return await super().align(values, references)

    async def judge(self, responses: Any, targets: Any, criterion: str) -> list[bool]:
        self.judged += 1
        return await super().judge(responses, targets, criterion)


def has_dates(question: Question) -> bool:
    return any("date_near" in column.metric for column in question.evaluation.eval_pipeline.values())


@pytest.mark.parametrize("dates", [False, pytest.param(True, marks=pytest.mark.slow)])  # parsing dates takes most of it
def test_every_score_error_and_call_is_the_official_one(dates: bool, shared: Path) -> None:
    oracle, questions = shared / "oracles" / "widesearch", load_questions(shared / "data" / "widesearch")
    official = rows(oracle / "stub_judge_scores.jsonl.gz")
    responses = rows(oracle / "stub_judge_responses.jsonl.gz")
    assert len(official) == 350
    wrong = []
    for row, given in zip(official, responses, strict=True):
        assert (row["instance_id"], row["case"]) == (given["instance_id"], given["case"])
        if has_dates(questions[row["instance_id"]]) != dates:
            continue
        judge = CountingJudge()
        verdict = asyncio.run(evaluate(questions[row["instance_id"]], given["response"], judge))
        same = all(getattr(verdict, name) == pytest.approx(row[name], abs=1e-9) for name in MEASURES)
        calls = (judge.aligned, judge.judged) == (row["llm_align_calls"], row["llm_judge_calls"])
        if not same or not calls or verdict.error != row["error"]:
            wrong.append((row["instance_id"], row["case"], verdict, row))
    assert wrong == []
