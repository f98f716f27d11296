"""One spoilt cell at a time: the constraint that sees it fails, the others stand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybench.benchmarks.travelplanner import hard
from relaybench.benchmarks.travelplanner.commonsense import CHECKS
from relaybench.benchmarks.travelplanner.places import Places
from relaybench.benchmarks.travelplanner.queries import Query
from relaybench.benchmarks.travelplanner.scoring import judge, score_answers
from relaybench.errors import UserError
from tests.benchmarks.travelplanner.conftest import COST

Plan = list[dict[str, Any]]
SPOILT = [
    ("is_reasonable_visiting_city", 2, "current_city", "from Birch to Cedar"),
    ("is_valid_restaurants", 1, "lunch", "Pot, Birch"),
    ("is_valid_attractions", 1, "attraction", "Zoo, Birch;Zoo, Birch;"),
    ("is_valid_accommodation", 1, "accommodation", "Cell, Birch"),
    ("is_valid_transportation", 2, "transportation", "Self-driving, from Ash to Birch"),
    ("is_valid_information_in_current_city", 0, "accommodation", "Loft, Ash"),
    ("is_valid_information_in_sandbox", 1, "dinner", "Nowhere, Birch"),
    ("is_not_absent", 1, "attraction", "-"),
]


def test_the_right_plan_is_final_and_costs_what_it_costs(query: Query, plan: Plan, places: Places) -> None:
    verdict = judge(query, plan, places)
    assert verdict.final
    assert verdict.hard == {
        "valid_cuisine": True,
        "valid_room_rule": True,
        "valid_transportation": None,
        "valid_room_type": True,
        "valid_cost": True,
    }
    assert hard.cost(query, plan, places) == COST
    assert judge(query, plan, places, "hardened").final


@pytest.mark.parametrize(("constraint", "day", "key", "value"), SPOILT)
def test_each_constraint_sees_its_fault(
    constraint: str, day: int, key: str, value: str, query: Query, plan: Plan, places: Places
) -> None:
    plan[day][key] = value
    verdict = judge(query, plan, places)
    assert verdict.commonsense is not None
    assert not verdict.commonsense[constraint]
    assert not verdict.final


def test_hard_constraints_wait_for_the_gate(query: Query, plan: Plan, places: Places) -> None:
    plan[1]["attraction"] = "-"
    assert judge(query, plan, places).hard is None


@pytest.mark.parametrize(
    ("name", "day", "key", "value"),
    [
        ("valid_room_rule", slice(2), "accommodation", "Cell, Birch"),
        ("valid_room_type", slice(2), "accommodation", "Cell, Birch"),
        ("valid_cuisine", slice(1), "lunch", "Bread & Co, Birch"),
    ],
)
def test_hard_constraints_see_their_fault(
    name: str, day: slice, key: str, value: str, query: Query, plan: Plan, places: Places
) -> None:
    for cell in plan[day]:
        cell[key] = value
    verdict = judge(query, plan, places)
    assert verdict.hard is not None
    assert verdict.hard[name] is False


def test_a_long_drive_is_no_information_and_a_short_one_costs_by_car(query: Query, plan: Plan, places: Places) -> None:
    plan[0]["transportation"] = "Self-driving, from Ash to Birch"
    assert hard.cost(query, plan, places) == COST - 2 * 50 + int(1310 * 0.05)
    plan[2]["transportation"] = "Self-driving, from Birch to Ash"
    verdict = judge(query, plan, places)
    assert verdict.commonsense is not None
    assert not verdict.commonsense["is_valid_information_in_sandbox"]


@pytest.mark.parametrize(
    ("day", "key", "value", "fault"),
    [
        (0, "transportation", "Drive from Ash to Birch", "neither a flight"),
        (0, "transportation", "Flight Number: F2, from Birch to Ash", "not Ash to Birch"),
        (1, "dinner", "Gri, Birch", "'Gri' is not a name"),
        (1, "attraction", "Zoo, Birch;Louvre, Paris", "'Louvre' is in Paris"),
    ],
)
def test_hardened_rules_see_what_the_official_ones_let_pass(
    day: int, key: str, value: str, fault: str, query: Query, plan: Plan, places: Places
) -> None:
    plan[day][key] = value
    assert judge(query, plan, places).final
    hardened = judge(query, plan, places, "hardened")
    assert not hardened.final
    assert fault in " ".join(hardened.faults)


CELL = (
    st.none() | st.integers() | st.text() | st.sampled_from(["-", "from", "from A to B", "Pot, Birch", ";", "Flight"])
)
KEYS = st.sampled_from(["days", "current_city", "transportation", "breakfast", "attraction", "lunch", "accommodation"])
ANYTHING = st.recursive(
    CELL | st.booleans() | st.floats(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=6),
    max_leaves=20,
)


@given(plan=ANYTHING)
def test_no_plan_raises(plan: Any, query_and_places: tuple[Query, Places]) -> None:
    query, places = query_and_places
    verdict = judge(query, plan, places, "hardened")
    assert verdict.delivered == bool(plan)
    assert not verdict.final


@pytest.fixture(scope="module")
def query_and_places(data: Path, places: Places) -> tuple[Query, Places]:
    from relaybench.benchmarks.travelplanner.queries import load_queries

    return load_queries(data, "validation")[1], places


def test_rows_keep_what_they_came_with(data: Path, plan: Plan, tmp_path: Path) -> None:
    answers, out = tmp_path / "a.jsonl", tmp_path / "o.jsonl"
    answers.write_text(json.dumps({"idx": 1, "plan": plan, "model": "mine"}) + "\n")
    summary = score_answers(answers, "validation", data, out)
    row = json.loads(out.read_text())
    assert (row["idx"], row["final"], row["model"], row["error"]) == (1, True, "mine", None)
    assert list(row["commonsense"]) == list(CHECKS)
    assert (summary.final, summary.requested, summary.hard_micro) == (1.0, 4, 1.0)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"plan": []}, 'no field "idx"'),
        ({"idx": 1}, 'no field "plan"'),
        ({"idx": 2, "plan": None}, "no query 2"),
        ({"idx": True, "plan": None}, "no query True"),
    ],
)
def test_a_bad_row_is_named(row: dict[str, Any], message: str, data: Path, tmp_path: Path) -> None:
    answers = tmp_path / "a.jsonl"
    answers.write_text(json.dumps(row) + "\n")
    with pytest.raises(UserError, match=message):
        score_answers(answers, "validation", data)
