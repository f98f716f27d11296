from hypothesis import given
from hypothesis import strategies as st

from relaybench.relays.base import achieved_loss, render_fields

from .doubles import Cards

words = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)


def test_a_value_counts_as_sent_only_where_it_stands_whole() -> None:
    for text in ("room 4123", "3.12 m", "12.5 m", "a12", "12_000"):
        assert achieved_loss(text, {"room": "12"}) == 1, text
    for text in ("room 12", "It is 12.", "(12)", "12, then 13", "n=12;"):
        assert achieved_loss(text, {"room": "12"}) == 0, text
    assert achieved_loss("Annual report", {"who": "Ann"}) == 1


def test_case_and_white_space_do_not_matter() -> None:
    assert achieved_loss("by  ADA\u00a0\n Lovelace.", {"who": "Ada Lovelace"}) == 0


def test_values_with_marks_at_their_edges_are_found() -> None:
    assert achieved_loss("say (hi)! to a.b@c.org", {"what": "(hi)!", "whom": "a.b@c.org"}) == 0


def test_achieved_loss_is_the_share_that_is_absent() -> None:
    assert achieved_loss("1 and 3", {"a": "1", "b": "2", "c": "3", "d": "4"}) == 0.5


def test_nothing_needed_has_no_achieved_loss() -> None:
    assert achieved_loss("anything", {}) is None
    assert achieved_loss("anything", {"notes": " "}) is None


@given(st.dictionaries(words, words, min_size=1), st.booleans())
def test_a_rendered_report_has_lost_nothing(fields: dict[str, str], with_format: bool) -> None:
    assert achieved_loss(render_fields(fields, Cards() if with_format else None), fields) == 0
