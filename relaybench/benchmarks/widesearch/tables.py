"""Tables: the table in a response, and the gold one, as data frames.

pandas reads both, as in the official evaluation: which cells count as missing or as numbers is its decision.
"""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from relaybench.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

_FENCED = re.compile(r"```markdown(.*?)```", re.DOTALL)
_PIPED = re.compile(r"(?:\|.*\n?)+")
_RULE = frozenset("|- :")


def read_response(response: str) -> pd.DataFrame | None:
    """The first fenced ```markdown block, else the first run of pipe lines; None where there is neither.

    Raises what pandas raises on a table it cannot read.
    """
    block = first_table(response)
    if block is None:
        return None
    lines = block.strip().split("\n")
    lines[0] = lines[0].replace(" ", "").lower()
    rows = ["|".join(cell.strip() for cell in line.strip().split("|")) for line in lines if is_row(line)]
    table = _pandas().read_csv(StringIO("\n".join(rows)), sep="|")
    named = [not name.startswith("Unnamed") for name in table.columns]
    return _with_names(table.loc[:, named])


def read_gold(path: Path, required: tuple[str, ...]) -> pd.DataFrame:
    """The required columns of a gold table. Raises UserError where they are not all there."""
    mend = "fetch or import the widesearch data again"
    try:
        table = _with_names(_pandas().read_csv(path))
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read the gold table {path} ({error}); {mend}") from error
    if absent := [name for name in required if name not in table.columns]:
        raise UserError(f"{path} has no column {absent[0]!r}; {mend}")
    return table[list(required)]


def first_table(response: str) -> str | None:
    """The text of the first table, by the official rules; None where there is none."""
    if fenced := _FENCED.search(response):
        return fenced[1]
    if response.count("|") < 4:
        return None
    start = max(response.rfind("\n", 0, response.find("|")), 0)
    end = response.find("\n", response.rfind("|"))
    piped = _PIPED.search(response[start : len(response) if end == -1 else end])
    return piped.group() if piped else None


def is_row(line: str) -> bool:
    """Whether a line of a table holds cells, not the rule below its header."""
    return "|" in line and not set(line.strip()) <= _RULE


def _with_names(table: pd.DataFrame) -> pd.DataFrame:
    named = table.copy()
    named.columns = [str(name).strip().lower().replace(" ", "") for name in table.columns]
    return named


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise UserError("WideSearch tables need pandas; run `scripts/install benchmarks`") from error
    return pandas
