"""Stages: where relays enter a worker, and the prompts that reader would have had with other knowledge.

A stage is one worker of one stored MAS episode with all relays into it. Its three conditions are prompts as messages:
`relay` as it was, `none` without the relays, and `full`, the same worker's opening in the SAS-contextflow episode of
the same task, engine and seed, after all upstream contexts. They are read off the store; no benchmark is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from relaybench.records import Episode, Message, Relay, WorkerRecord
from relaybench.relays.lossy import HIDDEN
from relaybench.rollout.executor import heading
from relaybench.rollout.reading import StoredRun

OPENING = 2
"""Messages before a fresh worker's first turn: system and user."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One worker that relays went into."""

    task: str
    engine: str
    seed: int
    system: str
    worker: str
    relays: tuple[Relay, ...]
    none: tuple[Message, ...]
    relay: tuple[Message, ...]
    full: tuple[Message, ...] | None
    """None where the run holds no SAS-contextflow episode to compare with."""
    context: str
    """M: what the senders saw and said after their opening messages."""
    success: float
    success_full: float | None

    @property
    def subtask(self) -> str:
        """X: the task and what this worker is to do about it."""
        return self.none[-1].content

    @property
    def message(self) -> str:
        """m: the text of all relays."""
        return "\n".join(relay.text for relay in self.relays)

    @property
    def achieved_loss(self) -> float:
        """Mean share of needed values that a relay does not hold; nan where none are needed."""
        missing = [relay.missing for relay in self.relays if relay.missing is not None]
        return sum(missing) / len(missing) if missing else float("nan")

    def lists(self, field: str) -> bool | None:
        """Whether the relays list that field's value; None where their text has no fields."""
        if any(relay.fields is None for relay in self.relays):
            return None
        return any((relay.fields or {}).get(field, HIDDEN) != HIDDEN for relay in self.relays)

    @property
    def rate_tokens(self) -> float:
        """Tokens of all relays, in the reader's tokenizer; nan where they are not known."""
        return float(sum(float("nan") if r.rate_tokens is None else r.rate_tokens for r in self.relays))


def stages(run: StoredRun) -> list[Stage]:
    """All stages of a run, in the order of its episodes."""
    flows = {_place(e): e for e in run.episodes if e.prototype == "sas-contextflow"}
    return [stage for episode in run.episodes for stage in _of_episode(episode, flows.get(_place(episode)))]


def first_replies(run: StoredRun) -> dict[tuple[str, str], list[str]]:
    """By (task, worker): what that worker said first in episodes that succeeded, each distinct reply once."""
    said: dict[tuple[str, str], dict[str, None]] = {}
    for episode in run.episodes:
        for worker in episode.workers if episode.score.success else ():
            reply = next((m.content for m in worker.messages if m.role == "assistant"), None)
            if reply is not None:
                said.setdefault((episode.task, worker.subtask), {})[reply] = None
    return {place: list(replies) for place, replies in said.items()}


def _place(episode: Episode) -> tuple[str, str, int]:
    return episode.task, episode.engine, episode.seed


def _of_episode(episode: Episode, flow: Episode | None) -> Iterator[Stage]:
    workers = {worker.subtask: worker for worker in episode.workers}
    for name, worker in workers.items():
        relays = tuple(relay for relay in episode.relays if relay.to == name)
        if not relays or worker.inherits or episode.prototype != "mas":
            continue
        senders = [workers[source] for relay in relays for source in relay.sources if source in workers]
        opening = worker.messages[:OPENING]
        yield Stage(
            task=episode.task,
            engine=episode.engine,
            seed=episode.seed,
            system=episode.system,
            worker=name,
            relays=relays,
            none=_without(opening, relays),
            relay=opening,
            full=None if flow is None else _inherited(flow, name),
            context="\n".join(m.content for sender in senders for m in sender.messages[OPENING:]),
            success=float(episode.score.success),
            success_full=None if flow is None else float(flow.score.success),
        )


def _without(opening: Sequence[Message], relays: Sequence[Relay]) -> tuple[Message, ...]:
    """The opening messages with the relays taken from the end of the last one."""
    told = [heading(relay) + relay.text for relay in relays if relay.text]
    *first, last = opening
    content = last.content.removesuffix("\n\n".join(told)).removesuffix("\n\n") if told else last.content
    return (*first, Message(last.role, content))


def _inherited(flow: Episode, name: str) -> tuple[Message, ...] | None:
    """What that worker had read in SAS-contextflow when its first turn came."""
    workers: dict[str, WorkerRecord] = {worker.subtask: worker for worker in flow.workers}
    if name not in workers or not set(workers[name].inherits) <= workers.keys():
        return None
    before = [m for source in workers[name].inherits for m in workers[source].messages]
    own = workers[name].messages
    turn = next((i for i, m in enumerate(own) if m.role == "assistant"), len(own))
    return (*before, *own[:turn])
