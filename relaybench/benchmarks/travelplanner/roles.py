"""The five roles of a trip: transport, then accommodation, dining and attraction side by side, then the plan.

Each searcher gets a specification made from the query's record, with the fields of its role alone (paper, appendix
D.1); of the budget only the plan worker knows, who has the query itself. Between searchers `city_list` is the only
relay, and a trip to one city names it in every specification. In SAS-contextflow the same roles work in this order
with all context. Every prototype has the same 30 steps: 10, 5, 6, 5 and 4, or all of them in one worker.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from relaybench.benchmarks.base import FINISH
from relaybench.benchmarks.travelplanner.actions import SEARCHES, SUBMIT, TOOLS
from relaybench.benchmarks.travelplanner.queries import Query
from relaybench.benchmarks.travelplanner.reports import CITY_LIST, CityList, Options
from relaybench.relays.base import ReportFormat
from relaybench.rollout.plan import Roles, Subtask

VERSION = "travelplanner-roles@1"
"""Raise it with any change of wording, reports or split."""
TRANSPORT, ACCOMMODATION, DINING, ATTRACTION, PLAN = "transport", "accommodation", "dining", "attraction", "plan"
SEARCHERS = (TRANSPORT, ACCOMMODATION, DINING, ATTRACTION)
STEPS = {TRANSPORT: 10, ACCOMMODATION: 5, DINING: 6, ATTRACTION: 5, PLAN: 4}
OPTIONS: dict[str, Options] = {
    TRANSPORT: Options(TRANSPORT, ("date", "from", "to", "by", "cost"), cities=True),
    ACCOMMODATION: Options(
        ACCOMMODATION, ("name", "city", "price", "minimum_nights", "room_type", "house_rules", "people")
    ),
    DINING: Options(DINING, ("name", "city", "cuisines", "cost")),
    ATTRACTION: Options(ATTRACTION, ("name", "city")),
}
"""What each searcher reports to the plan worker."""

_ABOUT = {
    "CitySearch": "the cities of a state",
    "FlightSearch": "the flights of one day; the date as YYYY-MM-DD",
    "GoogleDistanceMatrix": "time, distance and cost of the way by road; the mode is self-driving or taxi",
    "AccommodationSearch": "the accommodations of a city",
    "RestaurantSearch": "the restaurants of a city",
    "AttractionSearch": "the attractions of a city",
}
_FIRST = {
    TRANSPORT: "FlightSearch[Ash, Birch, 2022-01-31]",
    ACCOMMODATION: "AccommodationSearch[Birch]",
    DINING: "RestaurantSearch[Birch]",
    ATTRACTION: "AttractionSearch[Birch]",
}
_TOOLS = {
    TRANSPORT: ("CitySearch", "FlightSearch", "GoogleDistanceMatrix"),
    ACCOMMODATION: ("AccommodationSearch",),
    DINING: ("RestaurantSearch",),
    ATTRACTION: ("AttractionSearch",),
}
PLAN_FORM = f"""A plan has one block for each day of the trip. This is one of two days, with made-up names:
Action: {SUBMIT}[
Day 1:
Current City: from Ash to Birch
Transportation: Flight Number: F0000001, from Ash to Birch, Departure Time: 08:10, Arrival Time: 09:25
Breakfast: Oat House, Birch
Attraction: Old Mill, Birch;Town Fort, Birch;
Lunch: Soup Corner, Birch
Dinner: Red Kettle, Birch
Accommodation: Attic by the River, Birch

Day 2:
Current City: from Birch to Ash
Transportation: Self-driving, from Birch to Ash, duration: 3 hours 5 mins, distance: 290 km, cost: 14
Breakfast: Bread and Salt, Birch
Attraction: Glass Museum, Birch;
Lunch: Green Bowl, Birch
Dinner: Noodle Yard, Birch
Accommodation: -
]
Current City is "from A to B" on each day with a journey between cities, and the name of one city on the other days. The
journey home is part of the last day. Take names, flight numbers and figures from what was found. "-" stands where
nothing is needed: Transportation on a day without a journey, Accommodation on the last day. Every meal has a
restaurant."""

_ALL_LEGS = (
    "Find ways to travel every leg of the trip: there, between its cities, and back. Look for flights, and by road "
    "where there are none; leave out ways of travelling that are ruled out."
)


def roles(query: Query) -> Roles:
    """The five roles for one query, and the whole that SAS does alone."""
    parts = (
        _transport(query),
        *(_searcher(name, query) for name in (ACCOMMODATION, DINING, ATTRACTION)),
        _planner(query),
    )
    pairs = [(TRANSPORT, name) for name in (ACCOMMODATION, DINING, ATTRACTION)]
    return Roles(
        version=VERSION,
        whole=_whole(query),
        parts=parts,
        pairs=(*pairs, *((name, PLAN) for name in SEARCHERS)),
    )


def specification(name: str, query: Query) -> dict[str, Any]:
    """The fields of the query's record that a searcher works from; of the budget nothing."""
    wishes = query.local_constraint
    one_city = {CITY_LIST: [query.dest]} if query.visiting_city_number == 1 else {}
    ruled_out = [wishes.transportation.removeprefix("no ")] if wishes.transportation else []
    fields: Mapping[str, dict[str, Any]] = {
        TRANSPORT: {
            "org": query.org,
            "dest": query.dest,
            "dest_type": "city" if one_city else "state",
            "visiting_city_number": query.visiting_city_number,
            "days": query.days,
            "date": query.date,
            "people_number": query.people_number,
            "mode_blacklist": ruled_out,
        },
        ACCOMMODATION: {
            "people_number": query.people_number,
            "house_rule": wishes.house_rule,
            "room_type": wishes.room_type,
        },
        DINING: {"org": query.org, "cuisine": wishes.cuisine},
        ATTRACTION: {},
    }
    return fields[name] if name == TRANSPORT else fields[name] | one_city


def _whole(query: Query) -> Subtask:
    return Subtask(
        id="whole",
        role="whole",
        system=_system(
            "You plan a trip: you search, and then hand in the plan.", tuple(SEARCHES), TRANSPORT, plan=True
        ),
        instruction=(
            f"{_cities(query)} {_ALL_LEGS} Look up accommodations and attractions in each city of the trip, and "
            f"restaurants there and in the city of departure, each of them once a city. Then submit a plan of "
            f"{query.days} days."
        ),
        max_steps=sum(STEPS.values()),
        tools=frozenset(TOOLS),
    )


def _transport(query: Query) -> Subtask:
    return _search(
        TRANSPORT,
        query,
        who="You are the transport searcher of a team that plans a trip.",
        what=f"{_cities(query)} {_ALL_LEGS}",
    )


def _cities(query: Query) -> str:
    if query.visiting_city_number == 1:
        return "The destination is a city: CitySearch is not needed."
    return (
        "The destination is a state: look its cities up with one CitySearch and choose "
        f"{query.visiting_city_number} of them to visit."
    )


def _searcher(name: str, query: Query) -> Subtask:
    """One that waits for the cities."""
    what = {
        ACCOMMODATION: "Look up the accommodations of each city in city_list; house_rule (what must be allowed), "
        "room_type and people_number say which fit.",
        DINING: "Look up the restaurants of each city in city_list and of org; cuisine says which are wanted.",
        ATTRACTION: "Look up the attractions of each city in city_list.",
    }[name]
    told = "" if query.visiting_city_number == 1 else " The transport searcher has chosen city_list."
    return _search(
        name,
        query,
        who=f"You are the {name} searcher of a team that plans a trip.",
        what=f"{what} One search for each city, then finish.{told}",
        receives={TRANSPORT: CityList()},
    )


def _search(
    name: str, query: Query, who: str, what: str, receives: Mapping[str, ReportFormat] | None = None
) -> Subtask:
    spec = json.dumps(specification(name, query), ensure_ascii=False)
    return Subtask(
        id=name,
        role=name,
        system=_system(who, _TOOLS[name], name),
        instruction=f"Specification for {name}: {spec}\n{what}",
        max_steps=STEPS[name],
        tools=frozenset(_TOOLS[name]),
        receives=receives or {},
        reads_only=True,
        task="",
    )


def _planner(query: Query) -> Subtask:
    return Subtask(
        id=PLAN,
        role=PLAN,
        system=_system(
            "You are the planner of a team: searchers have looked things up, and you write the plan of the trip.",
            (),
            PLAN,
            plan=True,
        ),
        instruction=f"Put the plan together from what the searchers found, {query.days} days, and submit it.",
        max_steps=STEPS[PLAN],
        tools=frozenset((SUBMIT,)),
        receives=dict(OPTIONS),
    )


def _system(who: str, searches: tuple[str, ...], name: str, *, plan: bool = False) -> str:
    lines = [
        who,
        "Reply with a short thought and one action, and wait for its result:",
        "Thought: what to do next",
        f"Action: {_FIRST.get(name, f'{SUBMIT}[the plan]')}",
        "Tools:",
        *(f"{tool}[{', '.join(SEARCHES[tool])}]: {_ABOUT[tool]}" for tool in searches),
    ]
    if plan:
        lines.append(f"{SUBMIT}[the plan]: hands the whole plan in; this ends the trip's planning")
        return "\n".join([*lines, PLAN_FORM])
    return "\n".join([*lines, f"When your part is done: Action: {FINISH}"])
