"""Decoding: one causal model, the rows it is extending, and the prefix cache behind them. One thread uses it.

A call is prefilled alone, from the longest cached prefix on, then joins the rows that are decoded together; others
may join and leave at every step. Each call keeps its own sampling settings and generator, so what it gets depends on
its own seed and not on its neighbours (up to rounding).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from relaybench.engines.base import Generation, Request, ScoreRequest
from relaybench.engines.batcher import Call
from relaybench.engines.causal import CausalModel
from relaybench.engines.likelihood import log_likelihoods
from relaybench.engines.prefixes import PrefixCache
from relaybench.engines.rows import Rows
from relaybench.records import Decoding, Usage


@dataclass(slots=True, eq=False)
class _Running:
    """A call on its way: what has been generated for it so far."""

    call: Call
    cached: int
    """Prompt tokens that came from the prefix cache."""
    generator: torch.Generator
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    text: str | None = None
    """Set once a stop string was met: what stands before it."""
    finish: str = ""


class Decoder:
    """A model with room for `batch_size` calls at once."""

    def __init__(self, causal: CausalModel, batch_size: int) -> None:
        self._causal = causal
        self._batch_size = batch_size
        self._prefixes = PrefixCache(causal.cache_tokens())
        self._rows = Rows(causal.model, batch_size)
        self.running: list[_Running] = []
        """In the order of their rows."""

    def takes(self, request: Request) -> bool:
        """Whether there is room for it beside what runs: the rows of one pass share the adapter."""
        fits = not self.running or self.running[0].call.request.adapter == request.adapter
        return fits and len(self.running) < self._batch_size

    def begin(self, call: Call) -> Generation | None:
        """Prefill the prompt and generate the first token: the answer if it ended with that, else it runs on."""
        request, prompt = call.request, list(call.request.token_ids or ())
        self._causal.use(request.adapter)
        prefix, shared = self._prefixes.find(prompt, request.adapter)
        cached = min(shared, len(prompt) - 1)  # the last token is computed anew, for its logits
        alone = Rows(self._causal.model, 1)
        alone.add(prefix, cached)
        logits = alone.forward([prompt[cached:]])
        filled = alone.take(0, copy=False)
        self._prefixes.put(filled, request.adapter)
        sequence = _Running(call, cached, torch.Generator().manual_seed(request.seed))
        self._extend([sequence], logits[:, -1])
        if sequence.finish:
            return self._generation(sequence)
        self._rows.add(filled, len(prompt))
        self.running.append(sequence)
        return None

    def step(self) -> list[tuple[Call, Generation]]:
        """One token for each running call; those that ended with it. Cancelled ones leave."""
        self._leave([s for s in self.running if s.call.future.cancelled()])
        if not self.running:
            return []
        self._causal.use(self.running[0].call.request.adapter)
        logits = self._rows.forward([[s.token_ids[-1]] for s in self.running])
        self._extend(self.running, logits[:, -1])
        ended = [s for s in self.running if s.finish]
        self._leave(ended)
        return [(s.call, self._generation(s)) for s in ended]

    def score(self, requests: Sequence[ScoreRequest]) -> list[tuple[float, ...]]:
        """Log-probabilities of targets (nats); all requests of one adapter."""
        self._causal.use(requests[0].adapter if requests else None)
        return log_likelihoods(self._causal.model, self._prefixes, requests, self._batch_size)

    def abandon(self) -> list[Call]:
        """Drop everything that runs, and say what that was."""
        cut = [sequence.call for sequence in self.running]
        self._rows, self.running = Rows(self._causal.model, self._batch_size), []
        return cut

    def _leave(self, sequences: list[_Running]) -> None:
        for sequence in sequences:
            row = self.running.index(sequence)
            self._prefixes.put(self._rows.take(row), sequence.call.request.adapter)
            self._rows.drop(row)
            self.running[row] = self.running[-1]
            self.running.pop()

    def _generation(self, sequence: _Running) -> Generation:
        """The finished answer; its seconds count from the moment it was asked for."""
        call, ids = sequence.call, sequence.token_ids
        new = len(call.request.token_ids or ()) - sequence.cached
        return Generation(
            text=self._causal.chat.decode(ids) if sequence.text is None else sequence.text,
            finish=sequence.finish,
            usage=Usage(new, sequence.cached, len(ids), calls=1, seconds=time.monotonic() - call.began),
            token_ids=tuple(ids),
            logprobs=tuple(sequence.logprobs) if call.request.decoding.logprobs else None,
        )

    def _extend(self, sequences: list[_Running], logits: Tensor) -> None:
        """Append the next token of each sequence, chosen from its row of `logits` (rows, vocabulary)."""
        logits = logits.float()
        greedy = logits.argmax(-1).tolist()
        for sequence, best, row in zip(sequences, greedy, logits, strict=True):
            decoding = sequence.call.request.decoding
            chosen = best if decoding.temperature == 0 else _sample(row, decoding, sequence.generator)
            sequence.token_ids.append(chosen)
            if decoding.logprobs:
                sequence.logprobs.append(float(row.log_softmax(-1)[chosen]))
            self._judge(sequence)

    def _judge(self, sequence: _Running) -> None:
        """Mark a sequence that has come to its end."""
        request = sequence.call.request
        if sequence.token_ids[-1] in self._causal.ends:
            sequence.finish = "stop"
            return
        if request.decoding.stop:
            text = self._causal.chat.decode(sequence.token_ids)
            places = [place for place in map(text.find, request.decoding.stop) if place >= 0]
            if places:
                sequence.text, sequence.finish = text[: min(places)], "stop"
                return
        if len(sequence.token_ids) >= request.max_tokens:
            sequence.finish = "length"


def _sample(logits: Tensor, decoding: Decoding, generator: torch.Generator) -> int:
    """One id from softmax(logits / temperature), cut to the smallest set of ids whose mass reaches top_p."""
    probabilities = (logits.cpu() / decoding.temperature).softmax(-1)
    if decoding.top_p >= 1:
        return int(torch.multinomial(probabilities, 1, generator=generator))
    ordered, ids = probabilities.sort(descending=True)
    ordered[ordered.cumsum(-1) - ordered >= decoding.top_p] = 0
    return int(ids[torch.multinomial(ordered, 1, generator=generator)])
