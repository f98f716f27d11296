"""Targets: the NLL of what the next worker should do or answer, from the log-probabilities of its tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp


def joint_nll(targets: Sequence[Sequence[float]]) -> float:
    """-log of the total probability of all valid targets, nats: log-sum-exp over them (theory 1.2 B).

    `targets` holds, for each of the (distinct) valid targets, the log-probabilities of all its tokens. Raises
    ValueError without a target: an impossible target has no finite code length.
    """
    if not targets:
        raise ValueError("a target is needed to measure a loss")
    return -float(logsumexp([sum(tokens) for tokens in targets]))


def answer_nll(logprobs: Sequence[float], bearing: Sequence[bool]) -> float:
    """NLL of the answer-bearing tokens alone, nats: the form around them (names, quotes) is left out.

    `bearing` marks them, one flag a token. Raises ValueError where the lengths differ.
    """
    return -float(np.sum([value for value, marked in zip(logprobs, bearing, strict=True) if marked]))
