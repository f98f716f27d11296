"""A fake engine: no model, exact token ids, instant answers. For tests and for measuring the cost of everything else.

Its tokens are the bytes of UTF-8, with one more for each role and for the end of a turn, so a prompt's ids can be
checked by eye and what is generated is never other than what was said. What it says is a function of the request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from math import log

from relaybench.engines.base import ContextFull, Generation, Request, ScoreRequest
from relaybench.engines.chat import Chat, Extension
from relaybench.records import Context, Message, Usage

Reply = Callable[[Request], str]
Trouble = Callable[[Request, int], Exception | None]
"""(request, number of the call from 0) -> what to raise instead of answering."""

_ROLES = {"system": 256, "user": 257, "assistant": 258}
END = 259
"""Ends every message."""
VOCABULARY = 260


class ByteChat:
    """A chat template over bytes: role, content, end. It only ever grows."""

    generation_prompt: tuple[int, ...] = (_ROLES["assistant"],)

    def extend(self, context: Context, message: Message) -> Extension:
        """Ids of the message; a turn that the model was cut off in is ended first."""
        last = context.last
        cut_off = last is not None and last.role == "assistant" and last.finish == "length"
        return Extension((*((END,) if cut_off else ()), _ROLES[message.role], *message.content.encode(), END))

    def encode(self, text: str) -> tuple[int, ...]:
        return tuple(text.encode())

    def decode(self, token_ids: Sequence[int]) -> str:
        return bytes(i for i in token_ids if i < 256).decode(errors="replace")

    def count(self, text: str) -> int:
        return len(text.encode())


class FakeEngine:
    """Says what `reply` says. `trouble` injects failures, `latency` (seconds) makes calls take time.

    `chat=False` hides its tokenizer, as closed APIs do.
    """

    kind = "fake"

    def __init__(
        self,
        reply: Reply,
        *,
        model: str = "fake",
        latency: float = 0.0,
        trouble: Trouble | None = None,
        context_limit: int | None = None,
        chat: bool = True,
    ) -> None:
        self.model = model
        self.chat: Chat | None = ByteChat() if chat else None
        self.context_limit = context_limit
        self.calls = 0
        """Calls so far, failed ones included."""
        self.most_at_once = 0
        self._reply = reply
        self._latency = latency
        self._trouble = trouble
        self._running = 0

    async def start(self) -> None:
        """Nothing to load."""

    async def generate(self, request: Request) -> Generation:
        """The scripted reply, cut at the request's `max_tokens`."""
        number = self.calls
        self.calls += 1
        self._running += 1
        self.most_at_once = max(self.most_at_once, self._running)
        try:
            await asyncio.sleep(self._latency)
        finally:
            self._running -= 1
        error = None if self._trouble is None else self._trouble(request, number)
        if error is not None:
            raise error
        return self._answer(request)

    async def score(self, requests: Sequence[ScoreRequest]) -> list[tuple[float, ...]]:
        """Uniform over the vocabulary."""
        return [(-log(VOCABULARY),) * len(request.target) for request in requests]

    async def close(self) -> None:
        """Nothing to free."""

    def _answer(self, request: Request) -> Generation:
        said = (*self._reply(request).encode(), END)
        prompt = len(request.token_ids) if request.token_ids is not None else 0
        if self.context_limit is not None and prompt + request.max_tokens > self.context_limit:
            raise ContextFull(f"{prompt} prompt tokens and {request.max_tokens} new ones exceed {self.context_limit}")
        ids = said[: request.max_tokens]
        usage = Usage(prompt_tokens=prompt, generated_tokens=len(ids), calls=1)
        finish = "stop" if len(ids) == len(said) else "length"
        text = bytes(ids[:-1] if finish == "stop" else ids).decode(errors="replace")
        known = self.chat is not None
        return Generation(text, finish, usage, token_ids=ids if known else None, logprobs=self._logprobs(request, ids))

    def _logprobs(self, request: Request, ids: tuple[int, ...]) -> tuple[float, ...] | None:
        wanted = request.decoding.logprobs and self.chat is not None
        return (-log(VOCABULARY),) * len(ids) if wanted else None
