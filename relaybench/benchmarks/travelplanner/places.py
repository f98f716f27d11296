"""Places: the sandbox's tables of restaurants, attractions, accommodations, flights and distances.

As in the official code, rows with a missing value in a column that is used are not there, a name matches every row of
the city that contains it (case counts), and of several rows the first one in the table decides.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from msgspec import Struct

from relaybench.errors import UserError

_MISSING = frozenset(
    (
        *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
        *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    )
)
"""Cells that pandas reads as missing."""
_PARENTHESIS = re.compile(r"^(.*?)\([^)]*\)")


class Restaurant(Struct, frozen=True):
    name: str
    city: str
    cuisines: str
    """Names with ", " between them."""
    cost: float
    """Dollars a person and meal."""
    rating: float


class Attraction(Struct, frozen=True):
    name: str
    city: str
    latitude: str
    longitude: str
    address: str
    phone: str
    website: str


class Accommodation(Struct, frozen=True):
    name: str
    city: str
    room_type: str
    house_rules: str
    """Names with " & " between them."""
    price: float
    """Dollars a night and unit."""
    minimum_nights: float
    occupancy: int
    """People a unit."""
    rating: float


class Flight(Struct, frozen=True):
    number: str
    price: float
    """Dollars a person."""
    departs: str
    arrives: str
    elapsed: str
    date: str
    org: str
    dest: str
    distance: str


class Road(Struct, frozen=True):
    """The way between two cities; both texts "" where none is known."""

    duration: str
    distance: str

    @property
    def kilometres(self) -> float | None:
        """None where the way is unknown, or takes a day or more: officially no valid information."""
        if not self.distance or not self.duration or "day" in self.duration:
            return None
        return float(self.distance.replace("km", "").replace(",", ""))


class _Named(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def city(self) -> str: ...


P = TypeVar("P", bound=_Named)
T = TypeVar("T")


class Directory(Generic[P]):
    """Rows of one table, found by name within a city."""

    def __init__(self, rows: Iterable[P]) -> None:
        self._by_city: defaultdict[str, list[P]] = defaultdict(list)
        for row in rows:
            self._by_city[row.city].append(row)

    def find(self, name: str, city: str) -> list[P]:
        """Rows of `city` whose name contains `name`, in table order."""
        return [row for row in self.of(city) if name in row.name]

    def of(self, city: str) -> Sequence[P]:
        """All rows of a city."""
        return self._by_city.get(city, [])

    def cities(self) -> list[str]:
        """Every city with a row."""
        return list(self._by_city)


class Places:
    """The sandbox of a data folder. Raises UserError where a table is missing or another one."""

    def __init__(self, data_dir: Path) -> None:
        folder = data_dir / "sandbox"
        self.restaurants = Directory(_read(folder / "restaurants/clean_restaurant_2022.csv", _RESTAURANT, _restaurant))
        self.attractions = Directory(_read(folder / "attractions/attractions.csv", _ATTRACTION, _attraction))
        self.accommodations = Directory(
            _read(folder / "accommodations/clean_accommodations_2022.csv", _ACCOMMODATION, _accommodation)
        )
        self.flights: defaultdict[str, list[Flight]] = defaultdict(list)
        for flight in _read(folder / "flights/clean_Flights_2022.csv", _FLIGHT, _flight):
            self.flights[flight.number].append(flight)
        self._roads: dict[tuple[str, str], Road] = {}
        for org, dest, duration, distance in _read(
            folder / "googleDistanceMatrix/distance.csv", _ROAD, tuple, gaps=True
        ):
            gap = duration in _MISSING or distance in _MISSING
            self._roads.setdefault((org, dest), Road("", "") if gap else Road(duration, distance))
        self.states = dict(_states(folder / "background/citySet_with_states.txt"))
        """State by city."""

    def cities(self) -> set[str]:
        """Every city that a table of places or distances names."""
        listed = (self.restaurants, self.attractions, self.accommodations)
        return {*self.states, *(city for table in listed for city in table.cities())}.union(*self._roads)

    def road(self, org: str, dest: str) -> Road | None:
        """The first row between two cities, or None."""
        return self._roads.get((before_parenthesis(org), before_parenthesis(dest)))


@cache
def load_places(data_dir: Path) -> Places:
    """The sandbox of a data folder, read once a process."""
    return Places(data_dir)


def before_parenthesis(text: str) -> str:
    """What stands before the first "(...)" of a line; the whole text where there is none."""
    found = _PARENTHESIS.search(text)
    return found.group(1) if found else text


_RESTAURANT = ("Name", "City", "Cuisines", "Average Cost", "Aggregate Rating")
_ATTRACTION = ("Name", "City", "Latitude", "Longitude", "Address", "Phone", "Website")
_ACCOMMODATION = (
    "NAME", "city", "room type", "house_rules", "price", "minimum nights", "maximum occupancy", "review rate number",
)  # fmt: skip
_FLIGHT = (
    "Flight Number", "Price", "DepTime", "ArrTime", "ActualElapsedTime", "FlightDate", "OriginCityName",
    "DestCityName", "Distance",
)  # fmt: skip
_ROAD = ("origin", "destination", "duration", "distance")


def _restaurant(cells: Sequence[str]) -> Restaurant:
    name, city, cuisines, cost, rating = cells
    return Restaurant(name, city, cuisines, float(cost), float(rating))


def _attraction(cells: Sequence[str]) -> Attraction:
    return Attraction(*cells)


def _accommodation(cells: Sequence[str]) -> Accommodation:
    name, city, room, rules, price, nights, occupancy, rating = cells
    return Accommodation(name, city, room, rules, float(price), float(nights), int(float(occupancy)), float(rating))


def _flight(cells: Sequence[str]) -> Flight:
    number, price, *rest = cells
    return Flight(number, float(price), *rest)


def _read(path: Path, columns: Sequence[str], make: Callable[[Sequence[str]], T], *, gaps: bool = False) -> Iterator[T]:
    """One object a row; rows with a missing cell are left out unless `gaps`."""
    mend = "fetch or import the travelplanner data again"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                cells = [row[column] for column in columns]
                if gaps or not _MISSING.intersection(cells):
                    yield make(cells)
    except OSError as error:
        raise UserError(f"cannot read {path} ({error.strerror}); {mend}") from error
    except (KeyError, ValueError, TypeError) as error:
        raise UserError(f"{path} is not the sandbox's table ({error}); {mend}") from error


def _states(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        city, _, state = line.partition("\t")
        yield city, state
