"""The closed forms equal brute force: every ledger, question and key of small alphabets, enumerated."""

from collections import defaultdict
from collections.abc import Callable, Hashable
from itertools import combinations, product
from math import log

import pytest

from relaybench.benchmarks.ledger import describe, truth
from relaybench.benchmarks.ledger.generate import FIELDS
from relaybench.config_benchmarks import LedgerConfig
from relaybench.errors import UserError

Registers = dict[tuple[int, str], int]
Question = tuple[int, tuple[str, ...]]


def dials(**changes: object) -> LedgerConfig:
    return LedgerConfig.model_validate({"name": "ledger", "digits": 1, "fields": 2, **changes})


def entropy(weights: dict) -> float:
    return -sum(p * log(p) for p in weights.values() if p > 0)


class World:
    """The joint law of registers S, question X and key Y, spelled out (9 values a register)."""

    def __init__(self, setting: LedgerConfig):
        self.setting = setting
        self.names = list(product(range(setting.records), FIELDS[: setting.fields]))
        self.questions = [
            ((record, asked), p / setting.records)
            for record in range(setting.records)
            for asked, p in truth.asked_sets(setting).items()
        ]

    def key(self, registers: Registers, question: Question) -> dict[tuple[int, ...], float]:
        eps, (record, asked) = self.setting.key_noise, question
        values = [registers[record, field] for field in asked]
        law = {(): 1.0}
        for true in values if self.setting.target == "values" else [sum(values) % 9]:
            said = {v: 1 - eps if v == true else eps / 8 for v in range(9) if v == true or eps}
            law = {(*y, v): p * q for y, p in law.items() for v, q in said.items()}
        return law

    def ledgers(self):
        for values in product(range(9), repeat=len(self.names)):
            yield dict(zip(self.names, values, strict=True)), 9.0 ** -len(self.names)

    def information(self, relay: Callable[[Registers, Question], Hashable]) -> float:
        """I(m;Y|X), by the definition."""
        total = 0.0
        for question, p_question in self.questions:
            joint, relays, keys = defaultdict(float), defaultdict(float), defaultdict(float)
            for registers, p in self.ledgers():
                m = relay(registers, question)
                relays[m] += p
                for y, q in self.key(registers, question).items():
                    joint[m, y] += p * q
                    keys[y] += p * q
            total += p_question * (entropy(relays) + entropy(keys) - entropy(joint))
        return total

    def best_success(self, relay: Callable[[Registers, Question], Hashable]) -> float:
        """Success of the answerer that picks the likeliest key after each relay."""
        total = 0.0
        for question, p_question in self.questions:
            joint: dict[Hashable, dict] = defaultdict(lambda: defaultdict(float))
            for registers, p in self.ledgers():
                for y, q in self.key(registers, question).items():
                    joint[relay(registers, question)][y] += p * q
            total += p_question * sum(max(law.values()) for law in joint.values())
        return total


def everything(registers: Registers, question: Question) -> Hashable:
    return tuple(registers.values())


def asked_only(registers: Registers, question: Question) -> Hashable:
    return tuple(registers[question[0], field] for field in question[1])


def all_but(*fields: str) -> Callable[[Registers, Question], Hashable]:
    return lambda registers, question: tuple(v for (_, field), v in registers.items() if field not in fields)


SMALL = [
    dials(records=2, fields=1),
    dials(records=1, fields=3, skew=0.7, key_noise=0.2),
    dials(records=1, fields=3, asked=2, skew=1.5),
    dials(records=1, fields=2, asked=2, key_noise=0.3),
    dials(records=1, fields=3, asked=2, skew=1.0, key_noise=0.1, target="remainder"),
]


@pytest.mark.parametrize("setting", SMALL, ids=describe)
def test_information_and_losses_are_those_of_brute_force(setting):
    world = World(setting)
    full = world.information(everything)
    assert full == pytest.approx(truth.task_information(setting))
    assert world.information(asked_only) == pytest.approx(full)  # the oracle relay is sufficient
    for lost in [("badge",), FIELDS[: setting.fields]]:
        assert full - world.information(all_but(*lost)) == pytest.approx(truth.loss_dropping(setting, lost))


def test_dropping_a_field_costs_what_is_asked_of_it():
    setting = dials(records=2, skew=1.0, key_noise=0.1)
    expected = 2 / 3 * (log(9) - truth.key_entropy(setting))
    assert truth.loss_dropping(setting, ["badge"]) == pytest.approx(expected)
    assert truth.loss_dropping(setting, ["badge", "locker"]) == pytest.approx(truth.task_information(setting))
    assert truth.loss_dropping(setting, []) == 0


def test_keeping_some_registers_blindly_loses_the_share_that_is_left_out():
    setting = dials(records=2, fields=2)
    world = World(setting)
    full = world.information(everything)
    losses = [
        full - world.information(lambda registers, question, kept=kept: tuple(registers[name] for name in kept))
        for kept in [world.names[:1], world.names[1:2], world.names[2:3], world.names[3:]]
    ]
    assert sum(losses) / 4 == pytest.approx(truth.loss_keeping(setting, 1))
    assert truth.loss_keeping(setting, 4) == 0


@pytest.mark.parametrize("copies", [1, 2, 3])
@pytest.mark.parametrize("target", ["values", "remainder"])
def test_keeping_some_lines_blindly_is_the_mean_over_all_choices_of_lines(copies, target):
    setting = dials(records=1, fields=3, asked=2, copies=copies, target=target)
    lines = [name for name in FIELDS[:3] for _ in range(copies)]
    for kept in range(len(lines) + 1):
        chosen = [{lines[i] for i in places} for places in combinations(range(len(lines)), kept)]
        held = sum(map(len, chosen)) / len(chosen)
        assert truth.registers_held(setting, kept) == pytest.approx(held)
        lost = [truth.loss_dropping(setting, set(FIELDS[:3]) - some) for some in chosen]
        assert truth.loss_keeping(setting, kept) == pytest.approx(sum(lost) / len(lost))


def test_copies_tell_nothing_more():
    once, thrice = dials(records=3), dials(records=3, copies=3)
    for quantity in (truth.context_entropy, truth.task_information, truth.relay_complexity, truth.best_success):
        assert quantity(once) == quantity(thrice)


@pytest.mark.parametrize("setting", SMALL, ids=describe)
def test_the_best_answerer_succeeds_as_often_as_brute_force(setting):
    world = World(setting)
    assert world.best_success(everything) == pytest.approx(truth.best_success(setting))
    assert world.best_success(all_but("badge")) == pytest.approx(truth.best_success(setting, ["badge"]))
    assert world.best_success(lambda registers, question: ()) == pytest.approx(truth.guess_success(setting))


def test_key_noise_beyond_guessing_is_best_answered_against_the_record():
    setting = dials(records=1, fields=1, key_noise=0.95)
    assert (
        World(setting).best_success(everything) == pytest.approx(truth.best_success(setting)) == pytest.approx(0.95 / 8)
    )


@pytest.mark.parametrize(
    "setting",
    [
        dials(records=2, fields=1, key_noise=0.1),
        dials(records=1, fields=2, asked=2),
        dials(records=1, fields=2, asked=2, target="remainder"),
        dials(records=1, fields=3, asked=2, target="remainder"),
        dials(records=1, fields=4, asked=3, target="remainder"),
    ],
    ids=describe,
)
def test_the_least_sufficient_relay_is_the_partition_by_what_the_key_depends_on(setting):
    world = World(setting)
    aware, blind = 0.0, defaultdict(float)
    for question, p_question in world.questions:
        cells: dict = defaultdict(float)
        for registers, p in world.ledgers():
            cells[frozenset(world.key(registers, question).items())] += p
        aware += p_question * entropy(cells)
    for registers, p in world.ledgers():
        blind[tuple(frozenset(world.key(registers, question).items()) for question, _ in world.questions)] += p
    assert aware == pytest.approx(truth.relay_complexity(setting, query_aware=True))
    assert entropy(blind) == pytest.approx(truth.relay_complexity(setting, query_aware=False))


def test_a_key_that_does_not_depend_on_the_record_needs_no_relay():
    setting = dials(key_noise=8 / 9)
    assert truth.task_information(setting) == pytest.approx(0, abs=1e-12)
    assert truth.relay_complexity(setting) == 0
    assert truth.regime(setting) == "about 0"


def test_context_reduction_counts_the_numbers_left_out():
    setting = dials(digits=4, records=4, fields=2, noise=3, alias=True)
    assert truth.context_entropy(setting) == pytest.approx((8 + 3 + 4) * log(9000))
    assert truth.context_reduction(setting, registers=1) == pytest.approx(14 * log(9000))
    assert truth.context_reduction(setting, registers=8, noise=7) == pytest.approx(0)


@pytest.mark.parametrize(
    ("setting", "regime"),
    [(dials(records=8), "about 0"), (dials(records=4, noise=4), "about 0"), (dials(records=2), "> 0"),
     (dials(records=2, question="blind", noise=8), "> 0"), (dials(records=1, asked=2), "much > 0"),
     (dials(records=8, question="blind"), "much > 0")],
)  # fmt: skip
def test_the_regimes_are_points_on_the_dials(setting, regime):
    assert truth.regime(setting) == regime


def test_trusting_a_foreign_relay_costs_more_than_none():
    setting = dials(digits=4)
    size = 9000
    by_hand = sum(-log(0.97 if v == 0 else 0.03 / (size - 1)) for v in range(size)) / size
    assert truth.misinformation_nll(setting, 0.97) == pytest.approx(by_hand)
    assert by_hand > truth.value_entropy(setting)
    assert truth.misinformation_nll(setting, 1 / size) == pytest.approx(log(size))


def test_an_unknown_field_is_named_with_the_nearest_known_one():
    with pytest.raises(UserError, match="no field 'bagde' in this ledger; did you mean 'badge'"):
        truth.loss_dropping(dials(), ["bagde"])
