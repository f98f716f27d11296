"""Sharing: what several episodes of one (task, engine, seed) use is made once.

Concurrent users wait for the same attempt; that one of them is cancelled does not touch the others, a failure is
not kept, and what a resumed run finds in the store is not made again. Records leave memory with the last episode
that may use them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

from relaybench.engines.base import EngineError
from relaybench.records import Shared

Make = Callable[[], Awaitable[Shared]]


class Shelf(Protocol):
    """Where shared records are kept: the part of the run's store that sharing needs."""

    def shared(self, key: str) -> Shared | None: ...

    def share(self, record: Shared) -> None: ...


class Sharing:
    """One attempt per key. `deadline` (seconds) bounds each, whoever waits for it."""

    def __init__(self, shelf: Shelf, deadline: float) -> None:
        self._shelf = shelf
        self._deadline = deadline
        self._users: Counter[str] = Counter()
        self._made: dict[str, dict[str, asyncio.Task[Shared]]] = {}
        self._running: set[asyncio.Task[Shared]] = set()

    def expect(self, groups: Iterable[str]) -> None:
        """Say which groups will be used, once for each episode to come."""
        self._users.update(groups)

    def release(self, group: str) -> None:
        """An episode of `group` is over. With the last one its records leave memory."""
        self._users[group] -= 1
        if self._users[group] <= 0:
            del self._users[group]
            self._made.pop(group, None)

    @contextmanager
    def visit(self, group: str) -> Iterator[None]:
        """Use a group that is not one's own (the foreign relay's)."""
        self._users[group] += 1
        try:
            yield
        finally:
            self.release(group)

    async def once(self, group: str, key: str, make: Make) -> Shared:
        """The record under `key`: from memory, from the store, or made now.

        Raises what `make` raises; those who merely waited for it get an EngineError without the failed attempts,
        which are counted with the one who made it.
        """
        made = self._made.setdefault(group, {})
        task = made.get(key)
        mine = task is None
        if task is None:
            task = made[key] = asyncio.ensure_future(self._get(key, make))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
            task.add_done_callback(lambda done: _forget_failure(made, key, done))
        try:
            return await asyncio.shield(task)
        except EngineError as error:
            if mine:
                raise
            raise EngineError(str(error)) from error

    async def close(self) -> None:
        """Cancel what is still being made."""
        tasks = list(self._running)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _get(self, key: str, make: Make) -> Shared:
        stored = self._shelf.shared(key)
        if stored is not None:
            return stored
        async with asyncio.timeout(self._deadline):
            record = await make()
        self._shelf.share(record)
        return record


def _forget_failure(made: dict[str, asyncio.Task[Shared]], key: str, task: asyncio.Task[Shared]) -> None:
    if task.cancelled() or task.exception() is not None:
        made.pop(key, None)
