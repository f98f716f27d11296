"""The leak check: did a relay know the target Y by another way than through the context M?

Delta cannot be negative for a relay made from M (data processing), so a Delta_strong below 0 beyond its interval asks
for a reason. There are two: the reader is better off without the rest of M (relief), or the relay saw Y. Provenance
tells them apart: values of the target that stand in the relay and nowhere in the context came from elsewhere
(theory, correction 7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from relaybench.relays.base import achieved_loss
from relaybench.reporting.statistics import Estimate


class Leak(Struct, frozen=True):
    """What the check found."""

    negative: bool
    """Delta_strong is below 0 beyond its 95% interval."""
    unsourced: tuple[str, ...]
    """Target values in relays that their contexts do not hold, as "task: value"."""

    @property
    def suspected(self) -> bool:
        """Negative with unsourced values: a leak. Negative alone is relief."""
        return self.negative and bool(self.unsourced)


def leak(delta_strong: Estimate, found: Sequence[str]) -> Leak:
    """The verdict from a relay's Delta_strong and what `unsourced` found over its tasks."""
    return Leak(delta_strong.high is not None and delta_strong.high < 0, tuple(found))


def unsourced(task: str, values: Mapping[str, str], relay: str, context: str) -> list[str]:
    """Target values that the relay holds, whole, and the context does not; each once."""
    return [
        f"{task}: {value}"
        for value in dict.fromkeys(values.values())
        if achieved_loss(relay, {"": value}) == 0.0 and achieved_loss(context, {"": value}) == 1.0
    ]
