"""Advice from a few gains: the sign, the budget of the peak, and how sure."""

import numpy as np
import pytest

from relaybench.information.advice import advise

TOKENS = [10.0, 40.0]


def told(first: float, second: float, tasks: int = 12, noise: float = 0.3) -> np.ndarray:
    return np.random.default_rng(0).normal([first, second], noise, size=(tasks, 2))


def test_a_relay_that_gains_is_sent() -> None:
    found = advise("m", "writer", ["short", "long"], told(1.0, 0.4), TOKENS)
    assert (found.relays, found.relay, found.tokens) == (True, "short", 10.0)
    assert found.confidence > 0.99
    assert found.peak_confidence > 0.9
    assert "send 'short'" in str(found)
    assert "not sure" not in str(found)


def test_where_all_relays_lose_the_context_is_shared() -> None:
    found = advise("m", "writer", ["short", "long"], told(-2.0, -0.8), TOKENS)
    assert not found.relays
    assert found.relay == "long"
    assert found.confidence > 0.99
    assert "share the context" in str(found)


def test_few_tasks_with_mixed_gains_leave_it_unsure() -> None:
    found = advise("m", "writer", ["short"], [[1.0], [-0.8], [0.1]], TOKENS[:1])
    assert found.confidence < 0.9
    assert "not sure" in str(found)


def test_advice_needs_gains() -> None:
    with pytest.raises(ValueError, match="one gain a task and relay"):
        advise("m", "writer", ["short"], np.zeros((0, 1)), [1.0])
