"""Words: a text as Lucene's English analyser cuts it, which the official search engine is built on.

Unicode word boundaries, possessives off, lower case, stop words out, Porter's stems in his later version. The tokens
agree with Lucene's on all 1,000 products of the small catalogue (tests/parity).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from relaybench.errors import UserError

LONGEST = 255
"""Longer words are cut into pieces of so many characters."""
_STOP = frozenset(
    (
        *("a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not"),
        *("of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was"),
        *("will", "with"),
    )
)
_POSSESSIVE = re.compile("['\u2019\uff07][sS]$")
# Extended_Pictographic of Unicode 12.1, which Lucene takes for words too; later versions of the standard name fewer.
_PICTOGRAPHS = (
    r"\u00A9\u00AE\u203C\u2049\u2122\u2139\u2194-\u2199\u21A9-\u21AA\u231A-\u231B\u2328\u2388\u23CF\u23E9-\u23F3"
    r"\u23F8-\u23FA\u24C2\u25AA-\u25AB\u25B6\u25C0\u25FB-\u25FE\u2600-\u2605\u2607-\u2612\u2614-\u2685\u2690-\u2705"
    r"\u2708-\u2712\u2714\u2716\u271D\u2721\u2728\u2733-\u2734\u2744\u2747\u274C\u274E\u2753-\u2755\u2757\u2763-\u2767"
    r"\u2795-\u2797\u27A1\u27B0\u27BF\u2934-\u2935\u2B05-\u2B07\u2B1B-\u2B1C\u2B50\u2B55\u3030\u303D\u3297\u3299"
    r"\U0001F000-\U0001F0FF\U0001F10D-\U0001F10F\U0001F12F\U0001F16C-\U0001F171\U0001F17E-\U0001F17F\U0001F18E"
    r"\U0001F191-\U0001F19A\U0001F1AD-\U0001F1E5\U0001F201-\U0001F20F\U0001F21A\U0001F22F\U0001F232-\U0001F23A"
    r"\U0001F23C-\U0001F23F\U0001F249-\U0001F3FA\U0001F400-\U0001F53D\U0001F546-\U0001F64F\U0001F680-\U0001F6FF"
    r"\U0001F774-\U0001F77F\U0001F7D5-\U0001F7FF\U0001F80C-\U0001F80F\U0001F848-\U0001F84F\U0001F85A-\U0001F85F"
    r"\U0001F888-\U0001F88F\U0001F8AE-\U0001F8FF\U0001F90C-\U0001F93A\U0001F93C-\U0001F945\U0001F947-\U0001FFFD"
)


def words(text: str) -> list[str]:
    """The stems of a text, in order, with repeats."""
    return [_stem(piece) for piece in _pieces(text) if piece not in _STOP]


def _pieces(text: str) -> Iterator[str]:
    boundaries, wordlike = _patterns()
    for found in boundaries.finditer(text):
        segment = found.group()
        if wordlike.search(segment):
            for start in range(0, len(segment), LONGEST):
                yield _POSSESSIVE.sub("", segment[start : start + LONGEST]).lower()


@cache
def _patterns() -> tuple[Any, Any]:
    """Segments between Unicode word boundaries, and what makes a segment a word."""
    try:
        import regex
    except ImportError as error:
        raise UserError("WebShop's search needs regex; run `scripts/install benchmarks`") from error
    wordlike = r"(?!\p{WB=Extend})[\p{Alphabetic}\p{Nd}" + _PICTOGRAPHS + "]"
    return regex.compile(r"(?w).+?(?:\b|$)", regex.DOTALL), regex.compile(wordlike)


@lru_cache(maxsize=1 << 20)
def _stem(word: str) -> str:
    return str(_stemmer().stem(word, to_lowercase=False))


@cache
def _stemmer() -> Any:
    try:
        from nltk.stem.porter import PorterStemmer
    except ImportError as error:
        raise UserError("WebShop's search needs nltk; run `scripts/install benchmarks`") from error
    return PorterStemmer(mode=PorterStemmer.MARTIN_EXTENSIONS)
