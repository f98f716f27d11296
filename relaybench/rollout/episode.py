"""One episode: from a job of the grid to its record.

Plans come from prototypes.py, the executor runs them, the benchmark's own scoring decides. Environments are closed
on every path, and what they raise is told apart from the errors of engines and of this library.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from relaybench.benchmarks.base import Environment, StepResult, Task
from relaybench.config import AnyEngineConfig, RelayConfig, SystemConfig
from relaybench.engines.model import Model
from relaybench.errors import UserError
from relaybench.records import Episode, Relay, Score, Shared, WorkerRecord
from relaybench.relays.base import Make, Materials
from relaybench.relays.catalogue import make_encoder
from relaybench.rollout import prototypes
from relaybench.rollout.executor import Setting, context_of, execute
from relaybench.rollout.grid import Grid, Job, relay_key, upstream_key
from relaybench.rollout.metadata import now
from relaybench.rollout.metering import Metered
from relaybench.rollout.plan import Plan, Roles, Subtask
from relaybench.rollout.sharing import Sharing

CLOSE_SECONDS = 30.0
"""How long an environment may take to close."""

Answer = TypeVar("Answer")
MakeWorker = Callable[[], Awaitable[WorkerRecord]]


class EnvironmentFailed(Exception):
    """An environment raised: neither the model's doing nor the engine's."""


class Guarded:
    """An environment whose exceptions say that they are its own."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    async def reset(self) -> str:
        return await _guard(self._environment.reset())

    async def step(self, action: str) -> StepResult:
        return await _guard(self._environment.step(action))

    async def score(self) -> Score:
        return await _guard(self._environment.score())

    async def close(self) -> None:
        await _guard(asyncio.wait_for(self._environment.close(), CLOSE_SECONDS))


async def _guard(call: Awaitable[Answer]) -> Answer:
    try:
        return await call
    except UserError:
        raise
    except Exception as error:
        raise EnvironmentFailed(f"{type(error).__name__}: {error}") from error


@dataclass(frozen=True, slots=True)
class Scene:
    """What one episode plays in: its grid, its engine, and what it shares with others."""

    grid: Grid
    sharing: Sharing
    engine: Metered
    config: AnyEngineConfig
    seed: int

    def model(self, task: Task) -> Model:
        return Model(self.engine, self.grid.decoding, self.seed, self.config.adapter, affinity=task.id)

    def materials(self, task: Task) -> Materials:
        """What the encoders of `task` may draw on."""
        needed = self.grid.benchmark.needed(task)
        foreign = partial(self._foreign, task)
        if not self.grid.config.share_upstream:
            return Materials(self.model(task), task.id, needed, foreign=foreign)
        return Materials(self.model(task), task.id, needed, partial(self._relay_once, self._group(task)), foreign)

    def setting(self, task: Task) -> Setting:
        """What a plan of `task` runs in."""
        benchmark = self.grid.benchmark
        return Setting(
            task=task,
            model=self.model(task),
            make_environment=lambda: Guarded(benchmark.environment(task)),
            parse_action=benchmark.parse_action,
            needed=benchmark.needed(task),
            share=partial(self._rollout_once, self._group(task)) if self.grid.config.share_upstream else None,
        )

    def _group(self, task: Task) -> str:
        return self.grid.group(task, self.config, self.seed)

    async def _rollout_once(self, group: str, subtask: Subtask, make: MakeWorker) -> tuple[str, WorkerRecord]:
        key = upstream_key(group, subtask.id)

        async def record() -> Shared:
            worker = await make()
            self.engine.settle(worker.usage)
            return Shared(key, worker=worker)

        shared = await self.sharing.once(group, key, record)
        assert shared.worker is not None
        return key, shared.worker

    async def _relay_once(self, group: str, key: str, make: Make) -> Relay:
        own = relay_key(group, key)

        async def record() -> Shared:
            relay = await make()
            self.engine.settle(relay.encode_usage)
            return Shared(own, relay=relay)

        shared = await self.sharing.once(group, own, record)
        assert shared.relay is not None
        return shared.relay

    async def _foreign(self, task: Task, base: RelayConfig, source: str, receiver: Subtask) -> tuple[str, Relay]:
        """The same relay of the next task in the benchmark's order, from an upstream rollout of that task."""
        other = self.grid.neighbour(task)
        with self.sharing.visit(self._group(other)):
            encoder = make_encoder(base, self.materials(other))
            plan = prototypes.mas(self.grid.roles(other), encoder)
            if not {source, receiver.id} <= {subtask.id for subtask in plan.subtasks}:
                raise UserError(
                    f"tasks {task.id} and {other.id} are split into different subtasks, so that neither can send the "
                    "other's relay; remove the system with 'foreign'"
                )
            context = await context_of(source, plan, self.setting(other))
            return other.id, await encoder.encode(context, plan.subtask(receiver.id))


async def play(job: Job, scene: Scene) -> Episode:
    """Run and score one job. Raises EngineError, EnvironmentFailed, or what is wrong with this library."""
    started, began = now(), time.monotonic()
    benchmark = scene.grid.benchmark
    roles = scene.grid.roles(job.task)
    plan = plan_of(job.system, roles, scene.materials(job.task))
    setting = scene.setting(job.task)
    environment = setting.make_environment()
    try:
        rollout = await execute(plan, setting, environment)
        score = await environment.score()
    finally:
        await environment.close()
    return Episode(
        key=job.key,
        benchmark=benchmark.name,
        revision=benchmark.revision,
        task=job.task.id,
        system=job.system.label,
        prototype=job.system.prototype,
        engine=job.engine.label,
        model=job.engine.model,
        seed=job.seed,
        score=score,
        order=tuple(rollout.records),
        workers=tuple(record for name, record in rollout.records.items() if name not in rollout.shared),
        shared=tuple(rollout.shared.values()),
        relays=tuple(rollout.relays),
        decoding=scene.grid.decoding,
        adapter=job.engine.adapter,
        template=job.task.template,
        prompts=roles.version,
        started=started,
        seconds=time.monotonic() - began,
    )


def plan_of(system: SystemConfig, roles: Roles, materials: Materials) -> Plan:
    """The plan of a system of the config."""
    if system.prototype == "sas":
        return prototypes.sas(roles)
    if system.prototype == "sas-plan":
        return prototypes.sas_plan(roles)
    if system.prototype == "sas-contextflow":
        return prototypes.sas_contextflow(roles)
    assert system.relay is not None  # the config's own check
    return prototypes.mas(roles, make_encoder(system.relay, materials))
