"""The engine contract: two calls, `generate` and `score`, and how they fail.

Engines take token ids where they can (`chat` is then the template that makes them) and messages where the
server hides its tokenizer (`chat` is None: ids unknown, nats not measured). Everything about decoding is in the
request; an engine adds nothing of its own. A call that cannot be answered raises `EngineError` after its own
retries, with what each attempt cost; a prompt that does not fit raises `ContextFull`.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from relaybench.engines.chat import Chat
from relaybench.records import Decoding, FailedCall, Message, Usage


class Request(Struct, frozen=True):
    """One generation call."""

    messages: Sequence[Message]
    token_ids: Sequence[int] | None
    """The whole prompt, generation prompt included; None for engines without a chat template."""
    decoding: Decoding
    max_tokens: int
    seed: int = 0
    adapter: str | None = None
    """LoRA by versioned name, e.g. "relay-v3"."""
    affinity: str = ""
    """Requests with the same text go to the same server, so that its prefix cache is hit."""


class Generation(Struct, frozen=True):
    """What came back."""

    text: str
    finish: str
    """"stop" or "length"."""
    usage: Usage
    token_ids: tuple[int, ...] | None = None
    """Generated ids, end-of-turn id included where the model wrote it."""
    logprobs: tuple[float, ...] | None = None
    failed_calls: tuple[FailedCall, ...] = ()
    """Attempts before the one that answered."""


class ScoreRequest(Struct, frozen=True):
    """Log-probabilities of `target` after `context`; requests that share a prefix are prefilled once."""

    context: Sequence[int]
    target: Sequence[int]
    adapter: str | None = None


class EngineError(Exception):
    """No answer for an outside reason (server down, time-outs, refusals). `failed_calls`: what was tried."""

    def __init__(self, message: str, failed_calls: Sequence[FailedCall] = ()) -> None:
        super().__init__(message)
        self.failed_calls = tuple(failed_calls)


class ContextFull(Exception):
    """The prompt and the tokens asked for do not fit in the model's context."""


class Engine(Protocol):
    """What every engine offers. `kind` and `model` are part of the episode key, where it runs is not."""

    kind: str
    model: str
    context_limit: int | None
    """Tokens of prompt and answer together; None where unknown."""

    @property
    def chat(self) -> Chat | None:
        """The template that makes token ids of messages; None where the server hides its tokenizer."""
        ...

    async def start(self) -> None:
        """Load or connect; nothing is done before. Raises UserError where the model or its server is not to be had."""
        ...

    async def generate(self, request: Request) -> Generation: ...

    async def score(self, requests: Sequence[ScoreRequest]) -> list[tuple[float, ...]]:
        """Log-probabilities in nats, one tuple a request, one number a target token.

        Raises UserError where the backend gives no log-probabilities of given tokens.
        """
        ...

    async def close(self) -> None: ...
