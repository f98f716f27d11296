"""Commonsense: the eight constraints that hold for every trip, with the verdicts of the official evaluation.

Each takes the query, the first `query.days` days of the plan and the sandbox. Quirks are kept (the hardened rules are
in hardened.py): on a day that is no travel day the "cities" of the current-city check are the single characters of
the name, flights are not held to a date, and cells of a wrong type raise whatever Python raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from relaybench.benchmarks.travelplanner.places import Places, before_parenthesis
from relaybench.benchmarks.travelplanner.queries import Query
from relaybench.benchmarks.travelplanner.wording import (
    MEALS,
    NOTHING,
    attractions,
    filled,
    flight_number,
    journey,
    leg,
    place,
    vehicle,
)

Day = dict[str, Any]
Days = Sequence[Day]
Check = Callable[[Query, Days, Places], bool]
_KEYS = ("transportation", *MEALS, "attraction", "accommodation")
_SKIPPED = "You don't need to fill in the information for this or later days."
_EMPTY = ("", NOTHING)


def reasonable_route(query: Query, days: Days, places: Places) -> bool:
    """A closed circle from the origin through known cities, each in one stretch; inner ones in the right state."""
    route = _route(query, days)
    if route is None or route[0] != route[-1] or not _in_stretches(route):
        return False
    inner = range(1, len(route) - 1)
    return all(city in places.states for city in route) and (
        query.days <= 3 or all(places.states[route[i]] == query.dest for i in inner)
    )


def diverse_restaurants(query: Query, days: Days, places: Places) -> bool:
    """No meal twice."""
    meals = [day[meal] for day in days for meal in MEALS if filled(day, meal)]
    return _all_differ(meals)


def diverse_attractions(query: Query, days: Days, places: Places) -> bool:
    """No attraction twice."""
    return _all_differ([a for day in days if filled(day, "attraction") for a in attractions(day["attraction"])])


def minimum_nights(query: Query, days: Days, places: Places) -> bool:
    """Stays are as long as their only row asks; where several rows match, nothing is asked."""
    if any("accommodation" not in day for day in days):
        return False
    for stay, nights in groupby(day["accommodation"] for day in days):
        if stay in _EMPTY:
            continue
        rows = places.accommodations.find(*place(stay))
        if len(rows) == 1 and len(list(nights)) < rows[0].minimum_nights:
            return False
    return True


def consistent_transportation(query: Query, days: Days, places: Places) -> bool:
    """Day 1 has transportation, and one's own car goes with neither flights nor taxis."""
    first = days[0]["transportation"]
    if not first or first == NOTHING:
        return False
    used = {vehicle(day["transportation"]) for day in days if filled(day, "transportation")}
    return "Self-driving" not in used or not used & {"Flight", "Taxi"}


def within_current_city(query: Query, days: Days, places: Places) -> bool:
    """Everything is where the traveller is that day."""
    return all(_is_in_city(day) for day in days)


def within_sandbox(query: Query, days: Days, places: Places) -> bool:
    """Every leg, meal, attraction and accommodation is a row of the sandbox."""
    return all(_is_in_sandbox(day, places) for day in days)


def complete(query: Query, days: Days, places: Places) -> bool:
    """The right number of days and cities, nothing needed left out, half of the cells filled."""
    if sum(day != {} and day["current_city"] != _SKIPPED for day in days) != query.days:
        return False
    if not _right_number_of_cities(query, days):
        return False
    if not all(_is_complete(day, last=i == query.days - 1) for i, day in enumerate(days)):
        return False
    given = sum(bool(value) and value != NOTHING for day in days for value in day.values())
    return bool(given / (6 * query.days) >= 0.5)


CHECKS: dict[str, Check] = {
    "is_reasonable_visiting_city": reasonable_route,
    "is_valid_restaurants": diverse_restaurants,
    "is_valid_attractions": diverse_attractions,
    "is_valid_accommodation": minimum_nights,
    "is_valid_transportation": consistent_transportation,
    "is_valid_information_in_current_city": within_current_city,
    "is_valid_information_in_sandbox": within_sandbox,
    "is_not_absent": complete,
}
"""By official name, in official order."""


def _route(query: Query, days: Days) -> list[str] | None:
    """The cities in order, both ends of a travel day; None where day 1 does not leave from the origin."""
    route: list[str] = []
    for number, day in enumerate(days):
        if "from" not in day["current_city"]:
            route.append(before_parenthesis(day["current_city"]))
            continue
        org, dest = journey(day["current_city"])
        if number == 0 and org != query.org:
            return None
        route += [org, dest]
    return route


def _in_stretches(route: Sequence[str]) -> bool:
    """At least three entries; no city again but the last; cities between the ends are named twice in a row or more."""
    if len(route) < 3:
        return False
    seen: set[str] = set()
    start = 0
    for city, group in groupby(route):
        count = len(list(group))
        if city in seen and start not in (0, len(route) - 1):
            return False
        if count == 1 and 0 < start < len(route) - 1:
            return False
        seen.add(city)
        start += count
    return True


def _right_number_of_cities(query: Query, days: Days) -> bool:
    route = _route(query, days)
    return route is not None and len(set(route) - {query.org}) == query.visiting_city_number


def _all_differ(items: list[Any]) -> bool:
    return all(item not in items[:i] for i, item in enumerate(items))


def _is_in_city(day: Day) -> bool:
    current = day["current_city"]
    cities: Sequence[str] = journey(current) if "from" in current else before_parenthesis(current)
    if filled(day, "transportation") and any(city not in day["transportation"] for city in cities):
        return False
    if any(all(city not in visit for city in cities) for visit in _visits(day)):
        return False
    return not filled(day, "accommodation") or cities[-1] in day["accommodation"]


def _visits(day: Day) -> Iterator[str]:
    """Meals, then attractions; one by one, since a cell of a wrong type counts only when it is reached."""
    yield from (day[meal] for meal in MEALS if filled(day, meal))
    if filled(day, "attraction"):
        yield from attractions(day["attraction"])


def _is_in_sandbox(day: Day, places: Places) -> bool:
    if filled(day, "transportation") and not _is_known_leg(day, places):
        return False
    if any(filled(day, meal) and not places.restaurants.find(*place(day[meal])) for meal in MEALS):
        return False
    if filled(day, "attraction"):
        seen = attractions(day["attraction"])
        if any(not places.attractions.find(*place(attraction)) for attraction in seen):
            return False
    return not filled(day, "accommodation") or bool(places.accommodations.find(*place(day["accommodation"])))


def _is_known_leg(day: Day, places: Places) -> bool:
    """A flight by number and ends, a road by its length; other words are not looked at."""
    text = day["transportation"]
    org, dest = leg(day)
    if "flight number" in text.lower():
        if org is None or dest is None:
            raise ValueError(f"The transportation {text} can not be parsed.")
        ends = before_parenthesis(org), before_parenthesis(dest)
        return any((flight.org, flight.dest) == ends for flight in places.flights.get(flight_number(text), ()))
    if vehicle(text) in ("Self-driving", "Taxi"):
        road = None if org is None or dest is None else places.road(org, dest)
        return road is not None and road.kilometres is not None
    return True


def _is_complete(day: Day, *, last: bool) -> bool:
    if any(key not in day for key in _KEYS):
        return False
    current = day["current_city"]
    leaves = "from " in current
    travels = leaves or "to " in current
    if travels and day["transportation"] in _EMPTY:
        return False
    if not travels and day["attraction"] in _EMPTY:
        return False
    if not last and day["accommodation"] in _EMPTY:
        return False
    return leaves or all(day[meal] not in _EMPTY for meal in MEALS)
