"""Many environments of one benchmark side by side: is the event loop free, what do they hold, is anything left behind?

    python scripts/bench_environments.py webshop
    python scripts/bench_environments.py alfworld --environments 64 --steps 10

Each environment is reset, takes `--steps` of the benchmark's ordinary actions and is scored, all at once on one event
loop, as in a run. A watchdog sleeps 5 ms at a time; what it oversleeps is the loop's lag. One JSON line is printed:
lag in milliseconds, CPU milliseconds a step (children included), memory in MB, processes left after closing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import time
from pathlib import Path

import numpy as np

from relaybench.benchmarks.base import Environment
from relaybench.build import make_benchmark
from relaybench.configfile import check

ACTIONS = {
    "alfworld": ["look", "inventory", "go to fridge 1", "open fridge 1", "go to countertop 1", "examine countertop 1"],
    "webshop": ["search[red shoes for women]", "click[next >]", "click[< prev]", "click[back to search]", "nonsense"],
    "travelplanner": [
        "CitySearch[Texas]",
        "FlightSearch[Houston, Austin, 2022-03-16]",
        "AccommodationSearch[Austin]",
        "RestaurantSearch[Austin]",
        "GoogleDistanceMatrix[Houston, Austin, self-driving]",
    ],
    "widesearch": ["search[world heritage sites]", "search[population by country]", "open[nowhere]"],
    "workbench": ['email.search_emails(query="meeting")', 'calendar.search_events(query="review")'],
    "ledger": ["open 1", "open 2", "open 99"],
}
NAP = 0.005
"""Seconds between the watchdog's looks at the clock."""
TURN = 1.0
"""Seconds at most that the model would take for a turn: between steps the loop is free, as in a run."""


async def watch(lags: list[float]) -> None:
    """Note how late each wake-up comes, in milliseconds, until cancelled."""
    while True:
        before = time.perf_counter()
        await asyncio.sleep(NAP)
        lags.append((time.perf_counter() - before - NAP) * 1000)


async def play(environment: Environment, actions: list[str]) -> None:
    """One episode without a model; closed on every path."""
    try:
        await environment.reset()
        for action in actions:
            await asyncio.sleep(random.uniform(0, TURN))
            if (await environment.step(action)).done:
                break
        await environment.score()
    finally:
        await environment.close()


async def bench(name: str, environments: int, steps: int) -> dict[str, float | int | str]:
    """Figures of one benchmark; the first environment is played alone, so that what all share is loaded before."""
    benchmark = make_benchmark(check({**_CONFIG, "benchmark": {"name": name}}, "the command line").benchmark)
    tasks, draw = benchmark.tasks(), random.Random(0)
    await play(benchmark.environment(tasks[0]), [])
    memory, cpu, began = _memory(), _cpu(), time.perf_counter()
    lags: list[float] = []
    watchdog = asyncio.create_task(watch(lags))
    await asyncio.sleep(2 * NAP)
    chosen = [tasks[i % len(tasks)] for i in range(environments)]
    await asyncio.gather(*(play(benchmark.environment(t), draw.choices(ACTIONS[name], k=steps)) for t in chosen))
    watchdog.cancel()
    wall, grown = time.perf_counter() - began, _memory() - memory
    await benchmark.close()
    return {
        "benchmark": name,
        "environments": environments,
        "steps": steps,
        "turn_s_at_most": TURN,
        "lag_p50_ms": round(float(np.percentile(lags, 50)), 2),
        "lag_p99_ms": round(float(np.percentile(lags, 99)), 2),
        "lag_max_ms": round(max(lags), 2),
        "wall_s": round(wall, 2),
        "cpu_ms_per_step": round((_cpu() - cpu) * 1000 / (environments * steps), 3),
        "memory_growth_mb": round(grown, 1),
        "processes_left": len(_children(os.getpid())),
    }


_CONFIG = {"engines": [{"kind": "openai", "model": "none"}], "systems": [{"prototype": "sas"}]}


def _cpu() -> float:
    """CPU seconds of this process and its children, running ones included."""
    ticks = os.sysconf("SC_CLK_TCK")
    running = 0.0
    for child in _children(os.getpid()):
        fields = Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()
        running += (int(fields[11]) + int(fields[12])) / ticks
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system + running


def _memory() -> float:
    """Resident megabytes of this process and its children."""
    pages = [int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in (os.getpid(), *_children(os.getpid()))]
    return sum(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _children(pid: int) -> list[int]:
    """All descendants that run (zombies do not)."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found += [child, *_children(child)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmark", choices=sorted(ACTIONS))
    parser.add_argument("--environments", type=int, default=64)
    parser.add_argument("--steps", type=int, default=10)
    args = parser.parse_args()
    print(json.dumps(asyncio.run(bench(args.benchmark, args.environments, args.steps))))


if __name__ == "__main__":
    main()
