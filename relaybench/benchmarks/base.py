"""The benchmark contract: tasks, their environment, how replies are read, and how the roles split them.

To add a benchmark, write a `Benchmark` (docs/extending.md has a worked example) and name it in
build.py. Only the benchmark's own scoring decides success. Model replies are data: `parse_action`
reads them and nothing ever evaluates them; what it cannot read becomes an observation, not an exception.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from msgspec import Struct, field

from relaybench.records import Score

if TYPE_CHECKING:
    from relaybench.rollout.plan import Roles

FINISH = "finish"
"""The tool name of an action that ends a worker's subtask."""


class Task(Struct, frozen=True):
    """One instance of a benchmark."""

    id: str
    instruction: str
    """X: the task as the benchmark words it."""
    template: str | None = None
    """Task template or type: the unit of train/test splits and of breakdowns."""
    data: dict[str, Any] = field(default_factory=dict)
    """The task's record, ground truth included; only scoring and the `oracle` relay look at it."""


class Action(Struct, frozen=True):
    """What a reply asks for: the tool (for whitelists) and the text handed to the environment."""

    tool: str
    text: str


class StepResult(Struct, frozen=True):
    """The environment's answer to one action."""

    observation: str
    reward: float = 0.0
    done: bool = False
    """The task is over: no worker acts any more."""
    finished: bool = False
    """The acting worker's part is over, the task is not."""


class Environment(Protocol):
    """One task's world. Deterministic: the same actions from `reset` give the same observations.

    Methods that would block (subprocesses, heavy engines) run in worker processes, never on the event loop.
    """

    async def reset(self) -> str:
        """Start over; the first observation (o_0), "" where there is nothing to see."""
        ...

    async def step(self, action: str) -> StepResult: ...

    async def score(self) -> Score: ...

    async def close(self) -> None: ...


class Benchmark(Protocol):
    """A set of tasks with everything needed to run and score them."""

    name: str
    revision: str
    """Digest or version of data and rules: part of the episode key and of every printed result."""
    label: str
    """How results name it, e.g. "workbench multi_domain (v2)"."""

    def tasks(self) -> Sequence[Task]: ...

    def environment(self, task: Task) -> Environment: ...

    def roles(self, task: Task) -> Roles: ...

    def parse_action(self, reply: str) -> Action | None:
        """The one action in a reply, or None where there is none."""
        ...

    def needed(self, task: Task) -> dict[str, str]:
        """The values a sufficient relay must carry, by field name; empty where the benchmark cannot tell."""
        ...

    async def close(self) -> None:
        """The run is over: let go of what its environments share (worker processes, an index)."""
        ...


@runtime_checkable
class Targeted(Protocol):
    """A benchmark that knows what a worker should do next: the target Y that relays into it are judged by."""

    def targets(self, task: Task, worker: str) -> list[str]:
        """Valid first replies of that worker, as its role would write them; empty where there are none to name."""
        ...


@runtime_checkable
class Keyed(Protocol):
    """A benchmark whose answer key can differ from the needed values: by noise in it, or because it is computed."""

    def keys(self, task: Task) -> dict[str, str]:
        """The values that the targets consist of, by the name of the needed field that tells them."""
        ...


_ACTION = re.compile(r"^[ \t*]*Action[ \t*]*:[ \t*]*(.*)$", re.MULTILINE | re.IGNORECASE)


def action_line(reply: str) -> str | None:
    """The text after the first "Action:" of a Thought/Action reply, or None."""
    match = _ACTION.search(reply)
    if match is None:
        return None
    text = match.group(1).strip().strip("`").strip()
    return text or None
