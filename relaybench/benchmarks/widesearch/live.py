"""The live back end: DuckDuckGo and the pages it finds (paper, appendix B.3), everything kept on disk.

What was once found or opened is read from the cache ever after, so that all systems of a run, shared rollouts and a
resumed run see the same web; time-outs and refusals of the moment are not kept. Downloads are bounded in size and
time, and only addresses on the public internet are opened, since models choose them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import msgspec

from relaybench.benchmarks.widesearch.fetch import Fetcher
from relaybench.benchmarks.widesearch.web import EXCERPT, HITS, Hit, Page, Unreachable, shorten
from relaybench.errors import UserError

SECONDS = 20.0
"""What one search may take."""
AT_ONCE = 2
"""Searches at once: the service turns away those who ask much."""

Find = Callable[[str], list[Hit]]
Answer = TypeVar("Answer")


def duckduckgo(query: str) -> list[Hit]:
    """DuckDuckGo's first results; [] where it has none. Blocks. Raises Unreachable, UserError without `ddgs`."""
    try:
        from ddgs import DDGS
    except ImportError as error:
        raise UserError("live search needs ddgs; run `scripts/install benchmarks`") from error
    try:
        found = DDGS(timeout=int(SECONDS) // 2).text(query, max_results=HITS, backend="duckduckgo")
    except Exception as error:  # its exceptions are of many kinds, an empty result among them
        if "no results" in str(error).lower():
            return []
        raise Unreachable(f"the search failed ({type(error).__name__})") from error
    return [_hit(entry) for entry in found if entry.get("href")]


class LiveWeb:
    """Searches with `find`, opens with `fetcher`; `cache` is a folder, made when first needed."""

    name = "live web"

    def __init__(self, cache: Path, *, find: Find = duckduckgo, fetcher: Fetcher | None = None) -> None:
        self._cache = cache
        self._find = find
        self._fetcher = fetcher or Fetcher()
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def search(self, query: str) -> list[Hit]:
        """Raises Unreachable after SECONDS, or where the service refuses; UserError without `ddgs`."""
        return await self._once(f"search {query}", list[Hit], lambda: self._ask(query))

    async def page(self, url: str) -> Page:
        """The text of a page. Raises Unreachable."""
        return await self._once(f"page {url}", Page, lambda: self._fetcher.page(url))

    async def close(self) -> None:
        """Let go of connections; the cache stays."""
        await self._fetcher.close()

    async def _ask(self, query: str) -> list[Hit]:
        async with self._slots:
            try:
                return (await asyncio.wait_for(asyncio.to_thread(self._find, query), SECONDS))[:HITS]
            except TimeoutError as error:
                raise Unreachable(f"the search took longer than {SECONDS:.0f} seconds") from error

    async def _once(self, request: str, kind: type[Answer], make: Callable[[], Awaitable[Answer]]) -> Answer:
        """The kept answer to a request, or the one that `make` gives, kept. Equal requests wait for one another."""
        path = self._path(request)
        lock = self._locks.setdefault(path.name, asyncio.Lock())
        async with lock:
            kept = await asyncio.to_thread(_read, path, kind)
            if kept is not None:
                return kept
            answer = await make()
            await asyncio.to_thread(_write, path, {"request": request, "answer": answer})
            return answer

    def _path(self, request: str) -> Path:
        digest = sha256(request.encode(errors="replace")).hexdigest()
        return self._cache / digest[:2] / f"{digest[2:34]}.json"


def _read(path: Path, kind: type[Answer]) -> Answer | None:
    """The answer in a file; None where there is none or it cannot be read."""
    try:
        raw = msgspec.json.decode(path.read_bytes())
        return msgspec.convert(raw["answer"], kind)
    except (OSError, msgspec.MsgspecError, KeyError, TypeError):
        return None


def _write(path: Path, content: dict[str, Any]) -> None:
    """Whole or not at all. Raises UserError where the folder cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_bytes(msgspec.json.encode(content))
        draft.replace(path)
    except OSError as error:
        raise UserError(f"cannot keep a page in {path.parent} ({error.strerror}); set benchmark.cache") from error


def _hit(entry: dict[str, Any]) -> Hit:
    title, body = str(entry.get("title") or ""), str(entry.get("body") or "")
    return Hit(shorten(title, EXCERPT), str(entry["href"]), shorten(body, EXCERPT))
