"""The report: the upstream worker tells the next one, in a format fixed for the edge, what it found.

The request is appended to the end of the worker's own context, so the prompt extends what the engine has already
read and its prefix stays cached; neither request nor answer becomes part of the context. What crosses is what was
written, word for word; whether it follows the format is recorded beside it. A report does not see the target, and of
the next subtask it knows the format alone.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from msgspec import structs

from relaybench.engines.base import ContextFull, Generation
from relaybench.engines.model import Model
from relaybench.records import Context, Message, Relay
from relaybench.relays.base import Materials, ReportFormat

if TYPE_CHECKING:
    from relaybench.rollout.plan import Subtask

SUMMARY_REQUEST = (
    "Your part ends here. Another worker goes on from this point and sees none of this conversation. "
    "Write down for them, briefly and exactly, every name, number and result they will need. Do not act any further."
)
"""Asked for where the receiving subtask declares no format: free text, always well formed."""


class Report:
    """The worker's own report, of at most `tokens` tokens (and never more than the decoding's `report_tokens`)."""

    sees_next_subtask = False
    knows_target = False

    def __init__(self, materials: Materials, tokens: int | None = None) -> None:
        self.name = "report@1" if tokens is None else f"report@1({tokens})"
        self.materials = materials
        self.tokens = tokens

    async def encode(self, context: Context, next_subtask: Subtask, budget: int | None = None) -> Relay:
        """Ask for the report, once for all systems that share this context. Raises EngineError where no answer came.

        A context too full to be asked gives an empty, ill-formed, truncated relay.
        """
        report_format = next_subtask.receives.get(context.worker)
        limits = (self.materials.model.decoding.report_tokens, self.tokens, budget)
        limit = min(tokens for tokens in limits if tokens is not None)
        asked_for = "summary@1" if report_format is None else report_format.name
        key = "/".join((context.digest(), context.worker, self.name, asked_for, str(limit), next_subtask.id))

        async def write() -> Relay:
            return await self._write(context, next_subtask, report_format, limit)

        return await self.materials.once(key, write)

    async def _write(
        self, context: Context, next_subtask: Subtask, report_format: ReportFormat | None, limit: int
    ) -> Relay:
        model = _without_stops(self.materials.model)
        request = SUMMARY_REQUEST if report_format is None else report_format.request
        asked = model.message(context, "user", request)
        blank = Relay(
            text="", sources=(context.worker,), to=next_subtask.id, encoder=self.name, rate_tokens=0, asked=asked
        )
        try:
            message, generation = await model.reply(context, asked=asked, max_tokens=limit)
        except ContextFull:
            return structs.replace(blank, well_formed=False, truncated=True)
        written = _written(blank, message, generation, model)
        if report_format is None:
            return written
        fields = report_format.parse(written.text)
        return structs.replace(written, fields=fields, well_formed=fields is not None)


def _written(blank: Relay, message: Message, generation: Generation, model: Model) -> Relay:
    return structs.replace(
        blank,
        text=message.content,
        rate_tokens=model.count(message.content),
        token_ids=None if message.token_ids is None else message.token_ids[message.template :],
        encode_usage=generation.usage,
        failed_calls=generation.failed_calls,
        truncated=message.finish == "length",
    )


def _without_stops(model: Model) -> Model:
    """Stop strings end an agent's turn (at its action line, say); a report is several lines and ends where it ends."""
    return dataclasses.replace(model, decoding=structs.replace(model.decoding, stop=()))
