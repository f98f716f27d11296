"""A language model and a tokenizer small enough to be made on the spot: real code paths, no download."""

from __future__ import annotations

from pathlib import Path
from typing import Any

CHATML = (
    "{% for m in messages %}{% if loop.first and m.role != 'system' %}<|im_start|>system\nBe brief.<|im_end|>\n"
    "{% endif %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""Leaves earlier turns alone, like the templates of SmolLM2 and Qwen2.5."""

FORGETFUL = (
    "{% set ns = namespace(last=0) %}{% for m in messages %}{% if m.role == 'user' %}{% set ns.last = loop.index0 %}"
    "{% endif %}{% endfor %}{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.role == 'assistant' and loop.index0 < ns.last %}{{ m.content.split('</think>')[-1].lstrip() }}"
    "{% elif m.role == 'assistant' and '</think>' not in m.content %}<think>\n\n</think>\n\n{{ m.content }}"
    "{% else %}{{ m.content }}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""Strips thinking from the turns before the last user message, like Qwen3's."""

TRIMMING = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content | trim }}<|im_end|>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""Trims contents and puts nothing after a turn's end, like Llama 3's."""

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
WORDS = [
    "the quick brown fox jumps over the lazy dog and the hen",
    "system user assistant think note number name page open answer 0123456789",
    "The phone of Ada is 4821. The phone of Bo is 3377. Which is it?",
]


def tokenizer(template: str = CHATML) -> Any:
    """A byte-level BPE of some 400 tokens with ChatML's special ones."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator(WORDS * 3, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|im_end|>", bos_token="<|im_start|>")
    fast.chat_template = template
    return fast


def save_model(folder: Path, context: int = 512, seed: int = 0) -> Path:
    """A two-layer Llama with random weights, grouped-query attention included, and its tokenizer."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    words = tokenizer()
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=context,
        initializer_range=0.3,  # far from uniform: greedy choices are clear
        eos_token_id=words.eos_token_id,
        bos_token_id=words.bos_token_id,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder
