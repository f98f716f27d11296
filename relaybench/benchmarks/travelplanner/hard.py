"""Hard constraints: what the traveller asked for, with the verdicts of the official evaluation.

They are judged only for plans that are complete and within the sandbox. None: not asked for, and counted nowhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from relaybench.benchmarks.travelplanner.places import Accommodation, Places
from relaybench.benchmarks.travelplanner.queries import Query
from relaybench.benchmarks.travelplanner.wording import MEALS, filled, flight_number, leg, place

Days = Sequence[dict[str, Any]]
Check = Callable[[Query, Days, Places], bool | None]
CAR_SEATS, TAXI_SEATS = 5, 4
DOLLARS_A_KM_BY_CAR = 0.05
"""A taxi costs one dollar a kilometre; both are cut to whole dollars a vehicle."""
_RULES = {name: f"No {name}" for name in ("smoking", "parties", "children under 10", "visitors", "pets")}
_ROOMS = {"shared room": "Shared room", "private room": "Private room", "entire room": "Entire home/apt"}


def cost(query: Query, days: Days, places: Places) -> float:
    """Dollars for all people; what the sandbox does not know costs nothing, attractions neither."""
    total = 0.0
    for day in days:
        total += _travel(query, day, places) if filled(day, "transportation") else 0
        for meal in MEALS:
            rows = places.restaurants.find(*place(day[meal])) if filled(day, meal) else []
            total += rows[0].cost * query.people_number if rows else 0
    stays = _stays(days, places)
    return total + sum(stay.price * math.ceil(query.people_number / stay.occupancy) for stay in stays)


def within_budget(query: Query, days: Days, places: Places) -> bool:
    return cost(query, days, places) <= query.budget


def room_rule(query: Query, days: Days, places: Places) -> bool | None:
    """No accommodation forbids what the travellers mean to do."""
    asked = query.local_constraint.house_rule
    if asked is None:
        return None
    forbids = _RULES.get(asked)
    return forbids is None or all(forbids not in stay.house_rules for stay in _stays(days, places))


def room_type(query: Query, days: Days, places: Places) -> bool | None:
    asked = query.local_constraint.room_type
    if asked is None:
        return None
    kinds = [stay.room_type for stay in _stays(days, places)]
    if asked == "not shared room":
        return "Shared room" not in kinds
    return asked not in _ROOMS or all(kind == _ROOMS[asked] for kind in kinds)


def cuisine(query: Query, days: Days, places: Places) -> bool | None:
    """Each cuisine asked for is had once; a meal in the origin ends the day's search."""
    asked = query.local_constraint.cuisine
    if not asked:
        return None
    had: set[str] = set()
    for day in days:
        for meal in MEALS:
            if not filled(day, meal):
                continue
            name, city = place(day[meal])
            if city == query.org:
                break
            if rows := places.restaurants.find(name, city):
                had.update(name for name in asked if name in rows[0].cuisines)
    return len(had) == len(asked)


def transportation(query: Query, days: Days, places: Places) -> bool | None:
    """Nothing that was ruled out."""
    asked = query.local_constraint.transportation
    if asked is None:
        return None
    out = {"no flight": "Flight", "no self-driving": "Self-driving"}.get(asked)
    return out is None or all(out not in day["transportation"] for day in days if filled(day, "transportation"))


CHECKS: dict[str, Check] = {
    "valid_cuisine": cuisine,
    "valid_room_rule": room_rule,
    "valid_transportation": transportation,
    "valid_room_type": room_type,
    "valid_cost": within_budget,
}
"""By official name, in official order."""


def _travel(query: Query, day: dict[str, Any], places: Places) -> float:
    text = day["transportation"]
    org, dest = leg(day)
    if org is None or dest is None:
        return 0
    lower = text.lower()
    if "flight number" in lower:
        flights = places.flights.get(flight_number(text), [])
        return flights[0].price * query.people_number if flights else 0
    if "self-driving" not in lower and "taxi" not in lower:
        return 0
    road = places.road(org, dest)
    if road is None or road.kilometres is None:
        raise TypeError("unsupported operand type(s) for *: 'NoneType' and 'int'")  # what the official code runs into
    if "self-driving" in lower:
        return int(road.kilometres * DOLLARS_A_KM_BY_CAR) * math.ceil(query.people_number / CAR_SEATS)
    return int(road.kilometres) * math.ceil(query.people_number / TAXI_SEATS)


def _stays(days: Days, places: Places) -> Iterator[Accommodation]:
    """The first row of each listed night that the sandbox knows."""
    for day in days:
        if filled(day, "accommodation") and (rows := places.accommodations.find(*place(day["accommodation"]))):
            yield rows[0]
