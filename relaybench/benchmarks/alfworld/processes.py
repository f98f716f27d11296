"""Processes that play games, asked from an event loop that never waits for them.

A few fresh interpreters (worker.py), each with many games side by side. A game always goes to the same one, where its
translation is kept, and games are dealt out in turn. A process that dies fails what it was asked, in words, and the
sessions it held; the next game gets a new one.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import suppress
from itertools import count
from typing import Any

from relaybench.benchmarks.alfworld.games import Game

WORKER = "relaybench.benchmarks.alfworld.worker"
END_SECONDS = 5.0
"""How long a process may take to end by itself, once its input has ended."""


class GameFailed(Exception):
    """A game's process died, or could not play the game."""


class Process:
    """One interpreter that plays. Make it with `start`."""

    def __init__(self, child: asyncio.subprocess.Process) -> None:
        self._child = child
        self._numbers = count()
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._listener = asyncio.create_task(self._listen())
        self.dead: str | None = None
        """How it ended, in words."""

    @classmethod
    async def start(cls) -> Process:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        return cls(
            await asyncio.create_subprocess_exec(
                sys.executable, "-m", WORKER, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=1 << 20, env=environment
            )
        )

    @property
    def pid(self) -> int:
        return self._child.pid

    async def ask(self, **question: Any) -> dict[str, Any]:
        """Its answer. Raises GameFailed where it has none."""
        if self.dead is not None:
            raise GameFailed(self.dead)
        number = next(self._numbers)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps({"id": number, **question}).encode() + b"\n")
        said: dict[str, Any] = await answer
        if "error" in said:
            raise GameFailed(f"the game cannot be played ({said['error']})")
        return said

    async def end(self) -> None:
        """Let it end, or make it."""
        assert self._child.stdin is not None
        self._child.stdin.close()
        try:
            await asyncio.wait_for(self._child.wait(), END_SECONDS)
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._child.kill()
        await self._listener

    async def _listen(self) -> None:
        """Hand out answers until there are no more."""
        assert self._child.stdout is not None
        async for line in self._child.stdout:
            answer = json.loads(line)
            waiting = self._waiting.pop(answer["id"])
            if not waiting.done():
                waiting.set_result(answer)
        self.dead = _how(await self._child.wait())
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(GameFailed(self.dead))
        self._waiting.clear()


class Processes:
    """At most `limit` of them, each started when a game is first dealt to it."""

    def __init__(self, limit: int) -> None:
        self._places: list[Process | None] = [None] * limit
        self._dealt: dict[str, int] = {}
        self._starting = asyncio.Lock()

    @property
    def pids(self) -> list[int]:
        return [process.pid for process in self._places if process is not None and process.dead is None]

    async def process(self, game: Game) -> Process:
        """The one that plays `game`; started now if there is none, or none any more."""
        place = self._dealt.setdefault(game.path, len(self._dealt) % len(self._places))
        async with self._starting:
            process = self._places[place]
            if process is None or process.dead is not None:
                process = self._places[place] = await Process.start()
        return process

    async def close(self) -> None:
        """None is left behind. A game opened later gets a new one."""
        processes = [process for process in self._places if process is not None]
        self._places = [None] * len(self._places)
        await asyncio.gather(*(process.end() for process in processes))


def _how(code: int) -> str:
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    return (
        f"a process that plays ALFWorld games {how}; the episodes it played have failed, the next ones get a new "
        "process, and the same command runs these again"
    )
