"""Scoring beside the event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from relaybench.benchmarks.widesearch.background import Background, ScorerEnded
from relaybench.benchmarks.widesearch.judge import ExactJudge
from relaybench.benchmarks.widesearch.questions import Question
from relaybench.engines.base import EngineError
from relaybench.errors import UserError
from tests.benchmarks.widesearch.conftest import RESPONSE

pytest.importorskip("pandas", reason="no pandas: run `scripts/install benchmarks`")
pytest.importorskip("dateparser", reason="no dateparser: run `scripts/install benchmarks`")


class HomeJudge(ExactJudge):
    """Insists on the loop where it was started, and is slow in a way that a loop must not feel."""

    def __init__(self, trouble: Exception | None = None) -> None:
        self.home: asyncio.AbstractEventLoop | None = None
        self.trouble = trouble
        self.starts = self.ends = 0

    async def start(self) -> None:
        self.home = asyncio.get_running_loop()
        self.starts += 1

    async def close(self) -> None:
        self.ends += 1

    async def align(self, values: Sequence[str], references: Sequence[str]) -> dict[str, str]:
        assert asyncio.get_running_loop() is self.home
        return await super().align(values, references)

    async def judge(self, responses: Sequence[str], targets: Sequence[str], criterion: str) -> list[bool]:
        assert asyncio.get_running_loop() is self.home
        if self.trouble is not None:
            raise self.trouble
        return [True] * len(responses)


async def test_a_judge_is_asked_on_the_loop_where_it_lives(question: Question, data: Path) -> None:
    judge = HomeJudge()
    background = Background(judge, data)
    verdicts = await asyncio.gather(*(background.evaluate(question, RESPONSE) for _ in range(5)))
    assert [verdict.score for verdict in verdicts] == [1.0] * 5
    await background.close()
    assert (judge.starts, judge.ends) == (1, 1)


async def test_a_judge_without_an_answer_is_no_verdict_and_no_end(question: Question, data: Path) -> None:
    judge = HomeJudge(EngineError("503"))
    background = Background(judge, data)
    with pytest.raises(EngineError, match="503"):
        await background.evaluate(question, RESPONSE)
    judge.trouble = None
    assert (await background.evaluate(question, RESPONSE)).score == 1.0
    await background.close()


async def test_data_that_is_not_there_is_said(question: Question, tmp_path: Path) -> None:
    background = Background(ExactJudge(), tmp_path)
    with pytest.raises(UserError, match="no WideSearch questions at"):
        await background.evaluate(question, RESPONSE)
    await background.close()


async def test_an_episode_that_is_broken_off_or_a_process_that_dies_stops_no_other(
    question: Question, data: Path
) -> None:
    background = Background(ExactJudge(), data)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(background.evaluate(question, dated(40)), 0.01)
    assert (await background.evaluate(question, RESPONSE)).score == 1.0
    assert background._process is not None
    background._process.kill()
    with pytest.raises(ScorerEnded):
        await background.evaluate(question, RESPONSE)
    assert (await background.evaluate(question, "none")).error == "response_df"
    process = background._process
    await background.close()
    assert process.returncode is not None


async def test_the_loop_goes_on_while_dates_are_read(question: Question, data: Path) -> None:
    background = Background(ExactJudge(), data)
    job = asyncio.ensure_future(background.evaluate(question, dated(40)))
    longest, turns, spent = 0.0, 0, time.thread_time()
    while not job.done():
        await asyncio.sleep(0.001)
        longest, turns, spent = max(longest, time.thread_time() - spent), turns + 1, time.thread_time()
    assert (await job).recall_by_row == 1.0
    assert longest < 0.5  # of this thread's own CPU time; on the loop it would be all of several seconds
    assert turns > 10
    await background.close()


def dated(rows: int) -> str:
    """The right table and `rows` more, with dates that take long to make out."""
    lines = "\n".join(f"| Town {i} | {i} | the {i}th of Nivôse, year {i} | - | - |" for i in range(rows))
    return f"{RESPONSE[:-3]}{lines}\n```"
