"""Asking a reader: the prompts of a stage's conditions, its targets and its code lengths, as token ids.

Prompts go through the reader's own chat template, so any reader can be asked about any run. Code lengths are of plain
text after plain text: X, then (for the direct form) the relay or the context, then what is to be coded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from relaybench.engines.base import Engine
from relaybench.engines.model import Model
from relaybench.errors import UserError
from relaybench.information.scorebook import Ask
from relaybench.information.stages import Stage
from relaybench.records import Context, Message

CODED = ("context", "relay", "direct", "floor")
"""L(M|X), L(m|X), L(M|m,X), and L(M|M,X), which is 0 for a model that can copy."""


@dataclass(frozen=True, slots=True)
class Asker:
    """A reader with a chat template. Raises UserError for a server that hides its tokenizer: no nats there."""

    label: str
    engine: Engine
    adapter: str | None = None

    def __post_init__(self) -> None:
        if self.engine.chat is None:
            raise UserError(
                f"reader '{self.label}' has no tokenizer here, so no log-probabilities; set its engine's 'tokenizer', "
                "or name another with --readers"
            )

    def target(self, messages: Sequence[Message], reply: str) -> Ask:
        """The reply (its end of turn included) after a prompt."""
        model, context = Model(self.engine), Context("reader")
        for message in messages:
            context.append(model.message(context, message.role, message.content))
        said = model.message(context, "assistant", reply)
        ids = said.token_ids or ()
        return Ask((*(context.token_ids or ()), *ids[: said.template]), ids[said.template :])

    def bearing(self, reply: str, ids: Sequence[int], values: Mapping[str, str]) -> dict[str, list[int]]:
        """Places of the target tokens that carry a needed value (any part of it), by its name; values that the reply
        does not hold are left out."""
        assert self.engine.chat is not None
        ends = [len(self.engine.chat.decode(ids[: i + 1])) for i in range(len(ids))]
        starts = [0, *ends[:-1]]
        found: dict[str, list[int]] = {}
        after: dict[str, int] = {}
        for name, value in values.items():
            low = reply.find(value, after.get(value, 0)) if value else -1
            if low >= 0:
                high = after[value] = low + len(value)
                found[name] = [i for i, (a, b) in enumerate(zip(starts, ends, strict=True)) if a < high and low < b]
        return found

    def coded(self, stage: Stage, what: str) -> Ask:
        """One of CODED."""
        known = {"context": "", "relay": "", "direct": stage.message, "floor": stage.context}[what]
        coded = stage.message if what == "relay" else stage.context
        before = f"{stage.subtask}\n\n{known}\n\n" if known else f"{stage.subtask}\n\n"
        return Ask(self._plain(before), self._plain(coded))

    def _plain(self, text: str) -> tuple[int, ...]:
        assert self.engine.chat is not None
        return self.engine.chat.encode(text)
