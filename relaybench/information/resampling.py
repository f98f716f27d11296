"""Bootstrap over tasks: means of several columns from the same resamples, so that what is paired stays paired."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
SEED = 0


def resampled_means(columns: Floats, resamples: int) -> Floats:
    """Means of each column of (tasks, columns) over resampled tasks, shape (resamples, columns); seeded."""
    tasks = len(columns)
    weights = np.random.default_rng(SEED).multinomial(tasks, np.full(tasks, 1 / tasks), size=resamples)
    return np.asarray(weights @ columns / tasks)


def middle(draws: Floats, level: float) -> tuple[float, float]:
    """The middle `level` of the draws by order statistics: infinities are allowed, nothing is interpolated."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], method="nearest")
    return float(low), float(high)
