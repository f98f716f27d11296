"""Search: BM25 as Lucene computes it, in the official shop's order, without Java.

k1 = 0.9, b = 0.4; document lengths as Lucene stores them in one byte; each word's part in float32, the sum in float64
cast to float32, and equal scores by asin. Postings lie in one array, with what each adds to a score worked out before,
so a query costs what its words occur. One search at a time: the sums are kept in one array.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from relaybench.benchmarks.webshop.catalogue import Product
from relaybench.benchmarks.webshop.words import words

K1, B = np.float32(0.9), np.float32(0.4)
RESULTS = 50
SPARSE = 20
"""Rows are sorted, not looked for among all, while this many times fewer are touched."""
MOST_WORDS = 1024
"""Lucene refuses queries of more distinct words."""


class TooManyWords(Exception):
    """A query of more than 1,024 distinct words: Lucene's TooManyClauses."""


class Index:
    """Products by the words of title, description, first bullet and options."""

    def __init__(self, products: Sequence[Product]) -> None:
        self.asins = np.array([product.asin for product in products])
        self._rank = np.argsort(np.argsort(self.asins, kind="stable"), kind="stable")
        self._vocabulary: dict[str, int] = {}
        entries = [self._entries(product) for product in products]
        self._lengths, average = _lengths([sum(entry.values()) for entry in entries])
        self._build(entries)
        ratio = self._lengths / average
        self._norm: NDArray[np.float32] = np.float32(1) / (K1 * ((np.float32(1) - B) + B * ratio))
        self._parts = np.empty_like(self._counts, dtype=np.float32)
        for start, end in zip(self._starts, self._starts[1:], strict=False):
            self._parts[start:end] = self._part(slice(start, end), 1)
        self._scores = np.zeros(len(products))

    def search(self, query: str, limit: int = RESULTS) -> list[str]:
        """The asins of the best products, best first. Raises TooManyWords."""
        counts = Counter(words(query))
        if len(counts) > MOST_WORDS:
            raise TooManyWords(f"{len(counts)} distinct words; at most {MOST_WORDS}")
        scores, touched = self._scores, []
        for word, boost in counts.items():
            place = self._vocabulary.get(word)
            if place is not None:
                part = slice(self._starts[place], self._starts[place + 1])
                rows = self._rows[part]
                scores[rows] += self._parts[part] if boost == 1 else self._part(part, boost)
                touched.append(rows)
        found = self._found(touched)
        best = self._best(found, scores[found].astype(np.float32), limit)
        scores[found] = 0
        return [str(asin) for asin in self.asins[best]]

    def _found(self, touched: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
        """All rows that any word occurs in, ascending: by a look at every score where the words are common ones."""
        if not touched:
            return np.zeros(0, dtype=np.int32)
        if SPARSE * sum(map(len, touched)) > len(self._scores):
            return np.flatnonzero(self._scores).astype(np.int32)
        return np.unique(np.concatenate(touched))

    def _entries(self, product: Product) -> Counter[int]:
        vocabulary = self._vocabulary
        return Counter(vocabulary.setdefault(word, len(vocabulary)) for word in words(document(product)))

    def _build(self, entries: Sequence[Counter[int]]) -> None:
        """Postings of all words one after the other, rows ascending within each."""
        sizes = [len(entry) for entry in entries]
        words_ = np.fromiter((w for entry in entries for w in entry), np.int64, sum(sizes))
        counts = np.fromiter((c for entry in entries for c in entry.values()), np.float32, sum(sizes))
        rows = np.repeat(np.arange(len(entries), dtype=np.int32), sizes)
        order = np.argsort(words_, kind="stable")
        self._rows, self._counts = rows[order], counts[order].astype(np.uint16)
        self._starts = np.concatenate(([0], np.cumsum(np.bincount(words_, minlength=len(self._vocabulary)))))

    def _part(self, part: slice, boost: int) -> NDArray[np.float32]:
        """What a word with this part of the postings adds to the score of each of its rows, in float32."""
        rows, counts = self._rows[part], self._counts[part]
        total, having = len(self.asins), len(rows)
        weight = np.float32(boost) * np.float32(np.log(1 + (total - having + 0.5) / (having + 0.5)))
        added: NDArray[np.float32] = weight - weight / (np.float32(1) + counts * self._norm[rows])
        return added

    def _best(self, rows: NDArray[np.int32], scores: NDArray[np.float32], limit: int) -> NDArray[np.int32]:
        """At most `limit` of `rows`, by falling score, then by asin."""
        if len(rows) > limit:
            cut = -np.partition(-scores, limit - 1)[limit - 1]
            kept = scores >= cut
            rows, scores = rows[kept], scores[kept]
        best: NDArray[np.int32] = rows[np.lexsort((self._rank[rows], -scores))][:limit]
        return best


def document(product: Product) -> str:
    """The text that is indexed for a product."""
    options = ", and ".join(f"{name}: {', '.join(values)}" for name, values in product.options.items())
    first = product.bullets[0] if product.bullets else ""
    return f"{product.title} {product.description} {first} {options}".lower()


def _lengths(counts: Sequence[int]) -> tuple[NDArray[np.float32], np.float32]:
    """Document lengths as Lucene reads them back from one byte, and their average before that."""
    stored = np.array([_one_byte(count) for count in counts], dtype=np.float32)
    return stored, np.float32(sum(counts) / max(len(counts), 1))


def _one_byte(length: int) -> int:
    """A length after Lucene's SmallFloat.intToByte4 and back: exact below 40, then with four leading bits."""
    free = 255 - _int4(2**31 - 1)
    if length < free:
        return length
    return free + _from_int4(_int4(length - free))


def _int4(value: int) -> int:
    bits = value.bit_length()
    if bits < 4:
        return value
    shift = bits - 4
    return (value >> shift) & 0x07 | (shift + 1) << 3


def _from_int4(code: int) -> int:
    bits, shift = code & 0x07, (code >> 3) - 1
    return bits if shift == -1 else (bits | 0x08) << shift
