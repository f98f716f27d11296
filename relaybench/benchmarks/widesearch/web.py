"""The web as a task sees it: something to search, and pages to open.

Two of them: `offline.py`, a collection of pages made from the gold tables, and `live.py`, the web itself. Texts come
in parts of bounded length; what cannot be had is `Unreachable`, which an environment tells its worker.
"""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

HITS = 8
"""Results of a search."""
PART = 3000
"""Characters of a page shown at once."""
EXCERPT = 200
"""Characters of a page shown with a search result."""


class Hit(Struct, frozen=True):
    """One result of a search."""

    title: str
    url: str
    excerpt: str


class Page(Struct, frozen=True):
    """One page, its text in full."""

    title: str
    url: str
    text: str


class Unreachable(Exception):
    """A search or a page that cannot be had now or at all; the message says why."""


class Web(Protocol):
    """Answers the same request in the same way throughout a run."""

    name: str
    """How observations and results name it."""

    async def search(self, query: str) -> list[Hit]:
        """At most HITS results, best first. Raises Unreachable."""
        ...

    async def page(self, url: str) -> Page:
        """The page at an address. Raises Unreachable."""
        ...

    async def close(self) -> None: ...


def parts(text: str) -> list[str]:
    """`text` in parts of at most PART characters, cut at line ends where there are any in the last third."""
    found: list[str] = []
    while len(text) > PART:
        end = text.rfind("\n", PART * 2 // 3, PART)
        end = PART if end < 0 else end
        found.append(text[:end].rstrip())
        text = text[end:].lstrip("\n")
    return [*found, text]


def shorten(text: str, limit: int) -> str:
    """On one line, at most `limit` characters and a mark where something was cut."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[:limit].rstrip() + " ..."
