"""Cells: the figures of one model's worker with one relay, out of the scores of its stages. Nats throughout."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from relaybench.information.asking import Asker
from relaybench.information.calibration import Slot, calibrated
from relaybench.information.context_reduction import Share, context_reduction, rate, share_removed
from relaybench.information.instruments import CONDITIONS, Instruments
from relaybench.information.leak import Leak, leak, unsourced
from relaybench.information.relay_loss import halves, information, reader_gain, relay_loss, relief, strongest
from relaybench.reporting.statistics import Estimate, mean


class Cell(Struct, frozen=True):
    """What was measured of one (model, worker, system); 95% intervals over tasks."""

    engine: str
    worker: str
    system: str
    tasks: int
    rate_tokens: Estimate
    """Tokens of the relays, in the reader's tokenizer."""
    rate: Estimate
    """L(m|X) under the reference: I(M;m|X) of a deterministic relay, from above."""
    reduction: Estimate
    """H(M|m,X), additive form."""
    share: Share | None
    """u, on the sample; None where the reference learns nothing from the context."""
    task_information: Estimate
    """I(M;Y|X), NLL(none) - NLL(full) of the strongest readers."""
    delta_strong: Estimate
    """NLL(relay) - NLL(full) of the strongest readers."""
    gain: Estimate
    """G_NLL of the model's own reader."""
    relief: Estimate
    answer_loss: Estimate
    """The own reader's loss on answer-bearing tokens alone."""
    answer_delta: Estimate
    """Delta_strong on answer-bearing tokens, all readers calibrated (calibration.py): of values that have to be
    guessed, no more than their entropy is paid."""
    answer_full: Estimate
    """What the strongest calibrated reader pays with the full context: near H(Y|X,M) where it is adequate."""
    achieved_loss: Estimate
    """Share of needed values that the relays do not hold."""
    seen: Estimate
    """Success with the relay minus success of SAS-contextflow on the same tasks; nan where neither is known."""
    leak: Leak

    @property
    def predicted(self) -> int:
        """The sign of the gain by G_NLL: 0 where its interval holds 0."""
        low, high = self.gain.low, self.gain.high
        return 0 if low is None or high is None or low <= 0 <= high else 1 if low > 0 else -1


def cells(instruments: Instruments) -> list[Cell]:
    """All cells, once the instruments are filled, in the order of the run."""
    groups: dict[tuple[str, str, str], list[int]] = {}
    for place, stage in enumerate(instruments.stages):
        groups.setdefault((stage.engine, stage.worker, stage.system), []).append(place)
    return [_cell(instruments, *name, places) for name, places in groups.items()]


def _cell(instruments: Instruments, engine: str, worker: str, system: str, places: Sequence[int]) -> Cell:
    stages = [instruments.stages[place] for place in places]
    readers = instruments.readers
    nll = np.array([[instruments.nlls(reader, place) for place in places] for reader in readers])
    own = _own(readers, engine)
    tasks = [stage.task for stage in stages]
    several = len(readers) > 1 and len(set(tasks)) > 1
    sides = halves(tasks)
    best = strongest(nll, sides) if several else nll[own]
    knowing = np.array([_calibrated(instruments, reader, places, sides) for reader in readers])
    answer = strongest(knowing, sides) if several else knowing[own]
    lengths = np.array([instruments.lengths(place, "context", "relay") for place in places])
    answers = np.array([instruments.answer_nlls(readers[own], place) for place in places])
    delta = relay_loss(best[:, 0], best[:, 1])
    found = [value for place in places for value in _unsourced(instruments, place)]
    return Cell(
        engine=engine,
        worker=worker,
        system=system,
        tasks=len(set(tasks)),
        rate_tokens=mean([stage.rate_tokens for stage in stages]),
        rate=rate(lengths[:, 1]),
        reduction=context_reduction(lengths[:, 0], lengths[:, 1]),
        share=_share(instruments, places),
        task_information=information(best[:, 2], best[:, 0]),
        delta_strong=delta,
        gain=reader_gain(nll[own, :, 0], nll[own, :, 1]),
        relief=relief(nll[own, :, 0], nll[own, :, 1], best[:, 0], best[:, 1]),
        answer_loss=relay_loss(answers[:, 0], answers[:, 1]),
        answer_delta=relay_loss(answer[:, 0], answer[:, 1]),
        answer_full=mean(answer[:, 0]),
        achieved_loss=mean([stage.achieved_loss for stage in stages]),
        seen=mean([float("nan") if s.success_full is None else s.success - s.success_full for s in stages]),
        leak=leak(delta, found),
    )


def _own(readers: Sequence[Asker], engine: str) -> int:
    """The reader that is the worker's own model; the first one where it is not among them."""
    return next((i for i, reader in enumerate(readers) if reader.label == engine), 0)


def _calibrated(
    instruments: Instruments, reader: Asker, places: Sequence[int], sides: NDArray[np.bool_]
) -> list[list[float]]:
    """NLL of the answer-bearing tokens under the calibrated reader, (places, conditions)."""
    owners: list[tuple[int, int]] = []
    slots: list[Slot] = []
    for i, place in enumerate(places):
        for condition, found in enumerate(instruments.slots(reader, place)):
            owners += [(i, condition)] * len(found)
            slots += found
    totals = [[0.0] * len(CONDITIONS) for _ in places]
    for (i, condition), nll in zip(owners, calibrated(slots, [sides[i] for i, _ in owners]), strict=True):
        totals[i][condition] += float(nll)
    return totals


def _share(instruments: Instruments, places: Sequence[int]) -> Share | None:
    lengths = [instruments.lengths(p, "direct", "floor", "context") for p in places if instruments.sampled(p)]
    if not lengths:
        return None
    direct, floor, ceiling = np.array(lengths).T
    return share_removed(direct, floor, ceiling) if ceiling.mean() > floor.mean() else None


def _unsourced(instruments: Instruments, place: int) -> list[str]:
    """Target values without a source; of a relay that is declared to know the target there is nothing to find."""
    stage = instruments.stages[place]
    if any(relay.knows_target for relay in stage.relays):
        return []
    aim = instruments.aim(place)
    values = {**aim.values, "target": aim.targets[0]}
    return unsourced(stage.task, values, stage.message, f"{stage.subtask}\n{stage.context}")
