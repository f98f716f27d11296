"""Metering: an engine as one episode sees it, with every call told to the run and added up for the episode.

So a failed episode's tokens are known (contract 11), progress moves while episodes run, and concurrency adapts to
each call rather than to each episode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relaybench.engines.base import Engine, EngineError, Generation, Request, ScoreRequest
from relaybench.records import FailedCall, Usage

Observer = Callable[[Usage, Sequence[FailedCall], bool], None]
"""(what a call cost, the attempts that failed before, whether it was given up)."""


class Metered:
    """An `Engine` that tells `observer` of each call and adds up what the calls cost."""

    def __init__(self, engine: Engine, observer: Observer) -> None:
        self._engine = engine
        self._observer = observer
        self.kind, self.model = engine.kind, engine.model
        self.chat, self.context_limit = engine.chat, engine.context_limit
        self._usage = Usage()
        self._settled = Usage()

    async def start(self) -> None:
        """Nothing to do: the run starts the engine."""

    async def generate(self, request: Request) -> Generation:
        try:
            generation = await self._engine.generate(request)
        except EngineError as error:
            self._observer(Usage(), error.failed_calls, True)
            raise
        self._usage = self._usage + generation.usage
        self._observer(generation.usage, generation.failed_calls, False)
        return generation

    async def score(self, requests: Sequence[ScoreRequest]) -> list[tuple[float, ...]]:
        return await self._engine.score(requests)

    async def close(self) -> None:
        """Nothing to do: the run closes the engine."""

    def settle(self, usage: Usage) -> None:
        """Say that this part of the calls stands in a record of its own (a shared rollout or relay)."""
        self._settled = self._settled + usage

    @property
    def unrecorded(self) -> Usage:
        """What answered calls have cost that stands in no record yet."""
        a, b = self._usage, self._settled
        return Usage(
            max(0, a.prompt_tokens - b.prompt_tokens),
            max(0, a.cached_tokens - b.cached_tokens),
            max(0, a.generated_tokens - b.generated_tokens),
            max(0, a.calls - b.calls),
            max(0.0, a.seconds - b.seconds),
        )
