"""Reports between the roles: read as written, written as read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybench.benchmarks.travelplanner.reports import CityList, Options
from relaybench.benchmarks.travelplanner.roles import ACCOMMODATION, OPTIONS, TRANSPORT

STAYS = OPTIONS[ACCOMMODATION]
VALUE = st.text("abZ 0.,:'-;", min_size=1, max_size=12).map(lambda text: " ".join(text.split()))


def test_cities_stand_on_one_line() -> None:
    cities = CityList()
    assert cities.parse("city_list: Buffalo, New York\n") == {"city_list": "Buffalo, New York"}
    assert cities.parse("- City_List :  [hidden] ") == {"city_list": "[hidden]"}
    assert cities.parse("  ") == {}
    assert cities.parse("I chose Buffalo.") is None
    assert cities.parse("city_list: A\ncity_list: B") is None
    assert cities.render({"city_list": "Buffalo, Reno"}) == "city_list: Buffalo, Reno"


def test_an_option_is_a_line_and_its_fields_are_named_by_column() -> None:
    text = "1. name: Loft; all yours; city: Birch; price: 40\n2) Name: Cell; price : 10\n- name: Attic"
    assert STAYS.parse(text) == {
        "1.name": "Loft; all yours", "1.city": "Birch", "1.price": "40",
        "2.name": "Cell", "2.price": "10", "3.name": "Attic",
    }  # fmt: skip
    assert STAYS.parse("1. name: A\n1. name: B") == {"1.name": "A", "2.name": "B"}
    assert STAYS.parse("Loft in Birch for 40") is None
    assert STAYS.parse("") == {}


def test_legs_come_after_the_cities() -> None:
    text = (
        "city_list: Birch\n"
        "1. date: 2022-03-01; from: Ash; to: Birch; by: Flight Number: F1, Departure Time: 08:00; cost: 50"
    )
    fields = OPTIONS[TRANSPORT].parse(text)
    assert fields is not None
    assert (fields["city_list"], fields["1.by"]) == ("Birch", "Flight Number: F1, Departure Time: 08:00")
    assert OPTIONS[TRANSPORT].render(fields) == text


def test_each_request_shows_the_form_that_is_read() -> None:
    for name, options in OPTIONS.items():
        form = [line for line in options.request.splitlines() if line.startswith(("1.", "2.", "city_list"))]
        fields = options.parse("\n".join(form))
        assert fields is not None
        assert ("city_list" in fields) == (name == TRANSPORT)
        assert {key for key in fields if key.startswith("1.")} == {f"1.{column}" for column in options.columns}


@given(
    st.lists(
        st.dictionaries(st.sampled_from(STAYS.columns), VALUE.filter(lambda v: "; " not in v), min_size=1), max_size=6
    )
)
def test_what_is_rendered_is_parsed_back(options: list[dict[str, str]]) -> None:
    fields = {f"{i}.{column}": value for i, option in enumerate(options, 1) for column, value in option.items()}
    assert STAYS.parse(STAYS.render(fields)) == fields


@given(st.text())
def test_no_report_raises(text: str) -> None:
    for options in (CityList(), *OPTIONS.values()):
        fields = options.parse(text)
        assert fields is None or isinstance(options.render(fields), str)


@pytest.mark.parametrize("text", [" " * 50_000 + "x", "1. name: " + " ;" * 20_000, "city_list:" + " a" * 20_000])
def test_huge_reports_take_no_time(text: str) -> None:
    Options("dining", ("name", "city")).parse(text)
    CityList().parse(text)
