"""What must hold of any engine that runs vLLM, in process or behind a server; `run` runs a coroutine to its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from relaybench.engines.base import ContextFull, Engine, Generation, Request, ScoreRequest
from relaybench.engines.chat import Chat
from relaybench.records import Context, Decoding, Message

from . import reference

Run = Callable[[Any], Any]
RECORDS = " ".join(f"The number of box {i} is {1000 + 37 * i}." for i in range(1, 9))


def chat_of(engine: Engine) -> Chat:
    assert engine.chat is not None
    return engine.chat


def opening(chat: Chat, *contents: str) -> Context:
    context = Context("worker")
    for content in contents:
        ids, restart = chat.extend(context, Message("user", content))
        context.append(Message("user", content, token_ids=ids, restart=restart))
    return context


def request(ids: list[int], max_tokens: int = 12, seed: int = 0, **decoding: Any) -> Request:
    return Request([], ids, Decoding(**decoding), max_tokens, seed=seed, affinity="one")


def prompt_of(context: Context, chat: Chat) -> list[int]:
    assert context.token_ids is not None
    return [*context.token_ids, *chat.generation_prompt]


def a_second_turn_extends_the_first_and_finds_it_cached(engine: Engine, run: Run) -> None:
    chat = chat_of(engine)
    context = opening(chat, f"{RECORDS} What is the number of box 3?")
    prompt = prompt_of(context, chat)
    first: Generation = run(engine.generate(request(prompt, logprobs=True)))
    assert first.token_ids
    assert first.logprobs is not None
    assert len(first.logprobs) == len(first.token_ids) == first.usage.generated_tokens
    assert chat.decode(first.token_ids) == first.text
    assert first.usage.prompt_tokens + first.usage.cached_tokens == len(prompt)
    said = chat.generation_prompt + first.token_ids
    context.append(Message("assistant", first.text, token_ids=said, template=len(chat.generation_prompt)))
    ids, _ = chat.extend(context, Message("user", "And of box 5?"))
    context.append(Message("user", "And of box 5?", token_ids=ids))
    second: Generation = run(engine.generate(request(prompt_of(context, chat))))
    assert second.usage.cached_tokens >= len(prompt) - 16
    assert second.usage.prompt_tokens + second.usage.cached_tokens == len(prompt_of(context, chat))
    again: Generation = run(engine.generate(request(prompt, logprobs=True)))
    assert again.token_ids == first.token_ids


def generated_logprobs_are_the_scores_of_what_was_generated(engine: Engine, run: Run) -> None:
    chat = chat_of(engine)
    prompt = prompt_of(opening(chat, "Count from one to five."), chat)
    reply: Generation = run(engine.generate(request(prompt, logprobs=True)))
    assert reply.token_ids is not None
    (scores,) = run(engine.score([ScoreRequest(prompt, reply.token_ids)]))
    assert scores == pytest.approx(reply.logprobs, abs=1e-3)


def scores_equal_transformers(engine: Engine, run: Run, model: Any, adapter: str | None = None) -> None:
    """Twice: at the second time contexts, and all of some targets, are in the cache."""
    chat = chat_of(engine)
    prefix = list(chat.encode(RECORDS))
    questions = [list(chat.encode(f" Box {i}?")) for i in (2, 6)]
    targets = [list(chat.encode(" 1074.")), list(chat.encode(" It is said to be " + RECORDS[:120]))]
    pairs = [(prefix + question, target) for question in questions for target in targets]
    for _ in range(2):
        scores = run(engine.score([ScoreRequest(context, target, adapter) for context, target in pairs]))
        for (context, target), found in zip(pairs, scores, strict=True):
            assert found == pytest.approx(reference.logprobs(model, context, target), abs=1e-3)


def seeds_decide_what_is_sampled(engine: Engine, run: Run) -> None:
    chat = chat_of(engine)
    prompt = prompt_of(opening(chat, "Tell me a story."), chat)
    ask = [run(engine.generate(request(prompt, seed=seed, temperature=1.0))).token_ids for seed in (1, 1, 2)]
    assert ask[0] == ask[1] != ask[2]


def stops_end_the_text(engine: Engine, run: Run) -> None:
    chat = chat_of(engine)
    prompt = prompt_of(opening(chat, "Count from one to nine, in digits."), chat)
    free: Generation = run(engine.generate(request(prompt)))
    word = free.text.split()[1]
    cut: Generation = run(engine.generate(request(prompt, stop=(word,))))
    assert cut.finish == "stop"
    assert cut.text == free.text[: free.text.index(word)]


def what_does_not_fit_is_context_full(engine: Engine, run: Run) -> None:
    assert engine.context_limit is not None
    with pytest.raises(ContextFull):
        run(engine.generate(request([5] * (engine.context_limit - 4))))
    with pytest.raises(ContextFull):
        run(engine.score([ScoreRequest([5] * engine.context_limit, [5])]))


def an_adapter_changes_the_scores_as_it_should(engine: Engine, run: Run, merged: Any, adapter: str) -> None:
    chat = chat_of(engine)
    context, target = chat.encode(RECORDS), chat.encode(" The number of box 9")
    bare, adapted = run(engine.score([ScoreRequest(context, target), ScoreRequest(context, target, adapter)]))
    assert max(abs(a - b) for a, b in zip(bare, adapted, strict=True)) > 0.01
    assert adapted == pytest.approx(reference.logprobs(merged, context, target), abs=1e-3)
