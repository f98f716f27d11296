"""A sandbox of two towns, in our layout, and a query whose plan is right."""

from __future__ import annotations

import copy
import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from relaybench.benchmarks.travelplanner.places import Places
from relaybench.benchmarks.travelplanner.queries import Query, load_queries
from relaybench.benchmarks.travelplanner.tools import Tools, load_tools

QUERY: dict[str, Any] = {
    "idx": 1,
    "split": "validation",
    "query": "Three days from Ash to Birch for two, $500.",
    "org": "Ash",
    "dest": "Birch",
    "days": 3,
    "visiting_city_number": 1,
    "date": ["2022-03-01", "2022-03-02", "2022-03-03"],
    "people_number": 2,
    "local_constraint": {"house rule": "pets", "cuisine": ["Thai"], "room type": "entire room", "transportation": None},
    "budget": 500,
    "level": "medium",
}
PLAN: list[dict[str, Any]] = [
    {
        "days": 1,
        "current_city": "from Ash to Birch",
        "transportation": "Flight Number: F1, from Ash to Birch, Departure Time: 08:00, Arrival Time: 09:00",
        "breakfast": "-",
        "attraction": "-",
        "lunch": "Thai Corner, Birch",
        "dinner": "Pot, Birch",
        "accommodation": "Loft, Birch",
    },
    {
        "days": 2,
        "current_city": "Birch",
        "transportation": "-",
        "breakfast": "Oats, Birch",
        "attraction": "Zoo, Birch;Fort, Birch;",
        "lunch": "Bread & Co, Birch",
        "dinner": "Grill, Birch",
        "accommodation": "Loft, Birch",
    },
    {
        "days": 3,
        "current_city": "from Birch to Ash",
        "transportation": "Flight Number: F2, from Birch to Ash, Departure Time: 18:00, Arrival Time: 19:00",
        "breakfast": "-",
        "attraction": "-",
        "lunch": "-",
        "dinner": "-",
        "accommodation": "-",
    },
]
COST = 2 * (50 + 60) + 2 * (10 + 10 + 5 + 8 + 12) + 2 * 40
"""Flights, meals, two nights, for two people."""

_RESTAURANTS = (
    ("Thai Corner", "Thai, Cafe", 10),
    ("Pot", "Cafe", 10),
    ("Oats", "Cafe", 5),
    ("Bread & Co", "Cafe", 8),
    ("Grill", "Cafe", 12),
)
TABLES: dict[str, Sequence[Sequence[Any]]] = {
    "restaurants/clean_restaurant_2022.csv": [
        ("", "Name", "City", "Cuisines", "Average Cost", "Aggregate Rating"),
        *((0, name, "Birch", cuisines, price, 4.0) for name, cuisines, price in _RESTAURANTS),
        (9, "Home Cook", "Ash", "Cafe", 7, 3.0),
    ],
    "attractions/attractions.csv": [
        ("Name", "Latitude", "Longitude", "Address", "Phone", "Website", "City"),
        ("Zoo", 1.0, 2.0, "Zoo Road", "1", "https://zoo.example", "Birch"),
        ("Fort", 1.0, 2.0, "Fort Road", "2", "https://fort.example", "Birch"),
        ("No Phone", 1.0, 2.0, "Road", "", "https://x.example", "Birch"),
    ],
    "accommodations/clean_accommodations_2022.csv": [
        ("", "NAME", "room type", "price", "minimum nights", "review rate number", "house_rules",
         "maximum occupancy", "city"),
        (0, "Loft", "Entire home/apt", 40.0, 2.0, 4.0, "No smoking", 2, "Birch"),
        (2, "Attic  of\nGlass", "Private room", 30.0, 1.0, 4.5, "No pets", 1, "Birch"),
        (1, "Cell", "Shared room", 10.0, 1.0, 2.0, "No pets & No visitors", 1, "Birch"),
    ],
    "flights/clean_Flights_2022.csv": [
        ("Flight Number", "Price", "DepTime", "ArrTime", "ActualElapsedTime", "FlightDate", "OriginCityName",
         "DestCityName", "Distance"),
        ("F1", 50, "08:00", "09:00", "1 hours 0 minutes", "2022-03-01", "Ash", "Birch", 300.0),
        ("F2", 60, "18:00", "19:00", "1 hours 0 minutes", "2022-03-03", "Birch", "Ash", 300.0),
    ],
    "googleDistanceMatrix/distance.csv": [
        ("origin", "destination", "cost", "duration", "distance"),
        ("Ash", "Birch", "", "3 hours", "1,310 km"),
        ("Birch", "Ash", "", "1 day 3 hours", "2,310 km"),
        ("Ash", "Cedar", "", "", ""),
    ],
}  # fmt: skip

COVERAGE = {
    "complete": [["Ash", "Birch", "2022-03-01"]],
    "known_none": [["Ash", "Birch", "2022-03-02"]],
    "logged_rows_only": [["Birch", "Ash", "2022-03-03"]],
    "logged_none": [["Ash", "Cedar", "2022-03-01"]],
}


def write_sandbox(folder: Path) -> Path:
    for name, rows in TABLES.items():
        path = folder / "sandbox" / name
        path.parent.mkdir(parents=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
    background = folder / "sandbox" / "background"
    background.mkdir()
    (background / "citySet_with_states.txt").write_text("Ash\tOak State\nBirch\tElm State\nCedar\tElm State\n")
    (folder / "queries").mkdir()
    (folder / "queries" / "validation.jsonl").write_text(json.dumps(QUERY) + "\n")
    train = QUERY | {"split": "train", "annotated_plan": [*PLAN, {}, {}]}
    (folder / "queries" / "train.jsonl").write_text(json.dumps(train) + "\n")
    (folder / "sandbox" / "flights" / "coverage.json").write_text(json.dumps(COVERAGE))
    return folder


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sandbox(tmp_path_factory.mktemp("travelplanner"))


@pytest.fixture(scope="session")
def places(data: Path) -> Places:
    return Places(data)


@pytest.fixture(scope="session")
def tools(data: Path) -> Tools:
    return load_tools(data)


@pytest.fixture
def query(data: Path) -> Query:
    return load_queries(data, "validation")[1]


@pytest.fixture
def plan() -> list[dict[str, Any]]:
    """The right plan, free to be spoilt."""
    return copy.deepcopy(PLAN)
