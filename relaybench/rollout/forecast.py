"""The forecast that `--dry-run` prints: how many episodes and calls a grid takes, and about how many tokens.

Calls are an upper bound: every worker spends its whole step budget, each shared rollout and each written relay is made
once. Tokens are an estimate, since nobody knows how long a model will talk: workers are taken to use half of their
steps, a reply to have 60 tokens (or `max_tokens`, if that is less), an observation 120, a token to be four characters
of the prompt. Prompt tokens are counted at every call, so an engine with a prefix cache computes far fewer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from math import ceil
from typing import NamedTuple, cast

from msgspec import Struct

from relaybench.benchmarks.base import Task
from relaybench.config import SystemConfig
from relaybench.engines.base import Engine
from relaybench.engines.model import Model
from relaybench.relays.base import Materials
from relaybench.relays.catalogue import encoder_name
from relaybench.relays.identity import Identity
from relaybench.rollout.episode import plan_of
from relaybench.rollout.grid import Grid, Job
from relaybench.rollout.plan import Edge, Plan, Subtask

REPLY_TOKENS = 60
OBSERVATION_TOKENS = 120
CHARACTERS_A_TOKEN = 4
STEPS_USED = 0.5


class Forecast(Struct, frozen=True):
    """What a grid takes."""

    benchmark: str
    tasks: int
    systems: int
    engines: int
    seeds: int
    episodes: int
    stored: int
    """Episodes that are there already, and not run again."""
    calls: int
    """Engine calls of the others, at most."""
    prompt_tokens: int
    """Estimate, cached ones included."""
    generated_tokens: int
    """Estimate."""

    def __str__(self) -> str:
        return (
            f"{self.benchmark}: {self.tasks:,} tasks x {self.systems} systems x {self.engines} engines "
            f"x {self.seeds} seeds\n"
            f"episodes  {self.episodes:,} ({self.stored:,} stored, {self.episodes - self.stored:,} to run)\n"
            f"calls     at most {self.calls:,}\n"
            f"tokens    about {_rounded(self.prompt_tokens)} of prompt (before prefix caching), "
            f"{_rounded(self.generated_tokens)} generated"
        )


class _Cost(NamedTuple):
    calls: int = 0
    prompt: float = 0.0
    generated: float = 0.0


def forecast(grid: Grid, stored: Collection[str]) -> Forecast:
    """What is still to be done for `grid`; `stored` are the keys that are there. Asks no engine."""
    costs: dict[tuple[str, ...], _Cost] = {}
    for job in grid.jobs:
        if job.key not in stored:
            costs.update(_parts(job, grid))
    config = grid.config
    return Forecast(
        benchmark=grid.benchmark.label,
        tasks=len(grid.tasks),
        systems=len(config.systems),
        engines=len(config.engines),
        seeds=len(config.seeds),
        episodes=len(grid.jobs),
        stored=sum(job.key in stored for job in grid.jobs),
        calls=sum(cost.calls for cost in costs.values()),
        prompt_tokens=round(sum(cost.prompt for cost in costs.values())),
        generated_tokens=round(sum(cost.generated for cost in costs.values())),
    )


def _parts(job: Job, grid: Grid) -> Iterator[tuple[tuple[str, ...], _Cost]]:
    """What a job is made of, by what makes each part unique: parts that jobs share come with the same name."""
    share = grid.config.share_upstream
    owner = job.group if share else job.key
    plan = _plan(job.system, job.task, grid)
    segments: dict[str, float] = {}
    for subtask in plan.subtasks:
        inbound = plan.inbound(subtask.id)
        cost, segments[subtask.id] = _worker(subtask, job.task, inbound, segments, grid)
        shared = share and not inbound and any(edge.source == subtask.id for edge in plan.edges)
        yield (job.group if shared else job.key, subtask.id), cost
    yield from _relays(job.system, owner, plan, segments, grid)
    loss = job.system.relay.loss if job.system.relay else None
    if loss is not None and loss.foreign and len(grid.all_tasks) > 1:
        other = grid.neighbour(job.task)
        abroad = grid.group(other, job.engine, job.seed) if share else job.key + "/foreign"
        yield from _relays(job.system, abroad, plan, segments, grid)
        for edge in plan.edges:
            cost, _ = _worker(plan.subtask(edge.source), other, plan.inbound(edge.source), segments, grid)
            yield (abroad, edge.source), cost


def _plan(system: SystemConfig, task: Task, grid: Grid) -> Plan:
    nothing = Materials(Model(cast(Engine, None)))  # encoders look at their materials when they encode, not before
    return plan_of(system, grid.roles(task), nothing)


def _worker(
    subtask: Subtask, task: Task, inbound: list[Edge], segments: Mapping[str, float], grid: Grid
) -> tuple[_Cost, float]:
    """A worker's cost, and the tokens that it adds to a context."""
    reply = min(REPLY_TOKENS, grid.decoding.max_tokens)
    turns = ceil(subtask.max_steps * STEPS_USED)
    opening = len(subtask.system + subtask.instruction + task.instruction) / CHARACTERS_A_TOKEN
    inherited = sum(segments[e.source] for e in inbound if isinstance(e.encoder, Identity))
    told = sum(REPLY_TOKENS for e in inbound if e.encoder is not None and not isinstance(e.encoder, Identity))
    turn = reply + OBSERVATION_TOKENS
    prompt = turns * (opening + inherited + told) + turn * turns * (turns - 1) / 2
    return _Cost(subtask.max_steps, prompt, turns * reply), opening + turns * turn


def _relays(
    system: SystemConfig, owner: str, plan: Plan, segments: Mapping[str, float], grid: Grid
) -> Iterator[tuple[tuple[str, ...], _Cost]]:
    """Written relays: a loss acts on one that is written anyway."""
    if system.relay is None or system.relay.encoder != "report":
        return
    base = encoder_name(system.relay.model_copy(update={"loss": None}))
    for edge in plan.edges:
        written = min(REPLY_TOKENS, grid.decoding.report_tokens)
        yield (owner, base, edge.source, edge.target), _Cost(1, segments[edge.source] + OBSERVATION_TOKENS, written)


def _rounded(tokens: int) -> str:
    """Two leading digits: an estimate has no more."""
    for size, name in ((1e9, " billion"), (1e6, " million"), (1e3, " thousand")):
        if tokens >= size:
            return f"{tokens / size:.2g}{name}"
    return str(tokens)
