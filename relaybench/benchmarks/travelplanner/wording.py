"""Wording: what the texts of a plan's cells say, read as the official evaluation reads them."""

from __future__ import annotations

import re
from typing import Any

from relaybench.benchmarks.travelplanner.places import before_parenthesis

MEALS = ("breakfast", "lunch", "dinner")
NOTHING = "-"
_ENDPOINTS = re.compile(r"from\s+(.+?)\s+to\s+([^,]+)(?=[,\s]|$)")
_PLACE = re.compile(r"(.*?),\s*([^,]+)$")


def filled(day: dict[str, Any], key: str) -> bool:
    """Whether the cell is there and says something."""
    return key in day and bool(day[key]) and day[key] != NOTHING


def endpoints(text: str) -> tuple[str, str] | tuple[None, None]:
    """A and B of "from A to B, ..."; (None, None) where the text says no such thing."""
    found = _ENDPOINTS.search(text)
    return (found[1], found[2]) if found else (None, None)


def journey(text: str) -> tuple[str, str]:
    """The endpoints without what stands in parentheses. Raises TypeError where there are none, as officially."""
    org, dest = endpoints(text)
    return before_parenthesis(org), before_parenthesis(dest)  # type: ignore[arg-type]


def place(text: str) -> tuple[str, str]:
    """Name and city of "Name, City(State)", split at the last comma; ("-", "-") where there is no comma."""
    found = _PLACE.search(text)
    if found is None:
        return NOTHING, NOTHING
    return found[1].strip(), before_parenthesis(found[2].strip()).strip()


def attractions(text: str) -> list[str]:
    """The items of "X, City;Y, City;": what stands behind the last semicolon is not read."""
    return text.split(";")[:-1]


def vehicle(text: str) -> str | None:
    """Taxi, Self-driving or Flight, the first that the text names in any case."""
    lower = text.lower()
    return next((name for name in ("Taxi", "Self-driving", "Flight") if name.lower() in lower), None)


def flight_number(text: str) -> str:
    """The number after "Flight Number: ". Raises IndexError where it is written otherwise, as officially."""
    return text.split("Flight Number: ")[1].split(",")[0]


def leg(day: dict[str, Any]) -> tuple[str, str] | tuple[None, None]:
    """The endpoints of the day's transportation; where it names none, those of its current city."""
    found = endpoints(day["transportation"])
    return endpoints(day["current_city"]) if found == (None, None) else found
