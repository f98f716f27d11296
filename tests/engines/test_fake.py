from collections.abc import Sequence

import pytest

from relaybench.engines.base import ContextFull, EngineError, Request, ScoreRequest
from relaybench.engines.fake import END, ByteChat, FakeEngine
from relaybench.engines.model import Model
from relaybench.records import Context, Decoding, Message, Speaker


def opened(model: Model, messages: Sequence[tuple[Speaker, str]]) -> Context:
    context = Context("worker")
    for role, content in messages:
        context.append(model.message(context, role, content))
    return context


def request(max_tokens: int = 100) -> Request:
    return Request([Message("user", "hi")], [1, 2, 3], Decoding(), max_tokens)


async def test_prompts_grow_by_what_was_said_and_ids_spell_the_text() -> None:
    model = Model(FakeEngine(lambda request: "héllo"))
    context = opened(model, [("system", "S"), ("user", "U")])
    before = list(context.token_ids or [])
    message, generation = await model.reply(context, max_tokens=100)
    context.append(message)
    context.append(model.message(context, "user", "next"))
    assert (context.token_ids or [])[: len(before)] == before
    assert ByteChat().decode(generation.token_ids or ()) == message.content == "héllo"
    assert (context.token_ids or []).count(END) == 4  # system, user, assistant, user


async def test_a_reply_is_cut_at_max_tokens_and_its_turn_is_ended_by_the_next_message() -> None:
    model = Model(FakeEngine(lambda request: "a long reply"))
    context = opened(model, [("user", "U")])
    message, generation = await model.reply(context, max_tokens=6)
    assert (message.content, generation.finish, generation.usage.generated_tokens) == ("a long", "length", 6)
    context.append(message)
    assert (model.message(context, "user", "next").token_ids or ())[0] == END


async def test_a_prompt_that_does_not_fit_is_context_full() -> None:
    with pytest.raises(ContextFull):
        await FakeEngine(lambda request: "x", context_limit=10).generate(request(max_tokens=8))


async def test_trouble_is_raised_instead_of_an_answer() -> None:
    trouble = lambda request, number: EngineError("500") if number == 0 else None  # noqa: E731
    engine = FakeEngine(lambda request: "x", trouble=trouble)
    with pytest.raises(EngineError):
        await engine.generate(request())
    assert (await engine.generate(request())).text == "x"
    assert engine.calls == 2


async def test_without_a_chat_template_no_ids_are_told() -> None:
    engine = FakeEngine(lambda request: "x", chat=False)
    generation = await engine.generate(Request([Message("user", "hi")], None, Decoding(logprobs=True), 10))
    assert generation.token_ids is None
    assert generation.logprobs is None


async def test_scores_are_uniform_and_one_number_a_target_token() -> None:
    scores = await FakeEngine(lambda request: "x").score([ScoreRequest([1, 2], [3, 4, 5])])
    assert len(scores[0]) == 3
    assert len(set(scores[0])) == 1
