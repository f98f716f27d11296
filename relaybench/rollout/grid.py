"""The grid of a run: tasks x engines x seeds x systems, as jobs with their keys.

A key is a hash of what decides an episode's outcome: task and data revision, prototype, relay, engine kind, model
and adapter, decoding, seed, prompts. Where a model is served and how many episodes run at once are left out. A
setting at its default adds nothing to the hash, so settings that are added later leave old keys as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import msgspec

from relaybench.benchmarks.base import Benchmark, Task
from relaybench.config import AnyEngineConfig, DecodingConfig, RunConfig, SystemConfig
from relaybench.errors import UserError
from relaybench.records import Decoding
from relaybench.relays.catalogue import encoder_name
from relaybench.rollout.plan import Roles

_canonical = msgspec.json.Encoder(order="sorted").encode


@dataclass(frozen=True, slots=True)
class Job:
    """One episode to run."""

    key: str
    group: str
    """Key of what its task, engine and seed share."""
    task: Task
    system: SystemConfig
    engine: AnyEngineConfig
    seed: int


@dataclass(frozen=True, slots=True)
class Shard:
    """Every `count`-th task, from the `index`-th on (from 1)."""

    index: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """From "i/n". Raises UserError for anything else."""
        index, slash, count = text.partition("/")
        if not (slash and index.isdigit() and count.isdigit() and 1 <= int(index) <= int(count)):
            raise UserError(f"--shard {text} is not i/n with i from 1 to n; write for example --shard 1/4")
        return cls(int(index), int(count))

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


class Grid:
    """The jobs of a run, all systems of one (task, engine, seed) side by side, so that they share while it is warm."""

    def __init__(self, config: RunConfig, benchmark: Benchmark, shard: Shard | None = None) -> None:
        self.config = config
        self.benchmark = benchmark
        self.all_tasks: Sequence[Task] = benchmark.tasks()
        """The benchmark's full order, whatever part of it is run."""
        self.decoding = decoding_of(config.decoding)
        limited = self.all_tasks[: config.limit]
        self.tasks = limited if shard is None else limited[shard.index - 1 :: shard.count]
        self._places = {task.id: place for place, task in enumerate(self.all_tasks)}
        self._versions: dict[str, str] = {}
        self.jobs = list(self._jobs())
        self._check_distinct()

    def group(self, task: Task, engine: AnyEngineConfig, seed: int) -> str:
        """Key of what all systems of one task, engine and seed have in common."""
        return digest(self._common(task, engine, seed))

    def neighbour(self, task: Task) -> Task:
        """The next task in the benchmark's order, cyclic: its relay is misinformation for `task`."""
        if len(self.all_tasks) < 2:
            raise UserError("a foreign relay needs another task, and this benchmark has one; remove that system")
        return self.all_tasks[(self._places[task.id] + 1) % len(self.all_tasks)]

    def roles(self, task: Task) -> Roles:
        """The benchmark's roles for `task`, within the run's own number of steps where it sets one."""
        roles = self.benchmark.roles(task)
        if self.config.max_steps is None:
            return roles
        try:
            return roles.within(self.config.max_steps)
        except ValueError as error:
            raise UserError(f"max_steps: {error} of {self.benchmark.name}; raise it") from None

    def _jobs(self) -> Iterator[Job]:
        for task in self.tasks:
            for engine in self.config.engines:
                for seed in self.config.seeds:
                    common = self._common(task, engine, seed)
                    group = digest(common)
                    for system in self.config.systems:
                        yield Job(self._key(common, system), group, task, system, engine, seed)

    def _common(self, task: Task, engine: AnyEngineConfig, seed: int) -> dict[str, Any]:
        common = {
            "benchmark": self.benchmark.name,
            "revision": self.benchmark.revision,
            "task": task.id,
            "prompts": self._version(task),
            "engine": {"kind": engine.kind, "model": engine.model, "adapter": engine.adapter},
            "decoding": msgspec.to_builtins(self.decoding),
            "seed": seed,
        }
        if engine.max_context is not None:
            common["max_context"] = engine.max_context
        if self.config.max_steps is not None:
            common["max_steps"] = self.config.max_steps
        return common

    def _key(self, common: Mapping[str, Any], system: SystemConfig) -> str:
        own = {
            "prototype": system.prototype,
            "relay": None if system.relay is None else encoder_name(system.relay),
            "share_upstream": self.config.share_upstream,
        }
        return digest({**common, **own})

    def _version(self, task: Task) -> str:
        if task.id not in self._versions:
            self._versions[task.id] = self.roles(task).version
        return self._versions[task.id]

    def _check_distinct(self) -> None:
        seen: dict[str, Job] = {}
        for job in self.jobs:
            other = seen.setdefault(job.key, job)
            if other is not job:
                raise UserError(
                    f"'{_name(other)}' and '{_name(job)}' would be the same episode of task {job.task.id}; "
                    "remove one of them, or change what they differ in (model, adapter, relay)"
                )


def upstream_key(group: str, subtask: str) -> str:
    """Key of the shared rollout of a root subtask."""
    return digest({"group": group, "subtask": subtask})


def relay_key(group: str, key: str) -> str:
    """Key of a shared relay; `key` is the encoder's own (context, encoder, receiver)."""
    return digest({"group": group, "relay": key})


def digest(parts: Mapping[str, Any]) -> str:
    """The first 20 hex digits of the SHA-256 of the canonical JSON of `parts`."""
    return sha256(_canonical(parts)).hexdigest()[:20]


def decoding_of(config: DecodingConfig) -> Decoding:
    """The record that a decoding config stands for."""
    return Decoding(**{**config.model_dump(), "stop": tuple(config.stop)})


def _name(job: Job) -> str:
    return f"{job.system.label} / {job.engine.label}"
