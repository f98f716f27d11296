"""The `openai` engine: any OpenAI-compatible server, through the official client.

With a tokenizer named in its config, prompts go as token ids through /v1/completions and generated ids come back
(vLLM and servers that know `return_token_ids`); without one, messages go through /v1/chat/completions and token ids
stay unknown (closed APIs). Decoding is what the request says: on the token path the penalties and cut-offs that a
server might take from a model's generation_config are sent in their neutral form; on the chat path closed APIs have
none, and a vLLM server is started with `--generation-config vllm` (`relaybench serve` does).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec
from openai.types import Completion, CompletionUsage
from openai.types.chat import ChatCompletion

from relaybench.config import OpenAIConfig
from relaybench.engines.attempts import Attempts
from relaybench.engines.base import ContextFull, Generation, Request, ScoreRequest
from relaybench.engines.chat import ChatTemplate
from relaybench.engines.faults import BadAnswer
from relaybench.engines.promptscores import Scores, score_all
from relaybench.engines.remotescores import ask_scores
from relaybench.engines.servers import Server, Servers
from relaybench.engines.tokenizer import load_template
from relaybench.errors import UserError
from relaybench.records import Usage

NEUTRAL = {"repetition_penalty": 1.0, "top_k": -1, "min_p": 0.0, "min_tokens": 0, "ignore_eos": False}
"""Sampling settings beyond Decoding, at the values where they do nothing."""


class OpenAIEngine:
    """A model behind one or several servers; usable after `start`."""

    kind = "openai"

    def __init__(self, config: OpenAIConfig) -> None:
        self.config = config
        self.model = config.model
        self.chat: ChatTemplate | None = None
        self.context_limit = config.max_context
        urls = [config.base_url] if isinstance(config.base_url, str) else config.base_url
        if not urls:
            raise UserError("the engine's 'base_url' is an empty list; name at least one server")
        self._open = partial(_open, tuple(urls), config.api_key_env, config.call_timeout)
        self._servers: Servers | None = None

    async def start(self) -> None:
        """Connect, and load the tokenizer. Raises UserError where no server answers or the model is not there."""
        if self._servers is not None:
            return
        servers = self._open()
        try:
            await servers.connect([self.model, *([self.config.adapter] if self.config.adapter else [])])
            if self.config.tokenizer is not None:
                self.chat = await asyncio.to_thread(load_template, self.config.tokenizer, "cpu")
        except BaseException:
            await servers.close()
            raise
        limits = [limit for limit in (self.config.max_context, servers.context_limit) if limit is not None]
        self.context_limit = min(limits) if limits else None
        self._servers = servers

    async def generate(self, request: Request) -> Generation:
        """One reply. Raises ContextFull, EngineError (all attempts failed), UserError (key, model, address)."""
        model = request.adapter or self.model
        ask = self._by_messages if self.chat is None else self._by_ids
        answer = await self._attempts().call(
            lambda server: ask(server, model, request), model=model, affinity=request.affinity
        )
        usage = msgspec.structs.replace(answer.value.usage, seconds=answer.seconds)
        return msgspec.structs.replace(answer.value, usage=usage, failed_calls=answer.failed_calls)

    async def score(self, requests: Sequence[ScoreRequest]) -> list[Scores]:
        """Log-probabilities in nats, from a vLLM server; contexts that share a prefix are prefilled once.

        Raises UserError where no tokenizer is set or the server gives no log-probabilities of given tokens.
        """
        if self.chat is None:
            raise UserError("scoring needs token ids: set the engine's 'tokenizer' (vLLM servers only)")
        attempts = self._attempts()

        async def ask(request: ScoreRequest, cache: bool) -> Scores | None:
            model = request.adapter or self.model
            answer = await attempts.call(
                lambda server: ask_scores(server, model, request, cache),
                model=model,
                affinity=str(hash(tuple(request.context[:256]))),
            )
            return answer.value

        return await score_all(requests, ask)

    async def close(self) -> None:
        if self._servers is not None:
            await self._servers.close()
            self._servers = None

    def _attempts(self) -> Attempts:
        if self._servers is None:
            raise RuntimeError("the engine is not started")
        return Attempts(self._servers, self.config.max_retries, self.config.call_timeout)

    async def _by_ids(self, server: Server, model: str, request: Request) -> Generation:
        if self.chat is None or not request.token_ids:
            raise ValueError("an engine with a tokenizer takes prompts as token ids")
        tokens = len(request.token_ids) + request.max_tokens
        if self.context_limit is not None and tokens > self.context_limit:
            raise ContextFull(f"{tokens} tokens exceed {self.context_limit}")
        prompt = list(request.token_ids)
        end = self.chat.end_of_turn
        stops = {} if end is None else {"stop_token_ids": [end]}
        completion = await server.client.completions.create(
            model=model,
            prompt=prompt,
            extra_body={"return_token_ids": True, "add_special_tokens": False, **NEUTRAL, **stops},
            **_decoding(request, logprobs=0),
        )
        return _from_ids(completion, prompt, request, server)

    async def _by_messages(self, server: Server, model: str, request: Request) -> Generation:
        messages: Any = [{"role": message.role, "content": message.content} for message in request.messages]
        completion = await server.client.chat.completions.create(
            model=model, messages=messages, **_decoding(request, logprobs=True)
        )
        return _from_messages(completion)


def _open(urls: tuple[str, ...], key_env: str, timeout: float) -> Servers:
    return Servers([Server(url, key_env, timeout) for url in urls])


def _decoding(request: Request, *, logprobs: int | bool) -> dict[str, Any]:
    """What both endpoints take; `logprobs` is how this one is asked for those of the generated tokens."""
    decoding = request.decoding
    return {
        "max_tokens": request.max_tokens,
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "seed": request.seed,
        **({"stop": list(decoding.stop)} if decoding.stop else {}),
        **({"logprobs": logprobs} if decoding.logprobs else {}),
    }


def _from_ids(completion: Completion, prompt: list[int], request: Request, server: Server) -> Generation:
    choice = _choice(completion)
    told = choice.model_extra or {}
    ids, seen = told.get("token_ids"), told.get("prompt_token_ids")
    if ids is None:
        raise UserError(f"{server.name} returns no token ids; use a vLLM server, or remove the engine's 'tokenizer'")
    if seen is not None and seen != prompt:
        raise UserError(f"{server.name} read other token ids than it was sent; 'tokenizer' must be its model's own")
    logprobs = tuple(choice.logprobs.token_logprobs or ()) if choice.logprobs else None
    return Generation(
        text=choice.text or "",
        finish=_finish(choice.finish_reason),
        usage=_usage(completion.usage),
        token_ids=tuple(ids),
        logprobs=tuple(value or 0.0 for value in logprobs) if request.decoding.logprobs and logprobs else None,
    )


def _from_messages(completion: ChatCompletion) -> Generation:
    choice = _choice(completion)
    content = choice.logprobs.content if choice.logprobs else None
    return Generation(
        text=choice.message.content or "",
        finish=_finish(choice.finish_reason),
        usage=_usage(completion.usage),
        logprobs=tuple(token.logprob for token in content) if content else None,
    )


def _choice(completion: Any) -> Any:
    """The only choice. Raises BadAnswer for a body that is none of ours (a proxy's page, say)."""
    if not isinstance(completion, Completion | ChatCompletion) or not completion.choices:
        raise BadAnswer(f"the body reads {str(completion)[:200]!r}")
    return completion.choices[0]


def _finish(reason: str | None) -> str:
    if reason in ("abort", "error"):
        raise BadAnswer(f"generation ended with '{reason}'")
    return "length" if reason == "length" else "stop"


def _usage(usage: CompletionUsage | None) -> Usage:
    if usage is None:
        return Usage(calls=1)
    details = usage.prompt_tokens_details
    cached = (details.cached_tokens if details else None) or 0
    return Usage(
        prompt_tokens=usage.prompt_tokens - cached,
        cached_tokens=cached,
        generated_tokens=usage.completion_tokens,
        calls=1,
    )
