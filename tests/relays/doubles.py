"""A reader whose tokens are bytes, and an edge whose report is a list of cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relaybench.engines.base import ContextFull, Generation, Request
from relaybench.engines.chat import Extension
from relaybench.records import Context, FailedCall, Message, Relay, Usage
from relaybench.rollout.plan import Subtask

START, END = 256, 257


class ByteChat:
    """A chat template that grows: start, role, content, end; the ids are bytes."""

    generation_prompt = (START, *b"assistant\n")

    def extend(self, context: Context, message: Message) -> Extension:
        last = context.last
        opened = last is not None and last.role == "assistant" and (last.token_ids or (END,))[-1] != END
        body = self.encode(f"{message.role}\n{message.content}")
        return Extension(((END,) if opened else ()) + (START, *body, END))

    def encode(self, text: str) -> tuple[int, ...]:
        return tuple(text.encode())

    def decode(self, token_ids: Sequence[int]) -> str:
        return bytes(i for i in token_ids if i < START).decode(errors="replace")

    def count(self, text: str) -> int:
        return len(self.encode(text))


class ScriptedEngine:
    """Says `answer` to everything, and remembers what it was asked."""

    kind, model, context_limit = "scripted", "bytes", 4096

    def __init__(self, answer: str, chat: ByteChat | None) -> None:
        self.answer = answer
        self.chat = chat
        self.full = False
        self.requests: list[Request] = []

    async def generate(self, request: Request) -> Generation:
        self.requests.append(request)
        if self.full:
            raise ContextFull("full")
        ids = self.answer.encode()[: request.max_tokens]
        return Generation(
            text=ids.decode(errors="replace"),
            finish="stop" if len(ids) < request.max_tokens else "length",
            usage=Usage(prompt_tokens=len(request.token_ids or ()), generated_tokens=len(ids), calls=1, seconds=0.5),
            token_ids=None if self.chat is None else (*ids, END),
            failed_calls=(FailedCall("503"),),
        )


class Cards:
    """A heading, then one "* key = value" a line."""

    name = "cards@1"
    request = "List the cards."

    def parse(self, text: str) -> dict[str, str] | None:
        heading, *lines = text.split("\n")
        pairs = [line.removeprefix("* ").partition(" = ") for line in lines]
        if heading != "CARDS" or not all(equals for _, equals, _ in pairs):
            return None
        return {key: value for key, _, value in pairs}

    def render(self, fields: Mapping[str, str]) -> str:
        return "\n".join(["CARDS", *(f"* {key} = {value}" for key, value in fields.items())])


class Fixed:
    """An encoder that always sends the same relay."""

    name, sees_next_subtask, knows_target = "fixed@1", False, False

    def __init__(self, relay: Relay) -> None:
        self.relay = relay

    async def encode(self, context: Context, next_subtask: Subtask, budget: int | None = None) -> Relay:
        return self.relay
