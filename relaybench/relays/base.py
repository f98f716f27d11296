"""The relay encoder contract.

An encoder turns the upstream context M_i into a relay m_i for the next subtask X_{i+1} (paper, section 3). The
`identity` encoder sends everything: a system with identity relays is SAS-contextflow. Every other encoder is
bounded, and makes it MAS. No encoder sees the target Y, so (X, Y) - M - m is a Markov chain (eq. 1); the declared
exception, `oracle`, is labelled as knowing Y wherever it appears. Report formats belong to the receiving subtask:
they are the protocol of an edge, fixed before any task is seen, so a blind encoder may use them.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from relaybench.engines.model import Model
from relaybench.errors import UserError
from relaybench.records import Context, Relay

if TYPE_CHECKING:
    from relaybench.config import RelayConfig
    from relaybench.rollout.plan import Subtask


class ReportFormat(Protocol):
    """A structured report that one role writes for the next: how it is asked for, read and written."""

    name: str
    """With its version, e.g. "workbench-fields@1"."""
    request: str
    """The message that asks for it, appended to the writer's context."""

    def parse(self, text: str) -> dict[str, str] | None:
        """Named fields of a report, or None where `text` does not follow the format."""
        ...

    def render(self, fields: Mapping[str, str]) -> str:
        """The report's text; `parse(render(fields)) == fields`."""
        ...


class RelayEncoder(Protocol):
    """(context, next subtask) -> relay."""

    name: str
    """With its version and settings, e.g. "truncate@1(last 256)": part of the episode key."""
    sees_next_subtask: bool
    """Query-aware encoders use X_{i+1}; blind ones do not."""
    knows_target: bool
    """True for `oracle` alone."""

    async def encode(self, context: Context, next_subtask: Subtask, budget: int | None = None) -> Relay:
        """The relay from `context` to `next_subtask`, of at most `budget` tokens where one is given."""
        ...


Make = Callable[[], Awaitable[Relay]]


async def _make(key: str, make: Make) -> Relay:
    return await make()


async def _no_foreign(base: RelayConfig, source: str, next_subtask: Subtask) -> tuple[str, Relay]:
    raise UserError("a foreign relay needs the runner's task list; run it with `relaybench run`")


@dataclass(frozen=True, slots=True)
class Materials:
    """What the encoders of one episode may draw on. The runner fills it in; `model` alone is enough for tests."""

    model: Model
    task: str = ""
    needed: Mapping[str, str] = field(default_factory=dict)
    """The values a sufficient relay carries: for `oracle` alone."""
    once: Callable[[str, Make], Awaitable[Relay]] = _make
    """Write a relay at most once per key and (task, engine, seed), for all systems that use it."""
    foreign: Callable[[RelayConfig, str, Subtask], Awaitable[tuple[str, Relay]]] = _no_foreign
    """(base relay, source, next subtask) -> the id of another task and its relay on the same edge."""


def render_fields(fields: Mapping[str, str], report_format: ReportFormat | None) -> str:
    """The text of `fields` in the edge's format, or as "name: value" lines where it has none."""
    if report_format is not None:
        return report_format.render(fields)
    return "\n".join(f"{name}: {value}" for name, value in fields.items())


def achieved_loss(text: str, needed: Mapping[str, str]) -> float | None:
    """The share of the needed values that `text` does not contain, in [0, 1]; None where none are needed.

    Case and the kind and amount of white space do not matter; otherwise a value must stand there as it is, and whole:
    12 is neither in 4123 nor in 3.12 nor in 12.5, and "Ann" is not in "Annual". A value in other words ("noon" for
    12:00) counts as absent, so of omissions this is an upper bound; one under the wrong name counts as present.
    Blank values are not needed.
    """
    wanted = [plain for value in needed.values() if (plain := _plain(value))]
    if not wanted:
        return None
    body = _plain(text)
    return sum(_whole(value).search(body) is None for value in wanted) / len(wanted)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _whole(value: str) -> re.Pattern[str]:
    """Matches `value` where it is not a part of a longer word or number."""
    before = r"(?<!\w)" if value[0].isalnum() or value[0] == "_" else ""
    after = r"(?!\w)" if value[-1].isalnum() or value[-1] == "_" else ""
    if value[0].isdigit():
        before += r"(?<!\d\.)"
    if value[-1].isdigit():
        after += r"(?!\.\d)"
    return re.compile(before + re.escape(value) + after)
