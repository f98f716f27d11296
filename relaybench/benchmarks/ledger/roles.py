"""The two roles of a ledger task: a reader opens the pages, an answerer submits. The same words serve every prototype.

Only the answerer's instruction holds the question for sure: with `question: blind` the reader never sees it. SAS is
its own answerer, so it is told the question with its instructions; nothing crosses an edge there. Step budgets: the
reader one a page and one to finish (two more for a model), the answerer two; the whole has their sum.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from relaybench.benchmarks.base import FINISH
from relaybench.benchmarks.ledger.environment import DONE
from relaybench.benchmarks.ledger.generate import Sheet
from relaybench.config_benchmarks import LedgerConfig
from relaybench.records import Context
from relaybench.rollout.plan import Roles, Script, Subtask

VERSION = "ledger-roles@2"
"""Raise it with any change of wording, grammar or split."""

READER, ANSWERER = "reader", "answerer"
ANSWER_STEPS = 2
_OPEN = "open N: shows page N of the ledger"
_DONE = "done: ends your part"


class LedgerReport:
    """One line a register, `<record>.<field>: <number>` (or a mask, `[hidden]`); no lines are a legal, empty report."""

    name = "ledger-lines@1"
    request = (
        "Now write down the numbers from the ledger for a colleague who cannot see it. "
        "Write one line for each number, and nothing else, in this form:\nName.thing: number"
    )
    _line = re.compile(r"([^\W\d_][\w ]*?\.[^\W\d_][\w ]*?) ?: ?(\d+|\[\w+\])")

    def parse(self, text: str) -> dict[str, str] | None:
        """Values by "<record>.<field>", the first of each; None where any line has another form."""
        fields: dict[str, str] = {}
        for line in filter(None, (line.strip() for line in text.splitlines())):
            found = self._line.fullmatch(line)
            if found is None:
                return None
            fields.setdefault(found.group(1), found.group(2))
        return fields

    def render(self, fields: Mapping[str, str]) -> str:
        """The lines, in the order of `fields`."""
        return "\n".join(f"{key}: {value}" for key, value in fields.items())


def roles(dials: LedgerConfig, sheet: Sheet) -> Roles:
    """Reader and answerer for one ledger, and the whole that SAS does alone."""
    reader, answerer = _reader(dials, sheet), _answerer(sheet)
    return Roles(
        version=f"{VERSION}-{dials.reader}",
        whole=_whole(dials, sheet, steps=reader.max_steps + answerer.max_steps),
        parts=(reader, answerer),
        pairs=((READER, ANSWERER),),
    )


def _reader(dials: LedgerConfig, sheet: Sheet) -> Subtask:
    scripted = dials.reader == "scripted"
    pages = len(sheet.pages)
    return Subtask(
        id=READER,
        role=READER,
        system=_system("You read a ledger.", _OPEN, _DONE),
        instruction=f"Open every page from 1 to {pages}, one after the other, then say done.",
        max_steps=pages + 1 + (0 if scripted else 2),
        tools=frozenset({"open", FINISH}),
        script=_opens(pages, last=DONE) if scripted else None,
        reads_only=True,
    )


def _answerer(sheet: Sheet) -> Subtask:
    return Subtask(
        id=ANSWERER,
        role=ANSWERER,
        system=f"You answer a question about a ledger, with {_numbers(sheet)}.",
        instruction=_answer(sheet),
        max_steps=ANSWER_STEPS,
        tools=frozenset({"submit"}),
        receives={READER: LedgerReport()},
    )


def _whole(dials: LedgerConfig, sheet: Sheet, steps: int) -> Subtask:
    pages = len(sheet.pages)
    return Subtask(
        id="whole",
        role="whole",
        system=_system(f"You read a ledger and answer a question about it, with {_numbers(sheet)}.", _OPEN),
        instruction=f"Open every page from 1 to {pages}. Then: {_answer(sheet)}",
        max_steps=steps,
        script=_opens(pages, last=None) if dials.reader == "scripted" else None,
    )


def _system(who: str, *actions: str) -> str:
    return "\n".join([f"{who} Reply with one action and nothing else:", *actions])


def _numbers(sheet: Sheet) -> str:
    count = len(sheet.answer)
    numbers = "one number" if count == 1 else f"{count} numbers"
    return numbers if _computed(sheet) else f"{numbers} from it"


def _computed(sheet: Sheet) -> bool:
    """Whether the answer stands on no page: a remainder."""
    return len(sheet.answer) < len(sheet.asked)


def _answer(sheet: Sheet) -> str:
    """Asks for the bare number, which the grammar takes as an answer: weak models copy a placeholder as it stands."""
    if _computed(sheet):
        return f"Answer this question about the ledger with the number alone: {sheet.question}"
    what = "the number" if len(sheet.asked) == 1 else "the numbers"
    return f"Answer this question with {what} from the ledger: {sheet.question}"


def _opens(pages: int, last: str | None) -> Script:
    """The declared policy: page after page, then `last` (None: over to the model)."""

    def script(context: Context) -> str | None:
        said = sum(message.role == "assistant" for message in context.own)
        return f"open {said + 1}" if said < pages else last

    return script
