"""Log-probabilities of given tokens after given contexts, each shared prefix computed once.

Requests are visited in the order of their contexts. In that order no earlier context shares more leading tokens
with the next one than the one just before it, so keeping that one is enough for a whole tree of shared prefixes.
Requests with the same context go through the model together. Logits are made for target positions only.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import torch

from relaybench.engines.base import ScoreRequest
from relaybench.engines.prefixes import Prefix, PrefixCache
from relaybench.engines.rows import Rows

Logprobs = tuple[float, ...]


def log_likelihoods(
    model: Any, prefixes: PrefixCache, requests: Sequence[ScoreRequest], batch_size: int
) -> list[Logprobs]:
    """One tuple of nats a request, one number a target token. All requests use one adapter."""
    answers: dict[int, Logprobs] = dict.fromkeys(range(len(requests)), ())
    asked = sorted((tuple(r.context), i) for i, r in enumerate(requests) if r.target)
    adapter = requests[0].adapter if requests else None
    before: Prefix | None = None
    for context, group in groupby(asked, key=lambda pair: pair[0]):
        numbers = [i for _, i in group]
        for start in range(0, len(numbers), batch_size):
            batch = numbers[start : start + batch_size]
            known, length = _longest(before, *prefixes.find(context, adapter), context)
            found, before = _score(model, context, [requests[i].target for i in batch], known, length)
            answers.update(zip(batch, found, strict=True))
    if before is not None:
        prefixes.put(before, adapter)
    return [answers[i] for i in range(len(requests))]


def _longest(
    before: Prefix | None, stored: Prefix | None, shared: int, context: Sequence[int]
) -> tuple[Prefix | None, int]:
    """The better of two known prefixes, and how many tokens of `context` it spares (never the last one)."""
    last = 0
    if before is not None:
        pairs = zip(before.token_ids, context, strict=False)
        last = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(before.token_ids), len(context)))
    prefix, length = (before, last) if last > shared else (stored, shared)
    return prefix, min(length, len(context) - 1)


def _score(
    model: Any, context: Sequence[int], targets: Sequence[Sequence[int]], known: Prefix | None, length: int
) -> tuple[list[Logprobs], Prefix]:
    """Score `targets` after one context, of which `known` holds `length` tokens; and a prefix for the next."""
    if len(targets) > 1 and length < len(context) - 1:
        alone = Rows(model, 1)
        alone.add(known, length)
        alone.forward([context[length:-1]])
        known, length = alone.take(0, copy=False), len(context) - 1
    rows = Rows(model, len(targets))
    for _ in targets:
        rows.add(known, length)
    first = len(context) - length - 1
    longest = max(len(target) for target in targets)
    keep = torch.arange(first, first + longest, device=model.device)
    logits = rows.forward([[*context[length:], *target[:-1]] for target in targets], keep)
    logprobs = logits.float().log_softmax(-1)
    found = []
    for row, target in zip(logprobs, targets, strict=True):
        wanted = torch.tensor(target, device=model.device)[:, None]
        found.append(tuple(row[: len(target)].gather(1, wanted)[:, 0].tolist()))
    return found, rows.take(0, copy=len(targets) > 1)
