"""The prefix cache finds the longest shared beginning, and stays within its bound."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from relaybench.engines.prefixes import Prefix, PrefixCache

Ids = tuple[int, ...]
SEQUENCES = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=8).map(tuple), max_size=12)


def stored(*sequences: Ids, room: int = 1000) -> PrefixCache:
    cache = PrefixCache(room)
    for ids in sequences:
        cache.put(Prefix(ids, []))
    return cache


def shared(a: Ids, b: Ids) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


@settings(deadline=None, max_examples=40)
@given(SEQUENCES, st.lists(st.integers(0, 2), min_size=1, max_size=8).map(tuple))
def test_it_finds_the_longest_shared_beginning(sequences: list[Ids], wanted: Ids) -> None:
    prefix, length = stored(*sequences).find(wanted)
    assert length == max((shared(ids, wanted) for ids in sequences), default=0)
    assert prefix is None or prefix.token_ids[:length] == wanted[:length]


@settings(deadline=None, max_examples=40)
@given(SEQUENCES)
def test_it_never_holds_more_than_its_bound(sequences: list[Ids]) -> None:
    cache = stored(*sequences, room=10)
    assert cache.tokens <= 10
    assert cache.tokens == sum(len(ids) for _, ids in cache._stored)


def test_a_conversation_is_held_once_however_long_it_grows() -> None:
    cache = stored((1,), (1, 2), (1, 2, 3), (1, 2))
    assert cache.tokens == 3


def test_what_was_used_longest_ago_goes_first() -> None:
    cache = stored((1, 1, 1), (2, 2, 2), room=8)
    cache.find((1, 1, 9))
    cache.put(Prefix((3, 3, 3), []))
    assert [cache.find(ids)[1] for ids in ((1, 1, 1), (2, 2, 2), (3, 3, 3))] == [3, 0, 3]


def test_adapters_do_not_share() -> None:
    cache = PrefixCache(100)
    cache.put(Prefix((1, 2, 3), []), "a-v1")
    assert cache.find((1, 2, 3), None)[1] == 0
    assert cache.find((1, 2, 3), "a-v1")[1] == 3
