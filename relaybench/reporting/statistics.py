"""Statistics: intervals, paired differences and exact tests, with tasks as the unit.

Trials of one task are not independent, so they are averaged first and all resampling is over tasks. Intervals are
95%: Wilson's for a proportion with one trial a task, otherwise a bootstrap over tasks (10,000 resamples, seeded, so
the same data gives the same interval), with percentiles widened for few tasks (Hesterberg 2015, "expanded
percentile"); beyond 2,000 tasks Student's. Paired tests are exact McNemar for one trial a task and a sign-flip
permutation over task means else.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb, sqrt
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray
from scipy import stats

LEVEL = 0.95
RESAMPLES = 10_000
SEED = 0
LARGE = 2_000
"""Tasks beyond which a mean's interval is Student's: the bootstrap would take minutes to say the same."""
_CHUNK_CELLS = 200_000

Test = Literal["mcnemar", "sign-flip"]
Cells = Mapping[tuple[str, int], float]
"""One number per (task, seed)."""


class Estimate(Struct, frozen=True):
    """A figure with its 95% interval (None where one value tells nothing about the spread) and its n."""

    value: float
    low: float | None
    high: float | None
    n: int
    """Tasks behind it (of a share of relays: relays)."""


class Difference(Struct, frozen=True):
    """A paired difference, second minus first, over the `n` tasks that both have."""

    value: float
    low: float | None
    high: float | None
    n: int
    p: float
    """Two-sided, not corrected for how many comparisons are made."""
    test: Test
    wins: int
    """Tasks on which the second does better."""
    losses: int


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Wilson's 95% score interval of a proportion. Raises ValueError for no trials."""
    if trials < 1:
        raise ValueError("an interval needs at least one trial")
    interval = stats.binomtest(successes, trials).proportion_ci(LEVEL, method="wilson")
    return float(interval.low), float(interval.high)


def proportion(successes: int, trials: int) -> Estimate:
    """A share of `trials` independent things, with Wilson's interval."""
    low, high = wilson(successes, trials)
    return Estimate(successes / trials, low, high, trials)


def success_rate(cells: Cells) -> Estimate:
    """Mean success over trials, then over tasks (Avg@N). `cells` holds 0 or 1 per (task, seed).

    One trial a task gives Wilson's interval, several the bootstrap over tasks. Raises ValueError without cells.
    """
    means = np.array(list(task_means(cells).values()))
    if len(means) == len(cells):
        return proportion(int(means.sum()), len(means))
    return share(mean(means))


def share(estimate: Estimate) -> Estimate:
    """A mean of numbers in [0, 1] whose interval has no width because all tasks gave the same, widened.

    Few equal tasks say little of the next one: as many as Wilson allows may be of a kind that none of them showed.
    """
    if not estimate.n or (estimate.low is not None and estimate.low != estimate.high):
        return estimate
    slack = _unseen_share(estimate.n)
    return Estimate(estimate.value, max(0.0, estimate.value - slack), min(1.0, estimate.value + slack), estimate.n)


def mean(values: ArrayLike) -> Estimate:
    """The mean of one number a task, with its bootstrap interval. NaN marks tasks without the number."""
    column = np.asarray(values, dtype=float).reshape(-1, 1)
    return means(column)[0]


def means(values: NDArray[np.float64]) -> list[Estimate]:
    """Means of each column of (tasks, columns) with bootstrap intervals from the same resamples of tasks.

    NaN marks a task without that number; a column without any number gives NaN with n = 0.
    """
    counts = np.isfinite(values).sum(axis=0)
    if len(values) > LARGE:
        return [_student(column[np.isfinite(column)]) for column in values.T]
    present = np.where(np.isfinite(values), values, 0.0)
    draws = _resampled_means(present, np.isfinite(values).astype(float))
    return [_estimate(present[:, i].sum(), int(n), draws[:, i]) for i, n in enumerate(counts)]


def paired(first: Cells, second: Cells) -> Difference | None:
    """Second minus first over the tasks both have; None where they share none. Values lie in [0, 1].

    Where they share (task, seed) cells, only those count; runs without a common seed are compared by task means.
    """
    common = first.keys() & second.keys()
    if common:
        first, second = {c: first[c] for c in common}, {c: second[c] for c in common}
    a, b = task_means(first), task_means(second)
    tasks = sorted(a.keys() & b.keys())
    if not tasks:
        return None
    differences = np.array([b[task] - a[task] for task in tasks])
    single = len(first) == len(a) and len(second) == len(b) and set(np.unique(np.abs(differences))) <= {0.0, 1.0}
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    p = mcnemar(losses, wins) if single else sign_flip(differences)
    low, high = _difference_interval(differences)
    return Difference(
        float(differences.mean()), low, high, len(tasks), p, "mcnemar" if single else "sign-flip", wins, losses
    )


def paired_mean(first: Cells, second: Cells) -> Estimate | None:
    """Mean paired difference of any quantity (tokens, seconds), second minus first, over common tasks."""
    a, b = task_means(first), task_means(second)
    tasks = sorted(a.keys() & b.keys())
    return mean([b[task] - a[task] for task in tasks]) if tasks else None


def task_means(cells: Cells) -> dict[str, float]:
    """The mean over the trials of each task, tasks in order of first appearance."""
    values: dict[str, list[float]] = {}
    for (task, _), value in cells.items():
        values.setdefault(task, []).append(value)
    return {task: sum(trials) / len(trials) for task, trials in values.items()}


def mcnemar(only_first: int, only_second: int) -> float:
    """Exact two-sided McNemar p from the two discordant counts; 1 where no pair is discordant."""
    discordant = only_first + only_second
    return float(stats.binomtest(only_first, discordant).pvalue) if discordant else 1.0


def sign_flip(differences: ArrayLike) -> float:
    """Two-sided p of a zero mean when each task's difference may as well have the other sign.

    Exact up to 13 differing tasks, from 9,999 seeded random flips beyond.
    """
    values = np.asarray(differences, dtype=float)
    values = values[values != 0]
    if not len(values):
        return 1.0
    result = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=RESAMPLES - 1, vectorized=True, random_state=SEED
    )
    return float(result.pvalue)


def pass_at_k(successes: int, trials: int, k: int) -> float:
    """Chance that k trials of a task hold a success, unbiased (Chen et al. 2021). Raises ValueError for k > trials."""
    if not 1 <= k <= trials:
        raise ValueError(f"pass@{k} needs at least {k} trials a task, not {trials}")
    return 1 - comb(trials - successes, k) / comb(trials, k)


def pass_rate(cells: Cells, k: int) -> Estimate | None:
    """pass@k over the tasks that have at least k trials; None where there are none."""
    trials: dict[str, list[float]] = {}
    for (task, _), value in cells.items():
        trials.setdefault(task, []).append(value)
    rates = [pass_at_k(int(sum(v)), len(v), k) for v in trials.values() if len(v) >= k]
    return share(mean(rates)) if rates else None


def _estimate(total: float, n: int, draws: NDArray[np.float64]) -> Estimate:
    if n == 0:
        return Estimate(float("nan"), None, None, 0)
    if n == 1:
        return Estimate(float(total), None, None, 1)
    tail = float(stats.norm.cdf(-sqrt(n / (n - 1)) * stats.t.ppf((1 + LEVEL) / 2, n - 1)))
    low, high = np.nanquantile(draws, [tail, 1 - tail])
    return Estimate(float(total) / n, float(low), float(high), n)


def _student(values: NDArray[np.float64]) -> Estimate:
    if len(values) < 2:
        return Estimate(float(values.sum()) if len(values) else float("nan"), None, None, len(values))
    middle = float(values.mean())
    reach = float(stats.t.ppf((1 + LEVEL) / 2, len(values) - 1) * values.std(ddof=1) / sqrt(len(values)))
    return Estimate(middle, middle - reach, middle + reach, len(values))


def _resampled_means(present: NDArray[np.float64], finite: NDArray[np.float64]) -> NDArray[np.float64]:
    """(RESAMPLES, columns): means over tasks drawn with replacement, NaN where a draw holds no number."""
    tasks = len(present)
    rng = np.random.default_rng(SEED)
    size = max(1, min(RESAMPLES, _CHUNK_CELLS // max(tasks, 1)))
    parts = []
    for start in range(0, RESAMPLES, size):
        rows = min(size, RESAMPLES - start)
        drawn = rng.integers(0, tasks, (rows, tasks)) + np.arange(rows)[:, None] * tasks
        weights = np.bincount(drawn.ravel(), minlength=rows * tasks).reshape(rows, tasks).astype(float)
        number = weights @ finite
        parts.append(np.divide(weights @ present, number, out=np.full_like(number, np.nan), where=number > 0))
    return np.concatenate(parts)


def _difference_interval(differences: NDArray[np.float64]) -> tuple[float | None, float | None]:
    if len(differences) > 1 and np.ptp(differences) > 0:
        estimate = mean(differences)
        return estimate.low, estimate.high
    value, slack = float(differences[0]), _unseen_share(len(differences))
    return max(-1.0, value - slack), min(1.0, value + slack)


def _unseen_share(tasks: int) -> float:
    """Largest share of tasks of a kind that none of `tasks` showed: Wilson's upper bound for 0 of n."""
    return wilson(0, tasks)[1]
