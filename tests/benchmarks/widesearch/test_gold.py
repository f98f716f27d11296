"""The scripted oracle: whoever submits a gold table scores 1 in its environment."""

from __future__ import annotations

import csv
from asyncio import run
from pathlib import Path

import pytest

from relaybench.benchmarks.widesearch import WideSearch
from relaybench.benchmarks.widesearch.cells import norm_str
from relaybench.benchmarks.widesearch.corpus import Sheet, read_sheet
from relaybench.benchmarks.widesearch.joining import written
from relaybench.benchmarks.widesearch.questions import Question, load_questions
from relaybench.config_benchmarks import WideSearchConfig

for package in ("pandas", "dateparser"):
    pytest.importorskip(package, reason=f"no {package}: run `scripts/install benchmarks`")


def can_be_written(question: Question, sheet: Sheet) -> bool:
    """A markdown table keeps no line breaks and no spaces around a cell; the exact judge minds both."""
    rows = list(csv.reader(question.gold.read_text(encoding="utf-8-sig").splitlines(keepends=True)))[1:]
    raw = {cell for row in rows for cell in row}
    return all(" ".join(cell.split()) == cell for cell in raw)


def keys_differ(sheet: Sheet) -> bool:
    """Of rows with one key the first counts, and tables that are put together come in another order."""
    keys = [tuple(norm_str(row[i]) for i in sheet.keys) for row in sheet.rows]
    return len(set(keys)) == len(keys)


def has_dates(question: Question) -> bool:
    return any("date_near" in column.metric for column in question.evaluation.eval_pipeline.values())


def test_a_gold_table_scores_one_alone_and_in_three_shares(shared: Path) -> None:
    folder = shared / "data" / "widesearch"
    questions = load_questions(folder)
    benchmark = WideSearch(WideSearchConfig(name="widesearch", language="all"), folder)

    async def play() -> dict[str, list[float]]:
        found: dict[str, list[float]] = {}
        for task in benchmark.tasks():
            question = questions[task.id]
            sheet = read_sheet(question)
            if has_dates(question) or not can_be_written(question, sheet):
                continue
            for shares in ([sheet.rows], [sheet.rows[i::3] for i in range(3)])[: 1 + keys_differ(sheet)]:
                environment = benchmark.environment(task)
                await environment.reset()
                for rows in shares:
                    action = benchmark.parse_action(f"Action: submit\n{written(sheet.header, rows)}")
                    assert action is not None
                    assert (await environment.step(action.text)).finished
                score = await environment.score()
                found.setdefault(task.id, []).append(score.success * score.reward)
        await benchmark.close()
        return found

    found = run(play())
    assert {name: rewards for name, rewards in found.items() if set(rewards) != {1.0}} == {}
    assert len(found) > 60
    assert sum(len(rewards) == 2 for rewards in found.values()) > 60
