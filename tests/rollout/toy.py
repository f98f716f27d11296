"""A toy benchmark and the model that plays it: a reader looks a value up, a writer writes it down.

Run as a script, it is a run that can be killed: it prints each key once the runner reports the episode as done.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from relaybench.benchmarks.base import Action, StepResult, Task, action_line
from relaybench.config import RunConfig
from relaybench.engines.base import Engine, Request
from relaybench.engines.fake import FakeEngine
from relaybench.records import Episode, Failure, Score
from relaybench.rollout.grid import Grid, Shard
from relaybench.rollout.plan import Roles, Subtask
from relaybench.rollout.progress import Progress
from relaybench.rollout.runner import Runner, RunSummary
from relaybench.rollout.store import open_store

REPORT: dict[str, Any] = {"prototype": "mas", "relay": {"encoder": "report"}}
FOREIGN: dict[str, Any] = {"prototype": "mas", "relay": {"encoder": "report", "loss": {"foreign": True}}}
SYSTEMS: list[dict[str, Any]] = [
    {"prototype": "sas"},
    {"prototype": "sas-contextflow"},
    REPORT,
    {"prototype": "mas", "relay": {"encoder": "report", "loss": {"drop": ["value"]}}},
    FOREIGN,
    {"prototype": "mas", "relay": {"encoder": "oracle"}},
    {"prototype": "mas", "relay": {"encoder": "none"}},
]


class ValueReport:
    name = "value@1"
    request = "Report the value."

    def parse(self, text: str) -> dict[str, str] | None:
        found = re.findall(r"^(\w+): (\w+)$", text, re.MULTILINE)
        return dict(found) if found else None

    def render(self, fields: Mapping[str, str]) -> str:
        return "\n".join(f"{name}: {value}" for name, value in fields.items())


class Notebook:
    """`look` shows the value, `write X` ends the task."""

    opened = 0
    closed = 0

    def __init__(self, value: str) -> None:
        self._value = value
        self._written = ""
        Notebook.opened += 1

    async def reset(self) -> str:
        return ""

    async def step(self, action: str) -> StepResult:
        if action == "look":
            return StepResult(f"The value is {self._value}.")
        self._written = action.removeprefix("write ")
        return StepResult("Written.", done=True)

    async def score(self) -> Score:
        return Score(self._written == self._value, float(self._written == self._value))

    async def close(self) -> None:
        Notebook.closed += 1


class Toy:
    name = "toy"
    label = "toy (v1)"
    revision = "toy-1"

    def __init__(self, tasks: int = 4) -> None:
        self._tasks = [
            Task(f"toy-{i}", f"Write down the value of box {i}.", "box", {"value": f"v{i}"}) for i in range(tasks)
        ]

    def tasks(self) -> Sequence[Task]:
        return self._tasks

    def environment(self, task: Task) -> Notebook:
        return Notebook(task.data["value"])

    def roles(self, task: Task) -> Roles:
        reader = Subtask("reader", "reader", "ROLE reader.", "Look the value up.", 3)
        receives = {"reader": ValueReport()}
        writer = Subtask("writer", "writer", "ROLE writer.", "Write it down.", 3, receives=receives)
        whole = Subtask("whole", "all", "ROLE whole.", "Do all of it.", 6)
        return Roles("toy@1", whole, (reader, writer), (("reader", "writer"),))

    def parse_action(self, reply: str) -> Action | None:
        text = action_line(reply)
        return None if text is None else Action(text.split()[0], text)

    def needed(self, task: Task) -> dict[str, str]:
        return {"value": task.data["value"]}

    async def close(self) -> None:
        """Nothing is held."""


def play(request: Request) -> str:
    """A model that does its role's part, with what it finds in its context."""
    words = "\n".join(message.content for message in request.messages)
    found = re.findall(r"(?:The value is|value:) (\w+)", words)
    if request.messages[-1].content == ValueReport.request:
        return f"value: {found[-1]}"
    role = re.findall(r"ROLE (\w+)", words)[-1]
    if role != "writer" and not found:
        return "Action: look"
    return "Action: finish" if role == "reader" else f"Action: write {found[-1] if found else 'nothing'}"


def toy_config(out: Path, systems: Sequence[Mapping[str, Any]] = SYSTEMS, **changes: Any) -> RunConfig:
    """A config whose engine is called "fake". Its benchmark entry is not used."""
    data = {
        "benchmark": {"name": "ledger"},
        "engines": [{"kind": "openai", "model": "fake"}],
        "systems": list(systems),
        "out": out,
        **changes,
    }
    return RunConfig.model_validate(data)


async def run_toy(
    config: RunConfig,
    engine: Engine | None = None,
    benchmark: Toy | None = None,
    progress: Progress | None = None,
    shard: Shard | None = None,
) -> RunSummary:
    """One invocation, store and all."""
    benchmark = benchmark or Toy()
    grid = Grid(config, benchmark, shard)
    store = open_store(config, benchmark, [job.key for job in grid.jobs])
    try:
        engines = {e.label: engine or FakeEngine(play) for e in config.engines}
        return await Runner(config, benchmark, engines, store, progress or Progress(), grid=grid).run()
    finally:
        store.close()


class Telling(Progress):
    """Prints the key of each episode that is reported done."""

    def end(self, result: Episode | Failure) -> None:
        super().end(result)
        if isinstance(result, Episode):
            print(result.key, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--tasks", type=int, default=8)
    parser.add_argument("--latency", type=float, default=0.005)
    args = parser.parse_args()
    engine = FakeEngine(play, latency=args.latency)
    summary = asyncio.run(run_toy(toy_config(args.out), engine, Toy(args.tasks), Telling()))
    return summary.exit_code


if __name__ == "__main__":
    sys.exit(main())
