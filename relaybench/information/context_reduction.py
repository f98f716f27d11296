"""Context reduction H(M|m,X): how much of the context a relay leaves out (Theorem 4.1; theory 1.2 A and correction 2).

By the chain rule H(M|m,X) = H(M|X) - H(m|X) + H(m|M,X), and the last term is 0 for a deterministic relay: two code
lengths under one fixed reference model do, a long one a context and a short one a relay. So rate and reduction are one
axis. The direct code length L(M|m,X) costs a pass a pair; it is for a sample, and checks the chain rule. A code
length under a model is the entropy plus a KL divergence, an upper bound of it. Arrays: one number a task, in nats.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from relaybench.information.resampling import middle, resampled_means
from relaybench.reporting.statistics import Estimate, mean

RESAMPLES, LEVEL = 10_000, 0.95


class Share(Struct, frozen=True):
    """A share u with its 95% interval, and the anchors it stands on (nats)."""

    value: float
    low: float
    high: float
    n: int
    floor: float
    """Code length of M when all of it was sent: near 0 where the reference can copy."""
    ceiling: float
    """Code length of M when nothing was sent."""

    @property
    def adequate(self) -> bool:
        """Whether the reference can copy at all: the floor is below 2% of the ceiling."""
        return self.floor < 0.02 * self.ceiling


def rate(relay: ArrayLike, relay_given_context: ArrayLike | None = None) -> Estimate:
    """I(M;m|X) as the mean code length of m under a prior that does not see M, minus that given M (0 by default).

    Nats; an upper bound with the prior's KL divergence (variational: r(m|X) stands for p(m|X)).
    """
    known = 0.0 if relay_given_context is None else np.asarray(relay_given_context, dtype=float)
    return mean(np.asarray(relay, dtype=float) - known)


def context_reduction(context: ArrayLike, relay: ArrayLike, relay_given_context: ArrayLike | None = None) -> Estimate:
    """H(M|m,X) by the additive form, nats: L(M|X) - L(m|X) + L(m|M,X)."""
    return mean(_additive(context, relay, relay_given_context))


def share_removed(direct: ArrayLike, floor: ArrayLike, ceiling: ArrayLike) -> Share:
    """u = (H(M|m) - H(M|M)) / (H(M|nothing) - H(M|M)), a ratio of means over the same tasks, in [0, 1] for the truth.

    Not clamped: a value outside says that the reference model is not good enough. Raises ValueError where floor and
    ceiling do not differ.
    """
    columns = np.stack([np.asarray(a, dtype=float) for a in (direct, floor, ceiling)], axis=1)
    if not columns[:, 2].mean() > columns[:, 1].mean():
        raise ValueError("the ceiling is not above the floor: the reference model learns nothing from the context")
    low, high = middle(_ratios(resampled_means(columns, RESAMPLES)), LEVEL)
    value = float(_ratios(columns.mean(axis=0)[None])[0])
    return Share(value, low, high, len(columns), float(columns[:, 1].mean()), float(columns[:, 2].mean()))


def chain_rule_gap(
    direct: ArrayLike, context: ArrayLike, relay: ArrayLike, relay_given_context: ArrayLike | None = None
) -> Estimate:
    """Direct minus additive code length of M given m, nats: 0 for a reference model that is consistent with itself."""
    return mean(np.asarray(direct, dtype=float) - _additive(context, relay, relay_given_context))


def _additive(context: ArrayLike, relay: ArrayLike, known: ArrayLike | None) -> NDArray[np.float64]:
    given = 0.0 if known is None else np.asarray(known, dtype=float)
    return np.asarray(np.asarray(context, dtype=float) - np.asarray(relay, dtype=float) + given)


def _ratios(means: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray((means[:, 0] - means[:, 1]) / (means[:, 2] - means[:, 1]))
