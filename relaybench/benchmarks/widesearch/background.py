"""Scoring off the event loop: tables and dates take seconds to read, in a process of its own (`scorer.py`).

The process is started with the first answer and told one at a time. What it would ask a model it asks back: the judge
stays on the event loop, where its engine's connections live. A conversation that is broken off (a deadline, a judge
without an answer) ends the process, and the next answer starts another one.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from relaybench.benchmarks.widesearch.judge import ExactJudge, Judge
from relaybench.benchmarks.widesearch.questions import Question
from relaybench.benchmarks.widesearch.scoring import Verdict
from relaybench.errors import UserError

LONGEST_LINE = 1 << 27
"""Bytes of one message: a column of a large table."""
_MODULE = "relaybench.benchmarks.widesearch.scorer"


class ScorerEnded(Exception):
    """The process ended before it had answered."""


class Background:
    """Evaluates answers to the questions of `data_dir` with `judge`, one at a time."""

    def __init__(self, judge: Judge, data_dir: Path) -> None:
        self._judge = judge
        self._data_dir = data_dir
        self._process: Process | None = None
        self._lock = asyncio.Lock()
        self._started = False

    async def evaluate(self, question: Question, response: str | None) -> Verdict:
        """As `scoring.evaluate`. Raises UserError, EngineError as it does, and ScorerEnded."""
        async with self._lock:
            if not self._started:
                await self._judge.start()
                self._started = True
            process = await self._ready()
            try:
                return await self._converse(process, question.instance_id, response)
            except UserError:
                raise
            except BaseException:
                await self._end()
                raise

    async def close(self) -> None:
        """Ends the process and the judge; an answer that is being scored is given up."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
        async with self._lock:
            await self._end()
        if self._started:
            self._started = False
            await self._judge.close()

    async def _ready(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            where = "here" if type(self._judge) is ExactJudge else "there"
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-W", "ignore", "-m", _MODULE, str(self._data_dir), where,
                stdin=PIPE, stdout=PIPE, limit=LONGEST_LINE,
            )  # fmt: skip
        return self._process

    async def _converse(self, process: Process, instance_id: str, response: str | None) -> Verdict:
        """Tell one answer, answer what is asked back, hear the verdict."""
        clean = None if response is None else response.encode(errors="replace").decode()
        await _tell(process, {"instance_id": instance_id, "response": clean})
        while True:
            heard = await _hear(process)
            if "verdict" in heard:
                return msgspec.convert(heard["verdict"], Verdict)
            if "error" in heard:
                raise UserError(heard["error"])
            await _tell(process, {"answer": await self._asked(heard)})

    async def _asked(self, heard: Mapping[str, Any]) -> dict[str, str] | list[bool]:
        if heard["ask"] == "align":
            return await self._judge.align(heard["values"], heard["references"])
        return await self._judge.judge(heard["values"], heard["references"], heard["criterion"])

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            if process.returncode is None:
                process.kill()
            await process.communicate()  # to the end of its pipes, which are then closed


async def _tell(process: Process, message: Mapping[str, Any]) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write(msgspec.json.encode(message) + b"\n")
        await process.stdin.drain()
    except (BrokenPipeError, ConnectionResetError) as error:
        raise ScorerEnded("the scoring process has ended") from error


async def _hear(process: Process) -> dict[str, Any]:
    assert process.stdout is not None
    line = await process.stdout.readline()
    if not line.endswith(b"\n"):
        raise ScorerEnded(f"the scoring process ended with code {await process.wait()}")
    heard: dict[str, Any] = msgspec.json.decode(line)
    return heard
