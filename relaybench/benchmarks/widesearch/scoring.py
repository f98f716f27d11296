"""Scoring: precision, recall and F1 over rows and cells of one table, as the official evaluation of 2025 has them.

Rows are found by their key cells after these were mapped to the gold table's; a key cell scores 1, others by their
column's metric. Quirks are kept: keys that become equal by the mapping are not merged again (recall can pass 1), and
where no row is found a column that needs no judge makes the official code raise (`error`, all scores 0).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from relaybench.benchmarks.rows import lines, write
from relaybench.benchmarks.widesearch.cells import PREPROCESS, agree
from relaybench.benchmarks.widesearch.judge import Judge
from relaybench.benchmarks.widesearch.questions import Evaluation, Question, load_questions
from relaybench.benchmarks.widesearch.tables import read_gold, read_response
from relaybench.engines.base import EngineError
from relaybench.errors import UserError, nearest

if TYPE_CHECKING:
    import pandas as pd


class Verdict(Struct, frozen=True):
    """The benchmark's judgement of one table; shares of 1."""

    score: float = 0.0
    """1 where rows and cells are all right and none is missing."""
    precision_by_row: float = 0.0
    recall_by_row: float = 0.0
    f1_by_row: float = 0.0
    precision_by_item: float = 0.0
    recall_by_item: float = 0.0
    f1_by_item: float = 0.0
    error: str | None = None
    """response_df: no table; required_columns: other columns; else what the official code raises."""


MEASURES = tuple(name for name in Verdict.__struct_fields__ if name != "error")


async def evaluate(question: Question, response: str | None, judge: Judge) -> Verdict:
    """The verdict on a response of any form.

    Raises UserError for missing packages or data, EngineError where a model that judges gave no answer.
    """
    evaluation = question.evaluation
    gold = read_gold(question.gold, evaluation.required)
    try:
        table = None if response is None else read_response(response)
        if table is None:
            return Verdict(error="response_df")
        if set(table.columns) != set(evaluation.required):
            table = table.rename(columns=await judge.align(list(table.columns), evaluation.required))
        if set(table.columns) != set(evaluation.required):
            return Verdict(error="required_columns")
        return await _compare(evaluation, gold, table, judge)
    except (UserError, EngineError):
        raise
    except Exception as error:  # noqa: BLE001  as officially: what a malformed table raises is its verdict
        return Verdict(error=f"{type(error).__name__}: {error}")


async def _compare(evaluation: Evaluation, gold: pd.DataFrame, table: pd.DataFrame, judge: Judge) -> Verdict:
    keys = list(evaluation.unique_columns)
    gold, table = _as_texts(evaluation, gold, table)
    table, gold = table.drop_duplicates(subset=keys), gold.drop_duplicates(subset=keys)
    for key in keys:
        if {"llm_judge", "exact_match"} & set(_column(evaluation, key)):
            mapping = await judge.align(list(table[key]), list(gold[key]))
            table[key] = [mapping.get(value, value) for value in table[key]]
    for name, column in evaluation.eval_pipeline.items():
        for step in column.preprocess:
            table[name] = [PREPROCESS[step](cell) for cell in table[name]]
            gold[name] = [PREPROCESS[step](cell) for cell in gold[name]]
    found = gold.merge(table, on=keys, how="inner", suffixes=("_query", "_response"))
    scores = [[1.0] * len(found) for _ in keys]
    for name in evaluation.required:
        if name not in keys:
            scores += await _column_scores(evaluation, name, found, judge)
    return _verdict(scores, rows=len(table), gold_rows=len(gold), columns=len(evaluation.required))


def _as_texts(evaluation: Evaluation, gold: pd.DataFrame, table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """All cells as texts; a column that is whole numbers in one table and not in the other is not so in both."""
    gold, table = gold.copy(), table.copy()
    for name in evaluation.required:
        if {gold[name].dtype.kind, table[name].dtype.kind} == {"i", "f"}:
            gold[name], table[name] = gold[name].astype(float), table[name].astype(float)
        gold[name] = gold[name].map(str).astype(object)
        table[name] = table[name].map(str).astype(object)
    return gold, table


def _column(evaluation: Evaluation, name: str) -> tuple[str, ...]:
    column = evaluation.eval_pipeline.get(name)
    return column.metric if column else ()


async def _column_scores(evaluation: Evaluation, name: str, found: pd.DataFrame, judge: Judge) -> list[list[float]]:
    """For each metric of a column, one number a row of `found`."""
    column = evaluation.eval_pipeline[name]
    ours, gold = list(found[f"{name}_response"]), list(found[f"{name}_query"])
    scores: list[list[float]] = []
    for metric in column.metric:
        if metric == "llm_judge":
            scores.append([float(same) for same in await judge.judge(ours, gold, str(column.criterion or ""))])
        elif not ours and metric != "date_near":  # pandas probes an empty table with NaN, which this metric alone bears
            raise ValueError(f"Cannot set a DataFrame with multiple columns to the single column {name}_{metric}")
        else:
            cells = zip(ours, gold, strict=True)
            scores.append([float(agree(metric, response, target, column.criterion)) for response, target in cells])
    return scores


def _verdict(scores: Sequence[Sequence[float]], *, rows: int, gold_rows: int, columns: int) -> Verdict:
    right_rows = sum(min(row) for row in zip(*scores, strict=True))
    right_cells = sum(map(sum, scores))
    by_row = _shares(right_rows, rows, gold_rows)
    by_item = _shares(right_cells, rows * columns, gold_rows * columns)
    return Verdict(float({*by_row, *by_item} == {1.0}), *by_row, *by_item)


def _shares(right: float, predicted: int, gold: int) -> tuple[float, float, float]:
    """Precision, recall, F1."""
    precision = right / predicted if predicted else 0.0
    recall = right / gold if gold else 0.0
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both > 1e-9 else 0.0


class Summary(Struct, frozen=True):
    """Means over tasks of each measure: of a task's trials (Avg@N), and of its best one (Max@N)."""

    judge: str
    tasks: int
    answers: int
    average: dict[str, float]
    best: dict[str, float]
    errors: int

    def __str__(self) -> str:
        shown = [f"widesearch, judge {self.judge}, {self.tasks} tasks, {self.answers} answers (mean, best of trials)"]
        shown += [f"{name:18} {self.average[name]:.4f}  {self.best[name]:.4f}" for name in MEASURES]
        if self.errors:
            shown.append(f"{self.errors} answers with an error score 0")
        if self.judge == "exact":
            shown.append("the exact judge compares strings: not comparable with scores that a model judged")
        return "\n".join(shown)


def summarise(judge: str, judged: Sequence[tuple[str, Verdict]]) -> Summary:
    """Over (instance_id, verdict) pairs; several of one task are its trials."""
    trials: dict[str, list[Verdict]] = {}
    for name, verdict in judged:
        trials.setdefault(name, []).append(verdict)
    average, best = (
        {m: fmean(of([getattr(v, m) for v in task]) for task in trials.values()) if trials else 0.0 for m in MEASURES}
        for of in (fmean, max)
    )
    errors = sum(verdict.error is not None for _, verdict in judged)
    return Summary(judge, len(trials), len(judged), average, best, errors)


def score_answers(answers: Path, judge: Judge, data_dir: Path, out: Path | None = None) -> Summary:
    """Score a file of {"instance_id", "response"}; rows go to `out`. UserError for a bad file or line."""
    return asyncio.run(_score_answers(answers, judge, data_dir, out))


async def _score_answers(answers: Path, judge: Judge, data_dir: Path, out: Path | None) -> Summary:
    questions = load_questions(data_dir)
    judged: list[tuple[str, Verdict]] = []
    rows: list[dict[str, Any]] = []
    await judge.start()
    try:
        for where, row in lines(answers):
            question = _question(where, row, questions)
            verdict = await evaluate(question, row["response"], judge)
            judged.append((question.instance_id, verdict))
            judged_row = {"instance_id": question.instance_id} | structs.asdict(verdict)
            rows.append(judged_row | {key: row[key] for key in row if key not in judged_row and key != "response"})
    except EngineError as error:
        raise UserError(f"the judge gave no answer ({error}); see to its server and score again") from error
    finally:
        await judge.close()
    if out is not None:
        write(out, rows)
    return summarise(judge.name, judged)


def _question(where: str, row: dict[str, Any], questions: dict[str, Question]) -> Question:
    for field, what in (("instance_id", "the question's"), ("response", "the model's answer, null for none")):
        if field not in row:
            raise UserError(f'{where} has no field "{field}"{nearest(field, row)}; it is {what}')
    name, response = row["instance_id"], row["response"]
    if not isinstance(name, str) or name not in questions:
        hint = nearest(name, questions) if isinstance(name, str) else ""
        raise UserError(f"{where}: there is no question {name!r}{hint or '; ids are like ws_en_001'}")
    if response is not None and not isinstance(response, str):
        raise UserError(f'{where}: "response" is a {type(response).__name__}; it must be a string, null for none')
    return questions[name]
