"""The `vllm` engine: vLLM in this process, asynchronous, with its prefix cache on.

Token ids go in and come out; decoding is what the request says (`generation_config="vllm"` keeps a model's own
settings out). On vLLM's CPU build execution is eager, dtype `auto` means float32, and two GiB are set aside for the
key-value cache unless VLLM_CPU_KVCACHE_SPACE says otherwise. vLLM names LoRA adapters by number and keeps what it
computed for them: a new version of an adapter needs a new name, from which its number follows.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

from relaybench.config import VLLMConfig
from relaybench.engines.base import ContextFull, EngineError, Generation, Request, ScoreRequest
from relaybench.engines.chat import ChatTemplate
from relaybench.engines.promptscores import Scores, score_all, target_logprobs
from relaybench.engines.tokenizer import load_template
from relaybench.engines.weights import resolve_model
from relaybench.errors import UserError, nearest
from relaybench.records import FailedCall, Usage

LORA_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""What vLLM can be told as its largest LoRA rank."""
LORA_MODULES = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
"""The linear layers of Qwen, Llama and their like that an adapter may change. vLLM is told them so that it leaves the
output layer alone: with LoRA on that, it scores prompts wrong, or dies of it on a CPU (its issues 16668 and 51594)."""
_PROBE = ScoreRequest(context=tuple(range(5, 21)), target=tuple(range(21, 29)))


class VLLMEngine:
    """A model in vLLM's own process, child of this one; usable after `start`."""

    kind = "vllm"

    def __init__(self, config: VLLMConfig) -> None:
        self.config = config
        self.model = config.model
        self.chat: ChatTemplate | None = None
        self.context_limit = config.max_context
        self._llm: Any = None

    async def start(self) -> None:
        """Load the model (a minute or more). Raises UserError where vLLM, the model or the adapter is not to be had."""
        if self._llm is not None:
            return
        self._llm = await asyncio.to_thread(self._load)
        try:
            await self._check_adapter()
        except BaseException:
            await self.close()
            raise

    async def generate(self, request: Request) -> Generation:
        """One reply. Raises ContextFull, EngineError (time-out, dead engine), UserError (adapter)."""
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        if self.chat is None or not request.token_ids:
            raise ValueError("the vllm engine takes prompts as token ids")
        decoding, end = request.decoding, self.chat.end_of_turn
        params = SamplingParams(
            max_tokens=request.max_tokens,
            temperature=decoding.temperature,
            top_p=decoding.top_p,
            seed=request.seed,
            stop=list(decoding.stop),
            stop_token_ids=[] if end is None else [end],
            logprobs=0 if decoding.logprobs else None,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )
        began = time.monotonic()
        output = await self._run(request.token_ids, params, request.adapter)
        return _generation(output, time.monotonic() - began)

    async def score(self, requests: Sequence[ScoreRequest]) -> list[Scores]:
        """Log-probabilities in nats; contexts that share a prefix are prefilled once. Raises as `generate` does."""
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        async def ask(request: ScoreRequest, cache: bool) -> Scores | None:
            params = SamplingParams(
                max_tokens=1,
                temperature=0.0,
                prompt_logprobs=0,
                detokenize=False,  # the rows of the cached part hold no valid ids
                skip_reading_prefix_cache=not cache,
                output_kind=RequestOutputKind.FINAL_ONLY,
            )
            output = await self._run([*request.context, *request.target], params, request.adapter)
            return target_logprobs(output.prompt_logprobs, request, output.num_cached_tokens)

        return await score_all(requests, ask)

    async def close(self) -> None:
        """End vLLM's process; calls in flight fail."""
        llm, self._llm = self._llm, None
        if llm is not None:
            await asyncio.to_thread(llm.shutdown)

    async def _run(self, token_ids: Sequence[int], params: Any, adapter: str | None) -> Any:
        """vLLM's final output. A cancelled or timed-out call is aborted in vLLM as well (its generator sees to it)."""
        from vllm import TokensPrompt
        from vllm.v1.engine.exceptions import EngineDeadError, EngineGenerateError

        if self._llm is None:
            raise RuntimeError("the engine is not started")
        lora = self._lora(adapter)
        tokens = len(token_ids) + params.max_tokens
        if self.context_limit is not None and tokens > self.context_limit:
            raise ContextFull(f"{tokens} tokens exceed {self.context_limit}")
        prompt = TokensPrompt(prompt_token_ids=list(token_ids))
        began, output = time.monotonic(), None
        try:
            async with asyncio.timeout(self.config.call_timeout):
                async for part in self._llm.generate(prompt, params, uuid.uuid4().hex, lora_request=lora):
                    output = part  # FINAL_ONLY: there is one
        except TimeoutError:
            raise _failure(f"timeout after {self.config.call_timeout:g} s", began) from None
        except (EngineDeadError, EngineGenerateError) as error:
            raise _failure(f"vLLM failed: {error}; its log on stderr says more", began) from error
        if output is None or output.outputs[0].finish_reason not in ("stop", "length"):
            raise _failure("vLLM ended the call without an answer", began)
        return output

    def _lora(self, adapter: str | None) -> Any:
        if adapter is None:
            return None
        if adapter != self.config.adapter or self.config.adapter_dir is None:
            hint = nearest(adapter, [self.config.adapter or ""]) or "; set the engine's 'adapter' and 'adapter_dir'"
            raise UserError(f"no adapter '{adapter}' is loaded{hint}")
        from vllm.lora.request import LoRARequest

        return LoRARequest(adapter, crc32(adapter.encode()) & 0x7FFFFFFF or 1, str(self.config.adapter_dir))

    async def _check_adapter(self) -> None:
        """vLLM drops what it does not know of an adapter in silence: one that changes nothing did not load."""
        name = self.config.adapter
        if name is None:
            return
        base, adapted = await self.score([_PROBE, ScoreRequest(_PROBE.context, _PROBE.target, name)])
        if base == adapted:
            folder = self.config.adapter_dir
            raise UserError(f"adapter '{name}' changes nothing; check that {folder} is a LoRA of {self.model}")

    def _load(self) -> Any:
        os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")
        os.environ.setdefault("VLLM_WORKER_MULTIPROCESSING_METHOD", "spawn")  # there are threads already
        try:
            from vllm import AsyncEngineArgs
            from vllm.platforms import current_platform
            from vllm.v1.engine.async_llm import AsyncLLM
        except ImportError as error:
            raise UserError(f"the vllm engine needs {error.name}; install it with `scripts/install vllm`") from None
        folder = resolve_model(self.config.model)
        lora = lora_settings([self.config.adapter_dir] if self.config.adapter_dir else [])
        self.chat = load_template(folder, "vllm")
        cpu = current_platform.is_cpu()
        if cpu:
            os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "2")
        args = AsyncEngineArgs(
            model=folder,
            dtype="float32" if cpu and self.config.dtype == "auto" else self.config.dtype,
            enforce_eager=self.config.enforce_eager or cpu,
            gpu_memory_utilization=self.config.gpu_memory_utilization,
            tensor_parallel_size=self.config.tensor_parallel_size,
            max_model_len=self.config.max_context,
            enable_prefix_caching=True,
            generation_config="vllm",
            disable_log_stats=True,
            **lora,
        )
        try:
            llm = AsyncLLM.from_engine_args(args)
        except (OSError, ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())[:300]
            raise UserError(f"vLLM cannot load '{self.config.model}': {reason}") from error
        self.context_limit = llm.model_config.max_model_len
        return llm


def lora_settings(folders: Sequence[Path]) -> dict[str, Any]:
    """vLLM's engine arguments for these PEFT folders. Raises UserError for a folder that vLLM cannot serve."""
    ranks, modules = [], set(LORA_MODULES)
    for folder in folders:
        settings = _adapter_settings(folder)
        ranks.append(settings["r"])
        changed = settings.get("target_modules")
        modules |= {name.split(".")[-1] for name in changed} if isinstance(changed, list) else set()
        if "lm_head" in modules or "lm_head" in (settings.get("modules_to_save") or []):
            raise UserError(f"{folder} changes lm_head, where vLLM scores wrongly; train it on the layers below")
    if not ranks:
        return {}
    rank = next((rank for rank in LORA_RANKS if rank >= max(ranks)), None)
    if rank is None:
        raise UserError(f"a LoRA of rank {max(ranks)} is too large for vLLM; {LORA_RANKS[-1]} is the most")
    limits = {"max_lora_rank": rank, "max_loras": len(ranks)}
    return {"enable_lora": True, **limits, "lora_target_modules": sorted(modules)}


def _adapter_settings(folder: Path) -> dict[str, Any]:
    try:
        settings = json.loads((folder / "adapter_config.json").read_text())
        return {**settings, "r": int(settings["r"])}
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(f"{folder} is no LoRA folder; name one with adapter_config.json, as PEFT saves") from None


def _generation(output: Any, seconds: float) -> Generation:
    answer = output.outputs[0]
    cached = output.num_cached_tokens or 0
    ids = tuple(answer.token_ids)
    rows = answer.logprobs
    return Generation(
        text=answer.text,
        finish=answer.finish_reason,
        usage=Usage(len(output.prompt_token_ids) - cached, cached, len(ids), 1, seconds),
        token_ids=ids,
        logprobs=tuple(row[token].logprob for row, token in zip(rows, ids, strict=True)) if rows else None,
    )


def _failure(error: str, began: float) -> EngineError:
    return EngineError(error, [FailedCall(error, time.monotonic() - began)])
