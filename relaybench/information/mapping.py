"""Where a stage is found in the traces of another system: a small mapping, and the stages it finds.

Any log of messages will do in which one message stands for others: a compaction, a summary, a hand-off. The mapping
says which message is the relay m, which tells the receiver its task X, which are the context M that the relay stands
for, and what came of it, Y. The three conditions are then X with M, X with m, and X alone, as one user message each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from msgspec import Struct
from pydantic import Field, field_validator

from relaybench.errors import UserError
from relaybench.information.stages import Stage
from relaybench.records import Message, Relay
from relaybench.settings import Settings

UNKNOWN = float("nan")


class Said(Struct, frozen=True):
    """One message of a trace, whatever its format."""

    role: str
    """user, assistant, system or tool."""
    name: str
    """Who said it, or which tool; "" where it is not told."""
    content: str


class Trace(Struct, frozen=True):
    """One episode of another system."""

    id: str
    messages: tuple[Said, ...]
    fields: dict[str, Any] = {}
    """What else its row holds: targets, labels."""


def _expression(text: str | None) -> str | None:
    try:
        re.compile(text or "")
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from None
    return text


class Pick(Settings):
    """Picks messages: all that is set has to hold."""

    role: Literal["user", "assistant", "system", "tool"] | None = None
    """Who speaks."""
    name: str | None = None
    """The agent's or the tool's name, exactly."""
    text: str | None = None
    """A regular expression that is found in the message."""
    place: int | None = None
    """Its place in the trace, from 0; -1 is the last."""

    @field_validator("text")
    @classmethod
    def _compiles(cls, text: str | None) -> str | None:
        return _expression(text)

    def places(self, said: Sequence[Said]) -> list[int]:
        """Where such messages stand, in order."""
        return [i for i, message in enumerate(said) if self._takes(message, i, len(said))]

    def _takes(self, message: Said, place: int, count: int) -> bool:
        return (
            self.role in (None, message.role)
            and self.name in (None, message.name)
            and (self.text is None or re.search(self.text, message.content) is not None)
            and (self.place is None or self.place % count == place)
        )


class Mapping(Settings):
    """What a trace's messages are. The launch line and the effect of each are in configs/measure/."""

    format: Literal["messages", "inspect", "atif"] = "messages"
    """messages: JSONL, rows with "messages"; inspect: an Inspect log (.eval, .json); atif: a Harbor trajectory."""
    relay: Pick
    """m: the first message that it picks."""
    task: Pick = Pick(role="user")
    """X: the first message that it picks."""
    context: Pick = Pick()
    """M: all that it picks before the relay, but X and system messages."""
    target: str | None = None
    """Y: a field of the row; by default what the assistant says next after the relay."""
    group: str | None = None
    """A field of the row that tells relays apart in the table, e.g. which compactor wrote it."""
    relay_name: str = Field("relay", min_length=1)
    """What tables call it where there is no group."""
    strip: str | None = None
    """A regular expression taken out of the relay, e.g. words around it that are no part of it."""

    @field_validator("strip")
    @classmethod
    def _compiles(cls, strip: str | None) -> str | None:
        return _expression(strip)


class Found(Struct, frozen=True):
    """A stage and its target."""

    stage: Stage
    target: str


def find(traces: Sequence[Trace], mapping: Mapping) -> list[Found]:
    """The stages of all traces that hold one. Raises UserError where none does, with what the first one lacks."""
    found: list[Found] = []
    lacking: list[str] = []
    for trace in traces:
        try:
            found.append(_stage(trace, mapping))
        except LookupError as error:
            lacking.append(f"{trace.id}: {error.args[0]}")
    if not found:
        raise UserError(f"no trace holds what the mapping names; {lacking[0] if lacking else 'the file is empty'}")
    return found


def _stage(trace: Trace, mapping: Mapping) -> Found:
    said = trace.messages
    relay = _first(mapping.relay.places(said), "relay")
    task = _first(mapping.task.places(said), "task")
    before = [i for i in mapping.context.places(said) if i < relay and i != task and said[i].role != "system"]
    if not before:
        raise LookupError("nothing before the relay is its context")
    text = re.sub(mapping.strip, "", said[relay].content) if mapping.strip else said[relay].content
    context = "\n\n".join(said[i].content for i in before)
    system = str(trace.fields.get(mapping.group, "unknown")) if mapping.group else mapping.relay_name
    told = said[task].content
    none, relayed, full = (_prompt(said, "\n\n".join(parts)) for parts in ((told,), (told, text), (told, context)))
    sent = Relay(text=text, sources=("context",), to="next", encoder=system, rate_tokens=None)
    stage = Stage(trace.id, "traces", 0, system, "next", (sent,), none, relayed, full, context, UNKNOWN, None)
    return Found(stage, _target(trace, mapping, relay))


def _first(places: Sequence[int], what: str) -> int:
    if not places:
        raise LookupError(f"no message is picked as {what}")
    return places[0]


def _prompt(said: Sequence[Said], content: str) -> tuple[Message, ...]:
    """The trace's own system message, where it has one, and what the receiver is told."""
    system = [Message("system", m.content) for m in said if m.role == "system"][:1]
    return (*system, Message("user", content))


def _target(trace: Trace, mapping: Mapping, relay: int) -> str:
    if mapping.target is not None:
        value = trace.fields.get(mapping.target)
        if not value:
            raise LookupError(f"no field '{mapping.target}'")
        return str(value)
    return next(_after(trace.messages, relay))


def _after(said: Sequence[Said], relay: int) -> Iterator[str]:
    for message in said[relay + 1 :]:
        if message.role == "assistant" and message.content.strip():
            yield message.content
    raise LookupError("the assistant says nothing after the relay")
