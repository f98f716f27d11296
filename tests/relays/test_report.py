import asyncio
from collections.abc import Awaitable, Callable

import pytest

from relaybench.records import Decoding, Relay
from relaybench.relays.lossy import Drop
from relaybench.relays.report import SUMMARY_REQUEST, Report

ANSWER = "CARDS\n* Ada.phone = 12\n* Bo.phone = 34"


async def test_the_request_extends_the_context_exactly(scene, read, writer, cards) -> None:
    engine, materials = scene(ANSWER)
    context = read(materials.model)
    before = list(context.token_ids)
    relay = await Report(materials).encode(context, writer)
    assert relay.asked.content == cards.request
    prompt = [*before, *relay.asked.token_ids, *engine.chat.generation_prompt]
    assert [list(request.token_ids) for request in engine.requests] == [prompt]
    assert context.token_ids == before, "asking leaves no trace in the context"


async def test_what_crosses_is_what_was_written(scene, read, writer) -> None:
    _, materials = scene(ANSWER)
    relay = await Report(materials).encode(read(materials.model), writer)
    assert relay.text == ANSWER
    assert relay.well_formed
    assert relay.fields == {"Ada.phone": "12", "Bo.phone": "34"}
    assert bytes(relay.token_ids[:-1]).decode() == ANSWER
    assert relay.rate_tokens == len(ANSWER)
    assert (relay.sources, relay.to, relay.encoder) == (("reader",), "writer", "report@1")
    assert relay.encode_usage.generated_tokens == len(ANSWER)
    assert relay.encode_usage.seconds == 0.5
    assert [call.error for call in relay.failed_calls] == ["503"]


async def test_an_ill_formed_report_still_crosses_as_it_is(scene, read, writer) -> None:
    _, materials = scene("Ada has 12, I think.")
    relay = await Report(materials).encode(read(materials.model), writer)
    assert (relay.text, relay.well_formed, relay.fields) == ("Ada has 12, I think.", False, None)


async def test_without_a_format_a_free_summary_is_asked_for(scene, read, plain_writer) -> None:
    _, materials = scene("Ada has 12.")
    relay = await Report(materials).encode(read(materials.model), plain_writer)
    assert relay.asked.content == SUMMARY_REQUEST
    assert relay.well_formed
    assert relay.fields is None
    assert relay.text == "Ada has 12."


async def test_a_full_context_gives_an_empty_ill_formed_relay(scene, read, writer, plain_writer) -> None:
    engine, materials = scene(ANSWER)
    engine.full = True
    for receiver in (writer, plain_writer):
        relay = await Report(materials).encode(read(materials.model), receiver)
        assert (relay.text, relay.rate_tokens, relay.well_formed, relay.truncated) == ("", 0, False, True)


@pytest.mark.parametrize(("tokens", "budget", "limit"), [(None, None, 30), (20, None, 20), (20, 9, 9), (99, None, 30)])
async def test_the_tightest_limit_holds_and_running_into_it_is_marked(
    scene, read, writer, tokens, budget, limit
) -> None:
    _, materials = scene(ANSWER, decoding=Decoding(report_tokens=30))
    relay = await Report(materials, tokens).encode(read(materials.model), writer, budget)
    assert relay.rate_tokens == limit
    assert relay.truncated


async def test_stop_strings_of_turns_do_not_end_a_report(scene, read, writer) -> None:
    engine, materials = scene(ANSWER, decoding=Decoding(stop=("\n",), temperature=0.5))
    await Report(materials).encode(read(materials.model), writer)
    assert engine.requests[0].decoding == Decoding(temperature=0.5)


async def test_two_systems_on_one_context_share_one_report(scene, read, writer) -> None:
    written: dict[str, asyncio.Task[Relay]] = {}

    async def once(key: str, make: Callable[[], Awaitable[Relay]]) -> Relay:
        if key not in written:
            written[key] = asyncio.ensure_future(make())
        return await written[key]

    engine, materials = scene(ANSWER, once=once)
    full, without = Report(materials), Drop(Report(materials), ["Bo.phone"], materials)
    relays = await asyncio.gather(*(e.encode(read(materials.model), writer) for e in (full, without)))
    assert len(engine.requests) == 1
    assert relays[0].encode_usage == relays[1].encode_usage, "each system bears the whole cost"
    await Report(materials, 5).encode(read(materials.model), writer)
    other = read(materials.model)
    other.append(materials.model.message(other, "user", "Page 2: Cy 78"))
    await full.encode(other, writer)
    assert len(engine.requests) == 3, "another limit and another context are other reports"
