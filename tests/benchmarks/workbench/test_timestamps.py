"""Dates are read as pandas.Timestamp 2.1.4 reads them (the right-hand sides were printed by it)."""

from __future__ import annotations

import pytest

from relaybench.benchmarks.workbench.timestamps import DateParseError, at_or_before, day, parse

READ = {
    "2023-12-01": "2023-12-01 00:00:00",
    "2023-12-01T09:00:00Z": "2023-12-01 09:00:00+00:00",
    "27/11/2023": "2023-11-27 00:00:00",
    "November 27": "0001-11-27 00:00:00",
    "Dec 2023": "2023-12-01 00:00:00",
    "20231201": "2023-12-01 00:00:00",
    "2023-12-01 9am": "2023-12-01 09:00:00",
}


@pytest.mark.parametrize(("text", "moment"), READ.items())
def test_model_written_dates_are_read_as_pandas_reads_them(text: str, moment: str) -> None:
    assert str(parse(text)) == moment


@pytest.mark.parametrize("text", ["None", "tomorrow", "Friday", "next Friday", "2023-11-31", "2023-13-01", "24:00:00"])
def test_what_is_no_date_raises_as_in_official_traces(text: str) -> None:
    with pytest.raises(DateParseError):
        parse(text)


def test_not_a_time_is_before_nothing_and_has_no_day() -> None:
    assert parse("nan") is None
    assert not at_or_before("nan", "2023-12-01")
    assert not at_or_before("2023-12-01", "NaT")
    with pytest.raises(ValueError, match="NaT"):
        day("nan")


def test_a_time_of_day_alone_lies_after_the_benchmark_whenever_it_is_run() -> None:
    assert at_or_before("2023-12-31", "00:00")


def test_times_with_and_without_a_zone_cannot_be_compared() -> None:
    with pytest.raises(TypeError):
        at_or_before("2023-12-01T09:00:00Z", "2023-12-01")
