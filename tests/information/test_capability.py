"""Effective beta of simulated readers that noise distracts, more or less (theory 1.2 D, "Checked")."""

import itertools

import numpy as np
import pytest

from relaybench.information.capability import break_even, leave_one_out, regression, slope

K, V, NOISE = 8, 16, 400
TASKS = 4_000
CAPABILITIES = (120, 250, 500, 1000, 2000)
KEPT, CHATTER = (8, 7, 6, 4, 2), (0, 50, 100, 200, 300)
"""Fields dropped and noise kept: the two axes that make removal and loss vary apart."""


def succeeds(kept: int, noise: int, capability: float, rng: np.random.Generator) -> np.ndarray:
    """Sampled successes of a reader q = (1-eta) p + eta uniform, eta = 1 - exp(-noise/capability)."""
    eta = 1 - np.exp(-noise / capability)
    asked = rng.integers(K, size=TASKS)
    right = np.where(asked < kept, 1 - eta + eta / V, 1 / V)
    return (rng.random(TASKS) < right).astype(float)


def cells(capability: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gains over full context, H(M|m) and Delta of each (kept, noise) cell."""
    rng = np.random.default_rng(int(capability))
    full = succeeds(K, NOISE, capability, rng)
    grid = [(kept, noise) for kept in KEPT for noise in CHATTER]
    gains = np.stack([succeeds(kept, noise, capability, rng) - full for kept, noise in grid], axis=1)
    removed = np.array([(K - kept) * np.log(V) + (NOISE - noise) * np.log(32) for kept, noise in grid])
    return gains, removed, np.array([(1 - kept / K) * np.log(V) for kept, _ in grid])


def test_beta_rises_with_capability_with_disjoint_intervals() -> None:
    found = [regression(*cells(capability)) for capability in CAPABILITIES]
    assert all(beta.identified for beta in found)
    assert all(beta.low <= beta.value <= beta.high for beta in found)
    assert all(weaker.high < stronger.low for weaker, stronger in itertools.pairwise(found))


def test_break_even_agrees_with_regression_for_readers_of_middling_capability() -> None:
    for capability in (500, 1000):
        gains, removed, lost = cells(capability)
        bare = [i for i in range(len(lost)) if i % len(CHATTER) == 0]  # no noise kept: removal nearly fixed
        even = break_even(gains[:, bare], float(removed[bare].mean()), lost[bare])
        assert even.value == pytest.approx(regression(gains, removed, lost).value, rel=0.35)


def test_without_both_axes_beta_is_not_identified() -> None:
    lost = np.array([0.1, 0.2, 0.3])
    assert not regression(np.random.default_rng(0).normal(size=(50, 3)), 10 * lost, lost).identified


def test_where_removal_never_pays_beta_is_infinite_and_said_so() -> None:
    rng = np.random.default_rng(0)
    removed, lost = np.array([1.0, 0.5, 0.0]), np.array([0.0, 0.0, 1.0])
    found = regression(rng.normal([-0.2, -0.2, -0.5], 0.01, size=(100, 3)), removed, lost)
    assert found.value == found.high == float("inf")
    assert found.removal_pays == 0


def test_break_even_where_the_gain_never_or_always_pays() -> None:
    lost = [0.0, 1.0, 2.0]
    assert break_even(np.tile([0.5, 0.4, 0.2], (9, 1)), 10.0, lost).value == 5.0
    assert break_even(np.tile([-0.1, -0.4, -0.5], (9, 1)), 10.0, lost).value == float("inf")
    assert break_even(np.tile([0.5, 0.0, -0.5], (9, 1)), 10.0, lost).value == 10.0
    assert break_even(np.tile([0.5, -0.5, -0.7], (9, 1)), 10.0, lost).value == pytest.approx(20.0)


def test_the_slope_is_taken_at_the_best_budget() -> None:
    rates, informations = [0.0, 8.0, 16.0, 64.0], [0.0, 1.0, 1.5, 1.6]
    found = slope(np.tile([0.1, 0.6, 0.8, 0.5], (20, 1)), rates, informations)
    assert found.value == pytest.approx((64 - 8) / (1.6 - 1.0))
    assert found.identified
    assert not slope(np.tile([0.1, 0.6, 0.7, 0.9], (20, 1)), rates, informations).identified
    with pytest.raises(ValueError, match="ascending order of rate"):
        slope(np.zeros((5, 3)), [1.0, 1.0, 2.0], [0.0, 1.0, 2.0])


def test_a_regression_needs_cells() -> None:
    with pytest.raises(ValueError, match="two cells or more"):
        regression(np.zeros((5, 1)), [1.0], [1.0])


def test_a_cell_is_predicted_from_the_others_alone() -> None:
    removed, lost = np.array([1.0, 0.5, 1.0, 0.7]), np.array([0.0, 0.0, 1.0, 0.5])
    gains = 2 * removed - 5 * lost
    assert leave_one_out(gains, removed, lost) == pytest.approx(gains)
    bent = gains + np.array([9.0, 0, 0, 0])
    assert leave_one_out(bent, removed, lost)[0] == pytest.approx(gains[0])
    with pytest.raises(ValueError, match="three cells"):
        leave_one_out(gains[:2], removed[:2], lost[:2])
