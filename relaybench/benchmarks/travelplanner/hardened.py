"""Hardened rules: what a plan can do wrong that the official evaluation does not see.

They come on top of the official verdict and never replace it. A plan that passes officially is held to what its query
and the tools really say: legs are named, go where the traveller goes and fly on the day of travel; places are in the
city of the day under their own names; nothing hides behind a missing semicolon; days are numbered in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from relaybench.benchmarks.travelplanner.places import Places, before_parenthesis
from relaybench.benchmarks.travelplanner.queries import Query
from relaybench.benchmarks.travelplanner.wording import (
    MEALS,
    endpoints,
    filled,
    flight_number,
    leg,
    place,
    vehicle,
)

Day = dict[str, Any]


def faults(query: Query, days: Sequence[Day], places: Places) -> Iterator[str]:
    """One line a fault, in the order of the days. The days have the form that the official code reads."""
    for number, day in enumerate(days):
        for fault in (*_leg_faults(query, number, day, places), *_place_faults(day, places)):
            yield f"day {number + 1}: {fault}"
    if days and not _is_home(query, days[-1]):
        yield f"day {len(days)}: does not end in {query.org}"


def _leg_faults(query: Query, number: int, day: Day, places: Places) -> Iterator[str]:
    here = _cities(day)
    if not filled(day, "transportation"):
        return
    text = day["transportation"]
    ends = tuple(before_parenthesis(end or "").strip() for end in leg(day))
    if len(here) == 2 and ends != tuple(here):
        yield f"travels {ends[0]} to {ends[1]}, not {here[0]} to {here[1]}"
    if "flight number" in text.lower():
        flights = [f for f in places.flights.get(flight_number(text), ()) if (f.org, f.dest) == ends]
        if query.date[number] not in {flight.date for flight in flights}:
            yield f"flight {flight_number(text)} does not fly on {query.date[number]}"
    elif vehicle(text) not in ("Self-driving", "Taxi"):
        yield f"'{text}' is neither a flight with its number nor a drive or a taxi"


def _place_faults(day: Day, places: Places) -> Iterator[str]:
    here = set(_cities(day))
    for meal in MEALS:
        if filled(day, meal):
            name, city = place(_spaced(day[meal]))
            known = {row.name for row in places.restaurants.of(city)}
            yield from _wrong(meal, name, city, known, here)
    if filled(day, "attraction"):
        for text in filter(str.strip, day["attraction"].split(";")):
            name, city = place(_spaced(text))
            yield from _wrong("attraction", name, city, {row.name for row in places.attractions.of(city)}, here)
    if filled(day, "accommodation"):
        name, city = place(_spaced(day["accommodation"]))
        known = {row.name for row in places.accommodations.of(city)}
        yield from _wrong("accommodation", name, city, known, set(_cities(day)[-1:]))


def _wrong(what: str, name: str, city: str, known: set[str], here: set[str]) -> Iterator[str]:
    if city not in here:
        yield f"{what} '{name}' is in {city}"
    if name not in {_spaced(row) for row in known}:
        yield f"{what} '{name}' is not a name in {city}"


def _spaced(text: str) -> str:
    """With single spaces: how many there are, and line breaks in a name, is no fault of a plan."""
    return " ".join(text.split())


def _cities(day: Day) -> list[str]:
    """Both ends of a travel day, or the one city."""
    current = day["current_city"]
    ends = endpoints(current) if "from" in current else (None, None)
    named = [current] if None in ends else list(ends)
    return [before_parenthesis(city or "").strip() for city in named]


def _is_home(query: Query, day: Day) -> bool:
    return _cities(day)[-1] == query.org
