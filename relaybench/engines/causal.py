"""A causal language model as the transformers engine holds it: weights, chat template, limits, adapter.

Every layer must be plain full attention, so that a stored prefix serves any prompt that starts with it. Layers with
a sliding window are that up to their window, which therefore bounds the context.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils.logging import disable_progress_bar

from relaybench.config import TransformersConfig
from relaybench.engines.chat import ChatTemplate
from relaybench.engines.weights import resolve_model
from relaybench.errors import UserError

_CPU_CACHE_BYTES = 1 << 30
_SLOT = "adapter"  # PEFT's own name for it: versioned names may hold dots, which PEFT refuses
_GPU_CACHE_SHARE = 0.25  # of the memory that is free once the model is loaded


@dataclass(slots=True)
class CausalModel:
    """A loaded model; `use` says which adapter its forward passes apply."""

    model: Any
    chat: ChatTemplate
    ends: frozenset[int]
    """Ids that end a turn."""
    context_limit: int
    adapter: str | None = None
    """Name of the adapter in use."""

    @classmethod
    def load(cls, config: TransformersConfig) -> CausalModel:
        """Raises UserError where the model, its chat template or its adapter cannot be used."""
        model, tokenizer = _load(config)
        chat = ChatTemplate(tokenizer)
        text = model.config.get_text_config()
        limit = _window(text, config.model)
        ends = {chat.end_of_turn, tokenizer.eos_token_id, *_as_ids(text.eos_token_id)}
        causal = cls(
            model=model,
            chat=chat,
            ends=frozenset(i for i in ends if i is not None),
            context_limit=limit if config.max_context is None else min(config.max_context, limit),
        )
        if config.adapter_dir is not None:
            causal.attach(config.adapter_dir)
        return causal

    def attach(self, folder: Path) -> None:
        """Load a PEFT folder. Raises UserError where it changes nothing, or does not fit."""
        if find_spec("peft") is None:
            raise UserError("adapters need the package peft; run `scripts/install train`")
        if not (folder / "adapter_config.json").is_file():
            raise UserError(f"{folder} is not an adapter folder (no adapter_config.json); name the one that PEFT saved")
        probe = torch.tensor(
            [self.chat.encode("The quick brown fox jumps over the lazy dog.")], device=self.model.device
        )
        with torch.no_grad():
            plain = self.model(input_ids=probe).logits
            try:
                self.model.load_adapter(str(folder), adapter_name=_SLOT)
            except (ValueError, RuntimeError, KeyError, OSError) as error:
                raise UserError(
                    f"adapter {folder} does not fit the model: {_line(error)}; train it on this model"
                ) from None
            self.model.eval()
            changed = self.model(input_ids=probe).logits
        if torch.equal(plain, changed):
            raise UserError(f"adapter {folder} changes nothing: its weights are zero or of another model; save it anew")
        self.model.disable_adapters()

    def use(self, adapter: str | None) -> None:
        """Apply `adapter` from now on; None: no adapter."""
        if adapter is not None and self.adapter is None:
            self.model.enable_adapters()
        elif adapter is None and self.adapter is not None:
            self.model.disable_adapters()
        self.adapter = adapter

    def cache_tokens(self) -> int:
        """How many tokens of keys and values may be kept."""
        text = self.model.config.get_text_config()
        heads = text.num_key_value_heads or text.num_attention_heads
        size = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
        per_token = 2 * text.num_hidden_layers * heads * size * self.model.dtype.itemsize
        if self.model.device.type != "cuda":
            return int(_CPU_CACHE_BYTES // per_token)
        free, _ = torch.cuda.mem_get_info(self.model.device)
        return int(free * _GPU_CACHE_SHARE // per_token)


def _load(config: TransformersConfig) -> tuple[Any, Any]:
    device = config.device or ("cuda" if torch.cuda.is_available() else "cpu")
    dtype = config.dtype or ("float32" if device == "cpu" else "bfloat16")
    path = resolve_model(config.model)
    disable_progress_bar()  # a run shows its own progress
    try:
        tokenizer = AutoTokenizer.from_pretrained(path)
        model = AutoModelForCausalLM.from_pretrained(path, dtype=getattr(torch, dtype), attn_implementation="sdpa")
        return model.to(device).eval(), tokenizer
    except (OSError, ValueError) as error:
        raise UserError(
            f"model '{config.model}' cannot be loaded: {_line(error)}; name a folder, or a hub name that is reachable"
        ) from None
    except (RuntimeError, AssertionError) as error:
        raise UserError(f"device '{device}' cannot hold '{config.model}': {_line(error)}; set device: cpu") from None


def _window(text: Any, name: str) -> int:
    """Tokens up to which every layer is full attention."""
    kinds = set(getattr(text, "layer_types", None) or ["full_attention"])
    if kinds - {"full_attention", "sliding_attention"}:
        raise UserError(f"the transformers engine cannot run {name} ({', '.join(sorted(kinds))}); use kind: vllm")
    limit = int(text.max_position_embeddings)
    window = getattr(text, "sliding_window", None) if "sliding_attention" in kinds else None
    return limit if window is None else min(limit, int(window))


def _as_ids(value: int | list[int] | None) -> list[int]:
    if value is None:
        return []
    return [value] if isinstance(value, int) else list(value)


def _line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")
