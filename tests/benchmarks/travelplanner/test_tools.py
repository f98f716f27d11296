"""The six searches: what they show, and that what is not known is never shown as nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybench.benchmarks.travelplanner import tools as module
from relaybench.benchmarks.travelplanner.actions import SEARCHES, Request, read
from relaybench.benchmarks.travelplanner.coverage import Coverage, load_coverage
from relaybench.benchmarks.travelplanner.tools import LONGEST, Tools, load_tools
from relaybench.errors import UserError


def ask(tools: Tools, action: str) -> str:
    return tools.call(read(action))


def test_each_search_shows_the_rows_of_its_table(tools: Tools) -> None:
    assert ask(tools, "CitySearch[elm state]") == "Cities in Elm State: Birch, Cedar"
    assert ask(tools, "RestaurantSearch[Birch(Elm State)]").splitlines()[:2] == [
        "Restaurants in Birch (name | cuisines | dollars a person | rating):",
        "Thai Corner | Thai, Cafe | 10 | 4",
    ]
    assert ask(tools, "AccommodationSearch[ birch ]").splitlines()[1:] == [
        "Loft | Entire home/apt | 40 | 2 | 2 | No smoking | 4",
        "Attic  of Glass | Private room | 30 | 1 | 1 | No pets | 4.5",
        "Cell | Shared room | 10 | 1 | 1 | No pets & No visitors | 2",
    ]
    assert ask(tools, "AttractionSearch[Birch]") == "Attractions in Birch (name):\nZoo\nFort"
    assert ask(tools, "AttractionSearch[Cedar]") == "No attractions are known in Cedar."


def test_flights_are_known_in_part_known_to_be_none_or_unknown(tools: Tools) -> None:
    assert ask(tools, "FlightSearch[Ash, Birch, 2022-3-1]").splitlines()[1:] == [
        "F1 | 08:00 | 09:00 | 1 hours 0 minutes | 50"
    ]
    assert ask(tools, "FlightSearch[Birch, Ash, 2022-03-03]").endswith("There may be others that are not known here.")
    assert ask(tools, "FlightSearch[Ash, Birch, 2022-03-02]") == "There are no flights from Ash to Birch on 2022-03-02."
    for unknown in ("Ash, Birch, 2022-03-09", "Ash, Cedar, 2022-03-01", "Cedar, Ash, 2022-03-01"):
        assert "is unknown here" in ask(tools, f"FlightSearch[{unknown}]")


def test_roads_are_told_as_a_plan_tells_them(tools: Tools) -> None:
    by_car = ask(tools, "GoogleDistanceMatrix[Ash, Birch, Self driving]")
    assert by_car == "Self-driving, from Ash to Birch, duration: 3 hours, distance: 1,310 km, cost: 65"
    assert ask(tools, "GoogleDistanceMatrix[Ash, Birch, taxi]").endswith("cost: 1310")
    for none in ("Birch, Ash, taxi", "Ash, Cedar, taxi", "Cedar, Birch, taxi"):
        assert ask(tools, f"GoogleDistanceMatrix[{none}]").startswith("No way by taxi from")


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("HotelSearch[Birch]", "There is no tool 'HotelSearch'"),
        ("RestaurantSearch[Brich]", "There is no city 'Brich' here; did you mean 'Birch'?"),
        ("CitySearch[Elm]", "There is no state 'Elm' here"),
        ("RestaurantSearch[]", "RestaurantSearch takes 1 arguments: RestaurantSearch[City]."),
        ("FlightSearch[Ash, Birch]", "FlightSearch takes 3 arguments"),
        ("FlightSearch[Ash, Birch, tomorrow]", "'tomorrow' is not a date"),
        ("FlightSearch[Ash, Nowhere, 2022-03-01]", "There is no city 'Nowhere' here"),
        ("GoogleDistanceMatrix[Ash, Birch, train]", "There is no mode 'train'; the modes are self-driving and taxi."),
    ],
)
def test_what_is_wrong_is_said(tools: Tools, action: str, said: str) -> None:
    assert ask(tools, action).startswith(said)


def test_long_tables_are_cut_and_say_so(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST", 180)
    shown = ask(tools, "RestaurantSearch[Birch]")
    assert len(shown) <= 180
    assert shown.endswith("(3 more rows are not shown)")


CITY = st.sampled_from(["Ash", "Birch", "Cedar", "Elm State", "taxi", "2022-03-01", "2022-3-3"]) | st.text(max_size=8)


@given(tool=st.sampled_from(sorted(SEARCHES)) | st.text(), arguments=st.lists(CITY, max_size=4))
def test_no_request_raises_and_answers_are_bounded(tool: str, arguments: list[str], tools: Tools) -> None:
    said = tools.call(Request(tool, tuple(arguments)))
    assert said
    assert len(said) <= LONGEST


def test_a_folder_without_coverage_holds_the_official_table(tmp_path: Path) -> None:
    assert load_coverage(tmp_path).of(("A", "B", "2022-03-01"), 0) == "none"
    path = tmp_path / "bad" / "sandbox" / "flights" / "coverage.json"
    path.parent.mkdir(parents=True)
    path.write_text("[1]")
    with pytest.raises(UserError, match="does not say which flights are here"):
        load_coverage(tmp_path / "bad")


def test_tool_logs_prove_no_table_to_be_empty() -> None:
    coverage = Coverage(known_none=frozenset([("A", "B", "d")]))
    assert [coverage.of(("A", "B", "d"), 0), coverage.of(("B", "A", "d"), 0), coverage.of(("B", "A", "d"), 2)] == [
        "none", "unknown", "some",
    ]  # fmt: skip


def test_every_table_of_the_real_sandbox_is_shown_as_its_coverage_says(shared: Path) -> None:
    folder = shared / "data" / "travelplanner"
    real = load_tools(folder)
    known = json.loads((folder / "sandbox/flights/coverage.json").read_text())
    starts = {
        "complete": "Flights",
        "known_none": "There are no",
        "logged_rows_only": "Flights",
        "logged_none": "Whether",
    }
    for kind, start in starts.items():
        for org, dest, date in known[kind]:
            said = ask(real, f"FlightSearch[{org}, {dest}, {date}]")
            assert said.startswith(start)
            assert ("may be others" in said) == (kind == "logged_rows_only")
    for search in ("RestaurantSearch", "AccommodationSearch", "AttractionSearch"):
        assert not any("not shown" in ask(real, f"{search}[{city}]") for city in real.places.cities())
