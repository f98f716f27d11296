"""The plan: a graph of subtasks, with a relay encoder on each edge. It may grow while it runs.

Nodes are subtasks (X_i with role, tools and step budget), edges are ordered pairs. Growth adds nodes and edges but
never touches what has started (contract 4); phase budgets sum to at most the task's total.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from relaybench.records import Context

if TYPE_CHECKING:
    from relaybench.relays.base import RelayEncoder, ReportFormat

Script = Callable[[Context], str | None]
"""A declared scripted policy: the next reply for a context, or None to hand over to the model."""


@dataclass(frozen=True, slots=True)
class Subtask:
    """A worker's sub-instruction X_i with its role, tools and step budget."""

    id: str
    role: str
    system: str
    """The role's own instructions and tools: the system message of a fresh context."""
    instruction: str
    """What this worker is to do about the task, after the task's own words."""
    max_steps: int
    tools: frozenset[str] | None = None
    """Tools it may use (None: all). A forbidden one is answered with a refusal, and a step is spent."""
    receives: Mapping[str, ReportFormat] = field(default_factory=dict)
    """Report format by upstream subtask, where a report relay is possible."""
    script: Script | None = None
    reads_only: bool = False
    """Its actions leave the environment as it was: a shared rollout needs no replay of them."""
    prefill: str = ""
    """Words put into the model's mouth at the start of each reply (token engines only)."""
    task: str | None = None
    """The task as this worker may know it; None: in the benchmark's own words."""


@dataclass(frozen=True, slots=True)
class Edge:
    """An ordered pair of subtasks. `encoder` None sends nothing and leaves no record: only the order is kept."""

    source: str
    target: str
    encoder: RelayEncoder | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A directed acyclic graph of subtasks in topological order."""

    subtasks: tuple[Subtask, ...]
    edges: tuple[Edge, ...] = ()
    budget: int | None = None
    """The task's total step budget; None: the sum of the parts."""

    def __post_init__(self) -> None:
        _check(self)

    @property
    def total_steps(self) -> int:
        return sum(subtask.max_steps for subtask in self.subtasks)

    def subtask(self, name: str) -> Subtask:
        return next(s for s in self.subtasks if s.id == name)

    def inbound(self, name: str) -> list[Edge]:
        """Edges into `name`, sources in topological order."""
        order = [s.id for s in self.subtasks]
        return sorted((e for e in self.edges if e.target == name), key=lambda e: order.index(e.source))

    def ready(self, finished: Collection[str], started: Collection[str]) -> list[Subtask]:
        """Subtasks not yet started whose upstream has finished."""
        waits = {e.target for e in self.edges if e.source not in finished}
        return [s for s in self.subtasks if s.id not in started and s.id not in waits]

    def grow(self, subtasks: Sequence[Subtask] = (), edges: Sequence[Edge] = (), *, started: Collection[str]) -> Plan:
        """The plan with more nodes and edges. Raises ValueError where an edge would lead into a started subtask."""
        late = [e for e in edges if e.target in started]
        if late:
            raise ValueError(f"a plan cannot add an edge into {late[0].target!r}: that subtask has already started")
        return replace(
            self, subtasks=_sorted((*self.subtasks, *subtasks), (*self.edges, *edges)), edges=(*self.edges, *edges)
        )


@dataclass(frozen=True, slots=True)
class Roles:
    """How a benchmark splits a task: the same words serve every prototype.

    `parts` are in topological order; `pairs` are the ordered pairs that carry a relay in MAS (all others are `none`).
    """

    version: str
    """Version of prompts and split: part of the episode key."""
    whole: Subtask
    """One worker, all tools, the whole budget (SAS)."""
    parts: tuple[Subtask, ...]
    pairs: tuple[tuple[str, str], ...]

    def within(self, steps: int) -> Roles:
        """The same roles with `steps` in all, shared out as they are now (at least one each).

        Raises ValueError for fewer steps than parts.
        """
        shares = _share_out(steps, [part.max_steps for part in self.parts])
        parts = tuple(replace(part, max_steps=share) for part, share in zip(self.parts, shares, strict=True))
        return replace(self, whole=replace(self.whole, max_steps=steps), parts=parts)

    def plan(self, relay: RelayEncoder) -> Plan:
        """The MAS graph with `relay` on every pair that carries one."""
        return Plan(self.parts, tuple(Edge(a, b, relay) for a, b in self.pairs), budget=self.whole.max_steps)

    def in_order(self, relay: RelayEncoder) -> Plan:
        """The parts one after another, `relay` on every earlier-to-later pair."""
        names = [part.id for part in self.parts]
        pairs = [(a, b) for i, b in enumerate(names) for a in names[:i]]
        return Plan(self.parts, tuple(Edge(a, b, relay) for a, b in pairs), budget=self.whole.max_steps)

    def joined(self) -> Subtask:
        """One worker with the parts' sub-instructions joined (SAS-plan)."""
        steps = "\n".join(f"{i}. {part.instruction}" for i, part in enumerate(self.parts, 1))
        return replace(
            self.whole,
            id="joined",
            instruction=f"{self.whole.instruction}\n\nWork through these parts in order:\n{steps}",
        )


class Planner(Protocol):
    """Asked again after each finished worker; may return a grown plan."""

    def revise(self, plan: Plan, finished: Context, started: Collection[str]) -> Plan: ...


def _share_out(total: int, weights: Sequence[int]) -> list[int]:
    """Whole numbers from 1 on that sum to `total`, in proportion to `weights` (largest remainders first)."""
    if total < len(weights):
        raise ValueError(f"{total} steps are too few for {len(weights)} parts")
    spare, whole = total - len(weights), sum(weights)
    shares = [1 + spare * weight // whole for weight in weights]
    largest = sorted(range(len(weights)), key=lambda i: -(spare * weights[i] % whole))
    for i in largest[: total - sum(shares)]:
        shares[i] += 1
    return shares


def _sorted(subtasks: Sequence[Subtask], edges: Sequence[Edge]) -> tuple[Subtask, ...]:
    """Kahn's algorithm, stable in the given order. Raises ValueError on a cycle."""
    remaining = list(subtasks)
    placed: list[Subtask] = []
    while remaining:
        names = {s.id for s in remaining}
        free = next((s for s in remaining if not any(e.target == s.id and e.source in names for e in edges)), None)
        if free is None:
            raise ValueError(f"the plan has a cycle among {sorted(names)}")
        remaining.remove(free)
        placed.append(free)
    return tuple(placed)


def _check(plan: Plan) -> None:
    names = [s.id for s in plan.subtasks]
    if len(set(names)) != len(names):
        raise ValueError(f"subtask ids must differ: {names}")
    unknown = {n for e in plan.edges for n in (e.source, e.target)} - set(names)
    if unknown:
        raise ValueError(f"edges name unknown subtasks: {sorted(unknown)}")
    if plan.budget is not None and plan.total_steps > plan.budget:
        raise ValueError(f"the parts take {plan.total_steps} steps, more than the task's budget of {plan.budget}")
    order = {name: i for i, name in enumerate(names)}
    if any(order[e.source] >= order[e.target] for e in plan.edges):
        _sorted(plan.subtasks, plan.edges)
        raise ValueError("subtasks must be listed in topological order")
