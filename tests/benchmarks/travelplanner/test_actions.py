"""What small models write, and what it is read as."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relaybench.benchmarks.base import FINISH, Action
from relaybench.benchmarks.travelplanner.actions import SUBMIT, TOOLS, parse_action, read

PLAN = "Day 1:\nCurrent City: from Ash to Birch"


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("Thought: x\nAction: CitySearch[Ohio]", "CitySearch[Ohio]"),
        ("action 2 : city search [ Ohio ]", "CitySearch[Ohio]"),
        ("**Action:** `FlightSearch[New York, London, 2022-10-01]`", "FlightSearch[New York, London, 2022-10-01]"),
        ('Action: flight_search(from="A", to="B", date="2022-03-01")', "FlightSearch[A, B, 2022-03-01]"),
        ("Action: FlightSearch[Baton Rouge, Dallas(Texas), 2022-03-01]", None),
        ("Action: distance matrix: A, B, taxi", "GoogleDistanceMatrix[A, B, taxi]"),
        ("Action: Google Distance Matrix[A,B,self-driving]", "GoogleDistanceMatrix[A, B, self-driving]"),
        ("Action: RestaurantSearch(Dallas(Texas))", "RestaurantSearch[Dallas(Texas)]"),
        ("Action: I use AttractionSearch[St. Louis] next.", "AttractionSearch[St. Louis]"),
        ("- accommodations search [Rome]", "AccommodationSearch[Rome]"),
        ("Action:\nRestaurantSearch[\n  Rome\n]", "RestaurantSearch[Rome]"),
        ("Action: RestaurantSearch[Rome", "RestaurantSearch[Rome]"),
        ("Action: Finished.", "finish"),
        ("Action: HotelSearch[Rome]", "HotelSearch[Rome]"),
    ],
)
def test_replies_are_read_as_they_are_meant(reply: str, text: str | None) -> None:
    action = parse_action(reply)
    assert action is not None
    assert action.text == (text or reply.removeprefix("Action: "))
    assert action.tool == action.text.partition("[")[0]


@pytest.mark.parametrize("reply", ["", "I would look for restaurants.", "Action:", "Action: !!", "CitySearch is next"])
def test_a_reply_without_an_action_has_none(reply: str) -> None:
    assert parse_action(reply) is None


@pytest.mark.parametrize(
    "reply",
    [
        f"Action: SubmitPlan[\n{PLAN}\n]",
        f"Thought: done\nAction: submit plan:\n{PLAN}",
        f"Here it is.\n{PLAN}",
        f"{PLAN}\nAction: SubmitPlan",
    ],
)
def test_a_plan_is_submitted_however_it_is_handed_in(reply: str) -> None:
    action = parse_action(reply)
    assert action is not None
    assert action.tool == SUBMIT
    assert PLAN in action.text


NEAR = st.lists(
    st.sampled_from([*TOOLS, *'[](),"', "Action:", "\n", "A", "2022-03-01", "Day 1:", "Current City:", FINISH])
    | st.text(max_size=5)
).map("".join)


@given(NEAR | st.text())
@example('Action:CitySearch"Action:')
@example("CitySearch(CitySearch]CitySearch")
def test_the_canonical_form_is_its_own_reading(reply: str) -> None:
    action = parse_action(reply)
    if action is None or action.tool == FINISH:
        assert action in (None, Action(FINISH, FINISH))
        return
    request = read(action.text)
    assert request.tool == action.tool
    if action.tool != SUBMIT:
        assert parse_action(f"Action: {action.text}") == action
        assert len(action.text) < 300


@pytest.mark.parametrize(
    "text", ["Action" + " " * 100_000, "Day 1\n" * 30_000, "Action: " * 30_000, "\n" * 100_000, "[" * 99]
)
def test_huge_replies_take_no_time(text: str) -> None:
    parse_action(text)
    parse_action(f"Action: SubmitPlan[{text}")
