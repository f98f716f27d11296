"""The instruments of one run: what to score for its stages, by whom, and the scores by stage.

Readers score the targets under a stage's three conditions; the reference scores code lengths, the long direct ones on a
sample of tasks only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from msgspec import Struct

from relaybench.engines.base import ContextFull, EngineError
from relaybench.errors import UserError
from relaybench.information.asking import CODED, Asker
from relaybench.information.calibration import Slot
from relaybench.information.relay_loss import ranked
from relaybench.information.scorebook import KEPT, Ask, Scorebook, noise_floor
from relaybench.information.stages import Stage
from relaybench.information.targets import answer_nll, joint_nll

CONDITIONS = ("full", "relay", "none")
PROBES = 16
"""Asks of which the noise floor is made."""

Say = Callable[[str, int, int], None]
"""Told (what, done, of)."""


@dataclass(frozen=True, slots=True)
class Aim:
    """What a stage is judged by: valid replies, and the values that they consist of by name."""

    targets: tuple[str, ...]
    values: Mapping[str, str] = field(default_factory=dict)


class Cost(Struct, frozen=True):
    """What scoring took: new scores and wall seconds, of targets and of code lengths apart."""

    target_scores: int
    target_seconds: float
    code_scores: int
    code_seconds: float


class Instruments:
    """`aims` by (task, worker): stages without one, or without a SAS-contextflow episode beside them, are left out."""

    def __init__(
        self,
        stages: Sequence[Stage],
        aims: Mapping[tuple[str, str], Aim],
        readers: Sequence[Asker],
        reference: Asker,
        book: Scorebook,
        sample: int = 16,
    ) -> None:
        self.stages = [s for s in stages if s.full is not None and (s.task, s.worker) in aims]
        self.readers = list(readers)
        self._aims = aims
        self.reference = reference
        self._book = book
        self._sample = set(ranked(sorted({s.task for s in self.stages}))[:sample])
        self._asked: dict[tuple[str, int, str], list[Ask]] = {}

    async def fill(self, say: Say = lambda what, done, of: None, *, codes: bool = True) -> Cost:
        """Score what is not in the book yet; `codes` False leaves code lengths out."""
        began = time.monotonic()
        scored = 0
        places = range(len(self.stages))
        for reader in self.readers:
            asks = [ask for i in places for name in CONDITIONS for ask in self._targets(reader, i, name)]
            scored += await self._fill(reader, asks, f"targets, {reader.label}", say)
        between = time.monotonic()
        texts = self.stages if codes else ()
        lengths = [self.reference.coded(stage, what) for stage in texts for what in self._coded(stage)]
        coded = await self._fill(self.reference, lengths, f"code lengths, {self.reference.label}", say)
        return Cost(scored, between - began, coded, time.monotonic() - between)

    async def noise(self, reader: Asker) -> float:
        """The noise floor of a reader's engine on some of these targets, nats a token."""
        every = max(1, len(self.stages) // PROBES)
        asks = [self._targets(reader, i, "relay")[0] for i in range(0, len(self.stages), every)][:PROBES]
        with _told(reader):
            return await noise_floor(reader.engine, asks)

    def nlls(self, reader: Asker, place: int) -> list[float]:
        """NLL of stage `place` under each of CONDITIONS, all valid targets together."""
        found = (self._targets(reader, place, name) for name in CONDITIONS)
        return [joint_nll([self._book.logprobs(reader.label, ask) for ask in asks]) for asks in found]

    def answer_nlls(self, reader: Asker, place: int) -> list[float]:
        """NLL of the answer-bearing tokens of the first target, under each of CONDITIONS."""
        asks = [self._targets(reader, place, name)[0] for name in CONDITIONS]
        bearing = {i for places in self._bearing(reader, place, asks[0]).values() for i in places}
        marks = [i in bearing for i in range(len(asks[0].target))]
        return [answer_nll(self._book.logprobs(reader.label, ask), marks) for ask in asks]

    def slots(self, reader: Asker, place: int) -> list[list[Slot]]:
        """The values of the first target under each of CONDITIONS. Their groups: the condition, the system under
        `relay`, and whether the relay lists that field (None where its text has no fields)."""
        stage = self.stages[place]
        asks = [self._targets(reader, place, name)[0] for name in CONDITIONS]
        bearing = self._bearing(reader, place, asks[0])
        found = []
        for condition, ask in zip(CONDITIONS, asks, strict=True):
            logprobs = self._book.logprobs(reader.label, ask)
            listed = {name: (stage.system, stage.lists(name)) if condition == "relay" else None for name in bearing}
            found.append(
                [
                    Slot(stage.task, (condition, listed[name]), tuple(ask.target[i] for i in at), _nll(logprobs, at))
                    for name, at in bearing.items()
                ]
            )
        return found

    def lengths(self, place: int, *what: str) -> list[float]:
        """Code lengths of stage `place` under the reference; see asking.CODED."""
        stage = self.stages[place]
        return [self._book.find(self.reference.label, self.reference.coded(stage, name)).nll for name in what]

    def aim(self, place: int) -> Aim:
        stage = self.stages[place]
        return self._aims[stage.task, stage.worker]

    def sampled(self, place: int) -> bool:
        """Whether the direct code length of this stage is known."""
        return self.stages[place].task in self._sample

    def _bearing(self, reader: Asker, place: int, ask: Ask) -> dict[str, list[int]]:
        """Where values stand in a target; nowhere in one that is too long for its tokens to be kept."""
        aim = self.aim(place)
        return reader.bearing(aim.targets[0], ask.target, aim.values) if len(ask.target) <= KEPT else {}

    def _coded(self, stage: Stage) -> tuple[str, ...]:
        return CODED if stage.task in self._sample else ("context", "relay")

    def _targets(self, reader: Asker, place: int, condition: str) -> list[Ask]:
        known = (reader.label, place, condition)
        if known not in self._asked:
            stage = self.stages[place]
            prompts = {"full": stage.full or (), "relay": stage.relay, "none": stage.none}
            self._asked[known] = [reader.target(prompts[condition], reply) for reply in self.aim(place).targets]
        return self._asked[known]

    async def _fill(self, reader: Asker, asks: Sequence[Ask], what: str, say: Say) -> int:
        def told(done: int, of: int) -> None:
            say(what, done, of)

        with _told(reader):
            return await self._book.fill(reader.label, reader.engine, asks, adapter=reader.adapter, say=told)


@contextmanager
def _told(reader: Asker) -> Iterator[None]:
    """What stops a reader, in one line; what was scored before is in the book."""
    try:
        yield
    except ContextFull as error:
        mend = "give it a larger max_context, or another reader"
        raise UserError(f"reader '{reader.label}' cannot hold a prompt of this run ({error}); {mend}") from None
    except EngineError as error:
        mend = "what was scored is kept, the same command goes on from there"
        raise UserError(f"reader '{reader.label}' stopped: {error}; {mend}") from error


def _nll(logprobs: Sequence[float], places: Sequence[int]) -> float:
    return -sum(logprobs[i] for i in places)
