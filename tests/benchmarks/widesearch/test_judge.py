"""What judges make of names, cells and replies."""

from __future__ import annotations

from asyncio import run

import pytest

from relaybench.benchmarks.widesearch.judge import ExactJudge
from relaybench.benchmarks.widesearch.model_judge import ModelJudge, last_object
from relaybench.engines.fake import FakeEngine
from relaybench.engines.model import Model


def test_the_exact_judge_takes_the_first_reference_that_is_the_same() -> None:
    aligned = run(ExactJudge().align(["**Ash Town**", "Elm"], ["ash town", "Ash Town"]))
    assert aligned == {"**Ash Town**": "ash town"}


def judge(reply: str) -> ModelJudge:
    return ModelJudge(Model(FakeEngine(lambda request: reply)))


def test_a_model_aligns_what_it_was_asked_about_only() -> None:
    asked = judge(
        'Sure. {"Ash": "A"} no, rather:\n```json\n{"Ash": "Ash Town", "Elm": "Nowhere", "Oak": "Ash Town"}\n```'
    )
    assert run(asked.align(["Ash", "Elm"], ["Ash Town"])) == {"Ash": "Ash Town"}
    assert asked.usage.generated_tokens > 0


def test_a_model_judges_each_pair() -> None:
    asked = judge('{"0": 1, "1": 0, "2": "1"}')
    assert run(asked.judge(["a", "b", "c", "d"], ["a", "x", "c", "d"], "the same")) == [True, False, True, False]


def test_nothing_is_granted_for_an_unreadable_reply() -> None:
    asked = judge("All of them are right!")
    assert run(asked.judge(["a"], ["a"], "the same")) == [False]
    assert run(asked.align(["a"], ["a"])) == {}
    assert asked.unreadable == 2


@pytest.mark.parametrize(
    ("text", "found"),
    [("", None), ("{", None), ("[1]", None), ('{"a": {"b": 1}}', {"a": {"b": 1}}), ('{"a": 1} {"b": 2} {x', {"b": 2})],
)
def test_the_last_object(text: str, found: object) -> None:
    assert last_object(text) == found
