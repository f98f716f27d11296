"""The roles of a WideSearch task: three searchers, each with its share of the table's rows (paper, appendix D.1).

Nothing crosses between them: in MAS they work side by side and their tables are put together, in SAS-contextflow they
work in turn and see all that came before. The shares are the task's stored decomposition (decomposition.py). Every
prototype has the same 50 steps: 17, 17 and 16, or all of them in one worker.
"""

from __future__ import annotations

from collections.abc import Sequence

from relaybench.benchmarks.base import FINISH
from relaybench.benchmarks.widesearch.actions import OPEN, SEARCH, SUBMIT
from relaybench.benchmarks.widesearch.decomposition import Decomposition
from relaybench.rollout.plan import Roles, Subtask

VERSION = "widesearch-roles@1"
"""Raise it with any change of wording or split."""
STEPS = (17, 17, 16)

_FORM = f"""Reply with two parts, a short thought and one action, and wait for its result:
Thought: what to do next
Action: {SEARCH}[what to look for]
Actions:
{SEARCH}[words]: pages on these words, each with its title, address and an excerpt
{OPEN}[address]: the text of a page; {OPEN}[address 2]: the second part of a long one
{SUBMIT}: hands your table in and ends your work. The table stands below it, with the columns that the task names:
Action: {SUBMIT}
```markdown
| column | column |
| --- | --- |
| value | value |
```
{FINISH}: ends your work without a table
Fill in only what you have read. Your steps are limited: submit before they run out, even if some cells are missing.
Ask nothing back."""


def roles(decomposition: Decomposition, split: str) -> Roles:
    """Three searchers with a group of units each, and the one that SAS does alone. `split` names all decompositions."""
    return Roles(
        version=f"{VERSION}-{split}",
        whole=Subtask(
            id="whole",
            role="whole",
            system=_system("You collect facts from the web into one table."),
            instruction="Find all rows of the table and submit them together, once.",
            max_steps=sum(STEPS),
        ),
        parts=tuple(
            _searcher(number, decomposition.axis, units, steps)
            for number, (units, steps) in enumerate(zip(decomposition.units, STEPS, strict=True), 1)
        ),
        pairs=(),
    )


def _searcher(number: int, axis: str, units: Sequence[str], steps: int) -> Subtask:
    return Subtask(
        id=f"searcher{number}",
        role="searcher",
        system=_system(
            "You are one of three searchers who collect facts from the web into one table. Each has a share of its "
            "rows, and the three tables are put together afterwards."
        ),
        instruction=(
            f"This share, by {axis}: {'; '.join(units)}. Find all rows of the table that belong to it and no others, "
            "with all of the task's columns."
        ),
        max_steps=steps,
    )


def _system(who: str) -> str:
    return f"{who}\n{_FORM}"
