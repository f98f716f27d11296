"""Joining: the tables of several workers become one, without any model (paper, appendix D).

One table goes on as it was written. Of several, the one header that names the task's columns is kept, the others' cells
are put under it by name, and the rows follow one another. The order is that of the tables' texts, so that the result
does not depend on which worker was done first.
"""

from __future__ import annotations

from collections.abc import Sequence

from relaybench.benchmarks.widesearch.tables import first_table, is_row


def join(submissions: Sequence[str], required: Sequence[str]) -> str | None:
    """The answer to be scored; None where nothing was submitted. `required`: the task's columns, normalised."""
    if len(submissions) < 2:
        return submissions[0] if submissions else None
    tables = [rows for rows in map(rows_of, sorted(submissions)) if rows]
    if not tables:
        return None
    header = next((rows[0] for rows in tables if _normal(rows[0]) == list(required)), None)
    header = header or next((rows[0] for rows in tables if set(_normal(rows[0])) == set(required)), tables[0][0])
    return written(header, [row for rows in tables for row in _under(header, rows)])


def rows_of(submission: str) -> list[list[str]]:
    """The cells of the first table in a text, header first; [] where there is none."""
    found = first_table(submission)
    return [] if found is None else [_cells(line) for line in found.strip().split("\n") if is_row(line)]


def written(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A fenced markdown table. Cells are expected to be free of bars and line breaks."""
    lines = [header, ["---"] * len(header), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"```markdown\n{table}\n```"


def _under(header: list[str], rows: list[list[str]]) -> list[list[str]]:
    """The body of a table under another header: by name, or by place where no name is the same."""
    ours, theirs = _normal(header), _normal(rows[0])
    if not set(ours) & set(theirs):
        theirs = ours
    places = [theirs.index(name) if name in theirs else None for name in ours]
    return [["" if i is None or i >= len(row) else row[i] for i in places] for row in rows[1:]]


def _cells(line: str) -> list[str]:
    bare = line.strip()
    return [cell.strip().replace("```", "") for cell in bare.removeprefix("|").removesuffix("|").split("|")]


def _normal(names: Sequence[str]) -> list[str]:
    return [name.lower().replace(" ", "") for name in names]
