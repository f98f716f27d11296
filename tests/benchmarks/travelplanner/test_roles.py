"""Who knows what: the graph, the steps, and that the budget is the plan worker's alone."""

from __future__ import annotations

import re
from pathlib import Path

from relaybench.benchmarks.travelplanner.actions import TOOLS
from relaybench.benchmarks.travelplanner.queries import Query, load_queries
from relaybench.benchmarks.travelplanner.reports import CityList
from relaybench.benchmarks.travelplanner.roles import (
    ACCOMMODATION,
    ATTRACTION,
    DINING,
    OPTIONS,
    PLAN,
    SEARCHERS,
    TRANSPORT,
    roles,
    specification,
)
from relaybench.relays.none import Nothing
from relaybench.rollout.plan import Subtask


def test_transport_comes_first_then_three_side_by_side_then_the_plan(query: Query) -> None:
    plan = roles(query).plan(Nothing())
    assert [part.id for part in plan.ready((), ())] == [TRANSPORT]
    assert [part.id for part in plan.ready((TRANSPORT,), (TRANSPORT,))] == [ACCOMMODATION, DINING, ATTRACTION]
    assert [part.id for part in plan.ready(SEARCHERS, SEARCHERS)] == [PLAN]
    assert [edge.source for edge in plan.inbound(DINING)] == [TRANSPORT]


def test_between_searchers_only_the_cities_cross(query: Query) -> None:
    parts = {part.id: part for part in roles(query).parts}
    for name in (ACCOMMODATION, DINING, ATTRACTION):
        assert {source: type(form) for source, form in parts[name].receives.items()} == {TRANSPORT: CityList}
    assert parts[PLAN].receives == OPTIONS
    assert all(part.reads_only == (part.id != PLAN) for part in parts.values())


def test_every_prototype_has_thirty_steps(query: Query) -> None:
    split = roles(query)
    assert sum(part.max_steps for part in split.parts) == split.whole.max_steps == split.joined().max_steps == 30
    assert split.whole.tools == frozenset(TOOLS) == frozenset().union(*(part.tools or () for part in split.parts))


def test_a_specification_holds_what_its_role_needs(query: Query) -> None:
    assert specification(ACCOMMODATION, query) == {
        "people_number": 2, "house_rule": "pets", "room_type": "entire room", "city_list": ["Birch"],
    }  # fmt: skip
    assert specification(DINING, query) == {"org": "Ash", "cuisine": ["Thai"], "city_list": ["Birch"]}
    assert specification(TRANSPORT, query)["dest_type"] == "city"


def test_the_budget_is_the_plan_workers_alone(shared: Path) -> None:
    for split in ("train", "validation"):
        for query in load_queries(shared / "data" / "travelplanner", split).values():
            for part in roles(query).parts:
                figures = {f"{query.budget:g}", f"{query.budget:,.0f}"}
                told = _told(part, query)
                knows = "budget" in told.lower() or figures & set(re.findall(r"[\d,]*\d", told))
                assert bool(knows) == (part.id == PLAN), (query.idx, part.id, knows)


def test_a_trip_through_a_state_leaves_its_cities_to_transport(shared: Path) -> None:
    query = load_queries(shared / "data" / "travelplanner", "validation")[161]
    assert "city_list" not in specification(DINING, query)
    assert specification(TRANSPORT, query) == {
        "org": "Pittsburgh", "dest": "New York", "dest_type": "state", "visiting_city_number": 3, "days": 7,
        "date": [f"2022-03-{day}" for day in range(13, 20)], "people_number": 2, "mode_blacklist": ["flight"],
    }  # fmt: skip
    parts = {part.id: part for part in roles(query).parts}
    assert "choose 3 of them" in parts[TRANSPORT].instruction
    assert "The transport searcher has chosen city_list." in parts[DINING].instruction


def _told(part: Subtask, query: Query) -> str:
    return f"{part.system}\n{query.text if part.task is None else part.task}\n{part.instruction}"
