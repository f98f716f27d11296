"""The runner: many episodes at once, each stored before it counts, until the grid is done or something says stop.

What is stored is never run again, what failed for an outside reason is. Jobs of one task run near each other, so that
they share while its upstream rollout is warm. It stops early on Ctrl-C or SIGTERM (a second one quits at once), on a
spent error budget, and on an error that only the user can mend; what is in flight is then dropped, what is queued is
written, and the same command goes on from there.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from relaybench.benchmarks.base import Benchmark
from relaybench.config import RunConfig
from relaybench.engines.base import Engine, EngineError
from relaybench.errors import UserError
from relaybench.records import Episode, FailedCall, Failure, Usage
from relaybench.rollout.budget import ErrorBudget
from relaybench.rollout.concurrency import AdaptiveLimit
from relaybench.rollout.episode import EnvironmentFailed, Scene, play
from relaybench.rollout.grid import Grid, Job
from relaybench.rollout.metadata import now
from relaybench.rollout.metering import Metered
from relaybench.rollout.progress import Progress
from relaybench.rollout.sharing import Sharing
from relaybench.rollout.store import RunStore

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What came of one invocation."""

    planned: int
    """Episodes in the grid."""
    stored: int
    """Of them, stored before."""
    done: int
    """Run and stored now."""
    failed: int
    stopped: str | None
    """Why it ended early, in words; None where it went through."""
    interrupted: bool
    seconds: float

    @property
    def exit_code(self) -> int:
        if self.interrupted:
            return 130
        return 1 if self.stopped or self.failed else 0


class Runner:
    """Runs a grid into a store. `engines` by label; they are started and closed here."""

    def __init__(
        self,
        config: RunConfig,
        benchmark: Benchmark,
        engines: Mapping[str, Engine],
        store: RunStore,
        progress: Progress,
        *,
        grid: Grid | None = None,
    ) -> None:
        self._config = config
        self._engines = engines
        self._store = store
        self._progress = progress
        self._grid = grid or Grid(config, benchmark)
        self._sharing = Sharing(store, config.deadline)
        self._limit = AdaptiveLimit(config.concurrency)
        self._pending = [job for job in self._grid.jobs if job.key not in store.done]
        self._budget = ErrorBudget(config.error_budget, len(self._pending))
        self._driver: asyncio.Task[None] | None = None
        self._stopped: str | None = None
        self._interrupted = False
        self._fatal: Exception | None = None

    async def run(self) -> RunSummary:
        """Run what is not stored yet. Raises UserError for what only the user can mend."""
        began = time.monotonic()
        planned, stored = len(self._grid.jobs), len(self._grid.jobs) - len(self._pending)
        self._progress.begin(planned, stored)
        if self._pending:
            self._driver = asyncio.create_task(self._drive())
            with self._signals():
                await self._finish(self._driver)
        if self._fatal is not None:
            raise self._fatal
        done = self._budget.attempted - self._budget.failed
        seconds = time.monotonic() - began
        return RunSummary(planned, stored, done, self._budget.failed, self._stopped, self._interrupted, seconds)

    async def _finish(self, driver: asyncio.Task[None]) -> None:
        try:
            await driver
        except asyncio.CancelledError:
            if self._stopped is None:
                raise

    async def _drive(self) -> None:
        """Start the engines, keep as many jobs going as the limit allows, close everything on every path."""
        running: set[asyncio.Task[None]] = set()
        try:
            for engine in self._engines.values():
                await engine.start()
            self._sharing.expect(job.group for job in self._pending)
            async with self._progress:
                for job in self._pending:
                    await self._limit.acquire()
                    task = asyncio.create_task(self._one(job))
                    running.add(task)
                    task.add_done_callback(running.discard)
                while running:
                    await asyncio.wait(running)
        finally:
            await _cancel(running)
            await self._sharing.close()
            for engine in self._engines.values():
                await engine.close()
            await self._grid.benchmark.close()

    async def _one(self, job: Job) -> None:
        try:
            result = await self._attempt(job)
            if isinstance(result, Episode):
                await self._store.add(result)
            else:
                await self._store.fail(result)
        except UserError as error:
            self._abort(error)
        except OSError as error:
            cause = f"cannot write to the run folder {self._store.folder} ({error.strerror})"
            self._abort(UserError(f"{cause}; make room, then run the same command"))
        else:
            self._count(result)
        finally:
            self._sharing.release(job.group)
            self._limit.release()

    async def _attempt(self, job: Job) -> Episode | Failure:
        """The episode, or how it failed. Raises UserError alone."""
        began = time.monotonic()
        engine = Metered(self._engines[job.engine.label], self._observe)
        kind = "internal"
        calls: tuple[FailedCall, ...] = ()
        try:
            async with asyncio.timeout(self._config.deadline):
                return await play(job, Scene(self._grid, self._sharing, engine, job.engine, job.seed))
        except UserError:
            raise
        except TimeoutError:
            kind, text = "deadline", f"not done after {self._config.deadline:g} s"
        except EngineError as error:
            kind, text, calls = "engine", str(error), error.failed_calls
        except EnvironmentFailed as error:
            kind, text = "environment", str(error)
        except Exception:  # noqa: BLE001  one episode's bug must not end the run: it is stored with its traceback
            text = traceback.format_exc()
        return self._failure(job, kind, text, (*calls, *_abandoned(engine.unrecorded)), time.monotonic() - began)

    def _failure(self, job: Job, kind: str, text: str, calls: Sequence[FailedCall], seconds: float) -> Failure:
        clean = self._store.scrubber.text
        return Failure(
            key=job.key,
            task=job.task.id,
            system=job.system.label,
            engine=job.engine.label,
            seed=job.seed,
            kind=kind,
            error=clean(text),
            failed_calls=tuple(FailedCall(clean(call.error), call.seconds, call.usage) for call in calls),
            when=now(),
            seconds=seconds,
        )

    def _observe(self, usage: Usage, failed: Sequence[FailedCall], lost: bool) -> None:
        self._limit.observe(failed, lost)
        self._progress.limit = self._limit.limit
        self._progress.call(usage)

    def _count(self, result: Episode | Failure) -> None:
        self._budget.count(result if isinstance(result, Failure) else None)
        self._progress.end(result)
        if self._budget.spent:
            self._stop(
                f"{self._budget.failed} of {self._budget.attempted} episodes failed, more than the error budget of "
                f"{self._config.error_budget:.0%} allows; cause of most: {self._budget.cause()}"
            )

    def _abort(self, error: UserError) -> None:
        self._fatal = self._fatal or error
        self._stop(str(error))

    def _stop(self, reason: str) -> None:
        if self._stopped is None and self._driver is not None:
            self._stopped = reason
            self._driver.cancel()

    def _interrupt(self) -> None:
        if self._interrupted:
            os._exit(130)  # what counts as done is synced: nothing is lost but what is in flight
        self._interrupted = True
        self._stop("interrupted")

    @contextmanager
    def _signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        with suppress(ValueError, RuntimeError, NotImplementedError):  # not in the main thread: whoever runs us decides
            for number in SIGNALS:
                loop.add_signal_handler(number, self._interrupt)
        try:
            yield
        finally:
            for number in SIGNALS:
                with suppress(ValueError, RuntimeError, NotImplementedError):
                    loop.remove_signal_handler(number)


async def _cancel(tasks: set[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _abandoned(usage: Usage) -> tuple[FailedCall, ...]:
    """The answered calls of an episode that failed later, as one attempt that was paid for."""
    return (FailedCall("abandoned: answered calls of the failed episode", usage.seconds, usage),) if usage.calls else ()
