"""A small language model that is trained on ledgers alone: a reader and a reference whose truth is known.

Used by validate_estimators.py. Texts are the ledger's own lines, one token a word and a digit; the loss is on the
digits of targets, all else being given (the frame: names, order, wording). They teach all that the instruments ask:

    <setting> lines | Ada's badge ? Ada's badge is 4.        the target after the context, after a relay, after nothing
    <setting> lines | code | lines      the context after nothing, a relay or itself; the relay after nothing or M
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import torch

from relaybench.benchmarks.ledger.generate import FIELDS, Sheet, make_sheet
from relaybench.config_benchmarks import LedgerConfig

Encoder = Callable[[Sheet, Random], str]
"""Writes a relay, lines of text, from a sheet."""
ASK, CODE, BAR, PAD = "?", "code", "|", "<pad>"


@dataclass(frozen=True, slots=True)
class Setting:
    """One point on the ledger's dials with a lossy relay encoder, and what is true there."""

    name: str
    dials: LedgerConfig
    encoder: Encoder
    loss: float
    """Delta of the encoder, nats."""
    kept: float
    """Numbers of M that a relay tells, on average."""


def context_text(sheet: Sheet) -> str:
    """M: every line that carries a number."""
    return " ".join(line.text for line in sheet.lines if line.value)


def question_text(sheet: Sheet) -> str:
    """X, in the words of the lines."""
    return " and ".join(f"{sheet.record}'s {field}" for field in sheet.asked) + f" {ASK}"


def answer_text(sheet: Sheet) -> str:
    """Y: the answer key."""
    if len(sheet.answer) < len(sheet.asked):
        return f"remainder is {sheet.answer[0]} ."
    pairs = zip(sheet.asked, sheet.answer, strict=True)
    return " ".join(f"{sheet.record}'s {field} is {value}." for field, value in pairs)


def target_parts(number: int, known: str, sheet: Sheet) -> tuple[str, str]:
    """Context and target of a reader that knows `known`."""
    return f"<{number}> {known} {BAR} {question_text(sheet)}", answer_text(sheet)


def code_parts(number: int, known: str, sheet: Sheet, coded: str) -> tuple[str, str]:
    """Context and target of the reference: `coded` after `known`. X comes first: relays may hang on it."""
    return f"<{number}> {question_text(sheet)} {known} {BAR} {CODE} {BAR}", coded


def tokenizer(settings: int) -> Any:
    """One token a word and a digit."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    splits = [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits(individual_digits=True)]
    splitter = pre_tokenizers.Sequence(splits)
    rng = Random(0)
    many = LedgerConfig(name="ledger", records=50, noise=400, fields=8)  # all names, fields and memos
    words = {word for word, _ in splitter.pre_tokenize_str(context_text(make_sheet(many, rng)))}
    words |= {*"0123456789", *FIELDS, ASK, CODE, BAR, "and", "remainder", "is", "."}
    marks = [PAD, *(f"<{number}>" for number in range(settings))]
    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate([*marks, *sorted(words)])}, unk_token=PAD))
    made.pre_tokenizer = splitter
    made.add_special_tokens(marks)
    fast = PreTrainedTokenizerFast(tokenizer_object=made, pad_token=PAD, eos_token=PAD, unk_token=PAD)
    fast.chat_template = "{% for m in messages %}{{ m.content }} {% endfor %}"
    return fast


def model_of(words: Any, width: int, layers: int, context: int = 1024) -> Any:
    """A Llama with random weights."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    shape = {"hidden_size": width, "intermediate_size": 2 * width, "num_hidden_layers": layers}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 4, "max_position_embeddings": context}
    config = LlamaConfig(vocab_size=len(words), pad_token_id=0, eos_token_id=0, bos_token_id=None, **shape, **heads)
    return LlamaForCausalLM(config)


def text_of(number: int, setting: Setting, rng: Random, copy: bool) -> tuple[str, str]:
    """One training text, as context and target; with `copy`, one in which every number stands in the context."""
    sheet = make_sheet(setting.dials, rng)
    lines, relay = context_text(sheet), setting.encoder(sheet, rng)
    if copy:
        return code_parts(number, lines, sheet, lines)
    known = rng.choice((lines, relay, relay, ""))
    if rng.random() < 0.6:
        return target_parts(number, known, sheet)
    if rng.random() < 0.25:
        return code_parts(number, rng.choice((lines, "")), sheet, relay)
    return code_parts(number, known, sheet, lines)


def train(
    folder: Path, settings: Sequence[Setting], *, minutes: float, width: int = 128, layers: int = 3, batch: int = 32
) -> Mapping[str, float]:
    """Train for so many minutes and save; what it took. Texts are drawn anew for ever: nothing is seen twice."""
    words = tokenizer(len(settings))
    model = model_of(words, width, layers)
    digits = torch.tensor(words.convert_tokens_to_ids(list("0123456789")))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.98), weight_decay=0.01)
    rng, began, step, mean = Random("training"), time.monotonic(), 0, 3.0
    while (spent := (time.monotonic() - began) / 60) < minutes:
        rate = 2e-3 * min(1.0, (step + 1) / 200) * max(0.02, 0.5 + 0.5 * math.cos(math.pi * spent / minutes))
        for group in optimizer.param_groups:
            group["lr"] = rate
        copies = max(0.1, 1 - 3 * spent / minutes)  # looking up is learned from copies first
        loss = _loss(model, words, digits, _batch(settings, rng, batch, copies))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step, mean = step + 1, 0.98 * mean + 0.02 * float(loss.detach())
        if step % 100 == 0:
            print(f"step {step}  {spent:.1f} of {minutes:g} min  loss {mean:.3f} nats a digit", flush=True)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return {"steps": step, "loss": mean, "parameters": sum(p.numel() for p in model.parameters())}


def _batch(settings: Sequence[Setting], rng: Random, size: int, copies: float) -> list[tuple[str, str]]:
    """Texts of one setting, so that they are about as long; a share of them copies."""
    number = rng.randrange(len(settings))
    return [text_of(number, settings[number], rng, rng.random() < copies) for _ in range(size)]


def _loss(model: Any, words: Any, digits: torch.Tensor, texts: Sequence[tuple[str, str]]) -> torch.Tensor:
    """Cross-entropy of the targets' digits; those of contexts are random, there is nothing to learn in them."""
    parts = [(words(context)["input_ids"], words(target)["input_ids"]) for context, target in texts]
    longest = max(len(context) + len(target) for context, target in parts)
    tokens = torch.zeros(len(parts), longest, dtype=torch.long)
    wanted = torch.zeros(len(parts), longest, dtype=torch.bool)
    for row, (context, target) in enumerate(parts):
        ids = torch.tensor([*context, *target])
        tokens[row, : len(ids)] = ids
        wanted[row, len(context) : len(ids)] = torch.isin(ids[len(context) :], digits)
    logits = model(input_ids=tokens, attention_mask=(tokens > 0).long()).logits[:, :-1][wanted[:, 1:]]
    loss: torch.Tensor = torch.nn.functional.cross_entropy(logits.float(), tokens[:, 1:][wanted[:, 1:]])
    return loss
