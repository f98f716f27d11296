"""The `transformers` engine: Hugging Face models in this process, on CPU or GPU.

Calls from many coroutines meet in one worker thread (batcher.py), which decodes up to `batch_size` of them together
and reuses what earlier prompts computed. Nothing is taken from a model's generation_config: decoding is what the
request says.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from relaybench.config import TransformersConfig
from relaybench.engines.base import ContextFull, EngineError, Generation, Request, ScoreRequest
from relaybench.engines.batcher import Batcher, Logprobs
from relaybench.engines.chat import Chat
from relaybench.errors import UserError, nearest
from relaybench.records import FailedCall


class TransformersEngine:
    """A causal language model with its tokenizer's chat template; usable after `start`."""

    kind = "transformers"

    def __init__(self, config: TransformersConfig) -> None:
        self.config = config
        self.model = config.model
        self.chat: Chat | None = None
        self.context_limit = config.max_context
        self._batcher: Batcher | None = None

    async def start(self) -> None:
        """Load model, tokenizer and adapter. Raises UserError where one of them is not to be had."""
        if self._batcher is None:
            self._batcher = await asyncio.to_thread(self._load)

    async def generate(self, request: Request) -> Generation:
        """Decode as the request says. Raises ContextFull, EngineError (memory, time-out), UserError (adapter)."""
        if not request.token_ids:
            raise ValueError("the transformers engine takes prompts as token ids")
        batcher = self._ready(len(request.token_ids) + request.max_tokens, request.adapter)
        began = time.monotonic()
        try:
            async with asyncio.timeout(self.config.call_timeout):
                return await asyncio.wrap_future(batcher.generate(request))
        except TimeoutError:
            error = f"timeout after {self.config.call_timeout:g} s"
            raise EngineError(error, [FailedCall(error, time.monotonic() - began)]) from None

    async def score(self, requests: Sequence[ScoreRequest]) -> list[Logprobs]:
        """Log-probabilities in nats, one tuple a request, one number a target token.

        Raises ContextFull where a context with its target does not fit, ValueError for an empty context.
        """
        by_adapter: dict[str | None, list[int]] = {}
        for i, request in enumerate(requests):
            if not request.context:
                raise ValueError("a target is scored after a context of at least one token")
            self._ready(len(request.context) + len(request.target), request.adapter)
            by_adapter.setdefault(request.adapter, []).append(i)
        answers: dict[int, Logprobs] = {}
        for places in by_adapter.values():
            batcher = self._ready(0, None)
            found = await asyncio.wrap_future(batcher.score([requests[i] for i in places]))
            answers.update(zip(places, found, strict=True))
        return [answers[i] for i in range(len(requests))]

    async def close(self) -> None:
        """End the worker thread; calls in flight are cancelled."""
        if self._batcher is not None:
            await asyncio.to_thread(self._batcher.close)
            self._batcher = None

    def _load(self) -> Batcher:
        try:
            import torch  # noqa: F401
            import transformers  # noqa: F401
        except ImportError as error:
            raise UserError(f"the transformers engine needs {error.name}; run `scripts/install cpu`") from None
        from relaybench.engines.causal import CausalModel
        from relaybench.engines.decoding import Decoder

        causal = CausalModel.load(self.config)
        self.chat, self.context_limit = causal.chat, causal.context_limit
        return Batcher(Decoder(causal, self.config.batch_size))

    def _ready(self, tokens: int, adapter: str | None) -> Batcher:
        """The running batcher, once it is clear that so many tokens fit and the adapter is there."""
        if self._batcher is None:
            raise RuntimeError("the engine is not started")
        if self.context_limit is not None and tokens > self.context_limit:
            raise ContextFull(f"{tokens} tokens exceed {self.context_limit}")
        if adapter is not None and adapter != self.config.adapter:
            hint = nearest(adapter, [self.config.adapter or ""]) or "; set the engine's 'adapter' and 'adapter_dir'"
            raise UserError(f"no adapter '{adapter}' is loaded{hint}")
        return self._batcher
