"""Calibrated readers: a language model that knows when it has to guess, so that lost values are not overpaid.

A value that the prompt does not hold must be guessed, and a language model guesses badly: it pays KL_m nats that
Delta_strong would take for a loss (theory, correction 5). Here each value's probability is a mixture of the model's and
of a *template-level prior*, the distribution of tokens by position in the values of other tasks. The mixture weight is
fitted for each group of slots, e.g. "a field that the relay does not list", on the half of the tasks that is not scored
with it; both the mixture and the prior are proper, so the result is the NLL of a reader that could be built.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

SMOOTHING = 0.5
"""Added to each token's count at its position."""
ESCAPE = 1e-3, 1e-5
"""Probability of any token that was not seen there, and of one such token."""
LEAST = 1e-6
"""No mixture weight is nearer to 0 or 1 than this."""


class Slot(Struct, frozen=True):
    """One value of one task's target, under one condition."""

    task: str
    group: Hashable
    """Slots of a group share their mixture weight; it must hang on the prompt alone, never on the value."""
    ids: tuple[int, ...]
    """The value's tokens."""
    nll: float
    """Of the value under the language model, nats."""


def calibrated(slots: Sequence[Slot], half: Sequence[bool]) -> NDArray[np.float64]:
    """NLL of each slot under the calibrated reader, nats. `half` says for each on which side its task is.

    Each side is scored with the weights and the prior of the other. Where a group has no slot on the other side, its
    slots keep the language model's own NLL.
    """
    side = np.asarray(half, dtype=bool)
    own = np.array([slot.nll for slot in slots])
    result = own.copy()
    for mine in (side, ~side):
        prior = _prior(slots, ~mine)
        guess = np.array([_surprise(prior, slot.ids) for slot in slots])
        for group in {slots[i].group for i in np.flatnonzero(mine)}:
            members = np.array([slot.group == group for slot in slots])
            fitting = members & ~mine
            if fitting.any():
                share = _weight(own[fitting], guess[fitting])
                result[members & mine] = _mixed(own[members & mine], guess[members & mine], share)
    return result


def _weight(own: NDArray[np.float64], guess: NDArray[np.float64]) -> float:
    """The prior's share in the mixture of least mean NLL."""

    def cost(share: float) -> float:
        return float(_mixed(own, guess, share).mean())

    found = minimize_scalar(cost, bounds=(LEAST, 1 - LEAST), method="bounded", options={"xatol": LEAST / 10})
    return float(found.x)


def _mixed(own: NDArray[np.float64], guess: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    return np.asarray(-np.logaddexp(np.log(share) - guess, np.log1p(-share) - own))


Prior = dict[int, dict[int, float]]
"""Probability by position and token."""


def _prior(slots: Sequence[Slot], chosen: NDArray[np.bool_]) -> Prior:
    """Each task's value counts once, however many conditions it was scored under."""
    counts: dict[int, dict[int, float]] = {}
    for _, ids in dict.fromkeys((slots[i].task, slots[i].ids) for i in np.flatnonzero(chosen)):
        for position, token in enumerate(ids):
            seen = counts.setdefault(position, {})
            seen[token] = seen.get(token, SMOOTHING) + 1
    return {position: _shares(seen) for position, seen in counts.items()}


def _shares(seen: dict[int, float]) -> dict[int, float]:
    total = sum(seen.values())
    return {token: (1 - ESCAPE[0]) * count / total for token, count in seen.items()}


def _surprise(prior: Prior, ids: Sequence[int]) -> float:
    """Nats of a value under the prior. That it ends where it ends is given: templates fix the form."""
    chances = [prior.get(position, {}).get(token, ESCAPE[1]) for position, token in enumerate(ids)]
    return -float(np.log(chances).sum())
