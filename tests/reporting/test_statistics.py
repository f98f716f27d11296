"""Intervals cover what they claim, and tests agree with closed forms."""

from __future__ import annotations

from itertools import product
from math import comb, sqrt

import numpy as np
import pytest
from scipy import stats

from relaybench.reporting import statistics
from relaybench.reporting.statistics import (
    LARGE,
    mcnemar,
    mean,
    means,
    paired,
    pass_at_k,
    pass_rate,
    proportion,
    sign_flip,
    success_rate,
    wilson,
)

Z = 1.959963984540054


def cells(values, seeds=1):
    """(task, seed) cells from one row a task."""
    return {(f"t{i}", s): float(v) for i, row in enumerate(np.reshape(values, (-1, seeds))) for s, v in enumerate(row)}


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (0, 40), (3, 10), (45, 210), (10, 10)])
def test_wilson_is_its_closed_form(successes, trials):
    share = successes / trials
    centre = (share + Z**2 / (2 * trials)) / (1 + Z**2 / trials)
    half = Z / (1 + Z**2 / trials) * sqrt(share * (1 - share) / trials + Z**2 / (4 * trials**2))
    assert wilson(successes, trials) == pytest.approx((centre - half, centre + half), abs=1e-9)


def test_wilson_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        wilson(0, 0)


def test_wilson_covers():
    rng = np.random.default_rng(1)
    truth = rng.uniform(0.05, 0.95, 4000)
    inside = [low <= p <= high for p in truth for low, high in [wilson(int(rng.binomial(40, p)), 40)]]
    assert 0.93 <= np.mean(inside) <= 0.97


@pytest.fixture
def fewer_resamples(monkeypatch):
    monkeypatch.setattr(statistics, "RESAMPLES", 400)


@pytest.mark.usefixtures("fewer_resamples")
def test_bootstrap_over_tasks_covers_the_mean_of_repeated_trials():
    """Tasks differ in difficulty (Beta(1, 2), mean 1/3); trials of one task are alike."""
    rng = np.random.default_rng(2)
    inside = 0
    for _ in range(1000):
        difficulty = rng.beta(1, 2, 40)
        found = success_rate(cells(rng.random((40, 4)) < difficulty[:, None], seeds=4))
        inside += found.low <= 1 / 3 <= found.high
    assert 930 <= inside <= 970


@pytest.mark.usefixtures("fewer_resamples")
@pytest.mark.parametrize("tasks", [40, 100])
def test_bootstrap_covers_the_paired_difference(tasks):
    rng = np.random.default_rng(3)
    inside = 0
    for _ in range(1000):
        kind = rng.choice(4, tasks, p=[0.4, 0.2, 0.1, 0.3])  # neither, only first, only second, both
        found = paired(cells((kind == 1) | (kind == 3)), cells((kind == 2) | (kind == 3)))
        inside += found.low <= -0.1 <= found.high
    assert 930 <= inside <= 970


def test_trials_of_a_task_are_no_further_tasks():
    """Repeating every trial four times tells nothing new, so the interval is not four times surer."""
    once = np.array([1, 0, 1, 0, 0, 1, 0, 0, 1, 0])
    single, repeated = success_rate(cells(once)), success_rate(cells(np.repeat(once[:, None], 4, 1), seeds=4))
    assert repeated.n == single.n == 10
    assert repeated.high - repeated.low > 0.8 * (single.high - single.low)


def test_the_bootstrap_gives_the_same_interval_each_time():
    values = np.random.default_rng(4).random(30)
    assert mean(values) == mean(values)


def test_the_bootstrap_of_a_mean_is_near_student_t():
    values = np.random.default_rng(5).normal(3.0, 1.0, 60)
    found, student = mean(values), stats.ttest_1samp(values, 0).confidence_interval()
    assert (found.low, found.high) == pytest.approx((student.low, student.high), abs=0.03)


def test_missing_numbers_count_as_absent_and_not_as_zero():
    first, second = means(np.array([[1.0, np.nan], [3.0, 10.0], [5.0, 20.0]]))
    assert (first.value, first.n) == (3.0, 3)
    assert (second.value, second.n) == (15.0, 2)


def test_one_task_has_no_interval():
    assert mean([4.0]) == statistics.Estimate(4.0, None, None, 1)


@pytest.mark.parametrize(("b", "c"), [(0, 0), (1, 0), (5, 1), (12, 30)])
def test_mcnemar_is_the_binomial_test_of_discordant_pairs(b, c):
    expected = min(1.0, 2 * sum(comb(b + c, k) for k in range(min(b, c) + 1)) / 2 ** (b + c)) if b + c else 1.0
    assert mcnemar(b, c) == pytest.approx(expected)
    first, second = [1] * b + [0] * c + [1] * 7, [0] * b + [1] * c + [1] * 7
    found = paired(cells(first), cells(second))
    assert (found.p, found.test) == (pytest.approx(expected), "mcnemar")
    assert (found.losses, found.wins) == (b, c)


def test_sign_flip_is_exact_for_few_tasks():
    d = np.array([0.25, -0.5, 0.75, 0.5, 0.0, 1.0])
    live = d[d != 0]
    sums = [abs(np.dot(signs, live)) for signs in product((-1, 1), repeat=len(live))]
    assert sign_flip(d) == pytest.approx(np.mean(np.array(sums) >= abs(live.sum()) - 1e-12))


def test_sign_flip_of_single_trials_is_mcnemar():
    assert sign_flip([1] * 9 + [-1] * 2 + [0] * 20) == pytest.approx(mcnemar(9, 2))


def test_sign_flip_is_exact_enough_for_many_tasks():
    d = [1] * 40 + [-1] * 20
    assert sign_flip(d) == pytest.approx(mcnemar(40, 20), abs=0.005)


def test_several_trials_use_the_permutation_and_say_so():
    first, second = np.zeros((8, 3)), np.tile([1, 1, 0], (8, 1))
    found = paired(cells(first, 3), cells(second, 3))
    assert found.test == "sign-flip"
    assert found.p == pytest.approx(2 / 2**8)
    assert (found.value, found.n, found.wins) == (pytest.approx(2 / 3), 8, 8)


def test_pairs_are_common_cells_only():
    first = {("a", 0): 1.0, ("b", 0): 1.0, ("c", 0): 0.0}
    second = {("a", 0): 0.0, ("b", 0): 1.0, ("d", 0): 1.0, ("a", 1): 1.0}
    found = paired(first, second)
    assert (found.n, found.value) == (2, -0.5)
    assert paired({("a", 0): 1.0}, {("b", 0): 1.0}) is None


def test_other_seeds_are_compared_by_task_means():
    found = paired({("a", 0): 1.0, ("b", 0): 0.0}, {("a", 1): 0.0, ("b", 1): 0.0})
    assert (found.n, found.value, found.test) == (2, -0.5, "mcnemar")


def test_no_flip_among_few_tasks_is_no_proof_of_equality():
    found = paired(cells([1, 0, 1, 0, 0]), cells([1, 0, 1, 0, 0]))
    high = wilson(0, 5)[1]
    assert (found.value, found.low, found.high, found.p) == (0.0, -high, high, 1.0)
    same = success_rate(cells(np.ones((5, 2)), seeds=2))
    assert pass_rate(cells(np.ones((5, 2)), seeds=2), 2) == same
    assert (same.value, same.low, same.high) == (1.0, pytest.approx(1 - high), 1.0)


def test_pass_at_k_is_the_share_of_subsets_with_a_success():
    assert pass_at_k(0, 5, 2) == 0.0
    assert pass_at_k(5, 5, 1) == 1.0
    assert pass_at_k(2, 5, 2) == pytest.approx(1 - 3 / 10)
    assert pass_at_k(4, 5, 2) == 1.0
    with pytest.raises(ValueError, match="at least 3"):
        pass_at_k(1, 2, 3)


def test_pass_at_k_is_unbiased():
    rng = np.random.default_rng(6)
    p = 0.3
    drawn = [pass_at_k(int(c), 6, 3) for c in rng.binomial(6, p, 20_000)]
    assert np.mean(drawn) == pytest.approx(1 - (1 - p) ** 3, abs=0.01)


def test_pass_rate_leaves_out_tasks_with_fewer_trials():
    found = pass_rate({("a", 0): 1.0, ("a", 1): 0.0, ("b", 0): 0.0}, 2)
    assert (found.value, found.n) == (1.0, 1)


def test_a_share_has_its_n():
    assert proportion(3, 10).n == 10


def test_the_interval_of_many_tasks_is_what_the_bootstrap_would_say() -> None:
    values = np.random.default_rng(0).exponential(size=LARGE)
    few, many = mean(values), mean(np.append(values, [values.mean(), np.nan]))
    assert few.low is not None
    assert few.high is not None
    assert many.n == LARGE + 1
    assert many.value == pytest.approx(few.value)
    assert many.low == pytest.approx(few.low, abs=0.003)
    assert many.high == pytest.approx(few.high, abs=0.003)
