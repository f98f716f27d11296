"""Journals: append-only files of JSON lines, written by one thread that syncs many lines at once.

A line counts once its file is synced: `Journals.append` gives a future that is done then. Files are synced in the
order in which they were named, so what is referred to goes first. Nothing is read back before an append, and a line
is never changed: a kill leaves at most one torn line at the end of a file, which `scan` leaves out and names.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import BinaryIO, NamedTuple


class Line(NamedTuple):
    """One whole line of a journal, without its line feed."""

    number: int
    """From 1."""
    offset: int
    """Bytes before it."""
    data: bytes


class Torn(NamedTuple):
    """The last line, where it does not end: written by a process that was killed, or is still writing."""

    number: int
    offset: int


def scan(path: Path) -> Iterator[Line | Torn]:
    """Lines of a journal in order; none where there is no file. A torn line comes last."""
    if not path.exists():
        return
    offset = 0
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            if not raw.endswith(b"\n"):
                yield Torn(number, offset)
            elif raw != b"\n":
                yield Line(number, offset, raw[:-1])
            offset += len(raw)


@dataclass(frozen=True, slots=True)
class _Entry:
    file: int
    data: bytes
    done: asyncio.Future[None]


class Journals:
    """Several journals with one writer thread. Use from one event loop; `close` writes out what is queued."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._files: list[BinaryIO] = [path.open("ab") for path in paths]
        self._sizes = [path.stat().st_size for path in paths]
        self._queue: SimpleQueue[_Entry | None] = SimpleQueue()
        self._broken: OSError | None = None
        self._thread = Thread(target=self._work, name="journals", daemon=True)
        self._thread.start()

    def append(self, file: int, data: bytes) -> tuple[int, asyncio.Future[None]]:
        """Queue one line: its offset, and a future that is done when it is on disk (OSError where it cannot be)."""
        offset = self._sizes[file]
        entry = _Entry(file, data + b"\n", asyncio.get_running_loop().create_future())
        self._sizes[file] += len(entry.data)
        self._queue.put(entry)
        return offset, entry.done

    def close(self) -> None:
        """Write and sync what is queued, then end the thread."""
        self._queue.put(None)
        self._thread.join()
        for file in self._files:
            with suppress(OSError):  # told by the futures already
                file.close()

    def _work(self) -> None:
        closing = False
        while not closing:
            batch = self._batch()
            closing = batch[-1] is None
            entries = [entry for entry in batch if entry is not None]
            if entries:
                self._commit(entries)

    def _batch(self) -> list[_Entry | None]:
        """Waits for one entry, and takes all that have come in with it."""
        batch = [self._queue.get()]
        with suppress(Empty):
            while batch[-1] is not None:
                batch.append(self._queue.get_nowait())
        return batch

    def _commit(self, entries: list[_Entry]) -> None:
        try:
            if self._broken is not None:  # after a failed write the end of a file is unknown: append nothing to it
                raise self._broken
            for number, file in enumerate(self._files):
                data = b"".join(entry.data for entry in entries if entry.file == number)
                if data:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
        except OSError as error:
            self._broken = error
        with suppress(RuntimeError):  # the loop may be closed by now: nobody waits
            entries[0].done.get_loop().call_soon_threadsafe(_resolve, entries, self._broken)


def _resolve(entries: list[_Entry], error: OSError | None) -> None:
    for entry in entries:
        if entry.done.done():
            continue
        if error is None:
            entry.done.set_result(None)
        else:
            entry.done.set_exception(error)


def replace_file(path: Path, data: bytes) -> None:
    """Put a file in place whole: temporary file, sync, rename, sync of the folder."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def append_synced(path: Path, lines: Iterable[bytes]) -> None:
    """Append lines without a writer thread, and sync."""
    with path.open("ab") as file:
        file.write(b"".join(line + b"\n" for line in lines))
        file.flush()
        os.fsync(file.fileno())


def cut(path: Path, size: int) -> None:
    """Drop what follows the first `size` bytes (a torn line), durably."""
    with path.open("r+b") as file:
        file.truncate(size)
        os.fsync(file.fileno())
