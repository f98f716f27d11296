"""The `recorded` engine: answers calls with what a stored run's model said, and with nothing else.

A run is replayed with its own config, `kind: recorded` in place of its engine: same tasks, systems, seeds and
decoding give the same records, with no model and no tokenizer. A call that the run did not make is a UserError.
Where one prompt was answered differently under the same settings (rounding on busy GPUs), the first answer stands.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from relaybench.config import RecordedConfig
from relaybench.engines.base import ContextFull, Generation, Request, ScoreRequest
from relaybench.engines.chat import Chat, Extension
from relaybench.engines.transcript import START, Answer, Transcript, after
from relaybench.errors import UserError
from relaybench.records import Context, Message

_MEND = "replay with the run's own config, or use its engine"


class RecordedEngine:
    """Replays the run folder `config.run`; `config.model` picks a model where the run has several."""

    kind = "recorded"

    def __init__(self, config: RecordedConfig) -> None:
        self.config = config
        self.model = config.model
        self.chat: Chat | None = None
        self.context_limit = config.max_context
        self._transcript: Transcript | None = None
        self._words: RecordedChat | None = None

    async def start(self) -> None:
        """Read the run folder. Raises UserError where it is none."""
        if self._transcript is not None:
            return
        named = "model" in self.config.model_fields_set
        self._transcript = Transcript(self.config.run, self.config.model if named else None)
        if self._transcript.has_ids:
            self.chat = self._words = RecordedChat(self._transcript)

    async def generate(self, request: Request) -> Generation:
        """The stored answer to the same messages. Raises ContextFull where the run did, UserError for anything new."""
        if self._transcript is None:
            raise RuntimeError("the engine is not started")
        digest = START
        for message in request.messages:
            digest = after(digest, message)
        known = self._transcript.answers.get(digest, [])
        if not known and digest in self._transcript.full:
            raise ContextFull("the recorded prompt did not fit")
        fitting = [answer for answer in known if _fits(answer, request)]
        exact = [answer for answer in fitting if answer.seed == request.seed]
        chosen = next(iter(exact or (fitting if request.decoding.temperature == 0 else [])), None)
        if chosen is None:
            lacking = "under these settings (decoding, seed, adapter)" if known else "to this prompt"
            raise UserError(f"the recorded run {self.config.run} has no answer {lacking}; {_MEND}")
        return self._without_prefill(chosen)

    async def score(self, requests: Sequence[ScoreRequest]) -> list[tuple[float, ...]]:
        """Not to be had: raises UserError."""
        raise UserError("a recorded run cannot score new targets; use kind: transformers or vllm")

    async def close(self) -> None:
        """Nothing to free."""

    def _without_prefill(self, answer: Answer) -> Generation:
        """The answer as the engine gave it: words that were put into the model's mouth are not its own."""
        ids, words = answer.message.token_ids, self._words
        if answer.is_relay or ids is None or words is None:
            return answer.generation
        prefill = words.prefilled(ids[len(words.generation_prompt) : answer.message.template])
        return msgspec.structs.replace(answer.generation, text=answer.generation.text.removeprefix(prefill))


def _fits(answer: Answer, request: Request) -> bool:
    """Whether the answer was made under the request's settings, and a limit of `max_tokens` would have let it be."""
    made, wanted = answer.decoding, request.decoding
    same = (made.temperature, made.top_p, answer.adapter) == (wanted.temperature, wanted.top_p, request.adapter)
    if not same or (made.stop != wanted.stop and not answer.is_relay):
        return False
    ids, usage = answer.generation.token_ids, answer.generation.usage
    new = len(ids) if ids is not None else usage.generated_tokens if answer.is_relay else None
    if new is None:
        return True
    return new == request.max_tokens if answer.generation.finish == "length" else new <= request.max_tokens


class RecordedChat:
    """The ids that the run's tokenizer gave, by look-up. Raises UserError for text that the run never tokenised."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self.generation_prompt = transcript.generation_prompt()
        """Ids after which the model speaks."""
        self._rates = {relay.text: relay.rate_tokens for relay in transcript.relays if relay.rate_tokens is not None}
        self._texts = {relay.token_ids: relay.text for relay in transcript.relays if relay.token_ids is not None}
        self._prefills: dict[tuple[int, ...], str] = {}

    def extend(self, context: Context, message: Message) -> Extension:
        """The ids that the same message added to the same context."""
        digest = START
        for earlier in context.messages():
            digest = after(digest, earlier)
        found = self._transcript.extensions.get(after(digest, message))
        if found is None:
            raise UserError(
                f"the recorded run never added this {message.role} message: {message.content[:60]!r}; {_MEND}"
            )
        return found

    def encode(self, text: str) -> tuple[int, ...]:
        """Ids of the prefill `text`: what stands between the generation prompt and a reply that begins with it."""
        start = len(self.generation_prompt)
        replies = (a.message for answers in self._transcript.answers.values() for a in answers if not a.is_relay)
        heads = {m.token_ids[start : m.template] for m in replies if m.token_ids and m.content.startswith(text)}
        if not heads:
            raise UserError(f"the recorded run never tokenised {text[:60]!r}; {_MEND}")
        ids = min(heads - {()}, key=len, default=())
        self._prefills[ids] = text
        return ids

    def prefilled(self, token_ids: tuple[int, ...]) -> str:
        """The prefill that `encode` gave these ids for."""
        return self._prefills.get(token_ids, "")

    def decode(self, token_ids: Sequence[int]) -> str:
        """The text of a relay that has these ids."""
        found = self._texts.get(tuple(token_ids))
        if found is None:
            raise UserError(f"the recorded run never decoded these {len(token_ids)} token ids; {_MEND}")
        return found

    def count(self, text: str) -> int:
        """The rate of a relay with this text."""
        found = self._rates.get(text)
        if found is None:
            raise UserError(f"the recorded run never counted the tokens of {text[:60]!r}; {_MEND}")
        return found
