from pathlib import Path
from typing import Any

import pytest

from relaybench.errors import UserError
from relaybench.records import SCHEMA
from relaybench.rollout.forecast import forecast
from relaybench.rollout.grid import Grid, Shard

from .toy import FOREIGN, REPORT, SYSTEMS, Toy, toy_config

OUT = Path("unused")


def grid(benchmark: Toy | None = None, shard: Shard | None = None, **changes: Any) -> Grid:
    return Grid(toy_config(OUT, **changes), benchmark or Toy(), shard)


def keys(**changes: Any) -> set[str]:
    return {job.key for job in grid(**changes).jobs}


def test_jobs_are_tasks_x_engines_x_seeds_x_systems_with_a_key_each() -> None:
    jobs = grid(seeds=[0, 1], decoding={"temperature": 1.0}).jobs
    assert len(jobs) == len({job.key for job in jobs}) == 4 * 2 * len(SYSTEMS)
    assert [job.task.id for job in jobs[: 2 * len(SYSTEMS)]] == ["toy-0"] * 2 * len(SYSTEMS)
    assert len({job.group for job in jobs}) == 4 * 2


def test_keys_of_schema_1_stay_what_they_are() -> None:
    """A changed key would run everything that is stored again: change it knowingly, with the schema."""
    assert SCHEMA == 1
    assert grid().jobs[0].key == "e0b6eacb6dadc9a8a5ee"
    assert grid().jobs[2].key == "55bd037aeb1f1a40cbce"


@pytest.mark.parametrize(
    "changes",
    [
        {"max_steps": 4},
        {"seeds": [1]},
        {"decoding": {"temperature": 0.5}},
        {"decoding": {"max_tokens": 7}},
        {"decoding": {"stop": ["x"]}},
        {"share_upstream": False},
        {"engines": [{"kind": "openai", "model": "other"}]},
        {"engines": [{"kind": "vllm", "model": "fake"}]},
        {"engines": [{"kind": "openai", "model": "fake", "adapter": "relay-v2"}]},
        {"engines": [{"kind": "openai", "model": "fake", "max_context": 99}]},
    ],
)
def test_what_decides_the_outcome_changes_every_key(changes: dict[str, Any]) -> None:
    assert not keys(**changes) & keys()


@pytest.mark.parametrize(
    "changes",
    [
        {"engines": [{"kind": "openai", "model": "fake", "base_url": "http://elsewhere/v1", "name": "nickname"}]},
        {"concurrency": 1},
        {"deadline": 5},
        {"error_budget": 1.0},
        {"decoding": {"max_tokens": 256}},
    ],
)
def test_where_and_how_fast_it_runs_does_not(changes: dict[str, Any]) -> None:
    assert keys(**changes) == keys()


def test_another_revision_changes_every_key() -> None:
    other = Toy()
    other.revision = "toy-2"
    assert not {job.key for job in grid(other).jobs} & keys()


def test_each_relay_setting_has_its_own_key() -> None:
    losses: list[dict[str, Any]] = [
        {"drop": ["a"]},
        {"drop": ["b"]},
        {"mask": ["a"]},
        {"cut": 3},
        {"cut": 4},
        {"foreign": True},
    ]
    systems = [{"prototype": "mas", "relay": {"encoder": "report", "loss": loss}} for loss in losses]
    assert len(keys(systems=[REPORT, *systems])) == 4 * 7


def test_two_names_for_the_same_episode_are_refused() -> None:
    engines = [
        {"kind": "openai", "model": "fake"},
        {"kind": "openai", "model": "fake", "name": "b", "base_url": "http://b/v1"},
    ]
    with pytest.raises(UserError, match="the same episode"):
        grid(engines=engines)


def test_shards_part_the_grid_by_task() -> None:
    whole = [job.key for job in grid(Toy(7)).jobs]
    parts = [grid(Toy(7), Shard(i, 3)) for i in (1, 2, 3)]
    assert [len(part.tasks) for part in parts] == [3, 2, 2]
    assert sorted(job.key for part in parts for job in part.jobs) == sorted(whole)


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "1/0", "a/b", "-1/2", "1/4/2", ""])
def test_a_shard_is_i_of_n(text: str) -> None:
    with pytest.raises(UserError, match="1/4"):
        Shard.parse(text)


def test_shard_reads_what_it_writes() -> None:
    assert str(Shard.parse("2/4")) == "2/4"


def test_the_neighbour_is_the_next_task_of_the_benchmark_whatever_part_is_run() -> None:
    part = grid(Toy(4), limit=2)
    assert [part.neighbour(task).id for task in part.all_tasks] == ["toy-1", "toy-2", "toy-3", "toy-0"]


def test_a_foreign_relay_needs_another_task() -> None:
    only = grid(Toy(1))
    with pytest.raises(UserError, match="foreign"):
        only.neighbour(only.tasks[0])


def test_the_forecast_counts_shared_rollouts_and_written_relays_once() -> None:
    """A task: SAS 6 steps, the shared reader 3, its report 1, and 3 for the writer of each other system."""
    systems = [system for system in SYSTEMS if system is not FOREIGN]
    told = forecast(grid(systems=systems), stored=())
    assert told.episodes == 24
    assert told.calls == 4 * (6 + 3 + 5 * 3 + 1)
    apart = forecast(grid(systems=systems, share_upstream=False), stored=())
    assert apart.calls == 4 * (6 + 5 * (3 + 3) + 2)


def test_a_foreign_relay_costs_no_more_where_the_other_task_is_run_too() -> None:
    with_foreign = forecast(grid(systems=[REPORT, FOREIGN]), stored=())
    assert with_foreign.calls == 4 * (3 + 3 + 3 + 1)
    alone = forecast(grid(systems=[FOREIGN], limit=1), stored=())
    assert alone.calls == (3 + 3 + 1) + (3 + 1)


def test_the_forecast_leaves_out_what_is_stored_and_says_what_is_left() -> None:
    whole = grid()
    told = forecast(whole, {job.key for job in whole.jobs[:7]})
    assert (told.stored, told.episodes) == (7, 28)
    assert told.prompt_tokens > told.generated_tokens > 0
    assert "7 stored, 21 to run" in str(told)
    assert forecast(whole, {job.key for job in whole.jobs}).calls == 0


def test_the_runs_own_number_of_steps_holds_for_every_prototype() -> None:
    roles = grid(max_steps=4).roles(Toy().tasks()[0])
    assert [subtask.max_steps for subtask in (roles.whole, *roles.parts)] == [4, 2, 2]
    with pytest.raises(UserError, match="max_steps: 1 steps are too few for 2 parts of toy; raise it"):
        grid(max_steps=1)
