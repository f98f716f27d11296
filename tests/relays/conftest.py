"""A reader's context, the edge it hands over on, and a scripted model, for all relay tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from relaybench.engines.model import Model
from relaybench.records import Context, Decoding, Relay, Usage
from relaybench.relays.base import Materials
from relaybench.rollout.plan import Subtask

from .doubles import ByteChat, Cards, Fixed, ScriptedEngine

Scene = Callable[..., tuple[ScriptedEngine, Materials]]


@pytest.fixture
def cards() -> Cards:
    return Cards()


@pytest.fixture
def writer(cards: Cards) -> Subtask:
    """The receiving subtask, which asks `reader` for cards."""
    return Subtask("writer", "writer", "Write.", "Write it.", 3, receives={"reader": cards})


@pytest.fixture
def plain_writer() -> Subtask:
    """A receiving subtask without a format."""
    return Subtask("writer", "writer", "Write.", "Write it.", 3)


@pytest.fixture
def scene() -> Scene:
    """scene(answer, tokens=True, decoding=..., **materials) -> an engine and materials around it."""

    def make(
        answer: str = "", *, tokens: bool = True, decoding: Decoding | None = None, **materials: Any
    ) -> tuple[ScriptedEngine, Materials]:
        engine = ScriptedEngine(answer, ByteChat() if tokens else None)
        model = Model(cast(Any, engine), decoding or Decoding())
        return engine, Materials(model, **materials)

    return make


@pytest.fixture
def read() -> Callable[[Model], Context]:
    """The context of a reader that opened one page."""

    def make(model: Model) -> Context:
        context = Context("reader")
        for role, content in (("system", "Read."), ("user", "Page 1: Ada 12, Bo 34, Zoë 56")):
            context.append(model.message(context, cast(Any, role), content))
        return context

    return make


@pytest.fixture
def fixed() -> Callable[..., Fixed]:
    """fixed(text, fields) -> an encoder of that relay, well formed where there are fields."""

    def make(text: str, fields: dict[str, str] | None) -> Fixed:
        usage = Usage(prompt_tokens=7, generated_tokens=3, calls=1)
        rate = len(text.encode())
        return Fixed(Relay(text, ("reader",), "writer", "fixed@1", rate, None, None, fields is not None, fields, usage))

    return make
