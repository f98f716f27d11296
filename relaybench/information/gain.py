"""The stage-wise gain of a relay over full context, G = H(M|m) - beta Delta (Theorem 4.1), and how well it predicts."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike
from scipy import stats

from relaybench.reporting.statistics import Estimate, mean, proportion


class Agreement(Struct, frozen=True):
    """Predicted against seen gains over cells (stage, relay)."""

    correlation: float
    """Pearson's r."""
    low: float
    high: float
    """95% interval by Fisher's z; nan for fewer than four cells."""
    signs: Estimate
    """Share of cells whose sign was predicted, Wilson's interval."""
    majority: float
    """What always saying the commoner sign would get."""
    n: int


def stage_gain(reduction: ArrayLike, loss: ArrayLike, beta: float) -> Estimate:
    """G = H(M|m) - beta Delta, nats, one number a task, with its interval.

    For beta <= 1 it cannot be negative in truth (Delta <= H(M|m,X)): a sign flip needs beta > 1 in these units.
    """
    return mean(np.asarray(reduction, dtype=float) - beta * np.asarray(loss, dtype=float))


def agreement(predicted: ArrayLike, seen: ArrayLike) -> Agreement:
    """How predicted gains compare with seen ones, one number a cell. Raises ValueError for fewer than two cells."""
    first, second = np.asarray(predicted, dtype=float), np.asarray(seen, dtype=float)
    if len(first) != len(second) or len(first) < 2:
        raise ValueError("agreement needs the same two cells or more on both sides")
    constant = first.std() == 0 or second.std() == 0
    r = float("nan") if constant else float(np.corrcoef(first, second)[0, 1])
    low, high = _fisher(r, len(first))
    positive = float((second > 0).mean())
    signs = proportion(int((np.sign(first) == np.sign(second)).sum()), len(first))
    return Agreement(r, low, high, signs, max(positive, 1 - positive), len(first))


def _fisher(r: float, n: int) -> tuple[float, float]:
    if n < 4 or not abs(r) < 1:
        return float("nan"), float("nan")
    half = stats.norm.ppf(0.975) / np.sqrt(n - 3)
    return float(np.tanh(np.arctanh(r) - half)), float(np.tanh(np.arctanh(r) + half))
