"""Progress: how far a run is, on stderr. A bar on a terminal, a line every ten seconds elsewhere, nothing if quiet."""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import suppress
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from relaybench.records import Episode, Failure, Usage

LINE_SECONDS = 10.0
BAR_SECONDS = 0.5


class Progress:
    """Counts what a run has done. This class shows nothing; the others show what it counts."""

    interval = LINE_SECONDS

    def __init__(self) -> None:
        self.total = self.stored = self.ended = self.failed = self.tokens = self.limit = 0
        self._began = time.monotonic()
        self._ticker: asyncio.Task[None] | None = None

    def begin(self, total: int, stored: int) -> None:
        """`total` episodes in the grid, `stored` of them there already."""
        self.total, self.stored = total, stored
        self._began = time.monotonic()

    def call(self, usage: Usage) -> None:
        """An engine call was answered."""
        self.tokens += usage.prompt_tokens + usage.generated_tokens

    def end(self, result: Episode | Failure) -> None:
        """An episode is on disk, or its failure is."""
        self.ended += 1
        self.failed += isinstance(result, Failure)

    def say(self, text: str) -> None:
        """One line for people."""

    def show(self) -> None:
        """Bring what is shown up to date."""

    async def __aenter__(self) -> Progress:
        self._ticker = asyncio.create_task(self._tick())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ticker is not None:
            self._ticker.cancel()
            with suppress(asyncio.CancelledError):
                await self._ticker
        self.show()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(self.interval)
            self.show()

    def summary(self) -> str:
        """E.g. "12/40 episodes, 1 failed, 310 tokens/s, 8 at once, 2 min left"."""
        seconds = max(time.monotonic() - self._began, 1e-9)
        parts = [f"{self.stored + self.ended - self.failed}/{self.total} episodes"]
        parts += [f"{self.failed} failed"] if self.failed else []
        parts += [f"{self.tokens / seconds:,.0f} tokens/s", f"up to {self.limit} at once"]
        to_go = self.total - self.stored - self.ended
        parts += [f"{duration(seconds / self.ended * to_go)} left"] if self.ended and to_go > 0 else []
        return ", ".join(parts)


class LineProgress(Progress):
    """A line every ten seconds: for logs."""

    def say(self, text: str) -> None:
        print(f"relaybench: {text}", file=sys.stderr, flush=True)

    def show(self) -> None:
        self.say(self.summary())


class BarProgress(Progress):
    """A bar on a terminal."""

    interval = BAR_SECONDS

    def __init__(self) -> None:
        super().__init__()
        console = Console(stderr=True)
        self._bar = Bar(BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), console=console)
        self._task = self._bar.add_task("", total=None)

    async def __aenter__(self) -> Progress:
        self._bar.start()
        return await super().__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await super().__aexit__(kind, error, trace)
        self._bar.stop()

    def say(self, text: str) -> None:
        self._bar.console.print(f"relaybench: {text}", markup=False, highlight=False, soft_wrap=True)

    def show(self) -> None:
        done = self.stored + self.ended - self.failed
        _, _, rest = self.summary().partition(", ")
        self._bar.update(self._task, total=self.total, completed=done, description=rest)


def make_progress(quiet: bool) -> Progress:
    """What suits stderr."""
    if quiet:
        return Progress()
    return BarProgress() if sys.stderr.isatty() else LineProgress()


def duration(seconds: float) -> str:
    """E.g. "45 s", "12 min", "3.4 h"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"
