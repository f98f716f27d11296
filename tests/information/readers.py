"""Exact readers: what they pay for a number is known beforehand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import log

from relaybench.engines.base import Request, ScoreRequest
from relaybench.engines.fake import FakeEngine

DIGITS = 4
NUMBER = DIGITS * log(10)
"""Nats of a number that was not seen."""


def exact(request: Request) -> str:
    """Reports every register it has read, and answers with the one asked for, if it knows it."""
    words = "\n".join(message.content for message in request.messages)
    known = dict(re.findall(r"^(\w+)(?:'s badge is |\.badge: )(\d+)", words, re.MULTILINE))
    if "Now write down" in request.messages[-1].content:
        return "\n".join(f"{name}.badge: {value}" for name, value in known.items())
    asked = re.findall(r"What is (\w+)'s badge", words)[-1]
    return known.get(asked, "0000")


class Copier(FakeEngine):
    """Scores as a reader that knows each number it has seen and every word: log 10 a digit of all other numbers.

    `distraction`: nats it loses on a number for every other number in its prompt.
    """

    def __init__(self, distraction: float = 0.0) -> None:
        super().__init__(exact)
        self.distraction = distraction
        self.scored = 0

    async def score(self, requests: Sequence[ScoreRequest]) -> list[tuple[float, ...]]:
        self.scored += len(requests)
        return [self._score(request) for request in requests]

    def _score(self, request: ScoreRequest) -> tuple[float, ...]:
        assert self.chat is not None
        seen = set(re.findall(r"\b\d{4}\b", self.chat.decode(request.context)))
        values = [0.0] * len(request.target)
        for match in re.finditer(r"\b\d{4}\b", self.chat.decode(request.target)):
            cost = self.distraction * max(0, len(seen) - 1) / DIGITS if match.group() in seen else log(10)
            values[match.start() : match.end()] = [-cost] * DIGITS
        return tuple(values)
