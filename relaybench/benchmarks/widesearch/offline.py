"""The offline back end: a corpus made from the gold tables under BM25. No live result compares with one made here."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

from relaybench.benchmarks.widesearch.corpus import corpus
from relaybench.benchmarks.widesearch.questions import Question
from relaybench.benchmarks.widesearch.subjects import tokens
from relaybench.benchmarks.widesearch.web import EXCERPT, HITS, Hit, Page, Unreachable, shorten
from relaybench.errors import UserError

QUERY_TOKENS = 200
"""Different words of a query that count."""


class OfflineWeb:
    """One corpus for all `questions`, made at once. One thread searches: many would slow the event loop.

    Raises UserError where bm25s or the data is missing.
    """

    name = "offline corpus"

    def __init__(self, questions: Sequence[Question]) -> None:
        self._library = _Library(corpus(questions))
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="widesearch")

    async def search(self, query: str) -> list[Hit]:
        """Pages by BM25; the same query finds the same."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._library.search, query)

    async def page(self, url: str) -> Page:
        """Raises Unreachable where no page has that address."""
        found = self._library.pages.get(url.strip().rstrip("/"))
        if found is None:
            raise Unreachable("there is no page at that address; open one that a search has shown")
        return found

    async def close(self) -> None:
        """No search is answered any more."""
        self._thread.shutdown(wait=False, cancel_futures=True)


class _Library:
    """Pages by address, and their index over title and text."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self.pages = {page.url: page for page in pages}
        self._order = list(self.pages.values())
        self._index = _bm25().BM25(method="lucene")
        self._index.index([tokens(f"{p.title}\n{p.title}\n{p.text}") for p in self._order], show_progress=False)

    def search(self, query: str) -> list[Hit]:
        known = self._index.vocab_dict
        words = [word for word in dict.fromkeys(tokens(query)) if word in known][:QUERY_TOKENS]
        if not words:
            return []
        scores = self._index.get_scores(words)
        best = [int(i) for i in (-scores).argsort(kind="stable")[:HITS] if scores[i] > 0]
        return [self._hit(self._order[i], frozenset(words)) for i in best]

    def _hit(self, page: Page, words: frozenset[str]) -> Hit:
        """With the line that has most of the query's words, after the first, which only names the subject."""
        best, _ = max(_lines(page.text), key=lambda line: len(words & line[1]), default=("", words))
        return Hit(shorten(page.title, EXCERPT), page.url, shorten(best, EXCERPT))


@lru_cache(maxsize=2048)
def _lines(text: str) -> list[tuple[str, frozenset[str]]]:
    """The lines of a page after the first, with the words of each."""
    return [(line, frozenset(tokens(line))) for line in text.split("\n")[1:] if line.strip(" |-")]


def _bm25() -> Any:
    try:
        import bm25s
    except ImportError as error:
        raise UserError("WideSearch's offline corpus needs bm25s; run `scripts/install benchmarks`") from error
    return bm25s
