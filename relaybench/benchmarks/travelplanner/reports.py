"""Reports: what a searcher writes for the next worker (paper, appendix D.1).

Between searchers nothing crosses but `city_list`. The plan worker gets a list from each: one numbered line an option,
`1. name: Loft; city: Birch; price: 40`, read as the fields 1.name, 1.city, 1.price; the transport list starts with the
cities. A field is named by its column, so that a loss of "price" takes the price of every option.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

CITY_LIST = "city_list"
_CITIES = re.compile(rf"[ *-]*{CITY_LIST} ?: ?(.+)", re.IGNORECASE)
_NUMBER = re.compile(r"[ *-]*(?:(\d{1,3})[.)] ?)?")
_ENDS = "Your part ends here."


class CityList:
    """One line, `city_list: A, B`; nothing is a legal, empty report."""

    name = "travelplanner-cities@1"
    request = (
        f"{_ENDS} Name the cities of the trip that were chosen, in the order of the visit and without the city of "
        f"departure, on one line in this form and with nothing around it:\n{CITY_LIST}: first city, second city"
    )

    def parse(self, text: str) -> dict[str, str] | None:
        """The cities under `city_list`; None where anything else is said."""
        lines = [_line(line) for line in text.splitlines() if line.strip()]
        found = _CITIES.fullmatch(lines[0]) if len(lines) == 1 else None
        if found is None:
            return None if lines else {}
        return {CITY_LIST: found[1]}

    def render(self, fields: Mapping[str, str]) -> str:
        return "\n".join(f"{key}: {_line(value)}" for key, value in fields.items())


class Options:
    """Numbered lines of `columns`, after the cities where `cities` says so; no lines are a legal, empty report."""

    def __init__(self, what: str, columns: Sequence[str], *, cities: bool = False) -> None:
        self.name = f"travelplanner-{what}@1"
        self.columns = tuple(columns)
        form = "; ".join(f"{column}: ..." for column in columns)
        lines = ([f"{CITY_LIST}: first city, second city"] if cities else []) + [f"1. {form}", f"2. {form}"]
        self.request = (
            f"{_ENDS} The planner sees none of this conversation. List {_ASKED[what]}, with exact names and figures, "
            "one line for each, in this form and with nothing around it:\n" + "\n".join(lines)
        )
        names = "|".join(map(re.escape, columns))
        self._column = re.compile(rf"({names}) ?: ?(.*)", re.IGNORECASE)
        self._between = re.compile(rf" ?; ?(?=(?:{names}) ?:)", re.IGNORECASE)

    def parse(self, text: str) -> dict[str, str] | None:
        """Values by "<number>.<column>", and `city_list`; None where a line has another form."""
        fields: dict[str, str] = {}
        lines = (_line(line) for line in text.splitlines() if line.strip())
        for count, line in enumerate(lines, 1):
            if found := _CITIES.fullmatch(line):
                fields.setdefault(CITY_LIST, found[1])
            elif not self._read(line, count, fields):
                return None
        return fields

    def render(self, fields: Mapping[str, str]) -> str:
        """Options in the order of their first field; a field of another name is a line of its own."""
        lines: dict[str, list[str]] = {}
        for key, value in fields.items():
            number, dot, column = key.partition(".")
            if dot:
                lines.setdefault(number, []).append(f"{column}: {_line(value)}")
            else:
                lines[key] = [f"{key}: {_line(value)}"]
        return "\n".join(f"{key}. {'; '.join(c)}" if key.isdecimal() else c[0] for key, c in lines.items())

    def _read(self, line: str, count: int, fields: dict[str, str]) -> bool:
        """Whether the line is an option; its values go to `fields`. A number that is taken is none."""
        start = _NUMBER.match(line)
        number = int(start[1]) if start and start[1] else count
        while any(key.startswith(f"{number}.") for key in fields):
            number += 1
        for piece in self._between.split(line[start.end() if start else 0 :]):
            found = self._column.fullmatch(piece)
            if found is None:
                return False
            fields[f"{number}.{found[1].lower()}"] = found[2]
        return True


_ASKED = {
    "transport": "the cities that were chosen, and then the ways to travel each leg of the trip, two for each leg",
    "accommodation": "the accommodations that fit what was asked for, up to 5 in each city",
    "dining": "the restaurants that fit what was asked for, up to 8 in each city",
    "attraction": "the attractions, up to 6 in each city",
}


def _line(value: str) -> str:
    return " ".join(value.split())
