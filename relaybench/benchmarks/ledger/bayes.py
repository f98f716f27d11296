"""The exact Bayes reader of a ledger: the probabilities that a reader who knows the dials gives to key and context.

With it the estimators of relaybench.information can be held against truth.py: it is the strongest reader there is,
adequate under every condition. It reads relays as text, in the report's form ("Ada.badge: 4821") or word for word
("Ada's badge is 4821."); what a text says twice with different numbers it takes as not said. All values in nats.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

from relaybench.benchmarks.ledger.generate import Line, Sheet
from relaybench.benchmarks.ledger.truth import value_entropy, values_per_field
from relaybench.config_benchmarks import LedgerConfig

_STATED = re.compile(r"^\W*(?:([^:\n]+\.\w+): |(.+)'s (\w+) is )(\d+)\.?\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class BayesReader:
    """Knows the dials and the frame of each task; of the numbers, what it is told."""

    dials: LedgerConfig

    def target_nll(self, sheet: Sheet, held: Mapping[str, str]) -> float:
        """-log p(Y|X, held): a register that is held tells its key value up to key noise, any other is uniform."""
        size, eps = values_per_field(self.dials), self.dials.key_noise
        total = 0.0
        for value, key in zip(self._expected(sheet, held), sheet.answer, strict=True):
            chance = 1 / size if value is None else 1 - eps if value == key else eps / (size - 1)
            total += -log(chance) if chance > 0 else float("inf")
        return total

    def _expected(self, sheet: Sheet, held: Mapping[str, str]) -> list[str | None]:
        """What the answer key holds short of its noise; None where that cannot be known."""
        values = [held.get(f"{sheet.record}.{name}") for name in sheet.asked]
        if self.dials.target == "values":
            return values
        known = [int(value) for value in values if value is not None]
        return [str(sum(known) % values_per_field(self.dials)) if len(known) == len(values) else None]

    def context_nats(self, sheet: Sheet) -> float:
        """L(M|X): log V for each number on the pages, once however often it is repeated."""
        return self._numbers(sheet.lines) * value_entropy(self.dials)

    def relay_nats(self, sheet: Sheet, text: str) -> float:
        """L(m|X) of a true relay whose choice of lines hangs on X alone: log V for each number of M it tells."""
        told = [line for line, known in zip(sheet.lines, self._told(sheet, text), strict=True) if known]
        return self._numbers(told) * value_entropy(self.dials)

    def context_given_relay(self, sheet: Sheet, text: str) -> float:
        """L(M|m,X), the direct code length: log V for each number that the relay does not tell."""
        unknown = [line for line, told in zip(sheet.lines, self._told(sheet, text), strict=True) if not told]
        return self._numbers(unknown) * value_entropy(self.dials)

    def _numbers(self, lines: Sequence[Line]) -> int:
        """Numbers that these lines tell: registers once each, all other lines one by one."""
        registers = {line.key for line in lines if line.key}
        return len(registers) + sum(bool(line.value) for line in lines if not line.key)

    def _told(self, sheet: Sheet, text: str) -> list[bool]:
        held = registers(text)
        verbatim = set(map(str.strip, text.splitlines()))

        def told(line: Line) -> bool:
            return bool(line.value) and (held.get(line.key) == line.value or line.text in verbatim)

        return [told(line) for line in sheet.lines]


def registers(text: str) -> dict[str, str]:
    """The registers a text states, by key "<record>.<field>"; without those that it states in two ways."""
    held: dict[str, str] = {}
    torn: set[str] = set()
    for match in _STATED.finditer(text):
        key = match.group(1) or f"{match.group(2)}.{match.group(3)}"
        torn |= {key} if held.get(key, match.group(4)) != match.group(4) else set()
        held[key.strip()] = match.group(4)
    return {key: value for key, value in held.items() if key not in torn}
