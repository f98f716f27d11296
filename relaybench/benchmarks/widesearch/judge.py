"""Judges: what the official evaluation asks a language model, behind one small base.

`align` maps names or keys of a response to those of the gold table; `judge` says which cells of a column mean the
same. `ExactJudge` answers both by comparing strings, without any model: results with it are reproducible to the bit
and lower than published ones, and say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from relaybench.benchmarks.widesearch.cells import norm_str


class Judge(Protocol):
    name: str
    """How results name it."""

    async def start(self) -> None:
        """Connect to what it asks."""
        ...

    async def close(self) -> None: ...

    async def align(self, values: Sequence[str], references: Sequence[str]) -> dict[str, str]:
        """The reference for each value that has one."""
        ...

    async def judge(self, responses: Sequence[str], targets: Sequence[str], criterion: str) -> list[bool]:
        """Whether each response says what its target says, by the criterion; one verdict a pair."""
        ...


class ExactJudge:
    """Strings are the same when they are so in lower case, without spaces and asterisks."""

    name = "exact"

    async def start(self) -> None:
        """Nothing to connect to."""

    async def close(self) -> None:
        """Nothing is held."""

    async def align(self, values: Sequence[str], references: Sequence[str]) -> dict[str, str]:
        """The first reference that is the same."""
        first: dict[str, str] = {}
        for reference in references:
            first.setdefault(norm_str(reference), reference)
        return {value: first[norm_str(value)] for value in values if norm_str(value) in first}

    async def judge(self, responses: Sequence[str], targets: Sequence[str], criterion: str) -> list[bool]:
        """Equality; the cells come preprocessed."""
        return [response == target for response, target in zip(responses, targets, strict=True)]
