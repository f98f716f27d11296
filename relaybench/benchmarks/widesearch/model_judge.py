"""A language model as judge: one call to align a list of names, one to judge a column.

The prompts are ours, so scores are near the published ones and not the same; the judge's name, model included, stands
on every result. What the model writes is data: the last JSON object of its reply is read, names that were not asked
about are dropped, and an unreadable reply aligns nothing and grants nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from relaybench.engines.base import ContextFull
from relaybench.engines.model import Model
from relaybench.records import Context, Usage, total

VERSION = "widesearch-judge@1"
"""Raise it with any change of wording."""
ALIGN_TOKENS, JUDGE_TOKENS = 4096, 4096

_ALIGN = """Two lists name things, perhaps in different words or formats. For each entry of list A, find the entry of
list B that means the same thing. Copy entries exactly, formatting included; leave out those without a partner.

List A: {values}

List B: {references}

Answer with one JSON object and nothing else: {{"entry of A": "entry of B", ...}}"""

_JUDGE = """Below are numbered pairs of an answer and the reference for it. Decide for each pair whether the answer is
right by this criterion, strictly 1 (right) or 0 (wrong):
{criterion}

{pairs}

Answer with one JSON object and nothing else, with a verdict for every number: {{"0": 1, "1": 0, ...}}"""


class ModelJudge:
    """Asks `model`. `usage` and `unreadable` count what that took and how often it was in vain."""

    def __init__(self, model: Model) -> None:
        self.name = f"{VERSION} {model.engine.model}"
        self.usage = Usage()
        self.unreadable = 0
        self._model = model

    async def start(self) -> None:
        """Raises UserError where the model cannot be had."""
        await self._model.engine.start()

    async def close(self) -> None:
        """The engine is this judge's own."""
        await self._model.engine.close()

    async def align(self, values: Sequence[str], references: Sequence[str]) -> dict[str, str]:
        """The reference for each value that the model finds one for."""
        prompt = _ALIGN.format(values=_listed(values), references=_listed(references))
        reply = await self._ask(prompt, ALIGN_TOKENS)
        return {value: reply[value] for value in values if reply.get(value) in references}

    async def judge(self, responses: Sequence[str], targets: Sequence[str], criterion: str) -> list[bool]:
        """The model's verdicts; no call where there is nothing to judge."""
        if not responses:
            return []
        pairs = "\n".join(
            json.dumps({"number": i, "answer": response, "reference": target}, ensure_ascii=False)
            for i, (response, target) in enumerate(zip(responses, targets, strict=True))
        )
        reply = await self._ask(
            _JUDGE.format(criterion=criterion or "The two mean the same.", pairs=pairs), JUDGE_TOKENS
        )
        return [reply.get(str(i)) in (1, "1") for i in range(len(responses))]

    async def _ask(self, prompt: str, max_tokens: int) -> dict[str, Any]:
        context = Context("judge")
        asked = self._model.message(context, "user", prompt)
        try:
            message, generation = await self._model.reply(context, asked=asked, max_tokens=max_tokens)
        except ContextFull:
            self.unreadable += 1
            return {}
        self.usage = total([self.usage, generation.usage])
        found = last_object(message.content)
        self.unreadable += found is None
        return found or {}


def last_object(text: str) -> dict[str, Any] | None:
    """The last JSON object that stands in a text, or None."""
    decoder = json.JSONDecoder()
    found, end = None, 0
    for brace in re.finditer(r"\{", text):
        if brace.start() < end:
            continue
        try:
            value, end = decoder.raw_decode(text, brace.start())
        except (json.JSONDecodeError, RecursionError):
            continue
        found = value
    return found


def _listed(words: Sequence[str]) -> str:
    return json.dumps(list(dict.fromkeys(words)), ensure_ascii=False)
