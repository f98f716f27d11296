"""Truncation: the first or last tokens of the upstream context, as text.

Tokens are those of the reader's tokenizer. Where the context keeps its token ids, the slice is taken from them (chat
template tokens count, but leave no text behind); where only the tokenizer is known, from the tokenised text; where
neither is known, a token is a word between white space, and the rate is unknown (None).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import structs

from relaybench.engines.chat import Chat
from relaybench.engines.model import Model
from relaybench.records import Context, Relay
from relaybench.relays.base import ReportFormat

if TYPE_CHECKING:
    from relaybench.rollout.plan import Subtask

Keep = Literal["first", "last"]

_BROKEN = "\ufffd"
"""What decoding leaves of a character whose bytes were cut apart."""


class Truncate:
    """Keep the `keep` (first or last) `tokens` tokens of the context."""

    sees_next_subtask = False
    knows_target = False

    def __init__(self, model: Model, tokens: int, keep: Keep = "last") -> None:
        self.name = f"truncate@1({keep} {tokens})"
        self.model = model
        self.tokens = tokens
        self.keep: Keep = keep

    async def encode(self, context: Context, next_subtask: Subtask, budget: int | None = None) -> Relay:
        """The decoded slice; `token_ids` are the context's own ids, of which there are at least as many as the rate."""
        tokens = self.tokens if budget is None else min(self.tokens, budget)
        chat, ids = self.model.engine.chat, context.token_ids
        kept: tuple[int, ...] | None = None
        if chat is not None and ids is not None:
            text, kept = _clip_ids(chat, ids, tokens, self.keep)
            whole = len(kept) == len(ids)
        else:
            everything = context.text()
            text = clip(self.model, everything, tokens, self.keep)
            whole = text == everything
        return Relay(
            text=text,
            sources=(context.worker,),
            to=next_subtask.id,
            encoder=self.name,
            rate_tokens=self.model.count(text),
            token_ids=kept,
            truncated=not whole,
        )


def clip(model: Model, text: str, tokens: int, keep: Keep = "first") -> str:
    """The first or last part of `text` of at most `tokens` tokens as the reader counts them (words, if it cannot)."""
    chat = model.engine.chat
    if chat is None:
        return _clip_words(text, tokens, keep)
    ids = chat.encode(text)
    return text if len(ids) <= tokens else _clip_ids(chat, ids, tokens, keep)[0]


def cut(relay: Relay, model: Model, tokens: int, report_format: ReportFormat | None) -> Relay:
    """`relay` with the first `tokens` tokens of its text, marked truncated; unchanged where it is no longer than that.

    What is left of a structured report is parsed again: it may no longer follow its format.
    """
    text = clip(model, relay.text, tokens)
    if text == relay.text:
        return relay
    structured = report_format is not None and relay.fields is not None
    fields = report_format.parse(text) if report_format is not None and structured else None
    return structs.replace(
        relay,
        text=text,
        token_ids=None,
        rate_tokens=model.count(text),
        fields=fields,
        well_formed=relay.well_formed and not (structured and fields is None),
        truncated=True,
    )


def _clip_ids(chat: Chat, ids: Sequence[int], tokens: int, keep: Keep) -> tuple[str, tuple[int, ...]]:
    """The slice's text and its ids. Text can count more tokens than the ids it came from: shorten until it does not."""
    size = min(tokens, len(ids))
    while True:
        kept = tuple(ids[:size]) if keep == "first" else tuple(ids[len(ids) - size :])
        text = chat.decode(kept)
        if size < len(ids):
            text = text.rstrip(_BROKEN) if keep == "first" else text.lstrip(_BROKEN)
        over = chat.count(text) - tokens
        if over <= 0:
            return text, kept
        size = max(size - over, 0)


def _clip_words(text: str, words: int, keep: Keep) -> str:
    spans = [match.span() for match in re.finditer(r"\S+", text)]
    if len(spans) <= words:
        return text
    if words == 0:
        return ""
    return text[: spans[words - 1][1]] if keep == "first" else text[spans[-words][0] :]
