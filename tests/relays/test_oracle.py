import pytest

from relaybench.relays.base import achieved_loss
from relaybench.relays.lossy import Drop
from relaybench.relays.oracle import Oracle

NEEDED = {"Ada.phone": "12", "Ada.room": "34", "Bo.phone": "56", "Bo.fax": "78"}


async def test_the_oracle_sends_the_needed_fields_in_the_receiving_format(scene, read, writer, cards) -> None:
    _, materials = scene(needed=NEEDED)
    relay = await Oracle(materials).encode(read(materials.model), writer)
    assert cards.parse(relay.text) == relay.fields == NEEDED
    assert achieved_loss(relay.text, NEEDED) == 0
    assert relay.rate_tokens == len(relay.text.encode())


async def test_without_a_format_the_oracle_writes_lines(scene, read, plain_writer) -> None:
    _, materials = scene(needed={"a": "1", "b": "2"})
    assert (await Oracle(materials).encode(read(materials.model), plain_writer)).text == "a: 1\nb: 2"


async def test_the_oracle_is_labelled_as_knowing_the_target(scene, read, writer) -> None:
    _, materials = scene(needed=NEEDED)
    dropped = Drop(Oracle(materials), ["fax"], materials)
    for encoder in (Oracle(materials), dropped):
        relay = await encoder.encode(read(materials.model), writer)
        assert encoder.knows_target
        assert relay.knows_target
        assert relay.encoder.startswith("oracle")


@pytest.mark.parametrize("key", NEEDED)
async def test_dropping_one_of_n_needed_fields_loses_one_nth(scene, read, writer, key) -> None:
    _, materials = scene(needed=NEEDED)
    relay = await Drop(Oracle(materials), [key], materials).encode(read(materials.model), writer)
    assert achieved_loss(relay.text, NEEDED) == 1 / len(NEEDED)


async def test_a_budget_cuts_the_oracle_and_says_so(scene, read, writer) -> None:
    _, materials = scene(needed=NEEDED)
    relay = await Oracle(materials).encode(read(materials.model), writer, budget=10)
    assert relay.rate_tokens == 10
    assert relay.truncated
