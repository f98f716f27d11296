"""Attempts: one call, tried until a server answers or trying again is of no use; each failed attempt is kept.

The client library's own retries are switched off: an attempt costs time and, at some providers, money, and the record
has to say so. Waits double from `FIRST_WAIT` up to `LONGEST_WAIT` seconds, with jitter, unless the server names one.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from json import JSONDecodeError
from typing import Generic, NamedTuple, TypeVar

from openai import OpenAIError

from relaybench.engines.base import EngineError
from relaybench.engines.faults import BadAnswer, Fault, judge
from relaybench.engines.servers import Server, Servers
from relaybench.records import FailedCall

FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0

T = TypeVar("T")


class Answer(NamedTuple, Generic[T]):
    """What came back, how long the attempt that brought it took, and the attempts before it."""

    value: T
    seconds: float
    failed_calls: tuple[FailedCall, ...]


class Attempts:
    """How often, and how long, the servers of one model are asked."""

    def __init__(self, servers: Servers, retries: int, timeout: float) -> None:
        self._servers = servers
        self._retries = retries
        self._timeout = timeout

    async def call(self, ask: Callable[[Server], Awaitable[T]], *, model: str, affinity: str) -> Answer[T]:
        """The answer to `ask`, which sends one request to the server it is given.

        Raises EngineError (with the failed attempts) where none came; ContextFull and UserError as `judge` does.
        """
        failed: list[FailedCall] = []
        unreachable: set[Server] = set()
        retries = 0
        while True:
            server = self._servers.choose(affinity)
            began = time.monotonic()
            try:
                async with asyncio.timeout(self._timeout):
                    value = await ask(server)
                return Answer(value, time.monotonic() - began, tuple(failed))
            except (OpenAIError, TimeoutError, BadAnswer, JSONDecodeError) as error:
                seconds = time.monotonic() - began
                fault = self._judge(error, server, model, failed, seconds)
            failed.append(FailedCall(fault.error, seconds))
            if fault.unreachable:
                server.rest()
                unreachable.add(server)
                if self._servers.choose(affinity) not in unreachable:
                    continue  # another server may be up: neither a wait nor one of the retries
            if retries == self._retries:
                raise EngineError(f"{fault.error} ({len(failed)} attempts)", failed) from None
            await asyncio.sleep(wait(fault, retries))
            retries += 1

    def _judge(self, error: Exception, server: Server, model: str, failed: list[FailedCall], seconds: float) -> Fault:
        try:
            return judge(error, server, model, self._timeout)
        except EngineError as refusal:
            raise EngineError(str(refusal), [*failed, FailedCall(str(refusal), seconds)]) from None


def wait(fault: Fault, retries: int) -> float:
    """Seconds before the next attempt, after so many retries."""
    if fault.retry_after is not None:
        return fault.retry_after + random.uniform(0, FIRST_WAIT)
    return float(min(LONGEST_WAIT, FIRST_WAIT * 2**retries)) * random.uniform(0.5, 1.0)
