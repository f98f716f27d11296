"""Plans: from a day-by-day text, or from JSON, to the official form; and back to text.

A text has one block a day, "Day 1:" and below it "Current City:", "Transportation:" and so on, in any case, with or
without Markdown, on lines of their own or not. JSON is a list of days, also as {"plan": [...]}; in the official form it
is taken as it stands. In all others, wording that the official evaluation overlooks is put into the form that it reads
("self driving" becomes "Self-driving", every attraction ends with ";"), so that nothing hides behind it. Nothing is
ever evaluated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from relaybench.benchmarks.travelplanner.places import Places
from relaybench.benchmarks.travelplanner.spelling import respelt
from relaybench.benchmarks.travelplanner.wording import MEALS, NOTHING

LONGEST = 20_000
"""Characters of a plan."""
MOST_DAYS = 31
KEYS = ("current_city", "transportation", "breakfast", "attraction", "lunch", "dinner", "accommodation")
"""Of a day, in the order of the text form."""
Plan = list[dict[str, Any]]

_LABELS = {key: key.replace("_", " ").title() for key in KEYS}
_LABEL = re.compile(
    r"(?<![\w-])(?P<bold>\*\*|__)?"
    r"(?P<label>current[ _]?city|transportation|breakfast|attractions?|lunch|dinner|accommodations?)"
    r"(?P<end>\*\*|__)?[ \t]*:(?(bold)(?(end)|(?:\*\*|__)?))[ \t]*",
    re.IGNORECASE,
)
_DAY = re.compile(r"(?:^[ \t>*#`\[_-]*day[ \t]*(\d{1,3})\b|\bday[ \t]*(\d{1,3})(?:\*\*|__)?[ \t]*:)", re.I | re.M)
_JSON = re.compile(r"\[\s*\{|\{\s*\"")
_BULLET = re.compile(r"^\s*(?:[-*•+]|\d{1,2}[.)])\s+")
_TAIL = " ,;|"
_EMPTY = frozenset(("", NOTHING, "–", "—", "none", "n/a", "na", "nothing", "null"))
_FLIGHT = re.compile(r"^flight\s*(?:number|no\.?|#)?\s*[:#]?\s*(F\d+)\b", re.IGNORECASE)
_WAY = re.compile(r"^(?:from\s+)?(.+?)\s*(?:->|→|\bto\b)\s*(.+)$", re.IGNORECASE)


def parse_plan(text: str, places: Places | None = None) -> Plan | None:
    """The plan that a text or JSON tells, at most MOST_DAYS days; None where no day can be read. Never raises.

    With `places`, names get the white space of its tables; JSON in the official form is never changed.
    """
    found = _json(text[:LONGEST])
    if found is not None and _is_official(found):
        return found[:MOST_DAYS]
    days = (_from_text(text[:LONGEST]) if found is None else _from_json(found))[:MOST_DAYS]
    return (days if places is None else respelt(days, places)) or None


def render_plan(plan: Sequence[Mapping[str, Any]]) -> str:
    """The text form of a plan in the official form; days without anything are left out."""
    days = (day for day in plan if day)
    return "\n\n".join(
        "\n".join([f"Day {number}:", *(f"{label}: {day.get(key, NOTHING)}" for key, label in _LABELS.items())])
        for number, day in enumerate(days, 1)
    )


def _from_text(text: str) -> Plan:
    """Days in the order of the text, up to the second "Day 1"; a day without a single label is none."""
    text = _unwrapped(text)
    starts = list(_DAY.finditer(text))
    ends = [*(start.start() for start in starts), len(text)][1:]
    days: Plan = []
    seen: set[int] = set()
    for start, end in zip(starts, ends, strict=True):
        cells = dict(_cells(text[start.end() : end]))
        number = int(start[1] or start[2])
        if number in seen and number == 1:
            break
        if cells:
            seen.add(number)
            days.append(_day(number, cells))
    return days


def _unwrapped(text: str) -> str:
    """Without the brackets of `SubmitPlan[...]` around it, and what stands behind them."""
    close = {"[": "]", "(": ")"}.get(text[:1])
    if close is None:
        return text
    return text[1 : text.rindex(close)] if text.count(close) == text.count(text[0]) else text[1:]


def _cells(block: str) -> Iterator[tuple[str, str]]:
    labels = list(_LABEL.finditer(block))[::-1]  # of a label that comes twice, the first counts
    end = len(block)
    for label in labels:
        yield _key(label["label"]), _value(_key(label["label"]), block[label.end() : end])
        end = label.start()


def _value(key: str, text: str) -> str:
    """The first line that says something; of attractions, the list that starts there."""
    lines = [line.strip() for line in text.strip().splitlines()] or [""]
    items = [re.sub(r"^-\s+", "", lines[0])]
    if key != "attraction":
        return items[0]
    for line in lines[1:]:
        if not _BULLET.match(line):
            break
        items.append(_BULLET.sub("", line))
    return ";".join(items)


def _json(text: str) -> list[Any] | None:
    """The list of days in a JSON text; None where it holds no JSON."""
    start = _JSON.search(text)
    if start is None:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start.start())
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list):
        return value
    inner = list(value.values())
    lists = [item for item in inner if isinstance(item, list) and item and isinstance(item[0], dict)]
    return lists[0] if lists else [item for item in inner if isinstance(item, dict)] or [value]


def _from_json(value: Sequence[Any]) -> Plan:
    days = [{_key(key): _told(cell) for key, cell in day.items()} for day in value if isinstance(day, dict) and day]
    return [_day(number, day) for number, day in enumerate(days, 1) if any(key in day for key in KEYS)]


def _is_official(days: Sequence[Any]) -> bool:
    """Whether these are days as the official evaluation takes them: official keys, and text of sane length in cells."""
    if not all(isinstance(day, dict) for day in days) or not any("current_city" in day for day in days):
        return False
    cells = [(key, cell) for day in days for key, cell in day.items() if key in KEYS]
    return all(isinstance(cell, str) and len(cell) <= _longest(key) for key, cell in cells)


def _told(cell: Any) -> str:
    """A JSON cell as text: a list's items apart, an object's values as "Name, City"."""
    if isinstance(cell, list):
        return ";".join(_told(item) for item in cell if isinstance(item, str | dict))
    if isinstance(cell, dict):
        cell = {key: cell[key] for key in ("name", "city")} if {"name", "city"} <= cell.keys() else cell
        return ", ".join(str(value) for value in cell.values() if isinstance(value, str | int | float))
    return "" if cell is None else str(cell)


def _key(name: str) -> str:
    """current_city of "Current City", attraction of "attractions"."""
    plain = re.sub(r"[\s-]+", "_", name.strip().lower())
    if plain == "currentcity":
        return "current_city"
    return plain.removesuffix("s") if plain in ("attractions", "accommodations") else plain


def _day(number: int, cells: Mapping[str, str]) -> dict[str, Any]:
    return {"days": number} | {key: _normal(key, cells.get(key, "")) for key in KEYS}


def _normal(key: str, text: str) -> str:
    """A cell as the official evaluation reads it."""
    printable = "".join(c if c.isprintable() else " " for c in text)
    plain = _stripped(" ".join(printable.split())[: _longest(key)])
    if plain.lower() in _EMPTY:
        return NOTHING
    if key == "transportation":
        return _transportation(plain)
    if key == "current_city":
        way = _WAY.match(plain)
        return f"from {way[1]} to {way[2]}" if way else plain
    if key == "attraction":
        items = [_stripped(item) for item in plain.split(";")]
        return "".join(f"{item};" for item in items if item.lower() not in _EMPTY) or NOTHING
    return plain if key in MEALS or key == "accommodation" else ""


def _longest(key: str) -> int:
    """Characters of a cell that are read: the official patterns take quadratic time."""
    return 3_000 if key == "attraction" else 500


def _stripped(text: str) -> str:
    """Without what Markdown and sentences put around a value."""
    plain = text.strip(" `").rstrip(_TAIL).removesuffix(" -").rstrip(_TAIL)
    for quote in ('"', "**", "__"):
        if len(plain) > 2 * len(quote) and plain.startswith(quote) and plain.endswith(quote):
            plain = plain[len(quote) : -len(quote)].strip()
    return plain.rstrip(".").rstrip() if plain.endswith(".") else plain


def _transportation(text: str) -> str:
    """With the words that the evaluation looks for in its own case: Flight Number, Self-driving, Taxi, from."""
    plain = re.sub(r"\bself[- ]?driving\b", "Self-driving", text, flags=re.IGNORECASE)
    plain = re.sub(r"\btaxi\b", "Taxi", plain, flags=re.IGNORECASE)
    plain = re.sub(r"\bflight\b", "Flight", plain, flags=re.IGNORECASE)
    plain = re.sub(r"\bfrom\b", "from", plain, flags=re.IGNORECASE)
    return _FLIGHT.sub(r"Flight Number: \1", plain)
