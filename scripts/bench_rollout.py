"""What everything but the model costs: the real runner and store with a fake model that answers at once.

    python scripts/bench_rollout.py --episodes 256 --turns 10            prints one JSON line
    python scripts/bench_rollout.py --turns 60 --save runs/bench         keeps the run folder

`cpu_ms_per_turn` is the process's CPU time (user and system, all threads) from after the imports to the closed store,
over episodes x turns: planning, keys, prompts as token ids, steps, scoring, JSON, syncing and metadata included.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from relaybench.benchmarks.base import Action, StepResult, Task, action_line
from relaybench.config import OpenAIConfig, RunConfig, SystemConfig
from relaybench.config_benchmarks import LedgerConfig
from relaybench.engines.base import Request
from relaybench.engines.fake import FakeEngine
from relaybench.records import Score
from relaybench.rollout.grid import Grid
from relaybench.rollout.plan import Roles, Subtask
from relaybench.rollout.progress import Progress
from relaybench.rollout.runner import Runner
from relaybench.rollout.store import open_store


class Counting:
    """A world of `turns` steps that counts them."""

    def __init__(self, turns: int) -> None:
        self._turns = turns
        self._count = 0

    async def reset(self) -> str:
        self._count = 0
        return "The counter stands at 0."

    async def step(self, action: str) -> StepResult:
        self._count += 1
        return StepResult(f"The counter stands at {self._count}.", done=self._count >= self._turns)

    async def score(self) -> Score:
        return Score(self._count >= self._turns, float(self._count))

    async def close(self) -> None:
        """Nothing to close."""


class CountingBenchmark:
    """As many tasks as asked for, each of `turns` steps."""

    name = label = "counting"

    def __init__(self, episodes: int, turns: int) -> None:
        self.revision = f"{turns} turns"
        self._turns = turns
        self._tasks = [Task(f"count-{i}", f"Task {i}: count to {turns}.") for i in range(episodes)]
        self._whole = Subtask(
            "whole", "counter", "You count. Write 'Action: add one'.", "Go on until you are there.", turns
        )

    def tasks(self) -> Sequence[Task]:
        return self._tasks

    def environment(self, task: Task) -> Counting:
        return Counting(self._turns)

    def roles(self, task: Task) -> Roles:
        return Roles("1", self._whole, (self._whole,), ())

    def parse_action(self, reply: str) -> Action | None:
        text = action_line(reply)
        return None if text is None else Action("add", text)

    def needed(self, task: Task) -> dict[str, str]:
        return {}

    async def close(self) -> None:
        """Nothing is held."""


def count_on(request: Request) -> str:
    return "Thought: one more.\nAction: add one"


async def run(episodes: int, turns: int, concurrency: int, folder: Path) -> None:
    config = RunConfig(
        benchmark=LedgerConfig(name="ledger"),
        engines=[OpenAIConfig(kind="openai", model="fake")],
        systems=[SystemConfig(prototype="sas")],
        concurrency=concurrency,
        out=folder,
    )
    benchmark = CountingBenchmark(episodes, turns)
    grid = Grid(config, benchmark)
    store = open_store(config, benchmark, [job.key for job in grid.jobs])
    try:
        summary = await Runner(config, benchmark, {"fake": FakeEngine(count_on)}, store, Progress(), grid=grid).run()
    finally:
        store.close()
    if summary.done != episodes:
        raise SystemExit(f"only {summary.done} of {episodes} episodes were done")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=256)
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--save", type=Path, help="keep the run folder here (it must not exist)")
    args = parser.parse_args()
    folder = args.save or Path(tempfile.mkdtemp(prefix="relaybench-"))
    cpu, wall = time.process_time(), time.perf_counter()
    asyncio.run(run(args.episodes, args.turns, args.concurrency, folder))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    if args.save is None:
        shutil.rmtree(folder)
    numbers = {
        "cpu_ms_per_turn": round(1000 * cpu / (args.episodes * args.turns), 4),
        "wall_s": round(wall, 3),
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        "episodes": args.episodes,
        "turns": args.turns,
        "concurrency": args.concurrency,
    }
    print(json.dumps(numbers))


if __name__ == "__main__":
    main()
