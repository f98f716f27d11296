"""The world of one trip: searches change nothing, one plan ends it, no action raises."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybench.benchmarks.travelplanner.actions import TOOLS
from relaybench.benchmarks.travelplanner.environment import TravelPlannerEnvironment
from relaybench.benchmarks.travelplanner.plans import LONGEST, render_plan
from relaybench.benchmarks.travelplanner.queries import Query, load_queries
from relaybench.benchmarks.travelplanner.scoring import Rules
from relaybench.benchmarks.travelplanner.tools import LONGEST as LONGEST_ANSWER
from relaybench.benchmarks.travelplanner.tools import Tools
from tests.benchmarks.travelplanner.conftest import PLAN


@pytest.fixture
def world(query: Query, tools: Tools) -> TravelPlannerEnvironment:
    return TravelPlannerEnvironment(query, tools, "official")


@pytest.mark.parametrize("text", [render_plan(PLAN), json.dumps(PLAN)])
async def test_the_right_plan_ends_the_task_and_passes(text: str, world: TravelPlannerEnvironment) -> None:
    assert await world.reset() == ""
    assert not (await world.step("RestaurantSearch[Birch]")).done
    result = await world.step(f"SubmitPlan[{text}]")
    assert (result.observation, result.done, result.reward) == ("Submitted: a plan of 3 days.", True, 0.0)
    assert world.plan == PLAN
    score = await world.score()
    assert (score.success, score.reward) == (True, 1.0)
    assert score.values == {
        "delivery": 1, "commonsense_macro": 1, "commonsense_passed": 8, "hard_macro": 1, "hard_passed": 4,
        "hard_requested": 4, "final_official": 1, "final_hardened": 1, "official_error": 0,
    }  # fmt: skip


async def test_nothing_submitted_is_nothing_delivered(world: TravelPlannerEnvironment) -> None:
    await world.reset()
    unread = await world.step("SubmitPlan[I have no plan.]")
    assert not unread.done
    assert unread.observation.startswith("Not submitted: no day can be read.")
    long = await world.step(f"SubmitPlan[{render_plan(PLAN)}{' ' * LONGEST}x]")
    assert not long.done
    assert "characters are too many" in long.observation
    score = await world.score()
    assert not score.success
    assert score.values["hard_requested"] == 4
    assert sum(score.values.values()) == 4


async def test_the_first_plan_stands(world: TravelPlannerEnvironment) -> None:
    await world.reset()
    await world.step(f"SubmitPlan[{render_plan(PLAN[:1])}]")
    again = await world.step(f"SubmitPlan[{render_plan(PLAN)}]")
    assert again.done
    assert world.plan == PLAN[:1]
    assert not (await world.score()).success
    await world.reset()
    assert world.plan is None


@pytest.mark.parametrize(("rules", "success"), [("official", True), ("hardened", False)])
async def test_what_only_hardened_rules_see(rules: Rules, success: bool, query: Query, tools: Tools) -> None:
    world = TravelPlannerEnvironment(query, tools, rules)
    await world.step(f"SubmitPlan[{render_plan([*PLAN[:1], PLAN[1] | {'dinner': 'Gri, Birch'}, PLAN[2]])}]")
    score = await world.score()
    assert score.success == success
    assert (score.values["final_official"], score.values["final_hardened"]) == (1, 0)


async def test_a_name_as_it_was_shown_is_the_one_of_the_table(
    world: TravelPlannerEnvironment, plan: list[dict[str, Any]]
) -> None:
    for day in plan[:2]:
        day["accommodation"] = "Attic of Glass, Birch"
    await world.step(f"SubmitPlan[{render_plan(plan)}]")
    assert world.plan is not None
    assert world.plan[0]["accommodation"] == "Attic  of\nGlass, Birch"
    assert (await world.score()).values["commonsense_macro"] == 1


WORDS = (
    *(*TOOLS, "[", "]", "Ash", "Birch", ",", ";", "2022-03-01", "\n", "Day 1:", "Current City: from A to B", "Lunch:"),
    *("Transportation:", "Flight Number: ", "Accommodation: Loft, Birch", "-", "\x00", "[{", '"'),
)
NEAR = st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=25).map("".join)
CELLS = st.dictionaries(
    st.sampled_from([(day, key) for day in range(3) for key in PLAN[0]]),
    st.sampled_from(["-", "from", "from Ash to", "Flight", "Flight Number: F1", ";", "x, ", "(", "Pot, Birch"])
    | st.text(max_size=12),
)


@given(actions=st.lists(NEAR | st.text(), max_size=4))
def test_no_action_raises(actions: list[str], data: Path, tools: Tools) -> None:
    async def play() -> None:
        world = TravelPlannerEnvironment(load_queries(data, "validation")[1], tools, "hardened")
        await world.reset()
        for action in actions:
            result = await world.step(action)
            assert 0 < len(result.observation) <= LONGEST_ANSWER
        assert not (await world.score()).success
        await world.close()

    asyncio.run(play())


@given(cells=CELLS)
def test_no_spoilt_plan_raises(cells: dict[tuple[int, str], str], data: Path, tools: Tools) -> None:
    plan = [dict(day) for day in PLAN]
    for (day, key), text in cells.items():
        plan[day][key] = text
    for told in (render_plan(plan), json.dumps(plan)):
        world = TravelPlannerEnvironment(load_queries(data, "validation")[1], tools, "hardened")
        asyncio.run(world.step(f"SubmitPlan[{told}]"))
        score = asyncio.run(world.score())
        assert score.values["final_hardened"] <= score.values["final_official"]


@pytest.mark.parametrize("junk", ["from a ", "x, ", "Flight Number: F1, from a to b ", "(", "; "])
@pytest.mark.parametrize("key", ["current_city", "transportation", "lunch", "attraction", "accommodation"])
async def test_long_cells_are_judged_in_no_time(key: str, junk: str, world: TravelPlannerEnvironment) -> None:
    plan = [PLAN[0] | {key: junk * (18_000 // len(junk))}]
    assert (await world.step(f"SubmitPlan[{json.dumps(plan)}]")).done
    began = time.process_time()
    assert not (await world.score()).success
    assert time.process_time() - began < 1
