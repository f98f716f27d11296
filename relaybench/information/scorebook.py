"""The scorebook: log-probabilities of targets after contexts, each computed once and kept in the run's folder.

A score is found by what was scored (reader, context ids, target ids), so systems that share a condition share its score
and a measurement that was killed goes on where it stopped. Lines are synced before they count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct

from relaybench.engines.base import Engine, ScoreRequest
from relaybench.rollout.journal import Torn, append_synced, cut, scan

MEASURES = "measures.jsonl"
BATCH = 64
"""Requests handed to the engine at once: what is lost at most when a measurement is killed."""
KEPT = 512
"""Tokens up to which the single log-probabilities are kept, not only their sum."""


class Score(Struct, frozen=True, omit_defaults=True):
    """One score as stored."""

    key: str
    reader: str
    nll: float
    """Nats, all target tokens."""
    tokens: int
    logprobs: tuple[float, ...] | None = None
    """Each target token's, where there are at most KEPT."""


class Ask(Struct, frozen=True):
    """A target after a context, for one reader."""

    context: tuple[int, ...]
    target: tuple[int, ...]

    def key(self, reader: str) -> str:
        """Names what is scored: 20 hex digits."""
        return sha256(msgspec.json.encode([reader, self.context, self.target])).hexdigest()[:20]


class Scorebook:
    """The scores of one run folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / MEASURES
        self._scores: dict[str, Score] = {}
        decoder = msgspec.json.Decoder(Score)
        for line in scan(self._path):
            if isinstance(line, Torn):
                cut(self._path, line.offset)
                break
            with suppress(msgspec.DecodeError, UnicodeDecodeError):  # a corrupt line is computed again
                score = decoder.decode(line.data)
                self._scores[score.key] = score

    def find(self, reader: str, ask: Ask) -> Score:
        """A stored score. Raises KeyError where it was not computed."""
        return self._scores[ask.key(reader)]

    def logprobs(self, reader: str, ask: Ask) -> tuple[float, ...]:
        """The log-probability of each target token; their sum alone for a target beyond KEPT tokens."""
        score = self.find(reader, ask)
        return (-score.nll,) if score.logprobs is None else score.logprobs

    async def fill(
        self,
        reader: str,
        engine: Engine,
        asks: Sequence[Ask],
        *,
        adapter: str | None = None,
        say: Callable[[int, int], None] = lambda done, of: None,
    ) -> int:
        """Compute and store what is not there yet; the number computed. `say` is told (done, of).

        Asks are taken in the order of their contexts, so that batches share prefixes.
        """
        missing = {key: ask for ask in asks if (key := ask.key(reader)) not in self._scores}
        order = sorted(missing.items(), key=lambda item: (item[1].context, item[1].target))
        for start in range(0, len(order), BATCH):
            await self._batch(reader, engine, dict(order[start : start + BATCH]), adapter)
            say(min(start + BATCH, len(order)), len(order))
        return len(order)

    async def _batch(self, reader: str, engine: Engine, asks: Mapping[str, Ask], adapter: str | None) -> None:
        found = await engine.score([ScoreRequest(ask.context, ask.target, adapter) for ask in asks.values()])
        scores = [
            Score(key, reader, -sum(values), len(values), tuple(values) if len(values) <= KEPT else None)
            for key, values in zip(asks, found, strict=True)
        ]
        append_synced(self._path, map(msgspec.json.encode, scores))
        self._scores.update((score.key, score) for score in scores)


async def noise_floor(engine: Engine, asks: Sequence[Ask], adapter: str | None = None) -> float:
    """The largest difference, in nats a token, between scoring together and one by one: what batching alone changes."""
    requests = [ScoreRequest(ask.context, ask.target, adapter) for ask in asks if ask.target]
    together = await engine.score(requests)
    alone = [(await engine.score([request]))[0] for request in requests]
    gaps = (abs(a - b) for one, other in zip(together, alone, strict=True) for a, b in zip(one, other, strict=True))
    return max(gaps, default=0.0)
