"""Relay loss Delta = I(M;Y|X) - I(m;Y|X), and what a reader makes of it (Def. 4.1; theory 1.2 B).

From the NLL of the target under three conditions: the full context M, the relay m, and no relay at all. With a real
reader q, E[NLL(m) - NLL(M)] = Delta + KL_m - KL_M, where KL_c is how far q is from the truth under condition c. A
reader that M distracts has a large KL_M, so its own loss is negative: relief, no error of sampling. Hence two numbers:
Delta_strong, from the best reader of each condition, and the gain G_NLL of the reader under test; their sum is the
relief. Arrays hold one NLL a task, in nats, the same tasks in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaybench.reporting.statistics import Estimate, mean

Nats = NDArray[np.float64]


def relay_loss(full: ArrayLike, relay: ArrayLike) -> Estimate:
    """Mean of NLL(m) - NLL(M), nats, with its paired 95% interval over tasks.

    Delta where the reader is strong under both conditions (see `strongest`); never clamped.
    """
    return mean(_pair(full, relay)[1] - _pair(full, relay)[0])


def reader_gain(full: ArrayLike, relay: ArrayLike) -> Estimate:
    """G_NLL = NLL(M) - NLL(m) of the reader under test, nats: relief minus Delta, the gain at unit weight."""
    first, second = _pair(full, relay)
    return mean(first - second)


def information(none: ArrayLike, seen: ArrayLike) -> Estimate:
    """I(seen;Y|X) as NLL(none) - NLL(seen), nats. Its error is KL_none - KL_seen: it may exceed the truth."""
    first, second = _pair(none, seen)
    return mean(first - second)


def relief(full: ArrayLike, relay: ArrayLike, strong_full: ArrayLike, strong_relay: ArrayLike) -> Estimate:
    """KL_M - KL_m of a reader, nats: its G_NLL plus Delta_strong, task by task."""
    first, second = _pair(full, relay)
    strong_first, strong_second = _pair(strong_full, strong_relay)
    return mean(first - second + strong_second - strong_first)


def strongest(readers: ArrayLike, half: ArrayLike) -> Nats:
    """NLL of the best reader of each condition, (tasks, conditions), out of (readers, tasks, conditions).

    The reader of a task is the one with the least mean NLL on the *other* half of the tasks, so that choosing does not
    flatter it (never chosen per example: theory, correction 5). Raises ValueError where a half is empty.
    """
    scores = np.asarray(readers, dtype=float)
    side = np.asarray(half, dtype=bool)
    if side.all() or not side.any():
        raise ValueError("choosing a reader needs tasks in both halves")
    best = np.empty(scores.shape[1:])
    for mine in (side, ~side):
        chosen = scores[:, ~mine].mean(axis=1).argmin(axis=0)
        best[mine] = np.take_along_axis(scores[:, mine], chosen[None, None, :], axis=0)[0]
    return best


def halves(tasks: Sequence[str], salt: str = "") -> NDArray[np.bool_]:
    """A fixed split of tasks into two halves, whatever their order; several trials of a task stay together."""
    distinct = sorted(set(tasks))
    first = set(ranked(distinct, salt)[: len(distinct) // 2])
    return np.array([task in first for task in tasks])


def ranked(tasks: Sequence[str], salt: str = "") -> list[str]:
    """Tasks in the order of a hash of their ids: its first n are a fixed random sample."""
    return sorted(tasks, key=lambda task: sha256(f"{salt}/{task}".encode()).hexdigest())


def bits(nats: float) -> float:
    """Nats as bits."""
    return nats / math.log(2)


def _pair(first: ArrayLike, second: ArrayLike) -> tuple[Nats, Nats]:
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.shape != b.shape:
        raise ValueError(f"conditions are paired over tasks, but there are {a.shape} and {b.shape} of them")
    return a, b
