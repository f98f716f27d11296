"""The benchmark as a whole: all prototypes on real games, without a model."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from relaybench.benchmarks.alfworld import ALFWorld
from relaybench.benchmarks.alfworld.roles import EXECUTOR, EXPLORER, FoundReport
from relaybench.benchmarks.base import Task
from relaybench.config import RunConfig
from relaybench.config_benchmarks import ALFWorldConfig
from relaybench.configfile import load_config
from relaybench.engines.base import Request
from relaybench.engines.fake import FakeEngine
from relaybench.engines.model import Model
from relaybench.records import Episode
from relaybench.rollout.executor import Setting, execute
from relaybench.rollout.grid import Grid
from relaybench.rollout.progress import Progress
from relaybench.rollout.prototypes import sas, sas_contextflow
from relaybench.rollout.runner import Runner
from relaybench.rollout.store import open_store, read_run

for package in ("textworld", "fast_downward", "alfworld"):
    pytest.importorskip(package, reason=f"no {package}: run `scripts/install benchmarks`")
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def benchmark(data: Path) -> ALFWorld:
    return ALFWorld(ALFWorldConfig(name="alfworld"), data)


@pytest.fixture(scope="module")
def one_of_each(benchmark: ALFWorld) -> list[Task]:
    first: dict[str, Task] = {}
    for task in benchmark.tasks():
        first.setdefault(task.template or "", task)
    return list(first.values())


def test_tasks_are_the_134_with_their_types(benchmark: ALFWorld, one_of_each: list[Task]) -> None:
    assert len(benchmark.tasks()) == 134
    assert {task.template for task in one_of_each} == {"pick", "look", "clean", "heat", "cool", "pick two"}
    assert benchmark.label == "alfworld valid_unseen (zero-shot)"
    assert all(set(benchmark.needed(task)) >= {"object", "location"} for task in benchmark.tasks())
    look = next(task for task in one_of_each if task.template == "look")
    assert look.instruction == "Your task is to: examine the alarmclock with the desklamp."
    assert benchmark.needed(look) == {
        "object": "alarmclock 1", "location": "desk 2", "2.object": "desklamp 1", "2.location": "desk 1",
    }  # fmt: skip
    assert benchmark.targets(look, EXECUTOR) == ["Action: go to desk 2", "Action: take alarmclock 1 from desk 2"]
    assert benchmark.targets(look, EXPLORER) == []


async def test_the_expert_wins_a_game_of_each_type_alone_and_in_parts(
    benchmark: ALFWorld, one_of_each: list[Task]
) -> None:
    def silent(request: Request) -> str:
        raise AssertionError("the expert needs no model")

    for task in one_of_each:
        roles = benchmark.expert(task)
        for plan in (sas(roles), sas_contextflow(roles)):
            environment = benchmark.environment(task)
            setting = Setting(
                task, Model(FakeEngine(silent)), lambda task=task: benchmark.environment(task), benchmark.parse_action
            )
            rollout = await execute(plan, setting, environment)
            assert (await environment.score()).success, (task.id, plan)
            assert list(rollout.records.values())[-1].stop == "done"
            await environment.close()
    await benchmark.close()


def play(benchmark: ALFWorld, task: Task, request: Request) -> str:
    """Says what the expert would, whatever part it has; takes once where it may not, and reports when asked."""
    said = [m.content for m in request.messages if m.role == "assistant"]
    last = request.messages[-1].content
    if "<report>" in last and "Your part ends here" in last:
        return FoundReport().render(benchmark.needed(task))
    roles = benchmark.expert(task)
    first = request.messages[0].content
    if "explorer of a household" in first and roles.parts[1].system not in "\n".join(
        m.content for m in request.messages
    ):
        actions = ["take apple 1 from desk 1", "go to desk 2", "go to desk 1", "finish"]
        return f"Thought: go\nAction: {actions[len(said)]}"
    done = len(said) - (4 if "explorer of a household" in first else 0)
    return f"Thought: do\nAction: {(*benchmark._games[task.id].walkthrough, 'finish')[done]}"


async def test_all_prototypes_run_on_a_game(benchmark: ALFWorld, tmp_path: Path) -> None:
    task = benchmark.tasks()[0]
    config = RunConfig.model_validate(
        {
            "benchmark": {"name": "alfworld"},
            "engines": [{"kind": "openai", "model": "fake"}],
            "systems": [
                {"prototype": "sas"},
                {"prototype": "sas-plan"},
                {"prototype": "sas-contextflow"},
                {"prototype": "mas", "relay": {"encoder": "report"}},
                {"prototype": "mas", "relay": {"encoder": "report", "loss": {"drop": ["location"]}}},
                {"prototype": "mas", "relay": {"encoder": "oracle"}},
            ],
            "limit": 1,
            "out": tmp_path / "run",
        }
    )
    grid = Grid(config, benchmark, None)
    store = open_store(config, benchmark, [job.key for job in grid.jobs], None)
    engine = FakeEngine(lambda request: play(benchmark, task, request))
    summary = await Runner(config, benchmark, {"fake": engine}, store, Progress(), grid=grid).run()
    store.close()
    assert (summary.done, summary.failed) == (6, 0)
    assert benchmark.processes.pids == []
    episodes = {episode.system: episode for episode in read_run(tmp_path / "run").episodes}
    assert {name: episode.score.success for name, episode in episodes.items()} == dict.fromkeys(episodes, True)
    assert {episode.template for episode in episodes.values()} == {"look"}
    (report,) = episodes["mas report"].relays
    assert (report.well_formed, report.missing, report.fields) == (True, 0.0, benchmark.needed(task))
    lossy = next(episode for name, episode in episodes.items() if "location" in name)
    assert lossy.relays[0].text == "<report>\nobject: alarmclock 1\n2.object: desklamp 1\n</report>"
    assert _explorer_is_shared(episodes)


def _explorer_is_shared(episodes: dict[str, Episode]) -> bool:
    """The executors' world is the one that the explorer left: it stands at desk 1 already."""
    executors = [w for e in episodes.values() for w in e.workers if w.subtask == EXECUTOR]
    seen = [
        [m.content for m in worker.messages if m.role == "user" and m.content.startswith("You arrive at desk 2")]
        for worker in executors
    ]
    return len(executors) == 4 and all(seen) and all(episode.shared for episode in episodes.values() if episode.relays)


def test_the_config_is_a_page_that_loads() -> None:
    config = load_config(ROOT / "configs" / "run" / "alfworld.yaml", [])
    assert config.benchmark.name == "alfworld"
    assert len(config.systems) == 5


def test_examples_are_never_of_the_evaluated_split(data: Path) -> None:
    with pytest.raises(ValidationError, match="examples are taken from the train split"):
        ALFWorldConfig(name="alfworld", split="train", examples=1)
