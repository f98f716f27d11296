from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybench.engines.model import Model
from relaybench.records import Relay
from relaybench.relays.base import Materials
from relaybench.relays.lossy import HIDDEN, Cut, Drop, DropShare, Foreign, Mask, Shuffle, _displaced

from .doubles import ByteChat, Cards, Fixed, ScriptedEngine

FIELDS = {"Ada.phone": "12", "Bo.phone": "34", "Cy.phone": "56", "Ada.room": "1", "Bo.room": "2", "due_date": "May"}


@pytest.fixture
def lose(scene, read, writer, cards, fixed):
    """lose(Loss, *settings) -> what the loss makes of a report of FIELDS."""
    _, materials = scene(task="t1")

    async def make(loss, setting, text=None, fields=FIELDS) -> Relay:
        base = fixed(cards.render(FIELDS) if text is None else text, fields)
        return await loss(base, setting, materials).encode(read(materials.model), writer)

    return make


async def test_drop_removes_that_value_and_nothing_else(lose, cards) -> None:
    relay = await lose(Drop, ["due_date"])
    left = {key: value for key, value in FIELDS.items() if key != "due_date"}
    assert relay.fields == left == cards.parse(relay.text)
    assert relay.rate_tokens == len(relay.text) < len(cards.render(FIELDS))
    assert relay.encoder == "fixed@1-drop(due_date)"
    assert relay.well_formed
    assert not relay.passed_through


async def test_a_name_means_that_field_of_every_record_in_any_case(lose) -> None:
    assert set((await lose(Drop, ["PHONE"])).fields) == {"Ada.room", "Bo.room", "due_date"}
    assert "Ada.phone" not in (await lose(Drop, ["ada.phone"])).fields
    assert (await lose(Drop, ["one"])).passed_through, "the end of a word is not a name"


async def test_mask_keeps_the_names_and_hides_the_values(lose, cards) -> None:
    relay = await lose(Mask, ["phone", "due_date"])
    assert list(cards.parse(relay.text)) == list(FIELDS)
    hidden = {key for key, value in relay.fields.items() if value == HIDDEN}
    assert hidden == {"Ada.phone", "Bo.phone", "Cy.phone", "due_date"}
    assert "12" not in relay.text
    assert relay.encoder == "fixed@1-mask(phone,due_date)"


async def test_shuffle_moves_every_value_within_its_field(lose) -> None:
    relay = await lose(Shuffle, [])
    for field in ("phone", "room"):
        keys = [key for key in FIELDS if key.endswith(field)]
        assert sorted(relay.fields[key] for key in keys) == sorted(FIELDS[key] for key in keys)
        assert all(relay.fields[key] != FIELDS[key] for key in keys)
    assert relay.fields["due_date"] == "May", "it has no other record to go to"
    assert (await lose(Shuffle, [])) == relay, "the task alone decides"
    assert (await lose(Shuffle, ["room"])).fields["Ada.phone"] == "12"


@given(st.lists(st.sampled_from("abcde")), st.integers())
def test_displaced_is_a_permutation_with_the_fewest_values_in_place(values, seed) -> None:
    moved = _displaced(values, Random(seed))
    assert Counter(moved) == Counter(values)
    most = max(Counter(values).values(), default=0)
    assert sum(a == b for a, b in zip(values, moved, strict=True)) == max(0, 2 * most - len(values))


@pytest.mark.parametrize("loss", [Drop, Mask, Shuffle])
@pytest.mark.parametrize(
    ("text", "fields"),
    [("no idea", None), ("", None), ("CARDS\n* x = 1", {"x": "1"})],
    ids=["ill-formed", "empty", "other"],
)
async def test_what_cannot_be_lost_goes_on_unchanged_and_is_marked(lose, loss, text, fields) -> None:
    relay = await lose(loss, ["phone"], text, fields)
    assert (relay.text, relay.fields, relay.passed_through) == (text, fields, True)
    assert relay.rate_tokens == len(text)
    assert relay.encoder == f"fixed@1-{loss.verb}(phone)"


async def test_what_the_base_cost_stays_on_the_bill(lose) -> None:
    for loss, setting in ((Drop, ["phone"]), (Mask, ["phone"]), (Shuffle, []), (Cut, 8), (Drop, ["nothing"])):
        assert (await lose(loss, setting)).encode_usage.total_tokens == 10


async def test_cut_acts_on_any_text_and_marks_it(lose) -> None:
    relay = await lose(Cut, 4, "no idea", None)
    assert (relay.text, relay.rate_tokens, relay.truncated) == ("no i", 4, True)
    assert relay.encoder == "fixed@1-cut(4)"
    whole = await lose(Cut, 40, "no idea", None)
    assert whole.text == "no idea"
    assert not whole.truncated


async def test_a_budget_holds_after_the_loss_too(scene, read, writer, fixed, cards) -> None:
    _, materials = scene()
    base = fixed(cards.render(FIELDS), FIELDS)
    relay = await Mask(base, ["room"], materials).encode(read(materials.model), writer, budget=20)
    assert relay.rate_tokens == 20
    assert relay.truncated


async def test_foreign_carries_the_other_tasks_words_on_this_edge(scene, read, writer, fixed) -> None:
    theirs = Relay("CARDS\n* x = 9", ("reader",), "writer", "fixed@1", 13, fields={"x": "9"})
    asked = []

    async def foreign(config, source, next_subtask):
        asked.append((config, source, next_subtask.id))
        return "t2", theirs

    _, materials = scene(task="t1", foreign=foreign)
    relay = await Foreign(fixed("mine", None), "base config", materials).encode(read(materials.model), writer)
    assert (relay.text, relay.foreign_task, relay.encoder) == (theirs.text, "t2", "fixed@1-foreign")
    assert (relay.sources, relay.to) == (("reader",), "writer")
    assert asked == [("base config", "reader", "writer")]


@pytest.mark.parametrize("loss", [Drop, Mask, Shuffle])
@given(
    fields=st.dictionaries(st.from_regex(r"[A-C]\.[a-c]", fullmatch=True), st.from_regex(r"[0-9]{1,4}", fullmatch=True))
)
def test_a_report_after_a_loss_reads_back_as_its_fields(loss, fields) -> None:
    materials = Materials(Model(ScriptedEngine("", ByteChat())))  # type: ignore[arg-type]
    left = loss(Fixed(Relay("", (), "", "", 0)), ["a"], materials).lose(fields)
    assert left is None or Cards().parse(Cards().render(left)) == left


async def test_a_share_drops_the_nearest_number_of_fields_and_a_ladder_is_nested(lose) -> None:
    left = [set((await lose(DropShare, share)).fields) for share in (0.25, 0.5, 0.75, 1.0)]
    assert [len(fields) for fields in left] == [4, 3, 1, 0]  # of six; 1.5 rounds up
    assert left[0] > left[1] > left[2] > left[3]
    assert (await lose(DropShare, 0.25)).encoder == "fixed@1-drop(25%)"
    assert (await lose(DropShare, 0.5, "free text", None)).passed_through
