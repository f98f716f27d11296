"""Waits between attempts, and what a server says about them."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from relaybench.engines.attempts import FIRST_WAIT, LONGEST_WAIT, wait
from relaybench.engines.faults import Fault, retry_after


def test_waits_double_up_to_a_bound_and_differ() -> None:
    waits = [wait(Fault("500"), retries) for retries in range(12)]
    for retries, seconds in enumerate(waits):
        longest = min(LONGEST_WAIT, FIRST_WAIT * 2**retries)
        assert longest / 2 <= seconds <= longest
    assert len(set(waits)) == len(waits)


def test_a_servers_own_wait_is_kept_to() -> None:
    assert 7.0 <= wait(Fault("429", retry_after=7.0), 0) <= 7.0 + FIRST_WAIT


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, 0.0),
        ({}, None),
    ],
)
def test_retry_after_is_read_where_it_is_readable(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_retry_after_may_be_a_date() -> None:
    seconds = retry_after({"retry-after": formatdate(time.time() + 100, usegmt=True)})
    assert seconds is not None
    assert 90 < seconds <= 100
