import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybench.engines.model import Model
from relaybench.records import Context, Message, Relay
from relaybench.relays.identity import Identity
from relaybench.relays.truncate import Truncate, clip, cut

from .doubles import ByteChat, Cards, ScriptedEngine

MODEL = Model(ScriptedEngine("", ByteChat()))  # type: ignore[arg-type]
WORDS = Model(ScriptedEngine("", None))  # type: ignore[arg-type]
ends = st.sampled_from(["first", "last"])


async def test_the_last_tokens_are_those_nearest_the_end(scene, read, writer) -> None:
    _, materials = scene()
    context = read(materials.model)
    relay = await Truncate(materials.model, 7, "last").encode(context, writer)
    assert relay.token_ids == tuple(context.token_ids[-7:])
    assert relay.text == "oë 56"  # the end-of-turn id is one of the seven, and has no text
    assert relay.rate_tokens == 6
    assert relay.truncated


async def test_the_first_tokens_are_those_nearest_the_start(scene, read, writer) -> None:
    _, materials = scene()
    relay = await Truncate(materials.model, 13, "first").encode(read(materials.model), writer)
    assert relay.text == "system\nRead."


async def test_identity_costs_the_whole_context_and_truncation_never_more(scene, read, writer) -> None:
    _, materials = scene()
    context = read(materials.model)
    everything = await Identity().encode(context, writer)
    assert everything.rate_tokens == len(context.token_ids)
    relay = await Truncate(materials.model, 10_000).encode(context, writer)
    assert relay.rate_tokens <= everything.rate_tokens
    assert relay.token_ids == tuple(context.token_ids)
    assert not relay.truncated


async def test_a_character_cut_apart_is_left_out(scene, writer) -> None:
    _, materials = scene()
    context = Context("reader")
    context.append(materials.model.message(context, "user", "ëë"))
    relay = await Truncate(materials.model, 4, "last").encode(context, writer)
    assert relay.text == "ë"
    assert relay.rate_tokens == 2


async def test_without_a_tokenizer_tokens_are_words_and_the_rate_is_unknown(scene, writer) -> None:
    _, materials = scene(tokens=False)
    context = Context("reader")
    context.append(Message("user", "one  two\nthree four"))
    last = await Truncate(materials.model, 2, "last").encode(context, writer)
    first = await Truncate(materials.model, 2, "first").encode(context, writer)
    assert (last.text, last.rate_tokens, last.token_ids) == ("three four", None, None)
    assert first.text == "user: one"
    assert last.truncated
    assert first.truncated


@given(st.text(), st.integers(0, 30), ends)
def test_a_clipped_text_never_counts_more_than_asked(text, tokens, keep) -> None:
    kept = clip(MODEL, text, tokens, keep)
    assert MODEL.count(kept) <= tokens
    assert text.startswith(kept) if keep == "first" else text.endswith(kept)
    if MODEL.count(text) <= tokens:
        assert kept == text


@given(st.lists(st.sampled_from(["a", "bb", "\n", " "])).map("".join), st.integers(0, 6), ends)
def test_without_a_tokenizer_a_clipped_text_has_at_most_that_many_words(text, words, keep) -> None:
    kept = clip(WORDS, text, words, keep)
    wanted = text.split()[:words] if keep == "first" else text.split()[max(len(text.split()) - words, 0) :]
    assert kept.split() == wanted
    assert kept in text


@pytest.mark.parametrize(("tokens", "left"), [(11, None), (14, {"a": "12"}), (99, {"a": "123"})])
def test_a_cut_report_keeps_the_fields_that_can_still_be_read(tokens, left) -> None:
    whole = Cards().render({"a": "123"})
    relay = cut(Relay(whole, ("r",), "w", "x", len(whole), fields={"a": "123"}), MODEL, tokens, Cards())
    assert relay.fields == left
    assert relay.well_formed == (left is not None)
    assert relay.truncated == (tokens < len(whole))
