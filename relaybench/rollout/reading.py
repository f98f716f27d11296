"""Reading a run folder: finished, live, torn by a kill or of an older schema; the folder itself is left as it is.

Lines that cannot be used are left out and named in `notes`: a torn last line, a corrupt one, an episode whose shared
rollout is gone, a key that was stored before (the first one wins).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from relaybench.errors import UserError
from relaybench.records import SCHEMA, Episode, Failure, Shared
from relaybench.rollout.journal import Line, Torn, scan
from relaybench.rollout.metadata import read_config, read_meta

EPISODES = "episodes.jsonl"
SHARED = "shared.jsonl"
FAILURES = "failures.jsonl"

Stored = TypeVar("Stored", Episode, Shared, Failure)


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as it is on disk."""

    path: Path
    meta: dict[str, Any]
    """What `run.json` holds (rollout/metadata.py: Meta)."""
    config: dict[str, Any]
    """The resolved config, prices included."""
    episodes: list[Episode]
    """Whole: shared rollouts are back in `workers`, in the order in which they ended."""
    shared: dict[str, Shared]
    """Rollouts and relays that several episodes use, by key: each was made, and paid for, once."""
    failures: list[Failure]
    """Every failed attempt; episodes that succeeded later are in `episodes` too."""
    notes: list[str] = field(default_factory=list)
    """What was left out, and where."""

    @property
    def open_failures(self) -> list[Failure]:
        """The last failure of each episode that has not succeeded since."""
        done = {episode.key for episode in self.episodes}
        return list({failure.key: failure for failure in self.failures if failure.key not in done}.values())


def read_run(path: Path) -> StoredRun:
    """Read a run folder, live ones included. Raises UserError where `path` is none."""
    meta = read_meta(path)
    config = read_config(path)
    # Episodes before what they refer to: a live run writes the shared line first, so ours are all there.
    episodes = Reader(path / EPISODES, Episode)
    stored = list(episodes)
    sharing = Reader(path / SHARED, Shared)
    shared: dict[str, Shared] = {}
    for _, record in sharing:
        shared.setdefault(record.key, record)
    failed = Reader(path / FAILURES, Failure)
    failures = [failure for _, failure in failed]
    notes = [*episodes.notes, *sharing.notes, *failed.notes]
    whole: dict[str, Episode] = {}
    for line, episode in stored:
        if not set(episode.shared) <= shared.keys():
            notes.append(
                f"{episodes.path}:{line.number}: its shared rollout is missing; left out, a resume runs it again"
            )
        elif episode.key in whole:
            notes.append(f"{episodes.path}:{line.number}: key {episode.key} was stored before; the first one counts")
        else:
            whole[episode.key] = rejoin(episode, shared)
    return StoredRun(path, msgspec.to_builtins(meta), config, list(whole.values()), shared, failures, notes)


def rejoin(episode: Episode, shared: dict[str, Shared]) -> Episode:
    """The episode with its shared rollouts among its workers."""
    if not episode.shared:
        return episode
    lent = [record.worker for record in (shared[key] for key in episode.shared) if record.worker is not None]
    place = {subtask: i for i, subtask in enumerate(episode.order)}
    workers = sorted((*lent, *episode.workers), key=lambda worker: place.get(worker.subtask, len(place)))
    return msgspec.structs.replace(episode, workers=tuple(workers))


class Reader(Generic[Stored]):
    """The records of one journal, in order. Unusable lines are left out; `bad`, `torn` and `notes` tell which."""

    def __init__(self, path: Path, kind: type[Stored]) -> None:
        self.path = path
        self.bad: list[Line] = []
        self.torn: Torn | None = None
        self.notes: list[str] = []
        self._decoder: msgspec.json.Decoder[Stored] = msgspec.json.Decoder(kind)

    def __iter__(self) -> Iterator[tuple[Line, Stored]]:
        for line in scan(self.path):
            if isinstance(line, Torn):
                self.torn = line
                self.notes.append(f"{self.path}:{line.number}: the last line is torn; left out")
                continue
            record = self._decode(line)
            if record is not None:
                yield line, record

    def _decode(self, line: Line) -> Stored | None:
        try:
            record = self._decoder.decode(line.data)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self.bad.append(line)
            self.notes.append(f"{self.path}:{line.number}: corrupt line ({error}); left out, a resume runs it again")
            return None
        if record.schema > SCHEMA:
            raise UserError(
                f"{self.path}:{line.number} was written by a newer relaybench (schema {record.schema}); "
                f"upgrade this one (schema {SCHEMA})"
            )
        return record
