"""Replies as small models write them, and replies of any form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybench.benchmarks.base import FINISH, Action
from relaybench.benchmarks.widesearch.actions import Request, parse_action, read

TABLE = "```markdown\n| a | b |\n| --- | --- |\n| 1 | 2 |\n```"


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ("Thought: x\nAction: search[towns in Kent]", Action("search", "search[towns in Kent]")),
        ("thought: x\n**action**: Search [ towns ]", Action("search", "search[towns]")),
        ('Action: search("towns")', Action("search", "search[towns]")),
        ("Action: search: towns", Action("search", "search[towns]")),
        ("Action: search towns [2024]", Action("search", "search[towns [2024]]")),
        ("Action: search[towns [2024] list]\nObservation: none", Action("search", "search[towns [2024] list]")),
        ("search[towns]", Action("search", "search[towns]")),
        ("Action: open[https://a.example/1]", Action("open", "open[https://a.example/1]")),
        ("Action: open <https://a.example/1 2>", Action("open", "open[https://a.example/1 2]")),
        ("Action: open[https://a.example/1, 2]", Action("open", "open[https://a.example/1 2]")),
        ("Action: finish", Action(FINISH, FINISH)),
        ("Action: FINISH[done]", Action(FINISH, FINISH)),
        (f"Action: submit\n{TABLE}", Action("submit", f"submit\n{TABLE}")),
        (f"Action: Submit[\n{TABLE}\n]", Action("submit", f"submit\n{TABLE}")),
        (f"Here it is:\n{TABLE}", Action("submit", f"submit\n{TABLE}")),
        (f"Thought: x\n{TABLE}\nAction: submit", Action("submit", f"submit\n{TABLE}\nAction: submit")),
        (f"submit\n{TABLE}", Action("submit", f"submit\n{TABLE}")),
        ("Action: buy[now]", Action("buy", "buy[now]")),
        ("I will search the web.", None),
        ("Action:", None),
        ("Action: ...", None),
        ("", None),
    ],
)
def test_a_reply_names_one_action(reply: str, action: Action | None) -> None:
    assert parse_action(reply) == action


def test_an_action_is_taken_apart() -> None:
    assert read("open[https://a.example/1 3]") == Request("open", "https://a.example/1", 3)
    assert read("open[3]") == Request("open", "3")
    assert read(f"submit\n{TABLE}") == Request("submit", TABLE)


@given(st.text() | st.text().map("Action: search[{}".format) | st.text().map("Action: open[{} 2]".format))
def test_a_canonical_action_is_its_own_reading(reply: str) -> None:
    action = parse_action(reply)
    if action is not None and action.tool not in (FINISH, "submit"):
        assert parse_action(f"Action: {action.text}") is not None
        assert action.text.isprintable()
        assert len(action.text) < 600


@pytest.mark.parametrize(
    "text", ["Action: " * 20_000, "```markdown\n" * 20_000, "search[" * 50_000, "Action:" + " " * 10**6]
)
def test_long_replies_are_read_at_once(text: str) -> None:
    parse_action(text)
