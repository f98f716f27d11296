"""Effective beta of a model: how many nats of context it would rather lose than one nat of its target (theory 1.2 D).

Three estimates from cells (one relay each) of one model: *regression* of the gain on what was removed and lost,
g = a u - b v; *break-even*, the loss at which the gain is 0 at fixed removal; *slope*, dR/dI at the budget of most
success. Only the order of models and beta_norm mean anything: raw beta is in the hundreds, since contexts have
thousands of nats. The regression needs u and v to vary apart (noise kept in the relay at fixed Delta; fields dropped at
fixed length), which is checked. A beta that predicts gains is to be fitted on other cells than those it predicts.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike
from scipy.optimize import nnls

from relaybench.information.resampling import Floats, middle, resampled_means

RESAMPLES, LEVEL = 2_000, 0.90
COLLINEAR = 30.0
"""Condition number of the (u, v) design beyond which removal and loss cannot be told apart."""


class Beta(Struct, frozen=True):
    """An effective beta with its 90% bootstrap interval over tasks."""

    value: float
    """b/a; infinite where the gain does not rise with what is removed."""
    low: float
    high: float
    removal_pays: float
    """Share of resamples with a > 0: where it is small, report 1/beta or nothing."""
    identified: bool
    """Whether u and v vary apart."""
    n: int
    """Tasks."""


def regression(gains: ArrayLike, removed: ArrayLike, lost: ArrayLike) -> Beta:
    """beta = b/a of the least-squares fit g = a u - b v with a, b >= 0, through the origin (no relay, no gain).

    gains: (tasks, cells), the paired gain over full context (success or nats); removed, lost: (cells,), u and v as
    shares of their ceilings for beta_norm, or H(M|m) and Delta in nats for raw beta. Raises ValueError for fewer than
    two cells.
    """
    values = np.asarray(gains, dtype=float)
    design = np.stack([np.asarray(removed, dtype=float), -np.asarray(lost, dtype=float)], axis=1)
    if values.ndim != 2 or values.shape[1] != len(design) or len(design) < 2:
        raise ValueError("a regression needs gains of shape (tasks, cells) and two cells or more")
    draws = np.array([_fit(design, mean) for mean in resampled_means(values, RESAMPLES)])
    a, b = _fit(design, values.mean(axis=0))
    low, high = middle(_ratio(draws[:, 1], draws[:, 0]), LEVEL)
    identified = bool(np.linalg.cond(design / np.linalg.norm(design, axis=0).clip(1e-12)) < COLLINEAR)
    pays = float((draws[:, 0] > 0).mean())
    return Beta(float(_ratio(np.array([b]), np.array([a]))[0]), low, high, pays, identified, len(values))


def leave_one_out(gains: ArrayLike, removed: ArrayLike, lost: ArrayLike) -> Floats:
    """The gain a u - b v of each cell, with a and b fitted on all the others. All arrays (cells,), cells three or more.

    Raises ValueError for fewer: two unknowns need two other cells.
    """
    means = np.asarray(gains, dtype=float)
    design = np.stack([np.asarray(removed, dtype=float), -np.asarray(lost, dtype=float)], axis=1)
    if len(means) < 3 or len(design) != len(means):
        raise ValueError("predicting each cell from the others needs three cells or more")
    cells = np.arange(len(means))
    return np.array([design[i] @ _fit(design[cells != i], means[cells != i]) for i in cells])


def break_even(gains: ArrayLike, removed: float, lost: ArrayLike) -> Beta:
    """beta = H/Delta*, Delta* being the loss at which the gain crosses 0 along cells of the same removal.

    gains: (tasks, cells); removed: their H(M|m); lost: (cells,) Delta. The crossing is interpolated; where the gain
    never falls below 0 beta is at most H over the largest loss seen, and is given as such; where it is below 0 from
    the start beta is infinite.
    """
    values, losses = np.asarray(gains, dtype=float), np.asarray(lost, dtype=float)
    order = np.argsort(losses)
    draws = np.array([_crossing(mean[order], losses[order]) for mean in resampled_means(values, RESAMPLES)])
    point = _crossing(values.mean(axis=0)[order], losses[order])
    betas = _ratio(np.full(len(draws), removed), draws)
    low, high = middle(betas, LEVEL)
    value = float(_ratio(np.array([removed]), np.array([point]))[0])
    pays = float((draws > 0).mean())
    return Beta(value, low, high, pays, len(set(losses.tolist())) > 1, len(values))


def slope(success: ArrayLike, rates: ArrayLike, informations: ArrayLike) -> Beta:
    """beta = dR/dI between the budgets around the one of most success (R = I(M;m), I = I(m;Y|X), nats).

    success: (tasks, budgets); rates, informations: (budgets,), in ascending order of rate. Raises ValueError for fewer
    than three budgets.
    """
    values = np.asarray(success, dtype=float)
    r, i = np.asarray(rates, dtype=float), np.asarray(informations, dtype=float)
    if len(r) < 3 or (np.diff(r) <= 0).any():
        raise ValueError("a slope needs three budgets or more, in ascending order of rate")
    draws = np.array([_slope_at(int(mean.argmax()), r, i) for mean in resampled_means(values, RESAMPLES)])
    low, high = middle(draws, LEVEL)
    best = int(values.mean(axis=0).argmax())
    inside = 0 < best < len(r) - 1
    return Beta(_slope_at(best, r, i), low, high, float(np.isfinite(draws).mean()), inside, len(values))


def _fit(design: Floats, gain: Floats) -> tuple[float, float]:
    (a, b), _ = nnls(design, gain)
    return float(a), float(b)


def _crossing(gain: Floats, lost: Floats) -> float:
    """The first loss at which the gain is 0 or less, interpolated; the largest loss where there is none."""
    below = np.flatnonzero(gain <= 0)
    if len(below) == 0:
        return float(lost[-1])
    i = int(below[0])
    if i == 0:
        return 0.0
    share = gain[i - 1] / (gain[i - 1] - gain[i])
    return float(lost[i - 1] + share * (lost[i] - lost[i - 1]))


def _slope_at(place: int, rates: Floats, informations: Floats) -> float:
    low, high = max(place - 1, 0), min(place + 1, len(rates) - 1)
    rise, gained = rates[high] - rates[low], informations[high] - informations[low]
    return float(rise / gained) if gained > 0 else float("inf")


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.asarray(np.divide(above, below, out=np.full(len(above), np.inf), where=below > 0))
