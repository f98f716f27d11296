"""One WideSearch task as a world: a web to search, pages to open, tables to submit.

Workers share it, side by side or in turn, so that it remembers nothing of who searched what: an action is answered by
itself alone. A submission ends its worker's part, not the task; the tables are joined when they are scored. No action
raises: what cannot be done is said in the observation, whose length is bounded.
"""

from __future__ import annotations

from relaybench.benchmarks.base import StepResult
from relaybench.benchmarks.widesearch.actions import OPEN, SEARCH, SUBMIT, Request, read
from relaybench.benchmarks.widesearch.background import Background
from relaybench.benchmarks.widesearch.joining import join, rows_of
from relaybench.benchmarks.widesearch.questions import Question
from relaybench.benchmarks.widesearch.scoring import Verdict
from relaybench.benchmarks.widesearch.web import Hit, Unreachable, Web, parts, shorten
from relaybench.errors import nearest
from relaybench.records import Score

LONGEST_TABLE = 300_000
"""Characters of a submission."""
MOST_TABLES = 64
"""Submissions of a task: far more than it has workers."""
TOOLS = (SEARCH, OPEN, SUBMIT)


class WideSearchEnvironment:
    """The world of one question. `background` scores what was submitted."""

    def __init__(self, question: Question, web: Web, background: Background) -> None:
        self._question = question
        self._web = web
        self._background = background
        self._submitted: list[str] = []

    async def reset(self) -> str:
        """Nothing is seen before the first search."""
        self._submitted = []
        return ""

    async def step(self, action: str) -> StepResult:
        """Carry out one action; there is no reward before the score."""
        request = read(action)
        if request.tool == SEARCH:
            return StepResult(await self._search(request.argument))
        if request.tool == OPEN:
            return StepResult(await self._open(request))
        if request.tool == SUBMIT:
            return self._submit(request.argument)
        name = shorten(request.tool, 40)
        return StepResult(
            f"There is no action {name!r}{nearest(name, TOOLS) or '; there are search, open and submit.'}"
        )

    async def score(self) -> Score:
        """The official verdict on the joined tables; reward is the F1 of items."""
        answer = join(self._submitted, self._question.evaluation.required)
        verdict = await self._background.evaluate(self._question, answer)
        return _score(verdict, len(self._submitted))

    async def close(self) -> None:
        """Nothing is held; the web is the benchmark's."""

    async def _search(self, query: str) -> str:
        if not query:
            return "A search needs words: search[words]."
        try:
            hits = await self._web.search(query)
        except Unreachable as error:
            return f"Nothing was searched: {error}."
        if not hits:
            return f"The {self._web.name} has nothing for these words; try others."
        found = "\n".join(_told(number, hit) for number, hit in enumerate(hits, 1))
        return f"Found in the {self._web.name}:\n{found}"

    async def _open(self, request: Request) -> str:
        if not request.argument:
            return "Name the page to open: open[address]."
        try:
            page = await self._web.page(request.argument)
        except Unreachable as error:
            return f"Not opened: {error}."
        texts = parts(page.text)
        if not 1 <= request.part <= len(texts):
            return f"That page has {len(texts)} part{'s' * (len(texts) > 1)}; there is no part {request.part}."
        shown = f"{page.title}\n\n{texts[request.part - 1]}"
        if len(texts) == 1:
            return shown
        more = f"; the next: open[{request.argument} {request.part + 1}]" if request.part < len(texts) else ""
        return f"{shown}\n\n(part {request.part} of {len(texts)}{more})"

    def _submit(self, table: str) -> StepResult:
        if len(table) > LONGEST_TABLE:
            return StepResult(f"Not submitted: {len(table):,} characters are too many; {LONGEST_TABLE:,} are taken.")
        if len(self._submitted) >= MOST_TABLES:
            return StepResult("Not submitted: there are too many tables already.", finished=True)
        rows = len(rows_of(table)) - 1
        if rows < 0:
            return StepResult(
                "Not submitted: there is no table. Write 'Action: submit', then the table in a ```markdown block."
            )
        self._submitted.append(table)
        return StepResult(f"Submitted: a table of {rows} row{'s' * (rows != 1)}.", finished=True)


def _told(number: int, hit: Hit) -> str:
    return f"{number}. {shorten(hit.title, 200)}\n   {shorten(hit.url, 500)}\n   {hit.excerpt}"


def _score(verdict: Verdict, tables: int) -> Score:
    values = {
        "item_f1": verdict.f1_by_item,
        "item_precision": verdict.precision_by_item,
        "item_recall": verdict.recall_by_item,
        "row_f1": verdict.f1_by_row,
        "row_precision": verdict.precision_by_row,
        "row_recall": verdict.recall_by_row,
        "tables": float(tables),
        "unreadable": float(verdict.error is not None),
    }
    return Score(verdict.score == 1.0, verdict.f1_by_item, values)
