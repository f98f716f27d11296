"""Keyed registers (theory 1.2 E): a system whose every information quantity is known, and samples of it.

M = K registers uniform on V and N noise symbols uniform on A; X = which `asked` registers; Y = their values, or with
`xor` the sum of two modulo V, replaced by any other value with probability eps. The relay keeps the first `kept`
registers (blind), or what is asked (aware), or with `leak` the key Y itself. With `copies` each register stands on so
many lines of M, and the relay keeps `kept` lines drawn at random. All in nats.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, gcd, log

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ALPHABET = 32


@dataclass(frozen=True)
class Truth:
    reduction: float
    rate: float
    task: float
    relay: float
    loss: float
    complexity: float


@dataclass(frozen=True)
class Sample:
    none: Floats
    full: Floats
    relay: Floats
    context_code: Floats
    relay_code: Floats
    direct_code: Floats


@dataclass(frozen=True)
class Registers:
    registers: int
    values: int
    kept: int = 0
    noise: int = 0
    eps: float = 0.0
    asked: int = 1
    copies: int = 1
    xor: bool = False
    aware: bool = False
    leak: bool = False

    @property
    def key_entropy(self) -> float:
        e = self.eps
        return 0.0 if e == 0 else -(1 - e) * log(1 - e) - e * log(e / (self.values - 1))

    @property
    def held(self) -> float:
        """Share of keys that the relay tells."""
        k, n = self.kept, self.registers
        if self.aware or self.leak:
            return 1.0
        if self.copies > 1:
            lines = n * self.copies
            return 1 - comb(lines - self.copies, k) / comb(lines, k)
        return comb(k, 2) / comb(n, 2) if self.xor else k / n

    @property
    def truth(self) -> Truth:
        keys = 1 if self.xor else self.asked
        one = log(self.values) - self.key_entropy
        context = self.registers * log(self.values) + self.noise * log(ALPHABET)
        sent: float = keys if self.aware or self.leak else self.kept
        if self.copies > 1:
            sent = self.registers * self.held
        loss = -self.key_entropy * keys if self.leak else (1 - self.held) * keys * one
        least = keys if self.aware else self.registers
        rate = sent * log(self.values)
        known = keys * one if self.leak else rate  # what of the relay is about M
        spared = log(gcd(2, self.values)) if self.xor and not self.aware else 0.0  # sums of pairs leave so much open
        complexity = least * log(self.values) - spared
        return Truth(context - known, rate, keys * one, keys * one - loss, loss, complexity)

    def sample(self, n: int, rng: np.random.Generator) -> Sample:
        """NLLs of the exact Bayes reader, and code lengths under the exact model."""
        keys = 1 if self.xor else self.asked
        flipped = rng.random((n, keys)) < self.eps
        has = self._held(n, rng)
        told = self._told(has, keys, rng)
        wrong = -log(self.eps / (self.values - 1)) if self.eps else 0.0
        known = np.where(flipped, wrong, -log(1 - self.eps))
        blind = np.full((n, keys), log(self.values))
        seen = np.zeros((n, keys)) if self.leak else np.where(told, known, blind)
        context = np.full(n, self.registers * log(self.values) + self.noise * log(ALPHABET))
        sent = has.sum(1) if not (self.aware or self.leak) else np.full(n, keys)
        code = sent * log(self.values)
        return Sample(blind.sum(1), known.sum(1), seen.sum(1), context, code, context - code)

    def _held(self, n: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Which registers the relay holds, (n, K)."""
        if self.copies == 1:
            return np.broadcast_to(np.arange(self.registers) < self.kept, (n, self.registers))
        lines = rng.random((n, self.registers * self.copies)).argsort(axis=1) < self.kept
        return np.asarray(lines.reshape(n, self.registers, self.copies).any(axis=2))

    def _told(self, has: NDArray[np.bool_], keys: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        if self.aware:
            return np.ones((len(has), keys), dtype=bool)
        asked = rng.random(has.shape).argsort(axis=1)[:, : 2 if self.xor else keys]
        found = np.take_along_axis(has, asked, axis=1)
        return found.all(axis=1, keepdims=True) if self.xor else found


SETTINGS: dict[str, Registers] = {
    "one of 8": Registers(8, 16, kept=4),
    "more registers": Registers(32, 16, kept=8),
    "large alphabet": Registers(8, 9000, kept=2),
    "two values": Registers(4, 2, kept=1),
    "noise": Registers(8, 16, kept=4, noise=400),
    "three asked": Registers(8, 16, kept=4, asked=3),
    "noisy key": Registers(8, 16, kept=4, eps=0.1),
    "noisier key, noise": Registers(8, 64, kept=6, eps=0.3, noise=50),
    "query-aware": Registers(8, 16, aware=True),
    "query-aware, noisy": Registers(16, 100, aware=True, eps=0.2),
    "redundant": Registers(8, 16, kept=4, copies=3),
    "xor": Registers(8, 16, kept=5, xor=True),
    "xor, aware": Registers(8, 16, xor=True, aware=True),
    "leak": Registers(8, 16, leak=True, eps=0.2),
    "nothing sent": Registers(8, 16, kept=0, eps=0.05),
}
