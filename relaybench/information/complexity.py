"""Relay complexity delta(eps): the fewest nats with which a relay can keep Delta below eps, as a bracket.

Lower bound: delta >= I(M;Y|X) (a sufficient relay tells all of it), estimated by NLL(none) - NLL(full). Upper bound:
the cheapest rung of a budget sweep whose loss is below eps with 95% confidence. One half of the tasks says which rungs
are worth their price; on the other they are judged from the dearest down, for as long as they pass (a fixed sequence,
so that many rungs do not make a lucky one likely). The bracket is wide where the encoder does not know the question: K
registers of which one is asked need K log V then, log V else (theory 1.2 C): `query_aware` belongs to every figure.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from relaybench.information.relay_loss import information
from relaybench.reporting.statistics import Estimate, mean


class Rung(Struct, frozen=True):
    """One relay encoder at one budget: its code length and its loss on every task, nats."""

    label: str
    code_length: NDArray[np.float64]
    """-log r(m|X), shape (tasks,)."""
    loss: NDArray[np.float64]
    """NLL(m) - NLL(M), shape (tasks,)."""


class Bracket(Struct, frozen=True):
    """Between what delta lies, nats."""

    lower: Estimate
    """I(M;Y|X)."""
    upper: Estimate | None
    """Code length of the cheapest rung that passed; None where none did."""
    rung: str | None
    """That rung's label."""
    epsilon: float
    query_aware: bool

    @property
    def crossed(self) -> bool:
        """Whether the bounds contradict each other: the reader is bad without a relay, so `lower` is too high."""
        return self.upper is not None and self.lower.value > self.upper.value


def complexity(
    none: ArrayLike, full: ArrayLike, rungs: Sequence[Rung], half: ArrayLike, *, epsilon: float, query_aware: bool
) -> Bracket:
    """The bracket from NLLs without and with the context, and a budget sweep (all over the same tasks).

    `half` marks the tasks on which rungs are chosen (relay_loss.halves); the others judge.
    """
    side = np.asarray(half, dtype=bool)
    upper = label = None
    for rung in reversed(_worth_their_price(rungs, side)):
        if not loss_limit(rung.loss[~side]) <= epsilon:
            break
        upper, label = mean(rung.code_length[~side]), rung.label
    return Bracket(information(none, full), upper, label, epsilon, query_aware)


def _worth_their_price(rungs: Sequence[Rung], side: NDArray[np.bool_]) -> list[Rung]:
    """Cheapest first, each with less mean loss than all that cost less (means over the tasks of `side`)."""
    worth: list[Rung] = []
    for rung in sorted(rungs, key=lambda rung: (rung.code_length[side].mean(), rung.loss[side].mean())):
        if not worth or rung.loss[side].mean() < worth[-1].loss[side].mean():
            worth.append(rung)
    return worth


def loss_limit(loss: ArrayLike) -> float:
    """The upper 95% confidence limit (one-sided, Student) of a mean loss, nats; infinite for fewer than two tasks."""
    values = np.asarray(loss, dtype=float)
    if len(values) < 2:
        return float("inf")
    spread = values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean() + stats.t.ppf(0.95, len(values) - 1) * spread)
