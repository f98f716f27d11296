"""Queries: what a traveller asks for, from a folder in our layout (`queries/<split>.jsonl`)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from relaybench.errors import UserError

Split = Literal["train", "validation"]
Plan = list[dict[str, Any]]
"""One mapping a day: days, current_city, transportation, breakfast, attraction, lunch, dinner, accommodation."""


class LocalConstraint(Struct, frozen=True, rename={"house_rule": "house rule", "room_type": "room type"}):
    """What the traveller insists on; None where nothing was said."""

    house_rule: str | None
    cuisine: list[str] | None
    room_type: str | None
    transportation: str | None

    @property
    def count(self) -> int:
        """How many of the four were asked for."""
        return sum(bool(wish) for wish in (self.house_rule, self.cuisine, self.room_type, self.transportation))


class Query(Struct, frozen=True, rename={"text": "query"}):
    """One query; money in dollars, distances as the tools give them."""

    idx: int
    """Place in its split, from 1 on."""
    text: str
    org: str
    dest: str
    """A city for three days, a state for five or seven."""
    days: int
    visiting_city_number: int
    date: list[str]
    people_number: int
    local_constraint: LocalConstraint
    budget: float
    level: str
    """easy, medium or hard."""
    annotated_plan: Plan | None = None
    """A right plan written by people (train only)."""
    provenance: str = ""
    """Where the metadata comes from."""
    has_reference_information: bool = False
    """Whether the official tables of this trip's flights are here."""

    @property
    def id(self) -> str:
        return f"{self.idx:03d}"


def load_queries(data_dir: Path, split: Split) -> dict[int, Query]:
    """The queries of a split by idx, in order. Raises UserError for a missing or foreign file."""
    return {query.idx: query for query in _read(data_dir / "queries" / f"{split}.jsonl")}


@cache
def _read(path: Path) -> tuple[Query, ...]:
    mend = "get them with `relaybench data fetch travelplanner` or `relaybench data import travelplanner DIR`"
    try:
        return tuple(msgspec.json.decode(line, type=Query) for line in path.read_bytes().splitlines() if line.strip())
    except OSError as error:
        raise UserError(f"no TravelPlanner queries at {path} ({error.strerror}); {mend}") from error
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise UserError(f"{path} is not a file of TravelPlanner queries ({error}); {mend}") from error
