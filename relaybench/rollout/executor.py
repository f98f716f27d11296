"""The executor: runs one plan, worker by worker and relay by relay, in one environment.

Independent workers run side by side. An identity relay hands the upstream token list on, and the next subtask's
message is appended to it; any other relay starts a fresh list with the relay's text last, so that many relays of
one task share a prefix. With `sharing`, workers that wait for nobody are rolled out once for all systems of a
(task, engine, seed): each episode then replays their actions in its own environment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import msgspec

from relaybench.benchmarks.base import Action, Environment, Task
from relaybench.engines.model import Model
from relaybench.records import Context, Relay, WorkerRecord, join
from relaybench.relays.base import achieved_loss
from relaybench.relays.identity import Identity
from relaybench.rollout.plan import Edge, Plan, Planner, Subtask
from relaybench.rollout.worker import Worker

ShareWorker = Callable[[Subtask, Callable[[], Awaitable[WorkerRecord]]], Awaitable[tuple[str, WorkerRecord]]]
"""Give the shared rollout of a root subtask: (key, record), made at most once by the callable."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a plan runs in: the task, its model, and how to make its environment."""

    task: Task
    model: Model
    make_environment: Callable[[], Environment]
    parse_action: Callable[[str], Action | None]
    needed: dict[str, str] = field(default_factory=dict)
    """Values a sufficient relay carries, to tell each relay's achieved loss."""
    share: ShareWorker | None = None
    planner: Planner | None = None


@dataclass(slots=True)
class Rollout:
    """What came of a plan: contexts and records by subtask, in the order they ended."""

    plan: Plan
    contexts: dict[str, Context] = field(default_factory=dict)
    records: dict[str, WorkerRecord] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)
    """Keys of shared rollouts by subtask."""
    relays: list[Relay] = field(default_factory=list)


async def execute(
    plan: Plan, setting: Setting, environment: Environment, only: frozenset[str] | None = None
) -> Rollout:
    """Run `plan`, or `only` some of its subtasks, to its end. Raises what fails for an outside reason."""
    rollout = Rollout(plan)
    observation = await environment.reset()
    running: dict[asyncio.Task[None], str] = {}
    started: set[str] = set()
    try:
        while True:
            over = any(record.stop == "done" for record in rollout.records.values())
            for subtask in () if over else rollout.plan.ready(rollout.records.keys(), started):
                if only is not None and subtask.id not in only:
                    continue
                started.add(subtask.id)
                run = _run_subtask(subtask, rollout, setting, environment, observation)
                running[asyncio.ensure_future(run)] = subtask.id
            if not running:
                return rollout
            ended, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for job in ended:
                name = running.pop(job)
                job.result()
                if setting.planner is not None:
                    rollout.plan = setting.planner.revise(rollout.plan, rollout.contexts[name], frozenset(started))
    finally:
        for job in running:
            job.cancel()
        await asyncio.gather(*running, return_exceptions=True)  # none may act once its environment is closed


async def context_of(name: str, plan: Plan, setting: Setting) -> Context:
    """The context of one subtask alone: its ancestors and itself are run, in an environment of their own."""
    environment = setting.make_environment()
    try:
        rollout = await execute(plan, setting, environment, only=_ancestors(plan, name))
    finally:
        await environment.close()
    return rollout.contexts[name]


async def _run_subtask(
    subtask: Subtask, rollout: Rollout, setting: Setting, environment: Environment, observation: str
) -> None:
    edges = rollout.plan.inbound(subtask.id)
    inherited = [rollout.contexts[e.source] for e in edges if isinstance(e.encoder, Identity)]
    relays = await asyncio.gather(*(_relay(e, subtask, rollout, setting) for e in edges if e.encoder is not None))
    rollout.relays.extend(relays)
    bounded = [relay for relay in relays if not _is_identity(relay)]
    context = Context(subtask.id, join(inherited))

    known = {_task_text(rollout.plan.subtask(segment.worker), setting) for segment in context.segments[:-1]}
    task = _task_text(subtask, setting)

    async def roll(where: Environment) -> WorkerRecord:
        _open(context, subtask, setting, observation, bounded, news="" if task in known else task)
        return await Worker(subtask, context, setting.model, where, setting.parse_action).run()

    if setting.share is None or edges or not _has_successor(rollout.plan, subtask):
        record = await roll(environment)
    else:
        record = await _shared(subtask, rollout, setting, environment, roll)
        context = _restored(record)
    rollout.contexts[subtask.id] = context
    rollout.records[subtask.id] = record


async def _shared(
    subtask: Subtask,
    rollout: Rollout,
    setting: Setting,
    environment: Environment,
    roll: Callable[[Environment], Awaitable[WorkerRecord]],
) -> WorkerRecord:
    async def make() -> WorkerRecord:
        apart = setting.make_environment()
        try:
            await apart.reset()
            return await roll(apart)
        finally:
            await apart.close()

    assert setting.share is not None
    key, record = await setting.share(subtask, make)
    rollout.shared[subtask.id] = key
    if not subtask.reads_only:
        for step in record.steps:
            if step.outcome == "ok" and step.action is not None:
                await environment.step(step.action)
    return record


def _open(
    context: Context, subtask: Subtask, setting: Setting, observation: str, relays: list[Relay], news: str
) -> None:
    """The opening messages: a fresh system and user message, or one user message after what is inherited.

    `news` is the task's text where no inherited worker was told it.
    """
    model = setting.model
    told = [heading(relay) + relay.text for relay in relays if relay.text]
    if context.last is None:
        context.append(model.message(context, "system", subtask.system))
        parts = [_task_text(subtask, setting), subtask.instruction, observation, *told]
    else:
        parts = [subtask.system, news, subtask.instruction, *told]
    context.append(model.message(context, "user", "\n\n".join(part for part in parts if part)))


def _task_text(subtask: Subtask, setting: Setting) -> str:
    return setting.task.instruction if subtask.task is None else subtask.task


def heading(relay: Relay) -> str:
    """What stands before a relay in the prompt of the worker that gets it."""
    return f"From {', '.join(relay.sources)}:\n"


async def _relay(edge: Edge, subtask: Subtask, rollout: Rollout, setting: Setting) -> Relay:
    assert edge.encoder is not None
    relay = await edge.encoder.encode(rollout.contexts[edge.source], subtask)
    return msgspec.structs.replace(relay, missing=achieved_loss(relay.text, setting.needed))


def _is_identity(relay: Relay) -> bool:
    return relay.encoder == Identity.name


def _has_successor(plan: Plan, subtask: Subtask) -> bool:
    return any(edge.source == subtask.id for edge in plan.edges)


def _restored(record: WorkerRecord) -> Context:
    context = Context(record.subtask)
    for message in record.messages:
        context.append(message)
    return context


def _ancestors(plan: Plan, name: str) -> frozenset[str]:
    """`name` and all that it waits for."""
    keep = {name}
    for subtask in reversed(plan.subtasks):
        if any(e.source == subtask.id and e.target in keep for e in plan.edges):
            keep.add(subtask.id)
    return frozenset(keep)
