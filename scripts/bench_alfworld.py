"""What ALFWorld's environments cost: steps per CPU-second, and many side by side.

    python scripts/bench_alfworld.py --data DIR                          prints one JSON line
    python scripts/bench_alfworld.py --data DIR --environments 64 --processes 2 --games 20 --steps 30

First some games of valid_unseen are played in this process, by actions drawn from what does something
(`steps_per_cpu_second`, `load_cpu_seconds` a game). Then many environments are played side by side in worker processes
while a watchdog measures how late the event loop wakes (`lag_ms`), what memory they take (`worker_mb` in all workers
with no environment, after the first round, and after the last; `mb_per_environment` is the first round's), and
what is left behind (`processes_left`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from pathlib import Path
from random import Random

from relaybench.benchmarks.alfworld.environment import ALFWorldEnvironment
from relaybench.benchmarks.alfworld.games import Game, read_games
from relaybench.benchmarks.alfworld.processes import Processes
from relaybench.benchmarks.alfworld.session import Session

WATCH_SECONDS = 0.005


def play_alone(games: list[Game], steps: int) -> dict[str, float]:
    """CPU costs in this process; the first game, which loads the engine, is not counted."""
    Session(games[0].text).close()
    loading = playing = 0.0
    random = Random(0)
    for game in games[1:]:
        began = time.process_time()
        session = Session(game.text)
        loaded = time.process_time()
        for _ in range(steps):
            session.step(random.choice(session.commands))
        playing += time.process_time() - loaded
        loading += loaded - began
        session.close()
    return {
        "steps_per_cpu_second": round(steps * len(games[1:]) / playing, 1),
        "load_cpu_seconds": round(loading / len(games[1:]), 3),
    }


async def play_together(games: list[Game], processes: int, rounds: int = 3) -> dict[str, object]:
    """`rounds` times every game's walkthrough, all at once."""
    made = Processes(processes)
    lags: list[float] = []
    watch = asyncio.create_task(_watch(lags))
    began = time.monotonic()
    for game in games[:processes]:
        environment = ALFWorldEnvironment(game, made)
        await environment.reset()
        await environment.close()
    memory = [_megabytes(made.pids)]
    won = 0
    for _ in range(rounds):
        environments = [ALFWorldEnvironment(game, made) for game in games]
        won += sum(await asyncio.gather(*map(_play, environments, games)))
        memory.append(_megabytes(made.pids))
        await asyncio.gather(*(environment.close() for environment in environments))
    seconds, pids = time.monotonic() - began, made.pids
    watch.cancel()
    await made.close()
    lags.sort()
    return {
        "environments": len(games),
        "processes": len(pids),
        "won": f"{won}/{rounds * len(games)}",
        "seconds": round(seconds, 1),
        "lag_ms": {name: round(lags[int(share * (len(lags) - 1))] * 1000, 1) for name, share in SHARES.items()},
        "worker_mb": {"start": memory[0], "first": memory[1], "last": memory[-1]},
        "mb_per_environment": round((memory[1] - memory[0]) / len(games), 1),
        "processes_left": sum(map(_is_there, pids)),
    }


SHARES = {"p50": 0.5, "p99": 0.99, "max": 1.0}


async def _play(environment: ALFWorldEnvironment, game: Game) -> bool:
    await environment.reset()
    for action in game.walkthrough:
        await environment.step(action)
    return (await environment.score()).success


async def _watch(lags: list[float]) -> None:
    while True:
        began = time.monotonic()
        await asyncio.sleep(WATCH_SECONDS)
        lags.append(time.monotonic() - began - WATCH_SECONDS)


def _is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def _megabytes(pids: list[int]) -> int:
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--environments", type=int, default=64)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    games = list(read_games(args.data, "valid_unseen"))
    spread = games[:: max(1, len(games) // (args.games + 1))][: args.games + 1]
    together = games[:: max(1, len(games) // args.environments)][: args.environments]
    alone = play_alone(spread, args.steps)
    print(json.dumps(alone | asyncio.run(play_together(together, args.processes, args.rounds))))


if __name__ == "__main__":
    main()
