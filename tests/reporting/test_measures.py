"""What an episode took is counted once, in disjoint parts."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from relaybench.records import FailedCall, Relay, Shared, Usage
from relaybench.reporting.measures import Price, incurred, measure, price_of, used
from tests.reporting.made import ANSWERING, READING, WRITING, episode, failure, reader, relay, writer


def whole(**changes):
    """An episode whose shared upstream is back in its workers."""
    return episode("t1", "mas report", True, workers=(reader("t1"), writer()), **changes)


def test_tokens_are_the_sum_of_disjoint_parts():
    found = measure(whole(relays=(relay("report@1"),)), [failure("t1", "mas report")])
    parts = (
        found.prompt_tokens + found.cached_tokens + found.generated_tokens + found.encoder_tokens + found.failed_tokens
    )
    assert found.tokens == parts == (100 + 60) + 20 + (30 + 12) + (10 + 130 + 8) + 50


def test_an_encoder_eats_its_own_saving():
    """A relay of 8 tokens that took 148 to write is in the system's bill."""
    found = measure(whole(relays=(relay("report@1"),)))
    assert (found.relay_tokens, found.encoder_tokens) == (8, WRITING.total_tokens)
    assert found.tokens == READING.total_tokens + ANSWERING.total_tokens + WRITING.total_tokens


def test_failed_attempts_are_counted_wherever_they_happened():
    lost = FailedCall("timeout", 9.0, Usage(prompt_tokens=7))
    workers = (replace(reader("t1"), failed_calls=(lost,)), writer())
    found = measure(
        episode("t1", "mas", True, workers=workers, relays=(replace(relay("report@1"), failed_calls=(lost,)),))
    )
    assert (found.failed_calls, found.failed_tokens) == (2, 14)


def test_what_went_wrong_is_counted():
    stopped = replace(writer(), stop="context_full", branches=2)
    relays = (relay("report@1", well_formed=False), replace(relay("report@1"), truncated=True, passed_through=True))
    found = measure(episode("t1", "mas", False, workers=(reader("t1"), stopped), relays=relays))
    assert (found.steps, found.ill_formed_actions, found.truncated_replies) == (3, 1, 1)
    assert (found.context_full, found.branches) == (1, 2)
    assert (found.relays, found.ill_formed_relays, found.truncated_relays, found.passed_through) == (2, 1, 1, 1)


def test_a_rate_that_is_unknown_on_one_edge_is_unknown():
    unknown = Relay("text", ("reader",), "writer", "report@1", None)
    assert measure(whole(relays=(relay("report@1"), unknown))).relay_tokens is None
    assert measure(whole()).relay_tokens is None
    assert measure(whole(relays=(relay("report@1"),) * 3)).relay_tokens == 24


def test_cost_includes_encoder_and_failed_attempts():
    price = Price(prompt=1.0, cached=0.1, generated=4.0, currency="EUR")
    found = measure(whole(relays=(relay("report@1"),)), [failure("t1", "mas report")], price)
    prompt, cached, generated = 100 + 60 + 10 + 50, 20 + 130, 30 + 12 + 8
    assert found.cost == pytest.approx((prompt * 1.0 + cached * 0.1 + generated * 4.0) / 1e6)
    assert measure(whole()).cost is None


def test_prices_are_found_by_the_label_tables_use():
    config = {"engines": [{"model": "org/big"}, {"model": "org/tiny", "name": None, "price": {"prompt": 2.0}}]}
    assert price_of(config, "tiny") == Price(2.0, 0.0, 0.0, "USD")
    assert price_of(config, "big") is None
    assert price_of({}, "tiny") is None


def test_a_shared_rollout_or_relay_is_incurred_once_and_counts_for_each():
    told = relay("report@1")
    lossy = replace(told, encoder="report@1-drop(due)", text="", rate_tokens=0)
    pair = [whole(relays=(told,)), replace(whole(relays=(lossy,)), key="other", system="mas report -due")]
    shared = {"up/t1/0": Shared("up/t1/0", worker=reader("t1")), "w": Shared("w", relay=told)}
    once = READING.total_tokens + WRITING.total_tokens
    assert sum(measure(e).tokens for e in pair) == 2 * (once + ANSWERING.total_tokens)
    assert incurred(pair, shared).total_tokens == once + 2 * ANSWERING.total_tokens


def test_without_sharing_incurred_is_logical():
    pair = [
        whole(shared=(), relays=(relay("report@1"),)),
        replace(whole(shared=(), relays=(relay("report@1"),)), key="b"),
    ]
    assert incurred(pair, {}).total_tokens == sum(measure(e).tokens for e in pair)


def test_what_is_stored_apart_is_incurred_even_if_no_episode_here_uses_it():
    """A foreign relay needs the upstream rollout of another task."""
    shared = {"up/t1/0": Shared("up/t1/0", worker=reader("t1")), "up/t7/0": Shared("up/t7/0", worker=reader("t7"))}
    assert incurred([whole()], shared).total_tokens == 2 * READING.total_tokens + ANSWERING.total_tokens
    assert list(used([whole()], shared)) == ["up/t1/0"]


def test_failures_are_incurred():
    assert incurred([], {}, [failure("t1", "mas report")] * 2).total_tokens == 100
