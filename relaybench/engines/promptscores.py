"""Prompt scores: log-probabilities of given tokens out of vLLM's `prompt_logprobs`, with its prefix cache in use.

vLLM gives a row (token id -> log-probability) for each prompt token and, left alone, bypasses the prefix cache to do
so: many times slower for targets that share a context. With `skip_reading_prefix_cache` false it reads the cache;
then the rows of the cached part are absent (GPU runner) or uninitialised memory (CPU runner). So only the target's
rows are read, from the end, and `target_logprobs` refuses them where the cache reached into the target. Numbers are
vLLM's `raw_logprobs`: of the model itself, before temperature and top_p.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from relaybench.engines.base import EngineError, ScoreRequest

IN_FLIGHT = 32
"""Scoring requests at once: rows of a whole vocabulary are held for each prompt in progress."""

Scores = tuple[float, ...]
Row = Mapping[Any, Any] | None
Ask = Callable[[ScoreRequest, bool], Awaitable[Scores | None]]
"""(request, read the prefix cache) -> scores, or None where the cache got in the way."""
Key = tuple[str, tuple[int, ...], tuple[int, ...]]


async def score_all(requests: Sequence[ScoreRequest], ask: Ask) -> list[Scores]:
    """One tuple a request, in order; each prefix that requests share is computed first and once.

    Raises ValueError for an empty context, after which nothing can be scored; EngineError for want of rows.
    """
    gate = asyncio.Semaphore(IN_FLIGHT)

    async def one(request: ScoreRequest) -> Scores:
        async with gate:
            scores = await ask(request, True)
            if scores is None:  # the target itself is cached: compute the whole prompt again
                scores = await ask(request, False)
        if scores is None:
            raise EngineError("vLLM gave no log-probabilities for the target's tokens")
        return scores

    distinct = {_key(request): request for request in requests}
    answers: dict[Key, Scores] = {}
    for wave in waves(list(distinct.values())):
        found = await asyncio.gather(*map(one, wave))
        answers.update((_key(request), scores) for request, scores in zip(wave, found, strict=True))
    return [answers[_key(request)] for request in requests]


def waves(requests: Sequence[ScoreRequest]) -> tuple[list[ScoreRequest], list[ScoreRequest]]:
    """(first of each group that shares most of its context, all others).

    When the first ones are answered their prefixes are cached, and the others pay only for their own ends.
    """
    leaders: list[ScoreRequest] = []
    others: list[ScoreRequest] = []
    for request in sorted(requests, key=_key):
        shared = _shared(leaders[-1], request) if leaders else 0
        (others if 2 * shared >= len(request.context) else leaders).append(request)
    return leaders, others


def target_logprobs(rows: Sequence[Row], request: ScoreRequest, cached: int | None) -> Scores | None:
    """The target's log-probabilities, or None where the cache reached into it and its rows mean nothing.

    `rows` belong to context and target together, the last one to the last target token; `cached` is how many prompt
    tokens came from the cache, None where the server does not say. A row has the token's id (or its decimal) as key.
    """
    count = len(request.target)
    if count == 0:
        return ()
    if len(rows) < count or (cached is not None and cached >= len(request.context)):
        return None
    found = [_value(row, token) for row, token in zip(rows[-count:], request.target, strict=True)]
    return None if None in found else tuple(value for value in found if value is not None)


def _value(row: Row, token: int) -> float | None:
    """The log-probability of `token`; an uninitialised row does not hold it, or holds nonsense."""
    cell = None if row is None else row.get(token, row.get(str(token)))
    if cell is None:
        return None
    value = float(cell["logprob"] if isinstance(cell, Mapping) else cell.logprob)
    return value if math.isfinite(value) and value < 0.01 else None  # rounding may lift a certainty above 0


def _key(request: ScoreRequest) -> Key:
    if not request.context:
        raise ValueError("a target is scored after a context of at least one token")
    return (request.adapter or "", tuple(request.context), tuple(request.target))


def _shared(a: ScoreRequest, b: ScoreRequest) -> int:
    """Length of the common prefix of two contexts; adapters share none."""
    if a.adapter != b.adapter:
        return 0
    pairs = enumerate(zip(a.context, b.context, strict=False))
    return next((i for i, (left, right) in pairs if left != right), min(len(a.context), len(b.context)))
