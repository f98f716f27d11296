"""Runs that are killed, and servers that go away: nothing reported done is lost, nothing is stored twice."""

import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from relaybench.engines.base import EngineError, Request
from relaybench.engines.fake import FakeEngine, Trouble
from relaybench.records import Episode, FailedCall, Failure
from relaybench.rollout.grid import Grid
from relaybench.rollout.progress import Progress
from relaybench.rollout.store import read_run

from .toy import Toy, play, run_toy, toy_config

REPOSITORY = Path(__file__).parents[2]
TASKS = 6


def planned() -> set[str]:
    return {job.key for job in Grid(toy_config(Path("unused")), Toy(TASKS)).jobs}


def started(out: Path) -> subprocess.Popen[str]:
    script = Path(__file__).with_name("toy.py")
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, str(script), str(out), "--tasks", str(TASKS), "--latency", "0.003"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def killed_after(process: subprocess.Popen[str], reports: int, seconds: float) -> list[str]:
    """What it reported as done until it was killed, a random while after so many reports."""
    assert process.stdout is not None
    told = [line for line in (process.stdout.readline() for _ in range(reports)) if line]
    time.sleep(seconds)
    process.kill()
    told += process.stdout.readlines()
    process.wait()
    process.stdout.close()
    return [line.strip() for line in told if line.endswith("\n")]


def stored_keys(out: Path) -> Counter[str]:
    """Whole lines by key, as any JSON tool would read them."""
    data = (out / "episodes.jsonl").read_bytes() if (out / "episodes.jsonl").exists() else b""
    return Counter(json.loads(line)["key"] for line in data.split(b"\n")[:-1])


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder in memory where there is one: these runs do sync, and busy disks take their time."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        yield Path(folder)


@pytest.mark.slow
def test_killed_at_ten_random_moments_it_ends_with_the_keys_of_an_undisturbed_run(memory: Path) -> None:
    out, moments = memory / "run", random.Random(20)
    reported: set[str] = set()
    for attempt in range(10):
        process = started(out)
        told = killed_after(process, moments.randrange(0, 5), moments.uniform(0, 0.2 if attempt % 2 else 0.02))
        reported |= set(told)
        assert reported <= set(stored_keys(out))
    process = started(out)
    told = process.communicate(timeout=300)[0].split()
    assert process.returncode == 0
    assert set(stored_keys(out)) == planned()
    assert set(stored_keys(out).values()) == {1}
    assert not set(told) & reported  # what is stored is never run again
    run = read_run(out)
    assert run.notes == []
    assert len(run.episodes) == len(planned())
    assert run.failures == []


def after(calls: int, reached: asyncio.Event) -> Trouble:
    """No trouble: says when so many calls were made."""

    def count(request: Request, number: int) -> None:
        if number >= calls:
            reached.set()

    return count


async def test_an_interrupted_writer_loses_only_what_was_in_flight(tmp_path: Path) -> None:
    """The same without processes: the run is dropped at every possible number of calls."""
    config = toy_config(tmp_path / "run", concurrency=3)
    for calls in range(0, 40, 4):
        reached = asyncio.Event()
        run = asyncio.create_task(run_toy(config, FakeEngine(play, trouble=after(calls, reached)), Toy(TASKS)))
        await asyncio.wait([run, asyncio.create_task(reached.wait())], return_when=asyncio.FIRST_COMPLETED)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        if (tmp_path / "run/episodes.jsonl").exists():
            assert set(stored_keys(tmp_path / "run").values()) <= {1}
    await run_toy(config, benchmark=Toy(TASKS))
    assert set(stored_keys(tmp_path / "run")) == planned()
    assert set(stored_keys(tmp_path / "run").values()) == {1}


class AfterThree(Progress):
    """Calls `act` once three episodes are done."""

    def __init__(self, act: Callable[[], None]) -> None:
        super().__init__()
        self.act = act

    def end(self, result: Episode | Failure) -> None:
        super().end(result)
        if self.ended == 3:
            self.act()


@pytest.mark.parametrize("trouble", ["answers 500s", "hangs", "refuses", "stops"])
async def test_with_a_real_client_and_a_server_in_trouble(tmp_path: Path, trouble: str) -> None:
    """The server's replies mean nothing to the toy, so every worker spends its steps; the keys are what counts."""
    from relaybench.engines.openai import OpenAIEngine
    from tests.engines.openai_server import FakeServer, Says, error

    says = {"answers 500s": error(500, "out of order"), "hangs": Says(hang=True), "refuses": error(429, "busy")}

    async def attempt(server: FakeServer, progress: Progress | None = None) -> int:
        patience = 5.0 if trouble == "hangs" else 120.0  # a busy machine's first call takes seconds
        engine = {"kind": "openai", "model": "tiny-chat", "base_url": server.url, "call_timeout": patience}
        engine["max_retries"] = 0
        config = toy_config(tmp_path / "run", engines=[engine], concurrency=2)
        return (await run_toy(config, OpenAIEngine(config.engines[0]), progress=progress)).exit_code

    async with FakeServer() as server:

        def act() -> None:
            if trouble == "stops":
                stopping.append(asyncio.create_task(server._server.close()))
            else:
                server.always = says[trouble]

        stopping: list[asyncio.Task[None]] = []
        assert await attempt(server, AfterThree(act)) == 1
        await asyncio.gather(*stopping)
    before = read_run(tmp_path / "run")
    assert 3 <= len(before.episodes) < 28
    assert {failure.kind for failure in before.failures} == {"engine"}
    async with FakeServer() as server:  # started again, elsewhere: where a model is served is no part of the key
        assert await attempt(server) == 0
    run = read_run(tmp_path / "run")
    assert (len(run.episodes), run.notes, run.open_failures) == (28, [], [])
    assert set(stored_keys(tmp_path / "run").values()) == {1}
    assert {e.key for e in before.episodes} <= {e.key for e in run.episodes}


@pytest.mark.parametrize("kind", ["500 Internal Server Error", "connection refused", "hang"])
async def test_a_server_that_fails_stops_or_hangs_costs_a_resume_and_no_episode(tmp_path: Path, kind: str) -> None:
    out, trouble = tmp_path / "run", random.Random(3)

    def fails(request: Request, number: int) -> Exception | None:
        return EngineError(kind, [FailedCall(kind)]) if kind != "hang" and trouble.random() < 0.1 else None

    class Hanging(FakeEngine):
        async def generate(self, request: Request):  # type: ignore[no-untyped-def]
            if kind == "hang" and trouble.random() < 0.1:
                await asyncio.sleep(3600)
            return await super().generate(request)

    for _ in range(3):
        config = toy_config(out, deadline=1.0 if kind == "hang" else 1800)
        await run_toy(config, Hanging(play, trouble=fails), Toy(TASKS))
        assert set(stored_keys(out).values()) <= {1}
    assert (await run_toy(toy_config(out), benchmark=Toy(TASKS))).exit_code == 0
    assert set(stored_keys(out)) == planned()
    run = read_run(out)
    assert run.notes == []
    assert run.failures
    assert run.open_failures == []
    assert {failure.kind for failure in run.failures} == {"deadline" if kind == "hang" else "engine"}
