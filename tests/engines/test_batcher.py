"""The batcher serves in order of arrival, and a failure is the failure of its own calls."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError

import pytest

from relaybench.engines.base import EngineError, Generation, Request, ScoreRequest
from relaybench.engines.batcher import Batcher, Call
from relaybench.records import Decoding, Usage

WAIT = 60
"""Seconds until a test that hangs is a failed one."""


def ask(name: str, tokens: int = 1) -> Request:
    return Request((), None, Decoding(), tokens, affinity=name)


class Steps:
    """Answers a call after as many steps as it asks tokens for. Waits for `go` before the first one."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.running: list[Call] = []
        self.begun: list[str] = []
        self.most = 0
        self.go = threading.Event()
        self._left: dict[Call, int] = {}

    def takes(self, request: Request) -> bool:
        return len(self.running) < self.room

    def begin(self, call: Call) -> Generation | None:
        self.go.wait(WAIT)
        self.begun.append(call.request.affinity)
        if call.request.affinity == "bad prefill":
            raise RuntimeError("no memory\nat line 3")
        self.running.append(call)
        self._left[call] = call.request.max_tokens
        return None

    def step(self) -> list[tuple[Call, Generation]]:
        self.most = max(self.most, len(self.running))
        if [call.request.affinity for call in self.running] == ["bad step", "beside it"]:
            raise ValueError("a bug")
        self.running = [call for call in self.running if not call.future.cancelled()]
        for call in self.running:
            self._left[call] -= 1
        ended = [call for call in self.running if self._left[call] == 0]
        self.running = [call for call in self.running if self._left[call] > 0]
        return [(call, Generation(call.request.affinity, "stop", Usage(calls=1))) for call in ended]

    def abandon(self) -> list[Call]:
        cut, self.running = self.running, []
        return cut

    def score(self, requests: Sequence[ScoreRequest]) -> list[tuple[float, ...]]:
        return [(-1.0,) * len(request.target) for request in requests]


@pytest.fixture
def steps() -> Steps:
    return Steps(room=2)


@pytest.fixture
def batcher(steps: Steps) -> Iterator[Batcher]:
    made = Batcher(steps)
    yield made
    steps.go.set()
    made.close()


def test_calls_begin_in_order_of_arrival_and_share_the_room(steps: Steps, batcher: Batcher) -> None:
    names = [f"call {i}" for i in range(6)]
    futures = [batcher.generate(ask(name, 1 + i % 3)) for i, name in enumerate(names)]
    steps.go.set()
    assert [future.result(WAIT).text for future in futures] == names
    assert steps.begun == names
    assert steps.most == 2


def test_a_failed_prefill_fails_its_call_only(steps: Steps, batcher: Batcher) -> None:
    bad, good = batcher.generate(ask("bad prefill")), batcher.generate(ask("good"))
    steps.go.set()
    with pytest.raises(EngineError, match="^no memory$") as caught:
        bad.result(WAIT)
    assert [call.error for call in caught.value.failed_calls] == ["no memory"]
    assert good.result(WAIT).text == "good"


def test_a_failed_step_fails_what_ran_and_nothing_later(steps: Steps, batcher: Batcher) -> None:
    together = [batcher.generate(ask(name, 3)) for name in ("bad step", "beside it")]
    steps.go.set()
    for future in together:
        with pytest.raises(ValueError, match="a bug"):
            future.result(WAIT)
    assert batcher.generate(ask("later")).result(WAIT).text == "later"


def test_a_cancelled_call_never_begins(steps: Steps, batcher: Batcher) -> None:
    first, second, third = (batcher.generate(ask(name)) for name in ("first", "second", "third"))
    second.cancel()
    steps.go.set()
    assert (first.result(WAIT).text, third.result(WAIT).text) == ("first", "third")
    assert steps.begun == ["first", "third"]


def test_scores_do_not_wait_for_room(steps: Steps, batcher: Batcher) -> None:
    steps.go.set()
    assert batcher.score([ScoreRequest([1], [2, 3])]).result(WAIT) == [(-1.0, -1.0)]


def test_closing_cancels_what_is_unanswered(steps: Steps) -> None:
    batcher = Batcher(steps)
    endless = batcher.generate(ask("endless", 10**9))
    steps.go.set()
    batcher.close()
    with pytest.raises(CancelledError):
        endless.result(WAIT)
