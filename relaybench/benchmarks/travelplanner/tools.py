"""Tools: the six searches over the sandbox, answered in plain text of bounded length.

A place is named in any case, with or without its state behind it. Line breaks in names are shown as spaces (spelling.py
puts them back). A table that is not here is said to be unknown, never to be empty.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

from relaybench.benchmarks.travelplanner.actions import SEARCHES, TOOLS, Request
from relaybench.benchmarks.travelplanner.coverage import Coverage, Key, load_coverage
from relaybench.benchmarks.travelplanner.hard import DOLLARS_A_KM_BY_CAR
from relaybench.benchmarks.travelplanner.places import (
    Accommodation,
    Flight,
    Places,
    Restaurant,
    before_parenthesis,
    load_places,
)
from relaybench.errors import nearest

LONGEST = 8_000
"""Characters of an observation: more than any city of the official sandbox takes."""
SELF_DRIVING, TAXI = "self-driving", "taxi"
P = TypeVar("P")
_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")


class Tools:
    """The searches over one sandbox. The same request always gets the same answer, and none raises."""

    def __init__(self, places: Places, coverage: Coverage) -> None:
        self.places = places
        self._coverage = coverage
        self._cities = {_folded(city): city for city in sorted(places.cities())}
        self._by_state: defaultdict[str, list[str]] = defaultdict(list)
        for city, state in places.states.items():
            self._by_state[state].append(city)
        self._states = {_folded(state): state for state in self._by_state}
        self._flights: defaultdict[Key, list[Flight]] = defaultdict(list)
        for flight in (flight for rows in places.flights.values() for flight in rows):
            self._flights[flight.org, flight.dest, flight.date].append(flight)
        self._calls: dict[str, Callable[..., str]] = {
            "CitySearch": self.cities,
            "FlightSearch": self.flights,
            "GoogleDistanceMatrix": self.road,
            "AccommodationSearch": self.accommodations,
            "RestaurantSearch": self.restaurants,
            "AttractionSearch": self.attractions,
        }

    def call(self, request: Request) -> str:
        """The answer to any request, impossible ones included."""
        name, arguments = request.tool, list(request.arguments)
        if name not in self._calls:
            return f"There is no tool {_short(name)!r}{nearest(name, TOOLS) or '; there are ' + ', '.join(TOOLS)}."
        wanted = SEARCHES[name]
        if len(wanted) == 1 and len(arguments) > 1:
            arguments = arguments[:1]  # "Rome, Italy"
        if len(arguments) != len(wanted):
            return f"{name} takes {len(wanted)} arguments: {name}[{', '.join(wanted)}]."
        return self._calls[name](*arguments)

    def cities(self, state: str) -> str:
        known = self._states.get(_folded(state))
        if known is None:
            return f"There is no state {_short(state)!r} here{nearest(state, self._states.values())}."
        return f"Cities in {known}: {', '.join(self._by_state[known])}"

    def flights(self, org: str, dest: str, date: str) -> str:
        """Rows of one day; "no flights" only where that is known."""
        ends = self._ends(org, dest)
        if isinstance(ends, str):
            return ends
        day = _DATE.fullmatch(date)
        if day is None:
            return f"{_short(date)!r} is not a date; write it as YYYY-MM-DD."
        key = (*ends, f"{day[1]}-{int(day[2]):02}-{int(day[3]):02}")
        rows, what = self._flights.get(key, []), f"from {key[0]} to {key[1]} on {key[2]}"
        known = self._coverage.of(key, len(rows))
        if known == "none":
            return f"There are no flights {what}."
        if known == "unknown":
            return f"Whether there are flights {what} is unknown here."
        more = "" if known == "all" else "\nThere may be others that are not known here."
        return _table(f"Flights {what} (flight number | departure | arrival | duration | dollars a person)",
                      (_flight(row) for row in rows)) + more  # fmt: skip

    def road(self, org: str, dest: str, mode: str) -> str:
        """In the words that a plan's transportation has; no way that takes a day or more."""
        ends = self._ends(org, dest)
        if isinstance(ends, str):
            return ends
        kind = re.sub(r"[^a-z]", "", mode.lower())
        if kind not in ("selfdriving", "selfdrive", "driving", "taxi"):
            return f"There is no mode {_short(mode)!r}; the modes are {SELF_DRIVING} and {TAXI}."
        by = TAXI if kind == TAXI else SELF_DRIVING
        way = self.places.road(*ends)
        if way is None or way.kilometres is None:
            return f"No way by {by} from {ends[0]} to {ends[1]} is known that takes less than a day."
        cost = int(way.kilometres * (1 if by == TAXI else DOLLARS_A_KM_BY_CAR))
        return (
            f"{by.capitalize()}, from {ends[0]} to {ends[1]}, duration: {way.duration}, distance: {way.distance}, "
            f"cost: {cost}"
        )

    def accommodations(self, city: str) -> str:
        columns = "name | room type | dollars a night | minimum nights | most people | house rules | rating"
        return self._listed("accommodations", city, columns, self.places.accommodations.of, _accommodation)

    def restaurants(self, city: str) -> str:
        columns = "name | cuisines | dollars a person | rating"
        return self._listed("restaurants", city, columns, self.places.restaurants.of, _restaurant)

    def attractions(self, city: str) -> str:
        return self._listed("attractions", city, "name", self.places.attractions.of, lambda row: _named(row.name))

    def _listed(
        self, what: str, city: str, columns: str, rows_of: Callable[[str], Sequence[P]], show: Callable[[P], str]
    ) -> str:
        known = self._city(city)
        if known is None:
            return self._unknown(city)
        rows = rows_of(known)
        if not rows:
            return f"No {what} are known in {known}."
        return _table(f"{what.capitalize()} in {known} ({columns})", (show(row) for row in rows))

    def _ends(self, org: str, dest: str) -> tuple[str, str] | str:
        """Both cities, or what to say of the one that is not here."""
        first, second = self._city(org), self._city(dest)
        if first is None or second is None:
            return self._unknown(org if first is None else dest)
        return first, second

    def _city(self, text: str) -> str | None:
        return self._cities.get(_folded(text)) or self._cities.get(_folded(before_parenthesis(text)))

    def _unknown(self, city: str) -> str:
        return f"There is no city {_short(city)!r} here{nearest(city, self._cities.values())}."


@cache
def load_tools(data_dir: Path) -> Tools:
    """The tools over a data folder, made once a process. Raises UserError where a table is missing."""
    return Tools(load_places(data_dir), load_coverage(data_dir))


def _table(title: str, rows: Iterable[str]) -> str:
    """One line a row, as many as there is room for; what is left out is said."""
    lines, left, cut = [f"{title}:"], LONGEST - len(title) - 60, 0
    for row in rows:
        left -= len(row) + 1
        if left < 0:
            cut += 1
        else:
            lines.append(row)
    return "\n".join([*lines, f"({cut} more rows are not shown)"] if cut else lines)


def _flight(row: Flight) -> str:
    return f"{row.number} | {row.departs} | {row.arrives} | {row.elapsed} | {row.price:g}"


def _accommodation(row: Accommodation) -> str:
    cells = (f"{row.price:g}", f"{row.minimum_nights:g}", str(row.occupancy), row.house_rules, f"{row.rating:g}")
    return " | ".join((_named(row.name), row.room_type, *cells))


def _restaurant(row: Restaurant) -> str:
    return f"{_named(row.name)} | {row.cuisines} | {row.cost:g} | {row.rating:g}"


def _named(name: str) -> str:
    return " ".join(name.splitlines()).strip()


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".")


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}..."
