"""Coverage: which flight tables are here, known to be empty, or unknown.

The official flight table is not public as a whole; `sandbox/flights/coverage.json` says for each (origin, destination,
date) what is known of it. A folder without that file is taken to hold the official table itself.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from relaybench.errors import UserError

Known = Literal["all", "some", "none", "unknown"]
"""What the rows that are here say about a table: all of it, a part, that it is empty, or nothing."""
Key = tuple[str, str, str]
"""Origin, destination, date as YYYY-MM-DD."""


class Coverage(Struct, frozen=True):
    """Tables by what is known of them; tool logs alone (`logged_*`) prove neither a full nor an empty table."""

    complete: frozenset[Key] = frozenset()
    known_none: frozenset[Key] = frozenset()
    whole: bool = False
    """The official table itself is here."""

    def of(self, key: Key, rows: int) -> Known:
        """What is known of a table with this many rows here."""
        if rows:
            return "all" if self.whole or key in self.complete else "some"
        return "none" if self.whole or key in self.known_none else "unknown"


@cache
def load_coverage(data_dir: Path) -> Coverage:
    """What is known of the flights in a data folder. Raises UserError for a file of another form."""
    path = data_dir / "sandbox" / "flights" / "coverage.json"
    if not path.exists():
        return Coverage(whole=True)
    try:
        return msgspec.json.decode(path.read_bytes(), type=Coverage)
    except (OSError, msgspec.DecodeError, msgspec.ValidationError) as error:
        raise UserError(
            f"{path} does not say which flights are here ({error}); fetch or import the travelplanner data again"
        ) from error
