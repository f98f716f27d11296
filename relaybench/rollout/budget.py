"""The error budget: when a run has failed too often to go on.

It stops once more than the given share of at least 20 attempted episodes has failed, and sooner where nothing at all
works: when the first five (three in a grid of fewer than 20) have failed without a success. A share of 1 never stops.
"""

from __future__ import annotations

from collections import Counter

from relaybench.records import Failure

ENOUGH = 20
"""Attempted episodes before the share of failures means something."""


class ErrorBudget:
    """Counts attempts of one invocation."""

    def __init__(self, share: float, episodes: int) -> None:
        self._share = share
        self._first = 5 if episodes >= ENOUGH else 3
        self.attempted = 0
        self.failed = 0
        self._causes: Counter[str] = Counter()

    def count(self, failure: Failure | None) -> None:
        """One more attempt: its failure, or None."""
        self.attempted += 1
        if failure is not None:
            self.failed += 1
            self._causes[f"{failure.kind}: {_first_line(failure.error)}"] += 1

    @property
    def spent(self) -> bool:
        """Whether to stop."""
        if self._share >= 1.0:
            return False
        if self.failed == self.attempted:
            return self.failed >= self._first
        return self.attempted >= ENOUGH and self.failed > self._share * self.attempted

    def cause(self) -> str:
        """What most failures have in common, e.g. "engine: 500 Internal Server Error (7 of 8 failures)"."""
        if not self._causes:
            return "none"
        cause, times = self._causes.most_common(1)[0]
        return f"{cause} ({times} of {self.failed} failures)"


def _first_line(text: str) -> str:
    line = text.strip().partition("\n")[0]
    return line if len(line) <= 200 else line[:197] + "..."
