"""The expert: a scripted policy that plays the annotated plan of a train query, to check everything without a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from relaybench.benchmarks.base import FINISH
from relaybench.benchmarks.travelplanner.actions import SUBMIT
from relaybench.benchmarks.travelplanner.places import before_parenthesis
from relaybench.benchmarks.travelplanner.plans import render_plan
from relaybench.benchmarks.travelplanner.queries import Query
from relaybench.benchmarks.travelplanner.reports import CITY_LIST, CityList
from relaybench.benchmarks.travelplanner.roles import ACCOMMODATION, ATTRACTION, DINING, OPTIONS, PLAN, TRANSPORT
from relaybench.benchmarks.travelplanner.wording import MEALS, attractions, filled, journey, leg, place, vehicle
from relaybench.errors import UserError


def submission(query: Query) -> str:
    """The reply that submits the annotated plan. Raises UserError where a query has none (validation)."""
    if not query.annotated_plan:
        raise UserError(f"query {query.idx} has no annotated plan; only those of the train split have")
    return f"Action: {SUBMIT}[\n{render_plan(query.annotated_plan)}\n]"


def replies(query: Query) -> dict[str, list[str]]:
    """What each role says, in order: the searches that lead to the annotated plan, and the plan."""
    cities = cities_of(query)
    search = {
        TRANSPORT: [*([f"CitySearch[{query.dest}]"] if query.visiting_city_number > 1 else []), *_legs(query)],
        ACCOMMODATION: [f"AccommodationSearch[{city}]" for city in cities],
        DINING: [f"RestaurantSearch[{city}]" for city in (*cities, query.org)],
        ATTRACTION: [f"AttractionSearch[{city}]" for city in cities],
    }
    said = {name: [f"Thought: next\nAction: {call}" for call in (*calls, FINISH)] for name, calls in search.items()}
    return said | {PLAN: [submission(query)]}


def report(query: Query, source: str, target: str) -> str:
    """What `source` writes for `target`: the cities, or what the annotated plan uses."""
    cities = ", ".join(cities_of(query))
    if target != PLAN:
        return CityList().render({CITY_LIST: cities})
    options = {
        TRANSPORT: [_travel(query, number, day) for number, day in _journeys(query)],
        ACCOMMODATION: [_named(day["accommodation"]) for day in _days(query) if filled(day, "accommodation")],
        DINING: [_named(day[meal]) for day in _days(query) for meal in MEALS if filled(day, meal)],
        ATTRACTION: [_named(item) for day in _days(query) for item in attractions(day["attraction"])],
    }[source]
    head = {CITY_LIST: cities} if source == TRANSPORT else {}
    fields = {f"{i}.{column}": value for i, option in enumerate(options, 1) for column, value in option.items()}
    return OPTIONS[source].render(head | fields)


def cities_of(query: Query) -> list[str]:
    """The cities that the annotated plan visits, in order."""
    ends = [_plain(journey(day["current_city"])[1]) for _, day in _journeys(query)]
    return ends[:-1]


def _days(query: Query) -> list[dict[str, Any]]:
    return [day for day in query.annotated_plan or () if day]


def _journeys(query: Query) -> list[tuple[int, dict[str, Any]]]:
    return [(number, day) for number, day in enumerate(_days(query)) if "from" in day["current_city"]]


def _legs(query: Query) -> Iterator[str]:
    for number, day in _journeys(query):
        ends = ", ".join(map(_plain, journey(day["current_city"])))
        by = vehicle(day["transportation"])
        flies = by == "Flight"
        yield (
            f"FlightSearch[{ends}, {query.date[number]}]"
            if flies
            else f"GoogleDistanceMatrix[{ends}, {str(by).lower()}]"
        )


def _travel(query: Query, number: int, day: dict[str, Any]) -> dict[str, str]:
    org, dest = leg(day)
    return {"date": query.date[number], "from": org or "", "to": dest or "", "by": day["transportation"]}


def _named(cell: str) -> dict[str, str]:
    return dict(zip(("name", "city"), place(cell), strict=True))


def _plain(city: str) -> str:
    return before_parenthesis(city).strip()
