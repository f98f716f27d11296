"""Timestamps: date strings read as the official tools read them (pandas.Timestamp).

`parse` gives a datetime, or None for "not a time"; what cannot be read raises DateParseError, whose name is the
one that appears in official traces. A time of day alone means today, which there is the day the code runs, always
after the benchmark's dates; here a fixed late day, so that a replay does not depend on the clock.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from functools import lru_cache

NOW = datetime.fromisoformat("2023-11-30")  # the benchmark's current time
RUN_DAY = datetime.fromisoformat("2025-01-01")
YEAR_ONE = datetime.fromisoformat("0001-01-01")  # what a date without a year or month is filled up from
_PLAIN = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d:\d\d)?", re.ASCII)
_CLOCK = re.compile(r"\s*\d{1,2}:\d\d", re.ASCII)
_SAYS_A_DATE = re.compile(r"\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", re.ASCII | re.IGNORECASE)
_NOT_A_TIME = frozenset({"NaT", "nat", "NAT", "nan", "NaN", "NAN", ""})


class DateParseError(ValueError):
    """A string that is no date."""


@lru_cache(maxsize=4096)
def _read(text: str) -> datetime | None:
    if text in _NOT_A_TIME:
        return None
    if text in ("now", "today"):
        return RUN_DAY
    if _PLAIN.fullmatch(text):
        try:
            return datetime.fromisoformat(text)
        except ValueError as error:
            raise DateParseError(f"{error}: {text}") from error
    return _read_loosely(text)


def _read_loosely(text: str) -> datetime:
    from dateutil import parser  # slow to import, and needed only for dates a model wrote in its own way

    default = RUN_DAY if _CLOCK.match(text) else YEAR_ONE
    try:
        if not _SAYS_A_DATE.search(text):
            raise ValueError("a weekday alone is no date")
        moment: datetime = parser.parse(text, default=default)
    except (ValueError, OverflowError) as error:
        raise DateParseError(f"Unknown datetime string format, unable to parse: {text}") from error
    return moment


def parse(value: object) -> datetime | None:
    """A datetime of a string or datetime; None for "not a time". DateParseError if it is no date."""
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str):
        raise TypeError(f"Cannot convert input [{value!r}] of type {type(value)} to Timestamp")
    return _read(value)


def day(value: object) -> date:
    """The calendar day. ValueError for "not a time", DateParseError if it is no date."""
    moment = parse(value)
    if moment is None:
        raise ValueError("NaTType does not support date")
    return moment.date()


def at_or_before(earlier: object, later: object) -> bool:
    """Whether the first is not after the second; False if either is "not a time"."""
    a, b = parse(earlier), parse(later)
    return a is not None and b is not None and a <= b
