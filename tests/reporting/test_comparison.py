"""Two runs: paired differences, which tasks flipped, and which settings differ."""

from __future__ import annotations

import csv
import json
from io import StringIO

import pytest
from msgspec.structs import replace

from relaybench.records import Score
from relaybench.reporting import diff
from relaybench.reporting.comparison import compare
from relaybench.rollout.reading import read_run


@pytest.fixture
def two(make_run, grid):
    """The second run loses t0 and gains t9 with the report, at another temperature."""
    flipped = {"mas report/t0/0": Score(False), "mas report/t9/0": Score(True)}
    later = [replace(e, score=flipped.get(e.key, e.score)) for e in grid]
    return make_run("a", grid, decoding={"temperature": 0.0}), make_run("b", later, decoding={"temperature": 0.5})


def test_flips_are_named_and_paired(two):
    found = compare(*map(read_run, two))
    whole, told = found.changes
    assert (whole.difference.value, whole.gained, whole.lost) == (0.0, [], [])
    assert (told.gained, told.lost) == (["t9"], ["t0"])
    assert (told.difference.value, told.difference.n, told.difference.p) == (0.0, 10, 1.0)
    assert (told.tokens.value, told.tokens.n) == (0.0, 10)


def test_differing_settings_are_listed(two):
    assert compare(*map(read_run, two)).settings == {"decoding.temperature": (0.0, 0.5)}
    text = diff(*two)
    assert "decoding.temperature: 0.0 -> 0.5" in text
    assert "mas report lost 1: t0" in text


def test_only_common_tasks_count(make_run, grid):
    later = [e for e in grid if e.task in ("t1", "t2")]
    found = compare(read_run(make_run("a", grid)), read_run(make_run("b", later)))
    assert [change.difference.n for change in found.changes] == [2, 2]


def test_other_revisions_are_not_compared(make_run, grid):
    other = [replace(e, revision="r2") for e in grid]
    text = diff(make_run("a", grid), make_run("b", other, revision="r2"))
    assert "not comparable" in text
    assert "data.revision: r1 -> r2" in text
    assert "0.600" not in text


def test_systems_of_one_run_alone_are_named(make_run, grid):
    alone = [replace(e, system="mas truncate(last 8)") if e.system == "mas report" else e for e in grid]
    text = diff(make_run("a", grid), make_run("b", alone))
    assert "only in the first: mas report" in text
    assert "only in the second: mas truncate(last 8)" in text


def test_the_same_run_has_no_difference(make_run, grid):
    folder = make_run("a", grid)
    assert "no setting differs" in diff(folder, folder)


def test_other_models_of_the_same_tasks_are_compared(make_run, grid):
    other = [replace(e, engine="big", model="org/big") for e in grid]
    config = [{"kind": "openai", "model": "org/big"}]
    found = compare(read_run(make_run("a", grid)), read_run(make_run("b", other, engines=config)))
    assert [change.system for change in found.changes] == ["sas-contextflow", "mas report"]
    assert found.settings["engines.0.model"] == ("org/tiny", "org/big")


def test_every_format(two):
    [_, told] = csv.DictReader(StringIO(diff(*two, "csv")))
    assert (told["difference"], told["difference_n"], told["gained"]) == ("0.0", "10", "t9")
    assert json.loads(diff(*two, "json"))["changes"][1]["lost"] == ["t0"]
    assert "| mas report | 10 |" in diff(*two, "md")
