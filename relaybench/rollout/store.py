"""The store: a run folder that is being written.

    config.yaml     the resolved config                    run.json         what ran, with which versions
    episodes.jsonl  one line an episode (records.Episode)  failures.jsonl   attempts that failed for outside reasons
    shared.jsonl    rollouts and relays that several episodes use, each once (records.Shared)
    damaged.jsonl   lines that could not be read on resume, kept aside; only where there were any

An episode is on disk, whole and synced, before it counts as done, and what it refers to is synced before it. A
killed run loses at most the episodes in flight. One process writes a folder at a time. `read_run` reads it.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path

import msgspec

from relaybench.benchmarks.base import Benchmark
from relaybench.config import RunConfig
from relaybench.errors import UserError
from relaybench.records import SCHEMA, Episode, Failure, Shared
from relaybench.rollout.journal import Journals, Line, append_synced, cut, replace_file, scan, sync_folder
from relaybench.rollout.metadata import META, Meta, now, previous_meta, session, write_config, write_meta
from relaybench.rollout.reading import EPISODES, FAILURES, SHARED, Reader, StoredRun, read_run
from relaybench.rollout.secrets import Scrubber

__all__ = ["RunStore", "StoredRun", "open_store", "read_run", "stored_keys"]

DAMAGED = "damaged.jsonl"
LOCK = ".lock"
_SHARED, _FAILURES, _EPISODES = range(3)  # in the order of syncing


class RunStore:
    """One run folder, open for writing; `open_store` makes it."""

    def __init__(self, folder: Path, lock: int, scrubber: Scrubber) -> None:
        self.folder = folder
        self.scrubber = scrubber
        self.done: set[str] = set()
        """Keys of the episodes that are stored."""
        self.notes: list[str] = []
        """What was found damaged on opening."""
        self._lock = lock
        self._places: dict[str, int] = {}
        self._unsynced: dict[str, Shared] = {}
        self._encode = msgspec.json.Encoder().encode
        self._recover()
        self._journals = Journals([folder / name for name in (SHARED, FAILURES, EPISODES)])
        sync_folder(folder)

    async def add(self, episode: Episode) -> None:
        """Store an episode; returns once it is on disk. Raises OSError where it cannot be written."""
        await self._append(_EPISODES, episode)[1]
        self.done.add(episode.key)

    async def fail(self, failure: Failure) -> None:
        """Store a failure; returns once it is on disk. Raises OSError where it cannot be written."""
        await self._append(_FAILURES, failure)[1]

    def share(self, record: Shared) -> None:
        """Queue a shared rollout or relay: it is synced before any episode that is added after it."""
        offset, done = self._append(_SHARED, record)
        self._unsynced[record.key] = record
        done.add_done_callback(partial(self._synced, record.key, offset))

    def shared(self, key: str) -> Shared | None:
        """A shared record by its key; None where there is none."""
        offset = self._places.get(key)
        if offset is None:
            return self._unsynced.get(key)
        with (self.folder / SHARED).open("rb") as file:
            file.seek(offset)
            return msgspec.json.decode(file.readline(), type=Shared)

    def close(self) -> None:
        """Write out what is queued, and let the folder go."""
        self._journals.close()
        os.close(self._lock)

    def _append(self, file: int, record: Episode | Failure | Shared) -> tuple[int, asyncio.Future[None]]:
        return self._journals.append(file, self.scrubber.clean(self._encode(record)))

    def _synced(self, key: str, offset: int, done: asyncio.Future[None]) -> None:
        if not done.cancelled() and done.exception() is None:
            self._places[key] = offset
            self._unsynced.pop(key, None)

    def _recover(self) -> None:
        """Index what is stored; cut torn lines off and set unusable ones aside."""
        while self._mend(self._index_shared()):
            continue  # places have moved
        episodes = Reader(self.folder / EPISODES, Episode)
        orphans = [line for line, episode in episodes if not self._whole(episode, line)]
        self._mend(episodes, orphans)
        failures = Reader(self.folder / FAILURES, Failure)
        for _ in failures:
            continue
        self._mend(failures)

    def _index_shared(self) -> Reader[Shared]:
        reader = Reader(self.folder / SHARED, Shared)
        self._places = {}
        for line, record in reader:
            self._places.setdefault(record.key, line.offset)
        return reader

    def _whole(self, episode: Episode, line: Line) -> bool:
        if set(episode.shared) <= self._places.keys():
            self.done.add(episode.key)
            return True
        self.notes.append(f"{self.folder / EPISODES}:{line.number}: its shared rollout is missing; it is run again")
        return False

    def _mend(self, reader: Reader[Shared] | Reader[Episode] | Reader[Failure], orphans: Sequence[Line] = ()) -> bool:
        """Whether lines had to be taken out of the reader's file."""
        self.notes.extend(reader.notes)
        if reader.torn is not None:
            cut(reader.path, reader.torn.offset)
        unusable = {line.number: line.data for line in (*reader.bad, *orphans)}
        if not unusable:
            return False
        append_synced(self.folder / DAMAGED, unusable.values())
        whole = (line for line in scan(reader.path) if isinstance(line, Line))
        replace_file(reader.path, b"".join(line.data + b"\n" for line in whole if line.number not in unusable))
        self.notes.append(f"{reader.path}: {len(unusable)} unusable line(s) set aside in {DAMAGED}")
        return True


def open_store(config: RunConfig, benchmark: Benchmark, keys: Collection[str], shard: str | None = None) -> RunStore:
    """Open or resume the config's run folder, for a grid with these keys.

    Raises UserError where the folder is in use, holds another benchmark or revision, or cannot be written.
    """
    folder, scrubber = config.out, Scrubber.of(config)
    _check_folder(folder)
    lock = _lock(folder)
    try:
        before = previous_meta(folder)
        if before is not None:
            _check_same(folder, before, benchmark)
        store = RunStore(folder, lock, scrubber)
        write_config(folder, config, scrubber)
        write_meta(folder, _meta(before, benchmark, len(store.done | set(keys)), shard))
    except OSError as error:
        os.close(lock)
        raise _unwritable(folder, error) from None
    except UserError:
        os.close(lock)
        raise
    return store


def stored_keys(folder: Path) -> set[str]:
    """Keys of the episodes in a folder, which need not exist; the folder is left as it is."""
    return {episode.key for _, episode in Reader(folder / EPISODES, Episode)}


def _meta(before: Meta | None, benchmark: Benchmark, planned: int, shard: str | None) -> Meta:
    return Meta(
        schema=SCHEMA,
        benchmark=benchmark.name,
        label=benchmark.label,
        revision=benchmark.revision,
        started=before.started if before else now(),
        planned=planned,
        sessions=(*(before.sessions if before else ()), session()),
        shard=shard,
    )


def _check_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = {path.name for path in folder.iterdir()}
    except OSError as error:
        raise _unwritable(folder, error) from None
    if there - {LOCK} and not there & {META, EPISODES}:
        raise UserError(f"{folder} holds other files and is no run folder; name another with --out")


def _check_same(folder: Path, before: Meta, benchmark: Benchmark) -> None:
    if (before.benchmark, before.revision) != (benchmark.name, benchmark.revision):
        raise UserError(
            f"{folder} holds {before.label}, revision {before.revision}; this config is {benchmark.label}, revision "
            f"{benchmark.revision}, and the two are never pooled; name another folder with --out"
        )


def _lock(folder: Path) -> int:
    try:
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise _unwritable(folder, error) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise UserError(f"another relaybench is writing {folder}; wait for it, or name another with --out") from None
    return handle


def _unwritable(folder: Path, error: OSError) -> UserError:
    return UserError(f"cannot write to the run folder {folder} ({error.strerror}); name another with --out")
