"""Matching: which cells contain a search text, as the official tools decide it.

The 2024 tools take the text for a regular expression (a broken one raises `re.error`); the 2026 tools take it
literally. Both ignore case unless told otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?>|[*+?]|\{\d*,?\d*\}|.", re.DOTALL)


@lru_cache(maxsize=1024)
def _pattern(text: str, ignore_case: bool) -> re.Pattern[str]:
    """The pattern as Python 3.10 reads it, where the official verdicts come from: 3.11 gave `a*+` a meaning."""
    tokens = _TOKEN.findall(text)
    if "(?>" in tokens or any(b == "+" and _is_quantifier(a) for a, b in pairwise(tokens)):
        raise re.error("multiple repeat", text)
    return re.compile(text, re.IGNORECASE if ignore_case else 0)


def _is_quantifier(token: str) -> bool:
    return token in ("*", "+", "?") or token[0] == "{" != token


def contains(text: str, literal: bool = False, ignore_case: bool = True) -> Callable[[object], bool | None]:
    """A test for a cell: True, False, or None where the cell is no string. re.error if `text` is no pattern."""
    if literal:
        wanted = text.lower() if ignore_case else text
        return lambda cell: (wanted in (cell.lower() if ignore_case else cell)) if isinstance(cell, str) else None
    search = _pattern(text, ignore_case).search
    return lambda cell: search(cell) is not None if isinstance(cell, str) else None


def choose(flags: list[bool | None]) -> list[int]:
    """The positions that are True. ValueError if any test had no answer: a frame cannot be masked by NaN."""
    if None in flags:
        raise ValueError("Cannot mask with non-boolean array containing NA / NaN values")
    return [i for i, flag in enumerate(flags) if flag]
