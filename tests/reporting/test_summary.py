"""Rows have their n, pairs are over common tasks, and what is not comparable is not pooled."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from relaybench.records import Decoding
from relaybench.reporting.statistics import mcnemar, wilson
from relaybench.reporting.summary import summarise
from relaybench.rollout.reading import read_run
from tests.reporting.made import ANSWERING, READING, WRITING, episode, failure, relay


def block_of(folder):
    [block] = summarise([read_run(folder)])
    return block


def test_success_has_wilsons_interval_and_its_n(make_run, grid):
    whole, told = block_of(make_run("a", grid)).rows
    assert (whole.system, whole.success.value, whole.success.n) == ("sas-contextflow", 0.8, 10)
    assert (told.success.low, told.success.high) == wilson(6, 10)


def test_the_difference_is_paired_over_common_tasks(make_run, grid):
    whole, told = block_of(make_run("a", grid)).rows
    assert whole.difference is None
    found = told.difference
    assert (found.value, found.n, found.wins, found.losses) == (pytest.approx(-0.2), 10, 1, 3)
    assert found.low < -0.2 < found.high
    assert found.p == mcnemar(3, 1)


def test_a_partial_run_pairs_what_is_there_and_says_so(make_run, grid):
    there = [e for e in grid if e.system == "sas-contextflow" or e.task in ("t0", "t7", "t8")]
    block = block_of(make_run("a", there, planned=20))
    assert block.rows[1].difference.n == 3
    assert block.rows[1].difference.value == 0.0
    assert any("13 of 20 planned episodes" in note for note in block.notes)


def test_success_over_tasks_with_an_action_has_its_own_n(make_run, grid):
    block = block_of(make_run("a", grid))
    assert block.tasks_with_action == 9
    assert (block.rows[0].success_with_action.n, block.rows[0].success_with_action.value) == (9, 7 / 9)


def test_several_seeds_are_trials_of_the_same_tasks(make_run):
    episodes = [
        episode(t, s, (i + seed + (s != "sas-contextflow")) % 3 == 0, seed)
        for s in ("sas-contextflow", "mas report")
        for i, t in enumerate("abcdef")
        for seed in range(4)
    ]
    whole, told = block_of(make_run("a", episodes)).rows
    assert (whole.tasks, whole.episodes, whole.success.n) == (6, 24, 6)
    assert sorted(whole.pass_at) == [2, 4]
    assert whole.pass_at[4].value == 1.0
    assert (told.difference.test, told.difference.n) == ("sign-flip", 6)


def test_figures_of_an_episode_are_means_with_interval(make_run, grid):
    told = block_of(make_run("a", grid)).rows[1]
    tokens = told.means["tokens"]
    assert tokens.value == READING.total_tokens + WRITING.total_tokens + ANSWERING.total_tokens
    assert (tokens.low, tokens.high, tokens.n) == (tokens.value, tokens.value, 10)
    assert told.means["relay_tokens"].value == 8
    assert told.means["missing"].value == 0.5
    assert told.means["value.has_action"].value == 0.9
    assert told.means["cost"].value > 0


def test_ill_formed_relays_are_a_share_of_relays(make_run, grid):
    whole, told = block_of(make_run("a", grid)).rows
    assert (told.ill_formed_relays.value, told.ill_formed_relays.n, told.counts["ill_formed_relays"]) == (0.1, 10, 1)
    assert whole.counts["ill_formed_actions"] == 10


def test_sharing_is_shown_as_incurred_below_logical(make_run, grid):
    block = block_of(make_run("a", grid))
    assert block.logical_tokens == 20 * (READING.total_tokens + ANSWERING.total_tokens) + 10 * WRITING.total_tokens
    assert block.incurred_tokens == block.logical_tokens - 10 * READING.total_tokens
    assert block.currency == "EUR"
    assert block.incurred_cost > 0


def test_failures_count_until_they_succeed(make_run, grid):
    told = [e for e in grid if e.key != "mas report/t9/0"]
    failures = [failure("t9", "mas report"), failure("t9", "mas report"), failure("t1", "mas report")]
    block = block_of(make_run("a", told, failures, planned=20))
    assert [row.failures for row in block.rows] == [0, 1]
    assert block.rows[1].counts["failed_calls"] == 1, "only the attempts of episodes that are there"
    assert block.incurred_tokens > block.logical_tokens - 10 * READING.total_tokens


def test_a_system_without_episodes_is_named(make_run, grid):
    there = [e for e in grid if e.system == "sas-contextflow"]
    block = block_of(make_run("a", there, [failure("t0", "mas report")], planned=20))
    assert any("no episodes yet: mas report (1 failed)" in note for note in block.notes)


def test_the_oracle_is_marked(make_run):
    knowing = replace(relay("oracle@1", written=False), knows_target=True)
    rows = block_of(
        make_run("a", [episode("t0", "mas oracle", True, relays=(knowing,)), episode("t0", "sas", True)])
    ).rows
    assert [row.knows_target for row in rows] == [True, False]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"revision": "r2"}, "revision differs"),
        ({"model": "org/other"}, "model differs"),
        ({"decoding": Decoding(temperature=0.5)}, "decoding differs"),
        ({"prompts": "roles@2"}, "prompts differs"),
        ({"key": "other"}, "what a system of the same name is differs"),
    ],
)
def test_what_is_not_the_same_is_not_pooled(make_run, grid, changes, why):
    other = [replace(e, **{**changes, "key": f"{e.key}/{changes}"}) for e in grid]
    first, second = summarise([read_run(make_run("a", grid)), read_run(make_run("b", other))])
    assert [row.tasks for row in first.rows] == [row.tasks for row in second.rows] == [10, 10]
    assert any(why in note for note in second.notes)


def test_runs_of_the_same_setting_are_pooled_and_each_episode_counts_once(make_run, grid):
    folders = make_run("a", [e for e in grid if e.task < "t6"]), make_run("b", [e for e in grid if e.task > "t3"])
    [block] = summarise([read_run(folder) for folder in folders])
    assert [row.tasks for row in block.rows] == [10, 10]
    assert block.rows[1].success.value == 0.6
    assert any("4 episodes are in more than one run" in note for note in block.notes)


def test_different_prices_have_no_joint_cost(make_run, grid):
    left, right = [e for e in grid if e.task < "t5"], [e for e in grid if e.task >= "t5"]
    free = make_run("b", right, engines=[{"kind": "openai", "model": "org/tiny"}])
    [block] = summarise([read_run(make_run("a", left)), read_run(free)])
    assert block.incurred_cost is None
    assert "cost" not in block.rows[0].means
    assert any("different prices" in note for note in block.notes)


def test_an_old_config_that_no_longer_parses_still_gives_a_table(make_run, grid):
    assert len(block_of(make_run("a", grid, systems=[{"prototype": "long-gone"}])).rows) == 2
