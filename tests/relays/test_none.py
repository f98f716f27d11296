from relaybench.records import Context, Relay
from relaybench.relays.none import Nothing


async def test_nothing_is_a_record_of_rate_zero(writer) -> None:
    relay = await Nothing().encode(Context("reader"), writer)
    assert relay == Relay("", ("reader",), "writer", "none@1", 0)
    assert relay.well_formed
    assert relay.encode_usage.calls == 0
