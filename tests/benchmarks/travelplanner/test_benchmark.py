"""The benchmark as a whole: the expert walks through every role, and all prototypes, without a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from relaybench.benchmarks.base import FINISH, Targeted
from relaybench.benchmarks.travelplanner import TravelPlanner
from relaybench.benchmarks.travelplanner.expert import cities_of, replies, report, submission
from relaybench.benchmarks.travelplanner.metrics import aggregates
from relaybench.benchmarks.travelplanner.queries import Query, load_queries
from relaybench.benchmarks.travelplanner.reports import CityList
from relaybench.benchmarks.travelplanner.roles import OPTIONS, PLAN, SEARCHERS, TRANSPORT
from relaybench.benchmarks.travelplanner.scoring import judge, summarise
from relaybench.config import RunConfig
from relaybench.config_benchmarks import TravelPlannerConfig
from relaybench.configfile import load_config
from relaybench.engines.base import Request
from relaybench.engines.fake import FakeEngine
from relaybench.errors import UserError
from relaybench.records import Episode, Score
from relaybench.rollout.grid import Grid
from relaybench.rollout.progress import Progress
from relaybench.rollout.runner import Runner
from relaybench.rollout.store import open_store, read_run

ROOT = Path(__file__).parents[3]
PERFECT = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
TRAIN = TravelPlannerConfig(name="travelplanner", split="train", levels=["easy", "medium", "hard"])


def six(scores: list[Score]) -> tuple[float, ...]:
    summary = aggregates("train", "official", scores)
    return (
        summary.delivery, summary.commonsense_micro, summary.commonsense_macro, summary.hard_micro, summary.hard_macro,
        summary.final,
    )  # fmt: skip


async def test_the_expert_scores_one_hundred_per_cent_on_train(shared: Path) -> None:
    """Every search of every role is answered with rows, and every annotated plan passes, read back from its text."""
    benchmark = TravelPlanner(TRAIN, shared / "data" / "travelplanner")
    queries = load_queries(shared / "data" / "travelplanner", "train")
    scores = []
    for task, query in zip(benchmark.tasks(), queries.values(), strict=True):
        world = benchmark.environment(task)
        parts = {part.id: part for part in benchmark.roles(task).parts}
        await world.reset()
        for role, said in replies(query).items():
            assert len(said) <= parts[role].max_steps
            for reply in said:
                action = benchmark.parse_action(reply)
                assert action is not None
                if action.tool == FINISH:
                    continue
                assert action.tool in (parts[role].tools or ())
                answer = (await world.step(action.text)).observation
                assert answer.startswith(("Cities", "Flights", "Self-", "Taxi", "Acc", "Rest", "Attr", "Submitted")), (
                    answer
                )
        assert world.plan == [day for day in query.annotated_plan or () if day]
        scores.append(await world.score())
    assert len(scores) == 45
    assert six(scores) == PERFECT


async def test_aggregates_of_scores_are_those_of_verdicts(shared: Path) -> None:
    benchmark = TravelPlanner(TRAIN, shared / "data" / "travelplanner")
    queries = list(load_queries(shared / "data" / "travelplanner", "train").values())
    scores, judged = [], []
    for number, (task, query) in enumerate(zip(benchmark.tasks(), queries, strict=True)):
        world = benchmark.environment(task)
        other = queries[(number + number % 3) % len(queries)]  # a third right, the others someone else's plan
        await world.step(submission(other).removeprefix("Action: "))
        scores.append(await world.score())
        judged.append((query, judge(query, world.plan, world._tools.places)))
    summary = aggregates("train", "official", scores)
    assert summary == summarise("train", "official", judged)
    assert 0.3 < summary.final < 0.4


def play(query: Query) -> FakeEngine:
    """Plays the expert: tells the role by its system words, and how far it is by the actions it has taken."""
    acts = replies(query)
    every = [reply for name in SEARCHERS for reply in acts[name][:-1]] + acts[PLAN]
    known = {f"You are the {name} searcher": name for name in SEARCHERS} | {"You are the planner": PLAN}

    def reply(request: Request) -> str:
        said = [message.content for message in request.messages]
        opening = [(i, name) for i, text in enumerate(said) for start, name in known.items() if start in text]
        at, role = opening[-1] if opening else (0, "whole")
        if said[-1] == CityList.request:
            return report(query, role, "anyone")
        if role in OPTIONS and said[-1] == OPTIONS[role].request:
            return report(query, role, PLAN)
        done = sum(message.role == "assistant" for message in request.messages[at:])
        return (every if role == "whole" else acts[role])[done]

    return FakeEngine(reply)


@pytest.mark.parametrize("idx", [1, 8])
async def test_all_prototypes_walk_through_a_real_trip(idx: int, shared: Path, tmp_path: Path) -> None:
    config = RunConfig.model_validate(
        {
            "benchmark": {"name": "travelplanner", "split": "train", "levels": ["easy"]},
            "engines": [{"kind": "openai", "model": "fake"}],
            "systems": [
                {"prototype": "sas"}, {"prototype": "sas-plan"}, {"prototype": "sas-contextflow"},
                {"prototype": "mas", "relay": {"encoder": "report"}},
            ],
            "decoding": {"max_tokens": 20000, "report_tokens": 20000},
            "out": tmp_path / "run",
        }
    )  # fmt: skip
    folder = shared / "data" / "travelplanner"
    assert isinstance(config.benchmark, TravelPlannerConfig)
    benchmark = TravelPlanner(config.benchmark, folder)
    query = load_queries(folder, "train")[idx]
    grid = Grid(config, benchmark, None)
    grid.jobs = [job for job in grid.jobs if job.task.id == f"train-{query.id}"]
    store = open_store(config, benchmark, [job.key for job in grid.jobs], None)
    summary = await Runner(config, benchmark, {"fake": play(query)}, store, Progress(), grid=grid).run()
    store.close()
    assert (summary.done, summary.failed) == (4, 0)
    episodes = {episode.system: episode for episode in read_run(tmp_path / "run").episodes}
    assert six([episode.score for episode in episodes.values()]) == PERFECT
    assert _inherits(episodes["sas-contextflow"])[PLAN] == SEARCHERS
    walked = episodes["mas report"]
    assert _inherits(walked) == dict.fromkeys((*SEARCHERS, PLAN), ())
    assert all(relay.well_formed for relay in walked.relays)
    assert {(*relay.sources, relay.to) for relay in walked.relays} == set(benchmark.roles(grid.jobs[0].task).pairs)
    assert {relay.text for relay in walked.relays if relay.to != PLAN} == {f"city_list: {', '.join(cities_of(query))}"}
    _only_the_planner_knows_the_budget(walked, query)
    _only_the_planner_knows_the_budget(episodes["sas-contextflow"], query)


def _inherits(episode: Episode) -> dict[str, tuple[str, ...]]:
    return {worker.subtask: worker.inherits for worker in episode.workers}


def _only_the_planner_knows_the_budget(episode: Episode, query: Query) -> None:
    for worker in episode.workers:
        told = "\n".join(message.content for message in worker.messages if message.role != "assistant")
        assert (f"${query.budget:,.0f}" in told) == (worker.subtask == PLAN)


def test_the_default_set_is_the_medium_and_hard_validation_queries(shared: Path) -> None:
    config = load_config(ROOT / "configs" / "run" / "travelplanner.yaml", [])
    assert isinstance(config.benchmark, TravelPlannerConfig)
    benchmark = TravelPlanner(config.benchmark, shared / "data" / "travelplanner")
    assert len(benchmark.tasks()) == 120
    assert {task.template for task in benchmark.tasks()} == {
        f"{level}, {days} days" for level in ("medium", "hard") for days in (3, 5, 7)
    }
    assert benchmark.label == "travelplanner validation medium+hard (official rules)"
    assert sum(bool(benchmark.needed(task)) for task in benchmark.tasks()) == 40


def test_revision_says_rules_and_data(data: Path) -> None:
    official = TravelPlanner(TravelPlannerConfig(name="travelplanner"), data)
    hardened = TravelPlanner(TravelPlannerConfig(name="travelplanner", rules="hardened"), data)
    assert official.revision.startswith("official@1-")
    assert hardened.revision.startswith("hardened@1-")
    assert TravelPlanner(TRAIN, data).revision != official.revision
    task = official.tasks()[0]
    assert (task.id, official.needed(task)) == ("validation-001", {"city_list": "Birch"})
    assert official.roles(task).version == hardened.roles(task).version


def test_only_annotated_queries_have_targets(data: Path) -> None:
    train, validation = TravelPlanner(TRAIN, data), TravelPlanner(TravelPlannerConfig(name="travelplanner"), data)
    assert isinstance(train, Targeted)
    assert train.targets(train.tasks()[0], PLAN) == [submission(load_queries(data, "train")[1])]
    assert train.targets(train.tasks()[0], TRANSPORT) == []
    assert validation.targets(validation.tasks()[0], PLAN) == []
    with pytest.raises(UserError, match="query 1 has no annotated plan"):
        submission(load_queries(data, "validation")[1])
