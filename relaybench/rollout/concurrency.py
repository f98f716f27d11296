"""How many episodes run at once: a limit that adapts below a ceiling.

It starts small and doubles while calls are answered, until the first sign of pressure (429, 503, a time-out); from
then on it grows by one a window, a window being as many answered calls as the limit. Pressure costs a fifth of it,
a lost call half, and at most once a window, since calls in flight tell of the same trouble.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from relaybench.records import FailedCall

START = 8
PRESSURE = ("429", "503", "529", "timeout", "timed out")
"""How the error of a failed call begins when a server is overloaded."""


class AdaptiveLimit:
    """A semaphore with a moving limit between 1 and `ceiling`."""

    def __init__(self, ceiling: int) -> None:
        self._ceiling = ceiling
        self._limit = float(min(START, ceiling))
        self._slow_start = True
        self._grace = 0
        self._running = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def limit(self) -> int:
        return int(self._limit)

    async def acquire(self) -> None:
        """Wait for a place."""
        while self._running >= self.limit:
            place = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            await place
        self._running += 1

    def release(self) -> None:
        """Give a place back."""
        self._running -= 1
        self._wake()

    def observe(self, failed: Sequence[FailedCall] = (), lost: bool = False) -> None:
        """Learn from one call: the attempts that failed before it was answered, or before it was given up (`lost`)."""
        if self._grace > 0:
            self._grace -= 1
        if lost:
            self._cut(0.5)
        elif any(call.error.lower().startswith(PRESSURE) for call in failed):
            self._cut(0.8)
        elif self._grace == 0:
            self._limit = min(self._ceiling, self._limit + (1.0 if self._slow_start else 1.0 / self._limit))
            self._wake()

    def _cut(self, factor: float) -> None:
        self._slow_start = False
        if self._grace == 0:
            self._limit = max(1.0, self._limit * factor)
            self._grace = self.limit

    def _wake(self) -> None:
        free = self.limit - self._running
        while free > 0 and self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                free -= 1
