"""Prompt scores: which rows are read, and what is computed first."""

from __future__ import annotations

import math

import pytest

from relaybench.engines.base import EngineError, ScoreRequest
from relaybench.engines.promptscores import Scores, score_all, target_logprobs, waves

REQUEST = ScoreRequest([1, 2, 3], [4, 5])
WHOLE = [None, {2: {"logprob": -1.0}}, {3: {"logprob": -2.0}}, {4: {"logprob": -3.0}}, {5: {"logprob": -4.0}}]


def test_only_the_targets_rows_are_read() -> None:
    assert target_logprobs(WHOLE, REQUEST, 0) == (-3.0, -4.0)


def test_rows_of_the_cached_part_may_be_missing_or_garbage() -> None:
    garbage = [None, {-7: {"logprob": math.nan}}, {10**12: {"logprob": 3e30}}, *WHOLE[3:]]
    assert target_logprobs([None, *WHOLE[3:]], REQUEST, 2) == (-3.0, -4.0)
    assert target_logprobs(garbage, REQUEST, 2) == (-3.0, -4.0)


@pytest.mark.parametrize("cached", [3, 4])
def test_a_cache_that_reaches_into_the_target_is_refused(cached: int) -> None:
    assert target_logprobs(WHOLE, REQUEST, cached) is None


@pytest.mark.parametrize("row", [None, {9: {"logprob": -3.0}}, {4: {"logprob": math.nan}}, {4: {"logprob": 7.0}}])
def test_rows_that_cannot_be_the_targets_are_refused(row: dict[int, dict[str, float]] | None) -> None:
    assert target_logprobs([*WHOLE[:3], row, WHOLE[4]], REQUEST, None) is None
    assert target_logprobs(WHOLE[4:], REQUEST, None) is None


def test_the_first_of_each_shared_prefix_goes_ahead() -> None:
    a, b = list(range(100)), list(range(200, 300))
    requests = [ScoreRequest([*prefix, i], [7]) for prefix in (a, b) for i in range(3)]
    leaders, others = waves([*requests, ScoreRequest(a, [7], "relay-v1")])
    assert [(request.context[0], request.adapter) for request in leaders] == [(0, None), (200, None), (0, "relay-v1")]
    assert len(others) == 4


async def test_equal_requests_are_asked_once_and_answered_in_order() -> None:
    asked = []

    async def ask(request: ScoreRequest, cache: bool) -> Scores:
        asked.append(request)
        return (float(request.target[0]),)

    requests = [ScoreRequest([1], [i]) for i in (3, 1, 3, 2)]
    assert await score_all(requests, ask) == [(3.0,), (1.0,), (3.0,), (2.0,)]
    assert len(asked) == 3


async def test_a_cached_target_is_computed_again_without_the_cache() -> None:
    async def ask(request: ScoreRequest, cache: bool) -> Scores | None:
        return None if cache else (-1.0,)

    async def never(request: ScoreRequest, cache: bool) -> Scores | None:
        return None

    assert await score_all([REQUEST], ask) == [(-1.0,)]
    with pytest.raises(EngineError):
        await score_all([REQUEST], never)


async def test_nothing_is_scored_after_an_empty_context() -> None:
    async def ask(request: ScoreRequest, cache: bool) -> Scores:
        return ()

    with pytest.raises(ValueError, match="at least one token"):
        await score_all([ScoreRequest([], [1])], ask)
