"""What a benchmark's data consists of: files, where each is from, and what it must be."""

from __future__ import annotations

from msgspec import Struct

from relaybench.benchmarks.pins import Pin


class SourceFile(Struct, frozen=True):
    """One file of a benchmark's data."""

    path: str
    """In our layout, relative to the benchmark's folder."""
    url: str | None
    """Its official address; None for a file that no address serves as it is: it can only be imported."""
    size: int
    """In bytes; exact where the pin is a Sha256, else about right."""
    pin: Pin


class Source(Struct, frozen=True):
    """The data of one benchmark."""

    name: str
    title: str
    licence: str
    files: tuple[SourceFile, ...]
    origin: str = ""
    """Where to get, and how to make, the files without an address."""

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(file.size for file in self.files)
