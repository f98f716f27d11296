"""Advice: from a few tasks, whether a model should be sent relays at a stage or share the whole context.

The gain of a relay for a model is G_NLL = NLL(M) - NLL(m) of what it should do next: relief minus loss, measured, not
predicted from beta, and cheap, since nothing is generated. Confidence is the share of bootstrap resamples of the tasks
that agree; with few tasks it is low, and said so.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from relaybench.information.instruments import CONDITIONS, Instruments
from relaybench.information.resampling import resampled_means
from relaybench.reporting.statistics import Estimate, mean

RESAMPLES = 4_000
SURE = 0.9
"""Confidence from which the advice is given without reserve."""
FULL, RELAY = CONDITIONS.index("full"), CONDITIONS.index("relay")


class Advice(Struct, frozen=True):
    """What to do at one stage for one model."""

    engine: str
    worker: str
    relay: str
    """The relay of the largest mean gain."""
    gain: Estimate
    """Its gain over full context, nats."""
    relays: bool
    """Send it (True), or share the context (False)."""
    confidence: float
    """Share of resamples in which its gain has the sign advised."""
    tokens: float
    """Its mean rate: the budget at which the gain peaks among those tried."""
    peak_confidence: float
    """Share of resamples in which it is the best of the relays."""
    tasks: int

    def __str__(self) -> str:
        verb = f"send '{self.relay}'" if self.relays else "share the context"
        sure = "" if self.confidence >= SURE else "; not sure, measure more tasks"
        at = f"the gain peaks at {self.tokens:.0f} tokens ({self.peak_confidence:.0%})"
        interval = "" if self.gain.low is None else f" [{self.gain.low:+.2f},{self.gain.high:+.2f}]"
        return (
            f"{self.engine}, {self.worker}: {verb} ({self.confidence:.0%} of resamples{sure}); '{self.relay}' gains "
            f"{self.gain.value:+.2f}{interval} nats over full context, n = {self.tasks}; {at}"
        )


def advise(engine: str, worker: str, relays: Sequence[str], gains: ArrayLike, tokens: Sequence[float]) -> Advice:
    """Advice from gains of shape (tasks, relays), nats, and the relays' mean rates in tokens.

    Raises ValueError without tasks or relays.
    """
    values = np.asarray(gains, dtype=float)
    if values.size == 0 or values.shape[1] != len(relays):
        raise ValueError("advice needs one gain a task and relay")
    means = values.mean(axis=0)
    best = int(means.argmax())
    draws = resampled_means(values, RESAMPLES)
    sends = bool(means[best] > 0)
    agree = draws[:, best] > 0 if sends else draws[:, best] <= 0
    return Advice(
        engine=engine,
        worker=worker,
        relay=relays[best],
        gain=mean(values[:, best]),
        relays=sends,
        confidence=float(agree.mean()),
        tokens=float(tokens[best]),
        peak_confidence=float((draws.argmax(axis=1) == best).mean()),
        tasks=len(values),
    )


def advice_of(instruments: Instruments) -> list[Advice]:
    """Advice for each (engine, worker) of filled instruments. Relays that know the target, or are another task's on
    purpose, are nothing one could send, and are left out; so are tasks that not all relays have."""
    reader = instruments.readers[0]
    table: dict[tuple[str, str], dict[str, dict[tuple[str, int], tuple[float, float]]]] = {}
    for place, stage in enumerate(instruments.stages):
        if any(relay.knows_target or relay.foreign_task for relay in stage.relays):
            continue
        nll = instruments.nlls(reader, place)
        cells = table.setdefault((stage.engine, stage.worker), {}).setdefault(stage.system, {})
        cells[stage.task, stage.seed] = (nll[FULL] - nll[RELAY], stage.rate_tokens)
    return [_from(reader.label, worker, cells) for (_, worker), cells in table.items()]


def _from(reader: str, worker: str, cells: dict[str, dict[tuple[str, int], tuple[float, float]]]) -> Advice:
    common = sorted(set.intersection(*(set(found) for found in cells.values())))
    gains = [[found[task][0] for found in cells.values()] for task in common]
    tokens = [float(np.mean([found[task][1] for task in common])) for found in cells.values()]
    return advise(reader, worker, list(cells), gains, tokens)
