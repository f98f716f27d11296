"""The batcher: one thread that serves calls from many coroutines with one decoder.

Calls are taken in order of arrival, as soon as there is room: nobody waits for a batch to fill. Between two
decoding steps it lets newcomers in and cancelled calls go. What fails fails its own calls; the thread goes on.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Protocol

from relaybench.engines.base import EngineError, Generation, Request, ScoreRequest
from relaybench.records import FailedCall

Logprobs = tuple[float, ...]


@dataclass(slots=True, eq=False)
class Call:
    """A call to `generate` and the future that its caller waits for."""

    request: Request
    future: Future[Generation] = field(default_factory=Future)
    began: float = field(default_factory=time.monotonic)


@dataclass(slots=True, eq=False)
class ScoreCall:
    """A call to `score`, all of one adapter."""

    requests: Sequence[ScoreRequest]
    future: Future[list[Logprobs]] = field(default_factory=Future)
    began: float = field(default_factory=time.monotonic)


class Decoding(Protocol):
    """What the batcher drives (decoding.py)."""

    @property
    def running(self) -> list[Any]:
        """What has begun and not ended."""
        ...

    def takes(self, request: Request) -> bool:
        """Whether a call can join what runs."""
        ...

    def begin(self, call: Call) -> Generation | None:
        """Prefill; the answer, if it ended with its first token."""
        ...

    def step(self) -> list[tuple[Call, Generation]]:
        """One token for each running call; those that ended."""
        ...

    def abandon(self) -> list[Call]:
        """Drop everything that runs, and say what that was."""
        ...

    def score(self, requests: Sequence[ScoreRequest]) -> list[Logprobs]: ...


class Batcher:
    """Runs `decoder` in a thread of its own until `close`."""

    def __init__(self, decoder: Decoding) -> None:
        self._decoder = decoder
        self._arrived: SimpleQueue[Call | ScoreCall | None] = SimpleQueue()
        self._waiting: deque[Call | ScoreCall] = deque()
        self._thread = threading.Thread(target=self._work, name="relaybench-decoder", daemon=True)
        self._thread.start()

    def generate(self, request: Request) -> Future[Generation]:
        call = Call(request)
        self._arrived.put(call)
        return call.future

    def score(self, requests: Sequence[ScoreRequest]) -> Future[list[Logprobs]]:
        call = ScoreCall(requests)
        self._arrived.put(call)
        return call.future

    def close(self) -> None:
        """Stop after the current step; what is unanswered is cancelled. Blocks until the thread has ended."""
        self._arrived.put(None)
        self._thread.join()

    def _work(self) -> None:
        while self._receive():
            self._admit()
            self._step()
        for call in (*self._decoder.abandon(), *self._waiting):
            call.future.cancel()

    def _receive(self) -> bool:
        """Take in what has arrived; with nothing else to do, wait for it. False: closed."""
        while not self._arrived.empty() or not (self._waiting or self._decoder.running):
            call = self._arrived.get()
            if call is None:
                return False
            self._waiting.append(call)
        return True

    def _admit(self) -> None:
        while self._waiting:
            call = self._waiting[0]
            if isinstance(call, Call) and not self._decoder.takes(call.request):
                return
            self._waiting.popleft()
            if call.future.cancelled():
                continue
            try:
                self._begin(call)
            except Exception as error:  # noqa: BLE001  (goes to the caller, whatever it is; the thread serves the others)
                _fail([call], error)

    def _begin(self, call: Call | ScoreCall) -> None:
        if isinstance(call, ScoreCall):
            _answer(call.future, self._decoder.score(call.requests))
        elif (generation := self._decoder.begin(call)) is not None:
            _answer(call.future, generation)

    def _step(self) -> None:
        try:
            ended = self._decoder.step()
        except Exception as error:  # noqa: BLE001  (as above)
            _fail(self._decoder.abandon(), error)
            return
        for call, generation in ended:
            _answer(call.future, generation)


def _answer(future: Future[Any], result: Any) -> None:
    with suppress(InvalidStateError):  # cancelled meanwhile
        future.set_result(result)


def _fail(calls: Sequence[Call | ScoreCall], error: Exception) -> None:
    for call in calls:
        told = error
        if isinstance(error, RuntimeError):  # torch: no memory, a broken device
            text = str(error).strip().partition("\n")[0] or type(error).__name__
            told = EngineError(text, [FailedCall(text, time.monotonic() - call.began)])
        with suppress(InvalidStateError):
            call.future.set_exception(told)
