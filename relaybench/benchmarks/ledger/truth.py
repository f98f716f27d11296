"""What is true of a ledger, in closed form (nats): the task of the estimators' validation ("keyed registers").

Symbols as in the paper: M, the reader's context; X, the question; Y, the answer key (all asked values); m, the relay.
All entropies are of the numbers given the frame (names, order of lines, wording; see generate.py), and where the
question is known upstream they are conditional on it. K records, F fields, V values, a fields asked, each with
inclusion probability p_f; the key differs from the record with probability eps, all other values alike. With `copies`
each register stands on c lines; with the `remainder` target Y is the sum of the asked values modulo V: one value, that
takes all of them.
"""

from __future__ import annotations

from collections.abc import Collection
from math import comb, gcd, log
from typing import Literal

from relaybench.benchmarks.ledger.generate import FIELDS
from relaybench.config_benchmarks import LedgerConfig
from relaybench.errors import UserError, nearest

Regime = Literal["about 0", "> 0", "much > 0"]

ABOUT_ZERO, MUCH = 0.125, 0.5


def values_per_field(dials: LedgerConfig) -> int:
    """V = 9 x 10^(digits-1)."""
    return int(9 * 10 ** (dials.digits - 1))


def value_entropy(dials: LedgerConfig) -> float:
    """log V: nats of one register, and of the number in one noise line."""
    return log(values_per_field(dials))


def key_entropy(dials: LedgerConfig) -> float:
    """h = H(Y_f | S_f) = -(1-eps) log(1-eps) - eps log(eps/(V-1)): nats of one key value given its register."""
    eps = dials.key_noise
    if eps == 0:
        return 0.0
    return -(1 - eps) * log(1 - eps) - eps * log(eps / (values_per_field(dials) - 1))


def field_information(dials: LedgerConfig) -> float:
    """log V - h: nats that an asked register tells of its key value."""
    return value_entropy(dials) - key_entropy(dials)


def task_information(dials: LedgerConfig) -> float:
    """I(M;Y|X) = a (log V - h), of a remainder log V - h: the most that a relay can lose, and what `none` loses."""
    return answers(dials) * field_information(dials)


def answers(dials: LedgerConfig) -> int:
    """Values of an answer key: a, or 1 for a remainder."""
    return dials.asked if dials.target == "values" else 1


def asked_sets(dials: LedgerConfig) -> dict[tuple[str, ...], float]:
    """Probability of each set of asked fields, canonical order: a draws without replacement, weights (i+1)^-skew."""
    weights = [(i + 1) ** -dials.skew for i in range(dials.fields)]
    drawn: dict[frozenset[int], float] = {frozenset(): 1.0}
    for _ in range(dials.asked):
        grown: dict[frozenset[int], float] = {}
        for chosen, p in drawn.items():
            left = [i for i in range(dials.fields) if i not in chosen]
            for i in left:
                more = chosen | {i}
                grown[more] = grown.get(more, 0.0) + p * weights[i] / sum(weights[j] for j in left)
        drawn = grown
    return {tuple(FIELDS[i] for i in sorted(chosen)): p for chosen, p in drawn.items()}


def p_asked(dials: LedgerConfig, field: str) -> float:
    """p_f: probability that the question asks for `field`. Raises UserError for an unknown field."""
    known = FIELDS[: dials.fields]
    if field not in known:
        raise UserError(f"no field '{field}' in this ledger{nearest(field, known) or '; known: ' + ', '.join(known)}")
    return sum(p for chosen, p in asked_sets(dials).items() if field in chosen)


def loss_dropping(dials: LedgerConfig, fields: Collection[str]) -> float:
    """Delta of a relay that is sufficient but for `fields` = (log V - h) sum of p_f over them.

    Of a remainder (log V - h) times the chance that any of them is asked. Masking a field costs the same. The
    register's own entropy does not enter: an unasked field is free to drop.
    """
    lost = {field: p_asked(dials, field) for field in fields}
    if dials.target == "values":
        return field_information(dials) * sum(lost.values())
    return field_information(dials) * sum(p for chosen, p in asked_sets(dials).items() if lost.keys() & set(chosen))


def loss_keeping(dials: LedgerConfig, lines: int) -> float:
    """Delta of a relay of `lines` of the c K F register lines, chosen blindly and all alike.

    (1 - P) I(M;Y|X), P the chance that a register is among them (1 - k/(K F) without copies) or, for a remainder, that
    all asked ones are.
    """
    together = 1 if dials.target == "values" else dials.asked
    return (1 - _held(dials, lines, together)) * task_information(dials)


def registers_held(dials: LedgerConfig, lines: int) -> float:
    """How many registers so many of their lines tell on average, chosen blindly."""
    return dials.records * dials.fields * _held(dials, lines, 1)


def _held(dials: LedgerConfig, lines: int, registers: int) -> float:
    """The chance that all of `registers` given ones are among `lines` of the register lines: by which are missing."""
    total = dials.copies * dials.records * dials.fields
    missing = [comb(registers, j) * comb(total - j * dials.copies, lines) for j in range(registers + 1)]
    return float(sum((-1) ** j * ways for j, ways in enumerate(missing)) / comb(total, lines))


def superseded(dials: LedgerConfig) -> int:
    """Lines with an outdated value: one a record where aliases are on."""
    return dials.records if dials.alias else 0


def context_entropy(dials: LedgerConfig) -> float:
    """H(M) = (K F + N + superseded) log V; a register's further copies tell nothing."""
    return (dials.records * dials.fields + dials.noise + superseded(dials)) * value_entropy(dials)


def context_reduction(dials: LedgerConfig, registers: int, noise: int = 0) -> float:
    """H(M|m) for a relay of `registers` registers and `noise` noise or superseded lines, word for word."""
    return context_entropy(dials) - (registers + noise) * value_entropy(dials)


def relay_complexity(dials: LedgerConfig, query_aware: bool | None = None) -> float:
    """delta(0): nats of the least sufficient relay, I(M;m|X).

    An encoder that knows the question sends the asked registers: a log V, or the remainder: log V. A blind one must
    send all registers: K F log V, or for remainders what their sums tell of them (F log V - log gcd(a, V) a record).
    Key noise changes neither, short of a key that is independent of the record (eps = 1 - 1/V): then both are 0.
    None: as the dials have it (`question: upstream` is query-aware).
    """
    if abs(dials.key_noise - (1 - 1 / values_per_field(dials))) < 1e-12:
        return 0.0
    aware = dials.question == "upstream" if query_aware is None else query_aware
    if aware:
        return answers(dials) * value_entropy(dials)
    if dials.target == "values":
        return dials.records * dials.fields * value_entropy(dials)
    return dials.records * _sums_entropy(dials)


def _sums_entropy(dials: LedgerConfig) -> float:
    """Nats of all sums that may be asked of one record: one sum where all fields are asked; else all differences, and a
    value up to what a times it leaves open."""
    if dials.asked == dials.fields:
        return value_entropy(dials)
    return dials.fields * value_entropy(dials) - log(gcd(dials.asked, values_per_field(dials)))


def regime(dials: LedgerConfig) -> Regime:
    """Where delta lies on the way from 0 to H(M): up to an eighth is "about 0", from a half on "much > 0"."""
    share = relay_complexity(dials) / context_entropy(dials)
    return "about 0" if share <= ABOUT_ZERO else "> 0" if share < MUCH else "much > 0"


def best_success(dials: LedgerConfig, lost: Collection[str] = ()) -> float:
    """Success of the Bayes-optimal answerer whose relay is sufficient but for the fields `lost`.

    A kept field is guessed as it is read, right with 1-eps (or with eps/(V-1), should that be more); a lost one
    at random, right with 1/V. Averaged over which fields are asked.
    """
    for field in lost:
        p_asked(dials, field)
    size, eps = values_per_field(dials), dials.key_noise
    kept = max(1 - eps, eps / (size - 1))
    total = 0.0
    for chosen, p in asked_sets(dials).items():
        missing = len(set(chosen) & set(lost))
        guessed = missing if dials.target == "values" else min(missing, 1)
        total += p * kept ** (answers(dials) - guessed) / size**guessed
    return total


def guess_success(dials: LedgerConfig) -> float:
    """Success without any relay: V^-a, of a remainder 1/V."""
    return float(values_per_field(dials)) ** -answers(dials)


def misinformation_nll(dials: LedgerConfig, trust: float) -> float:
    """Expected NLL of one key value for a reader that gives probability `trust` to an unrelated value.

    Above the log V of `none` for any trust beyond 1/V: a foreign relay costs more than no relay.
    """
    size = values_per_field(dials)
    return -log(trust) / size - (1 - 1 / size) * log((1 - trust) / (size - 1))
