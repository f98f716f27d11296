"""Relay loss against systems whose truth is known."""

import numpy as np
import pytest

from relaybench.information.relay_loss import (
    bits,
    halves,
    information,
    reader_gain,
    relay_loss,
    relief,
    strongest,
)

from .registers import SETTINGS, Registers


@pytest.mark.parametrize("name", SETTINGS)
def test_a_bayes_reader_finds_the_closed_forms(name: str) -> None:
    system = SETTINGS[name]
    truth, drawn = system.truth, system.sample(50_000, np.random.default_rng(1))
    for found, true in (
        (relay_loss(drawn.full, drawn.relay), truth.loss),
        (information(drawn.none, drawn.full), truth.task),
        (information(drawn.none, drawn.relay), truth.relay),
    ):
        assert found.value == pytest.approx(true, abs=max(0.02, 0.01 * abs(true)))


@pytest.mark.parametrize("name", ["one of 8", "three asked", "noisier key, noise", "leak", "xor"])
def test_the_interval_covers_the_truth(name: str) -> None:
    system, rng = SETTINGS[name], np.random.default_rng(2)
    covered = 0
    for _ in range(200):
        drawn = system.sample(60, rng)
        found = relay_loss(drawn.full, drawn.relay)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= system.truth.loss <= found.high
    assert covered >= 180


def test_losing_a_field_costs_its_chance_of_being_asked_times_log_v_minus_h() -> None:
    losses = {}
    for kept in (8, 7):
        drawn = Registers(8, 16, kept=kept, eps=0.1).sample(200_000, np.random.default_rng(3))
        losses[kept] = relay_loss(drawn.full, drawn.relay).value
    assert losses[8] == 0
    assert losses[7] == pytest.approx((np.log(16) - Registers(8, 16, eps=0.1).key_entropy) / 8, abs=0.01)


def test_a_distracted_reader_gains_and_its_relief_is_told_apart() -> None:
    drawn = Registers(8, 16, kept=4).sample(20_000, np.random.default_rng(4))
    distracted = -np.log(0.5 * np.exp(-drawn.full) + 0.5 / 16)
    assert relay_loss(distracted, drawn.full).value < -0.5
    gained = reader_gain(distracted, drawn.relay)
    found = relief(distracted, drawn.relay, drawn.full, drawn.relay)
    assert found.value == pytest.approx(gained.value + relay_loss(drawn.full, drawn.relay).value)
    assert found.value == pytest.approx(distracted.mean() - drawn.full.mean())


def test_the_best_reader_of_each_condition_is_chosen_on_the_other_half() -> None:
    half = np.array([True, True, False, False])
    first = [[1.0, 5.0], [1.0, 5.0], [9.0, 5.0], [9.0, 5.0]]
    second = [[2.0, 4.0], [2.0, 4.0], [2.0, 6.0], [2.0, 6.0]]
    best = strongest([first, second], half)
    assert best[:2, 0].tolist() == [2.0, 2.0]  # the second is better on the other half
    assert best[2:, 0].tolist() == [9.0, 9.0]  # the first was better on the first half: no peeking
    assert best[:, 1].tolist() == [5.0, 5.0, 6.0, 6.0]
    with pytest.raises(ValueError, match="both halves"):
        strongest([first, second], np.ones(4, dtype=bool))


def test_halves_are_fixed_and_even() -> None:
    tasks = [f"task-{i}" for i in range(9)]
    side = halves(tasks)
    assert side.sum() == 4
    assert dict(zip(tasks[::-1], halves(tasks[::-1]), strict=True)) == dict(zip(tasks, side, strict=True))
    assert (halves(tasks, "other") != side).any()


def test_conditions_must_be_paired() -> None:
    with pytest.raises(ValueError, match="paired over tasks"):
        relay_loss([1.0, 2.0], [1.0])


def test_bits() -> None:
    assert bits(np.log(8)) == pytest.approx(3)
