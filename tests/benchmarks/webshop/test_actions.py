"""Actions as models write them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relaybench.benchmarks.base import FINISH
from relaybench.benchmarks.webshop.actions import BUYING, CLICK, SEARCH, parse_action


@pytest.mark.parametrize(
    ("reply", "tool", "text"),
    [
        ("Thought: look\nAction: search[red shoes]", SEARCH, "search[red shoes]"),
        ("Action: Click [ < Prev ]", CLICK, "click[< Prev]"),
        ("**Action:** `click[Next >]`", CLICK, "click[Next >]"),
        ("action: click[buy now]", BUYING, "click[buy now]"),
        ("click[B012345678]\nclick[Buy Now]", CLICK, "click[B012345678]"),
        ("I think so.\n- search[a  b]", SEARCH, "search[a b]"),
        ('Action: click[28" x 28"]', CLICK, 'click[28" x 28"]'),
        ("Action: search[[shoes]]", SEARCH, "search[shoes]"),
        ("Action: finish", FINISH, FINISH),
        ("finish", FINISH, FINISH),
    ],
)
def test_an_action_is_found(reply: str, tool: str, text: str) -> None:
    found = parse_action(reply)
    assert found is not None
    assert (found.tool, found.text) == (tool, text)


@pytest.mark.parametrize(
    "reply", ["", "Action:", "Action: click[]", "Action: buy it", "search for shoes", "Action: search"]
)
def test_what_is_none_is_none(reply: str) -> None:
    assert parse_action(reply) is None


@given(st.text(max_size=400))
@example("Action: search[" + "x" * 100_000 + "]")
@example("Action: click[\x00\x1b[31m]")
@example("Action: search[]]]]")
def test_any_text_is_read_and_bounded(reply: str) -> None:
    for text in (reply, f"Action: {reply}", f"Action: search[{reply}]", f"Action: click[{reply}]"):
        found = parse_action(text)
        assert found is None or len(found.text) < 400
