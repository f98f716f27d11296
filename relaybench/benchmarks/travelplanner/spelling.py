"""Spelling: names in a plan as the tables spell them.

Some names of the sandbox hold line breaks, which no line of a table or plan can show, or several spaces in a row; the
evaluation wants them to the letter. Nothing but white space is ever changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaybench.benchmarks.travelplanner.places import Directory, Places
from relaybench.benchmarks.travelplanner.wording import MEALS, attractions, place

Plan = list[dict[str, Any]]


def respelt(plan: Plan, places: Places) -> Plan:
    """The plan with names of meals, attractions and accommodations in the white space of their tables."""
    return [{key: _cell(key, value, places) for key, value in day.items()} for day in plan]


def _cell(key: str, value: Any, places: Places) -> Any:
    if not isinstance(value, str):
        return value
    if key in MEALS:
        return _name(value, places.restaurants)
    if key == "accommodation":
        return _name(value, places.accommodations)
    if key == "attraction":
        return "".join(f"{_name(item, places.attractions)};" for item in attractions(value)) or value
    return value


def _name(text: str, table: Directory[Any]) -> str:
    """The text with the one name of its city that differs from its own in white space alone."""
    name, city = place(text)
    known: Sequence[Any] = table.of(city)
    if any(row.name == name for row in known):
        return text
    spelt = {row.name for row in known if row.name.split() == name.split()}
    return f"{spelt.pop()}{text[text.rindex(',') :]}" if len(spelt) == 1 else text
