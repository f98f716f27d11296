"""Processes: many games side by side, none left behind, and a death that is told in words."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from relaybench.benchmarks.alfworld.environment import ALFWorldEnvironment
from relaybench.benchmarks.alfworld.games import Game
from relaybench.benchmarks.alfworld.processes import GameFailed, Process, Processes


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


async def test_games_side_by_side_do_not_touch_each_other(games: dict[str, Game], processes: Processes) -> None:
    chosen = [games[kind] for kind in ("pick", "look", "clean")] * 4
    environments = [ALFWorldEnvironment(game, processes) for game in chosen]

    async def play(environment: ALFWorldEnvironment, game: Game) -> list[str]:
        seen = [await environment.reset()]
        return seen + [(await environment.step(action)).observation for action in game.walkthrough]

    seen = await asyncio.gather(*map(play, environments, chosen))
    assert seen[:3] == seen[3:6] == seen[6:9] == seen[9:]
    assert [(await e.score()).success for e in environments] == [True] * 12
    pids = processes.pids
    assert len(pids) == 2
    await processes.close()
    assert not any(map(alive, pids))
    assert processes.pids == []


async def test_a_dead_process_is_told_and_replaced(games: dict[str, Game], processes: Processes) -> None:
    environment = ALFWorldEnvironment(games["look"], processes)
    await environment.reset()
    (pid,) = processes.pids
    os.kill(pid, signal.SIGSTOP)
    asked = asyncio.create_task(environment.step("look"))
    await asyncio.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    for question in (asked, environment.step("look")):
        with pytest.raises(GameFailed, match="^a process that plays ALFWorld games was killed by SIGKILL; "):
            await question
    await environment.close()
    assert (await environment.reset()).startswith("You are")
    assert processes.pids not in ([], [pid])


async def test_a_game_that_cannot_be_loaded_is_told(processes: Processes) -> None:
    broken = Game("valid_seen/x/y/game.tw-pddl", "", (), __import__("zlib").compress(b"{}"))
    with pytest.raises(GameFailed, match="the game cannot be played .KeyError"):
        await ALFWorldEnvironment(broken, processes).reset()


async def test_a_cancelled_question_harms_nobody(games: dict[str, Game], processes: Processes) -> None:
    environment = ALFWorldEnvironment(games["look"], processes)
    opening = asyncio.create_task(environment.reset())
    await asyncio.sleep(0.1)
    opening.cancel()
    await asyncio.gather(opening, return_exceptions=True)
    await environment.close()
    assert (await environment.reset()).startswith("You are")
    assert (await environment.step("look")).observation.startswith("You are")


async def test_a_stopped_process_is_ended_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relaybench.benchmarks.alfworld.processes.END_SECONDS", 0.1)
    process = await Process.start()
    os.kill(process.pid, signal.SIGSTOP)
    await process.end()
    assert not alive(process.pid)


def test_a_process_ends_with_the_one_that_started_it(tmp_path: Path) -> None:
    program = tmp_path / "killed.py"
    program.write_text(
        "import asyncio, os\n"
        "from relaybench.benchmarks.alfworld.processes import Process\n"
        "async def main():\n"
        "    print((await Process.start()).pid, flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    pid = int(done.stdout)
    until = time.monotonic() + 60
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.1)
    assert not alive(pid)
