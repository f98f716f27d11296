"""Padding: noise is kept in the relay, what is needed stays as it was."""

from relaybench.records import Context
from relaybench.relays.oracle import Oracle
from relaybench.relays.padded import Padded

NEEDED = {"Ada.phone": "12"}
PAGES = ("Ada's phone is 12.\nBo's phone is 34.", "Cy's phone is 56.\nBo's phone is 34.\n\nIt rained, 120 mm.")


def context(model) -> Context:
    made = Context("reader")
    for role, content in (("system", "Read."), ("user", "Do 99."), *(("user", page) for page in PAGES)):
        made.append(model.message(made, role, content))
    return made


async def padded(scene, plain_writer, lines: int, budget: int | None = None):
    _, materials = scene(task="t1", needed=NEEDED)
    encoder = Padded(Oracle(materials), lines, materials)
    return await encoder.encode(context(materials.model), plain_writer, budget)


async def test_noise_follows_the_relay_in_its_order_each_line_once(scene, plain_writer) -> None:
    relay = await padded(scene, plain_writer, 99)
    told, *noise = relay.text.splitlines()
    assert "12" in told
    assert noise == ["Bo's phone is 34.", "Cy's phone is 56.", "It rained, 120 mm."]
    assert relay.rate_tokens == len(relay.text)
    assert (relay.encoder, relay.fields, relay.knows_target) == ("oracle@1+pad(99)", None, True)


async def test_more_padding_holds_what_less_held(scene, plain_writer) -> None:
    sets = [set((await padded(scene, plain_writer, lines)).text.splitlines()) for lines in (1, 2, 3)]
    assert [len(lines) for lines in sets] == [2, 3, 4]
    assert sets[0] < sets[1] < sets[2]


async def test_a_budget_cuts_the_padding(scene, plain_writer) -> None:
    relay = await padded(scene, plain_writer, 3, budget=20)
    assert relay.truncated
    assert len(relay.text) <= 20
