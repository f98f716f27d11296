import asyncio
import gc
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from relaybench.benchmarks.base import StepResult, Task
from relaybench.engines.base import EngineError, Request
from relaybench.engines.fake import FakeEngine
from relaybench.errors import UserError
from relaybench.records import Episode, FailedCall, Failure, Shared
from relaybench.reporting.measures import measure
from relaybench.rollout import launch
from relaybench.rollout.budget import ErrorBudget
from relaybench.rollout.progress import Progress
from relaybench.rollout.runner import RunSummary
from relaybench.rollout.store import StoredRun, read_run

from .toy import FOREIGN, REPORT, SYSTEMS, Notebook, Toy, play, run_toy, toy_config

SAS: dict[str, Any] = {"prototype": "sas"}
CONTEXTFLOW: dict[str, Any] = {"prototype": "sas-contextflow"}
NEVER_STOP = {"error_budget": 1.0}


def by_system(run: StoredRun) -> dict[str, list[Episode]]:
    episodes = sorted(run.episodes, key=lambda episode: episode.task)
    return {name: [e for e in episodes if e.system == name] for name in {e.system for e in episodes}}


def successes(run: StoredRun) -> dict[str, list[bool]]:
    return {name: [e.score.success for e in episodes] for name, episodes in by_system(run).items()}


def down(message: str, when: Callable[[Request, int], bool]) -> Any:
    call = FailedCall(message, 0.5)
    return lambda request, number: EngineError(message, [call]) if when(request, number) else None


async def test_each_system_gets_what_its_relay_lets_through(tmp_path: Path) -> None:
    summary = await run_toy(toy_config(tmp_path / "run"))
    assert (summary.planned, summary.stored, summary.done, summary.failed, summary.exit_code) == (28, 0, 28, 0, 0)
    run = read_run(tmp_path / "run")
    works = [True] * 4
    fails = [False] * 4
    assert successes(run) == {
        "sas": works, "sas-contextflow": works, "mas report": works, "mas oracle": works,
        "mas report -value": fails, "mas report foreign": fails, "mas none": fails,
    }  # fmt: skip
    foreign = by_system(run)["mas report foreign"]
    assert [e.relays[0].foreign_task for e in foreign] == ["toy-1", "toy-2", "toy-3", "toy-0"]
    assert [e.relays[0].text for e in foreign] == ["value: v1", "value: v2", "value: v3", "value: v0"]


async def test_environments_are_closed_on_every_path(tmp_path: Path) -> None:
    before = Notebook.opened - Notebook.closed
    await run_toy(toy_config(tmp_path / "a"))
    trouble = down("500", lambda request, number: number % 3 == 0)
    await run_toy(toy_config(tmp_path / "b", **NEVER_STOP), FakeEngine(play, trouble=trouble))
    await run_toy(toy_config(tmp_path / "c", deadline=0.01, **NEVER_STOP), FakeEngine(play, latency=60))
    assert Notebook.opened - Notebook.closed == before


async def test_one_upstream_rollout_and_one_report_serve_all_systems_of_a_task(tmp_path: Path) -> None:
    engine = FakeEngine(play)
    await run_toy(toy_config(tmp_path / "run"), engine)
    # A task: SAS 2 calls, the reader 2, its report 1, six writers of 1.
    assert engine.calls == 4 * (2 + 2 + 1 + 6)
    run = read_run(tmp_path / "run")
    assert len([s for s in run.shared.values() if s.worker]) == 4
    assert len([s for s in run.shared.values() if s.relay]) == 4


async def test_share_upstream_false_runs_each_system_end_to_end(tmp_path: Path) -> None:
    engine = FakeEngine(play)
    await run_toy(toy_config(tmp_path / "run", share_upstream=False), engine)
    # Three systems write a report; the foreign one rolls the other task out for it besides its own.
    assert engine.calls == 4 * (2 + 6 * (2 + 1) + 3 + 2)
    run = read_run(tmp_path / "run")
    assert run.shared == {}
    assert all(not episode.shared for episode in run.episodes)
    assert successes(run)["mas report"] == [True] * 4


async def test_a_second_run_does_nothing_and_starts_no_engine(tmp_path: Path) -> None:
    await run_toy(toy_config(tmp_path / "run"))
    engine = FakeEngine(play)

    async def start() -> None:
        raise AssertionError("started")

    engine.start = start  # type: ignore[method-assign]
    summary = await run_toy(toy_config(tmp_path / "run"), engine)
    assert (summary.stored, summary.done, summary.exit_code) == (28, 0, 0)


async def test_more_systems_in_the_same_folder_reuse_the_stored_upstream(tmp_path: Path) -> None:
    await run_toy(toy_config(tmp_path / "run", [REPORT]))
    engine = FakeEngine(play)
    await run_toy(toy_config(tmp_path / "run", [REPORT, CONTEXTFLOW, FOREIGN]), engine)
    assert engine.calls == 4 * 2


async def test_an_engine_error_is_a_failure_with_what_it_cost_and_runs_again(tmp_path: Path) -> None:
    trouble = down("500 Internal Server Error", lambda request, number: number == 1)
    config = toy_config(tmp_path / "run", [SAS], limit=1)
    summary = await run_toy(config, FakeEngine(play, trouble=trouble))
    assert (summary.done, summary.failed, summary.exit_code) == (0, 1, 1)
    (failure,) = read_run(tmp_path / "run").failures
    assert (failure.kind, failure.error) == ("engine", "500 Internal Server Error")
    assert failure.failed_calls[0] == FailedCall("500 Internal Server Error", 0.5)
    assert failure.failed_calls[1].usage.calls == 1  # the first call was answered, and paid for
    assert failure.failed_calls[1].usage.generated_tokens == len("Action: look") + 1
    assert (await run_toy(config)).exit_code == 0
    run = read_run(tmp_path / "run")
    assert run.open_failures == []
    assert measure(run.episodes[0], run.failures).failed_tokens == failure.failed_calls[1].usage.total_tokens


async def test_a_failed_upstream_is_not_kept_and_its_attempts_count_once(tmp_path: Path) -> None:
    trouble = down("timeout", lambda request, number: number == 0)
    systems = [CONTEXTFLOW, REPORT, {"prototype": "mas", "relay": {"encoder": "none"}}]
    await run_toy(toy_config(tmp_path / "run", systems, limit=1, **NEVER_STOP), FakeEngine(play, trouble=trouble))
    run = read_run(tmp_path / "run")
    assert sum(len(failure.failed_calls) for failure in run.failures) == 1
    await run_toy(toy_config(tmp_path / "run", systems, limit=1))
    assert len(read_run(tmp_path / "run").episodes) == 3


async def test_an_episode_past_its_deadline_is_a_failure(tmp_path: Path) -> None:
    config = toy_config(tmp_path / "run", [SAS], limit=1, deadline=0.02)
    summary = await run_toy(config, FakeEngine(play, latency=60))
    assert summary.failed == 1
    assert read_run(tmp_path / "run").failures[0].kind == "deadline"


class Broken(Toy):
    """Its environment raises on the first action; or its reply parser has a bug."""

    def __init__(self, error: Exception, bug: bool = False) -> None:
        super().__init__(1)
        self._error = error
        self._bug = bug

    def environment(self, task: Task) -> Notebook:
        book = super().environment(task)

        async def step(action: str) -> StepResult:
            raise self._error

        if not self._bug:
            book.step = step  # type: ignore[method-assign]
        return book

    def parse_action(self, reply: str) -> Any:
        if self._bug:
            raise self._error
        return super().parse_action(reply)


async def failure_of(out: Path, benchmark: Toy) -> Failure:
    await run_toy(toy_config(out, [SAS]), benchmark=benchmark)
    return read_run(out).failures[0]


async def test_what_an_environment_raises_is_told_apart_from_our_own_bugs(tmp_path: Path) -> None:
    failure = await failure_of(tmp_path / "a", Broken(TimeoutError("no answer")))
    assert (failure.kind, failure.error) == ("environment", "TimeoutError: no answer")
    failure = await failure_of(tmp_path / "b", Broken(KeyError("x"), bug=True))
    assert failure.kind == "internal"
    assert "Traceback" in failure.error
    assert "parse_action" in failure.error


async def test_what_only_the_user_can_mend_ends_the_run(tmp_path: Path) -> None:
    trouble = lambda request, number: UserError("no such model; name another") if number == 5 else None  # noqa: E731
    with pytest.raises(UserError, match="no such model"):
        await run_toy(toy_config(tmp_path / "run", [SAS]), FakeEngine(play, trouble=trouble))
    assert read_run(tmp_path / "run").failures == []


async def test_the_error_budget_stops_a_run_that_fails_too_often_and_names_the_cause(tmp_path: Path) -> None:
    engine = FakeEngine(play, trouble=down("500 Internal Server Error", lambda request, number: number > 60))
    summary = await run_toy(toy_config(tmp_path / "run", [SAS], concurrency=4), engine, Toy(200))
    assert summary.exit_code == 1
    assert summary.stopped is not None
    assert "engine: 500 Internal Server Error" in summary.stopped
    assert "5%" in summary.stopped
    run = read_run(tmp_path / "run")
    assert len(run.episodes) >= 25
    assert len(run.failures) < 20


async def test_a_dead_server_stops_it_after_a_few(tmp_path: Path) -> None:
    engine = FakeEngine(play, trouble=down("connection refused", lambda request, number: True))
    summary = await run_toy(toy_config(tmp_path / "run", [SAS], concurrency=1), engine, Toy(200))
    assert summary.failed == 5
    assert summary.stopped is not None


def test_the_budget_needs_enough_attempts_to_judge() -> None:
    failure = Failure("k", "t", "s", "e", 0, "engine", "500")
    budget = ErrorBudget(0.05, 100)
    for _ in range(17):
        budget.count(None)
    budget.count(failure)
    budget.count(failure)
    assert not budget.spent
    budget.count(None)
    assert budget.spent  # 2 of 20 are more than 5%
    never = ErrorBudget(1.0, 100)
    for _ in range(50):
        never.count(failure)
    assert not never.spent


async def test_concurrency_stays_below_its_ceiling_and_backs_off_under_pressure(tmp_path: Path) -> None:
    engine = FakeEngine(play, latency=0.001)
    await run_toy(toy_config(tmp_path / "a", [SAS], concurrency=3), engine, Toy(12))
    assert engine.most_at_once == 3
    progress = Progress()
    busy = down("429 Too Many Requests", lambda request, number: number == 0)
    await run_toy(toy_config(tmp_path / "b", [SAS], limit=1), FakeEngine(play, trouble=busy), progress=progress)
    assert progress.limit == 4


class Interrupting(Progress):
    """Sends itself a signal after the third episode."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__()
        self.number = number

    def end(self, result: Episode | Failure) -> None:
        super().end(result)
        if self.ended == 3:
            os.kill(os.getpid(), self.number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_the_run_cleanly_and_the_same_command_goes_on(
    tmp_path: Path, number: signal.Signals
) -> None:
    config = toy_config(tmp_path / "run", concurrency=2)
    before = Notebook.opened - Notebook.closed
    summary = await run_toy(config, FakeEngine(play, latency=0.005), progress=Interrupting(number))
    assert (summary.interrupted, summary.exit_code) == (True, 130)
    assert Notebook.opened - Notebook.closed == before
    stored = len(read_run(tmp_path / "run").episodes)
    assert 3 <= summary.done <= stored < 28
    again = await run_toy(config)
    assert (again.stored, again.done) == (stored, 28 - stored)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


async def test_no_secret_reaches_the_run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_KEY", 'sk-toy"0123456789')
    key = os.environ["TOY_KEY"]
    url = "http://user:pass-w0rd-77@host/v1"
    engine_config = {"kind": "openai", "model": "fake", "api_key_env": "TOY_KEY", "base_url": url}
    trouble = down(f"401 wrong key {key} for {url}", lambda request, number: number == 3)
    says = lambda request: f"{key} pass-w0rd-77\n{play(request)}"  # noqa: E731  a model that echoes it
    config = toy_config(tmp_path / "run", [SAS, REPORT], engines=[engine_config], **NEVER_STOP)
    await run_toy(config, FakeEngine(says, trouble=trouble))
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert len(files) >= 5
    for path in files:
        data = path.read_bytes()
        for secret in (key, json.dumps(key)[1:-1], "pass-w0rd-77", "user:pass"):
            assert secret.encode() not in data, path
    assert read_run(tmp_path / "run").config["engines"][0]["base_url"] == "http://***@host/v1"
    assert (await run_toy(config)).exit_code == 0  # the scrubbed folder resumes


class Counting(Progress):
    """The most records of shared rollouts and episodes in memory at once."""

    most = 0

    def end(self, result: Episode | Failure) -> None:
        super().end(result)
        if self.ended % 50 == 0:
            self.most = max(self.most, sum(isinstance(thing, Episode | Shared) for thing in gc.get_objects()))


@pytest.mark.parametrize("tasks", [50, 200])
async def test_memory_does_not_grow_with_the_number_of_episodes(tmp_path: Path, tasks: int) -> None:
    progress = Counting()
    config = toy_config(tmp_path / "run", [CONTEXTFLOW, REPORT], concurrency=4)
    await run_toy(config, benchmark=Toy(tasks), progress=progress)
    assert progress.ended == 2 * tasks
    assert progress.most <= 30


def launched(config: Any, capsys: pytest.CaptureFixture[str], **options: Any) -> tuple[int, str]:
    code = asyncio.run(launch.launch(config, quiet=True, **options))
    return code, capsys.readouterr().out


def test_launch_prints_where_the_run_is_and_what_to_do_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(launch, "make_benchmark", lambda config: Toy())
    monkeypatch.setattr(launch, "make_engine", lambda config: FakeEngine(play))
    config = toy_config(tmp_path / "run")
    code, out = launched(config, capsys, dry_run=True)
    assert (code, (tmp_path / "run").exists()) == (0, False)
    assert "28 (0 stored, 28 to run)" in out
    code, out = launched(config, capsys, shard="1/2")
    assert (code, len(read_run(tmp_path / "run").episodes)) == (0, 14)
    code, out = launched(config, capsys)
    assert code == 0
    assert out.count("\n") == 1
    assert "28 of 28 episodes" in out
    assert f"relaybench report {tmp_path / 'run'}" in out
    trouble = down("500", lambda request, number: True)
    monkeypatch.setattr(launch, "make_engine", lambda config: FakeEngine(play, trouble=trouble))
    code, out = launched(toy_config(tmp_path / "b", SYSTEMS), capsys)
    assert code == 1
    assert "cause of most: engine: 500" in out
    assert f"--out {tmp_path / 'b'}" in out


def test_exit_codes() -> None:
    def code(failed: int, stopped: str | None, interrupted: bool) -> int:
        return RunSummary(5, 0, 5, failed, stopped, interrupted, 1.0).exit_code

    assert [code(0, None, False), code(1, None, False), code(0, "x", False), code(1, "x", True)] == [0, 1, 1, 130]
