"""Ledgers: seeded tables of registers, written out as lines on pages, with a question and its answer key.

A ledger holds K records of F fields; each (record, field) is a *register* whose value is uniform on the V numbers
of `digits` digits. Every task has its own generator, seeded by (seed, index): adding tasks changes none that were
there. The *frame* of a task (names, order of lines, wording, question) is drawn independently of the numbers in it,
so all entropies in truth.py are of the numbers given the frame.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from itertools import product
from random import Random

from msgspec import Struct, convert, to_builtins

from relaybench.benchmarks.base import Task
from relaybench.config_benchmarks import LedgerConfig

GENERATOR = "ledger@1"
"""Raise it with any change that alters what a seed generates."""

LATER_DIALS = {"copies": 1, "target": "values"}
"""Dials that the first revisions did not have, with the value that leaves their tasks as they were."""

FIELDS = ("badge", "locker", "phone", "desk", "parking", "account", "invoice", "shelf")
"""The first F of these are a record's fields."""

_DECOYS = ("spare key", "visitor pass", "toolbox", "bicycle")  # look like fields, are never asked for
_MONTHS = ("January", "March", "April", "June", "August", "October", "November")
_FIRST = (
    "Ada", "Ben", "Carl", "Dora", "Emil", "Fay", "Gus", "Hana", "Igor", "Jane", "Kurt", "Lena", "Max", "Nora",
    "Otto", "Paul", "Quinn", "Rosa", "Sam", "Tina", "Umar", "Vera", "Walt", "Xena", "Yuri", "Zoe", "Alan", "Beth",
    "Cora", "Dean", "Elsa", "Finn", "Gina", "Hugo", "Iris", "Jack", "Kate", "Liam", "Mona", "Nick", "Olga", "Pete",
    "Ruth", "Sven", "Tess", "Will", "Amy", "Bob", "Clara", "Dan",
)  # fmt: skip
_LAST = (
    "Adler", "Baker", "Costa", "Dunn", "Evans", "Fischer", "Grant", "Hale", "Ivers", "Jonas", "Klein", "Lang",
    "Marsh", "Nolan", "Olsen", "Price", "Reed", "Stone", "Turner", "Vance", "Weber", "York",
)  # fmt: skip
_OFFICES = (
    "Lisbon", "Oslo", "Vienna", "Madrid", "Dublin", "Athens", "Prague", "Warsaw", "Berlin", "Geneva", "Zagreb",
    "Riga", "Tallinn", "Sofia", "Porto", "Turin", "Lyon", "Bergen", "Malmo", "Ghent", "Basel", "Graz", "Bari",
    "Cadiz",
)  # fmt: skip
_MEMOS = (
    "The lift was serviced under job {}.",
    "The roof was mended under job {}.",
    "A parcel arrived with label {}.",
    "The water meter stood at {}.",
    "Ticket {} was closed.",
    "The van was hired under contract {}.",
)


class Line(Struct, frozen=True):
    """One line of a page. `key` is "<record>.<field>" for a current register, "" for all other lines."""

    text: str
    key: str
    value: str
    """The number in it, "" where it carries none."""


class Sheet(Struct, frozen=True):
    """A task's record: the ledger, the question and its answers."""

    lines: tuple[Line, ...]
    page_size: int
    question: str
    record: str
    asked: tuple[str, ...]
    """Fields asked for, in the order of the question."""
    values: tuple[str, ...]
    """What the ledger says of them: what a sufficient relay carries."""
    answer: tuple[str, ...]
    """What counts as right: `values`, or the one remainder, except where key noise has replaced one."""

    @property
    def pages(self) -> list[tuple[Line, ...]]:
        size = self.page_size
        return [self.lines[i : i + size] for i in range(0, len(self.lines), size)]

    @property
    def needed(self) -> dict[str, str]:
        """The asked registers by key."""
        return {f"{self.record}.{name}": value for name, value in zip(self.asked, self.values, strict=True)}


def sheet_of(task: Task) -> Sheet:
    """The typed record of a ledger task."""
    return convert(task.data, Sheet)


def revision(dials: LedgerConfig) -> str:
    """Names what is generated: the generator's version and every dial that shapes a task (the later ones where set)."""
    later = {name for name, old in LATER_DIALS.items() if getattr(dials, name) == old}
    shaping = dials.model_dump(mode="json", exclude={"name", "tasks", "reader", *later})
    return f"{GENERATOR}-{sha256(json.dumps(shaping, sort_keys=True).encode()).hexdigest()[:10]}"


def make_task(dials: LedgerConfig, index: int) -> Task:
    """Task number `index` of these dials, whatever the number of tasks."""
    sheet = make_sheet(dials, Random(f"{dials.seed}/{index}"))
    pages = len(sheet.pages)
    told = f"Question: {sheet.question}" if dials.question == "upstream" else "A question about it will follow."
    return Task(
        id=f"ledger-{index:04d}",
        instruction=f"The ledger has {pages} page{'s' if pages > 1 else ''}. {told}",
        template="+".join(sheet.asked),
        data=to_builtins(sheet),
    )


def make_sheet(dials: LedgerConfig, rng: Random) -> Sheet:
    """One ledger with its question, drawn from `rng`."""
    names = _names(dials, rng)
    fields = FIELDS[: dials.fields]
    registers = {(name, field): _number(dials, rng) for name in names for field in fields}
    lines = [Line(f"{name}'s {field} is {v}.", f"{name}.{field}", v) for (name, field), v in registers.items()]
    lines *= dials.copies
    lines += [_noise(dials, names, rng) for _ in range(dials.noise)]
    offices = _offices(dials, rng) if dials.alias else [""] * dials.records
    lines += _alias_lines(dials, names, offices, rng) if dials.alias else []
    rng.shuffle(lines)
    place = rng.randrange(len(names))
    asked = ask(dials, rng)
    values = tuple(registers[names[place], field] for field in asked)
    return Sheet(
        lines=tuple(lines),
        page_size=dials.page_size,
        question=_question(dials, names[place], offices[place], asked),
        record=names[place],
        asked=asked,
        values=values,
        answer=_keys(dials, values, rng),
    )


def ask(dials: LedgerConfig, rng: Random) -> tuple[str, ...]:
    """Fields drawn one after another without replacement, field i with weight (i+1)^-skew; in canonical order."""
    left = list(range(dials.fields))
    drawn: list[int] = []
    for _ in range(dials.asked):
        chosen = rng.choices(left, [(i + 1) ** -dials.skew for i in left])[0]
        left.remove(chosen)
        drawn.append(chosen)
    return tuple(FIELDS[i] for i in sorted(drawn))


def _names(dials: LedgerConfig, rng: Random) -> list[str]:
    """First names while they last; with aliases, pairs of records that share their first name."""
    if dials.alias:
        surnames = list(zip(_LAST[::2], _LAST[1::2], strict=True))
        twins = [(f"{first} {one}", f"{first} {other}") for first in _FIRST for one, other in surnames]
        return [name for pair in rng.sample(twins, (dials.records + 1) // 2) for name in pair][: dials.records]
    if dials.records <= len(_FIRST):
        return rng.sample(_FIRST, dials.records)
    return rng.sample([f"{first} {last}" for first, last in product(_FIRST, _LAST)], dials.records)


def _offices(dials: LedgerConfig, rng: Random) -> list[str]:
    """One office a record."""
    if dials.records <= len(_OFFICES):
        return rng.sample(_OFFICES, dials.records)
    return rng.sample([f"{first} {last}" for first, last in product(_OFFICES, _LAST)], dials.records)


def _alias_lines(dials: LedgerConfig, names: list[str], offices: list[str], rng: Random) -> list[Line]:
    """Who heads which office now and who did before, and one superseded value a record: the same for every record,
    so that they do not tell which one will be asked for."""
    lines: list[Line] = []
    for place, office in enumerate(offices):
        name, former = names[place], names[place - 1]
        month, old = rng.choice(_MONTHS), _number(dials, rng)
        lines.append(Line(f"{name} heads the {office} office.", "", ""))
        if former != name:
            lines.append(Line(f"{former} headed the {office} office until {month}.", "", ""))
        field = FIELDS[rng.randrange(dials.fields)]
        lines.append(Line(f"{name}'s {field} was {old} until {month}.", "", old))
    return lines


def _noise(dials: LedgerConfig, names: list[str], rng: Random) -> Line:
    number = _number(dials, rng)
    if dials.skew > 0:
        return Line(f"{rng.choice(names)}'s {rng.choice(_DECOYS)} is {number}.", "", number)
    return Line(rng.choice(_MEMOS).format(number), "", number)


def _number(dials: LedgerConfig, rng: Random) -> str:
    """Uniform on the numbers of `digits` digits."""
    low = 10 ** (dials.digits - 1)
    return str(rng.randrange(low, 10 * low))


def _keys(dials: LedgerConfig, values: Sequence[str], rng: Random) -> tuple[str, ...]:
    """The answer key, with its noise."""
    low, size = 10 ** (dials.digits - 1), 9 * 10 ** (dials.digits - 1)
    if dials.target == "values":
        return tuple(_key(dials, int(value), low, rng) for value in values)
    return (_key(dials, sum(map(int, values)) % size, 0, rng),)


def _key(dials: LedgerConfig, value: int, low: int, rng: Random) -> str:
    """The value itself, or with probability `key_noise` any other of the V from `low` on, all alike."""
    if rng.random() >= dials.key_noise:
        return str(value)
    size = 9 * 10 ** (dials.digits - 1)
    return str(low + (value - low + rng.randrange(1, size)) % size)


def _question(dials: LedgerConfig, name: str, office: str, asked: tuple[str, ...]) -> str:
    if dials.target == "remainder":
        owner = f"the head of the {office} office" if dials.alias else name
        summands = " plus ".join(f"{owner}'s {field}" for field in asked)
        return f"What is the remainder when {summands} is divided by {9 * 10 ** (dials.digits - 1)}?"
    what = asked[0] if len(asked) == 1 else f"{', '.join(asked[:-1])} and {asked[-1]}"
    thing = f"the {what} of the head of the {office} office" if dials.alias else f"{name}'s {what}"
    return f"What is {thing}?" if len(asked) == 1 else f"What are {thing}, in this order?"
