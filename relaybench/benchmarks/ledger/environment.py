"""One ledger as a world: `open` a page, `submit` an answer, `done` with a subtask.

Grammar, one action a reply, on the first line that starts with a verb ("Action:" and a bullet before it are
allowed): `open N`, `submit VALUE[, VALUE ...]`, `done`. A reply without such a line that holds numbers of the
ledger's length submits all of them, in their order: a bare `4821` or a sentence around it is an answer, a list of
guesses is a wrong one. Everything else is no action. `submit` ends the episode.
"""

from __future__ import annotations

import re

from relaybench.benchmarks.base import FINISH, Action, StepResult
from relaybench.benchmarks.ledger.generate import Sheet
from relaybench.records import Score

_VERB = re.compile(
    r"^[ \t>*`-]*(?:Action[ \t*]*:[ \t*`]*)?(open|submit|done|finish)\b[ \t:]*(.*)$", re.IGNORECASE | re.MULTILINE
)
DONE = "done"
"""The verb that ends a subtask here; the shared word `finish` is read as well."""

_OPEN = re.compile(r"(?:page\s*)?(\d+)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")


def parse_action(reply: str, digits: int, shorter: bool = False) -> Action | None:
    """The action of a reply, in plain form ("open 2", "submit 4821, 1930", "done"); None where there is none.

    Bare numbers count where they have `digits` digits, with `shorter` (a remainder) at most so many.
    """
    found = _VERB.search(reply)
    if found is None:
        least = 1 if shorter else digits
        values = re.findall(rf"(?<!\d)\d{{{least},{digits}}}(?!\d)", reply)
        return _submit(values)
    verb, rest = found.group(1).lower(), found.group(2)
    if verb in (DONE, FINISH):
        return Action(FINISH, DONE)
    if verb == "submit":
        return _submit(_NUMBER.findall(rest))
    page = _OPEN.match(rest.strip())
    return Action("open", f"open {int(page.group(1))}") if page else None


def _submit(values: list[str]) -> Action | None:
    return Action("submit", f"submit {', '.join(values)}") if values else None


class LedgerEnvironment:
    """Pages to open and one answer to give; the same actions give the same observations."""

    def __init__(self, sheet: Sheet) -> None:
        self._pages = sheet.pages
        self._answer = sheet.answer
        self._submitted: tuple[str, ...] | None = None

    async def reset(self) -> str:
        """Nothing is seen before a page is opened."""
        self._submitted = None
        return ""

    async def step(self, action: str) -> StepResult:
        """Open a page or submit; the reward is the share of asked values that are right, at `submit`."""
        verb, _, rest = action.partition(" ")
        if verb == "open" and rest.isdigit():
            return StepResult(self._page(int(rest)))
        if verb != "submit":
            return StepResult(f"There is no action {verb!r}. Use open, submit or done.")
        self._submitted = tuple(_NUMBER.findall(rest))
        return StepResult("Submitted.", reward=self._share_right(), done=True)

    async def score(self) -> Score:
        """Success: every asked value, in the question's order, and nothing else."""
        values = {"right": self._share_right(), "submitted": float(self._submitted is not None)}
        return Score(self._submitted == self._answer, values["right"], values)

    async def close(self) -> None:
        """Nothing is held."""

    def _page(self, number: int) -> str:
        count = len(self._pages)
        if not 1 <= number <= count:
            return f"There is no page {number}. The pages are 1 to {count}."
        return "\n".join([f"Page {number} of {count}", *(line.text for line in self._pages[number - 1])])

    def _share_right(self) -> float:
        """Share of asked values that stand in their place of the submission."""
        said = self._submitted or ()
        return sum(a == b for a, b in zip(said, self._answer, strict=False)) / len(self._answer)
