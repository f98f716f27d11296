"""Do the instruments find the truth with a small language model as reader and as reference?

    python scripts/validate_estimators.py                       Qwen2.5-0.5B: an hour or more on two cores
    python scripts/validate_estimators.py --tasks 24 --coded 8  a look

The ledger's truths are closed forms (docs/ledger.md). A model that nobody trained for it reads two solved examples
and a ledger, and goes on with "Ada's badge is", through `Engine.score`, with the context, with a lossy relay and with
nothing; its NLLs are calibrated as `relaybench measure` calibrates them. A setting counts where the model is
adequate: as a reader, NLL(M) - H(Y|X,M) below 0.05 nats on one half of the tasks (Delta is measured on the other); as
a reference, a copy floor below 2% of the ceiling and a chain rule that closes to 2% of it. Where it is not, the
setting is named. Delta stands beside the closed form at the share of registers that the drawn relays really lost:
what a sample of questions happens to ask is no error of the estimator. Prints a Markdown table and one JSON line.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from relaybench.benchmarks.ledger import truth
from relaybench.benchmarks.ledger.generate import Sheet, make_sheet
from relaybench.config import TransformersConfig
from relaybench.config_benchmarks import LedgerConfig
from relaybench.engines.base import ScoreRequest
from relaybench.engines.transformers import TransformersEngine
from relaybench.information import chain_rule_gap, relay_loss, share_removed
from relaybench.information.calibration import Slot, calibrated
from relaybench.reporting.statistics import Estimate, mean

READER_LIMIT, FLOOR_LIMIT, CHAIN_LIMIT = 0.05, 0.02, 0.02
DELTA_LIMIT, SHARE_LIMIT = 0.1, 0.05
Encoder = Callable[[Sheet, Random], str]
"""Writes a relay, lines of text, from a sheet."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One point on the ledger's dials with a lossy relay encoder, and what is true there."""

    name: str
    dials: LedgerConfig
    encoder: Encoder
    kept: float
    """Numbers of M that a relay tells, on average."""


def without(field: str) -> Encoder:
    """All registers, but those of one field; each once."""
    return lambda sheet, rng: "\n".join(
        dict.fromkeys(line.text for line in sheet.lines if line.key and not line.key.endswith(f".{field}"))
    )


def some(kept: int) -> Encoder:
    """So many of the register lines, chosen blindly; in the ledger's order."""

    def write(sheet: Sheet, rng: Random) -> str:
        lines = [line.text for line in sheet.lines if line.key]
        chosen = sorted(rng.sample(range(len(lines)), kept))
        return "\n".join(lines[i] for i in chosen)

    return write


def needed(sheet: Sheet, rng: Random) -> str:
    """The asked registers: sufficient."""
    return "\n".join(dict.fromkeys(line.text for line in sheet.lines if line.key in sheet.needed))


def leaking(sheet: Sheet, rng: Random) -> str:
    """The answer key in the words of a register: it saw Y."""
    pairs = zip(sheet.asked, sheet.answer, strict=True)
    return "\n".join(f"{sheet.record}'s {field} is {value}." for field, value in pairs)


def settings() -> list[Setting]:
    """The dials, each at an end or in the middle, with an encoder that loses something (or nothing, or leaks)."""

    def shape(**dials: Any) -> LedgerConfig:
        return LedgerConfig(name="ledger", **{"digits": 2, "question": "blind", **dials})

    def dropping(name: str, **dials: Any) -> Setting:
        made = shape(**dials)
        return Setting(name, made, without("badge"), made.records * (made.fields - 1))

    def keeping(name: str, kept: int, **dials: Any) -> Setting:
        made = shape(**dials)
        return Setting(name, made, some(kept), truth.registers_held(made, kept))

    noisy, aware = shape(records=4, key_noise=0.2), shape(records=8, question="upstream")
    told = 1 - truth.key_entropy(noisy) / truth.value_entropy(noisy)
    return [
        keeping("2 of 4 records", 2, records=4),
        keeping("2 of 8 records", 2, records=8),
        keeping("V = 9", 2, records=4, digits=1),
        keeping("V = 9000", 2, records=4, digits=4),
        dropping("fields", records=2, fields=3),
        dropping("skewed", records=3, fields=3, skew=1.5),
        dropping("two asked", records=2, fields=3, asked=2),
        keeping("noise lines", 2, records=4, noise=4),
        keeping("noisy key", 2, records=4, key_noise=0.2),
        dropping("noisier key", records=2, fields=2, key_noise=0.4),
        Setting("query-aware", aware, needed, 1),
        keeping("each register twice", 4, records=4, copies=2),
        dropping("remainder", records=2, fields=3, asked=2, target="remainder"),
        Setting("leak", noisy, leaking, told),
    ]


def page(sheet: Sheet) -> str:
    """M: every line that carries a number."""
    return "\n".join(line.text for line in sheet.lines if line.value)


def asks(sheet: Sheet) -> list[tuple[str, str, str]]:
    """(register asked for, words that ask for it, value) of each value of the key."""
    if len(sheet.answer) < len(sheet.asked):
        return [("remainder", f"{sheet.question} It is", sheet.answer[0])]
    names = [f"{sheet.record}'s {field} is" for field in sheet.asked]
    return [(name, name, value) for name, value in zip(names, sheet.answer, strict=True)]


def lost(sheet: Sheet, text: str) -> float:
    """The share of the key that a relay does not tell; of a remainder all, where one register is missing."""
    missing = [f"{sheet.record}'s {field} is" not in text for field in sheet.asked]
    return float(any(missing)) if len(sheet.answer) < len(missing) else sum(missing) / len(missing)


class Row(Struct, frozen=True):
    """What was found at one setting, nats."""

    setting: str
    delta: float
    """The closed form at the share that was lost."""
    found_delta: Estimate
    reader_excess: float
    """NLL(M) - H(Y|X,M) on the calibration half."""
    share: float
    found_share: float
    floor: float
    """Copy floor over ceiling."""
    chain: float
    """Gap of the chain rule over ceiling."""

    @property
    def reader(self) -> bool:
        return self.reader_excess < READER_LIMIT

    @property
    def reference(self) -> bool:
        return self.floor < FLOOR_LIMIT and abs(self.chain) < CHAIN_LIMIT


SHOTS = 2


def prompt(known: str, words: str) -> str:
    """What the reader is asked to go on with."""
    return f"Ledger:\n{known}\nQuestion: {words}?\nAnswer: {words}"


def examples(dials: LedgerConfig) -> str:
    """Solved ledgers of these dials, without noise in their keys: a small model then looks up and does not chat."""
    rng, plain = Random("examples"), dials.model_copy(update={"key_noise": 0.0})
    sheets = [make_sheet(plain, rng) for _ in range(SHOTS)]
    return "".join(f"{prompt(page(s), w)} {a}.\n\n" for s in sheets for _, w, a in asks(s))


class Model:
    """A language model that goes on with texts; NLLs are of digits, all words being given."""

    def __init__(self, engine: TransformersEngine, dials: LedgerConfig) -> None:
        assert engine.chat is not None
        self.engine, self.encode = engine, engine.chat.encode
        self.examples = examples(dials)
        self.digits = {self.encode(f"{digit}")[-1] for digit in range(10)}

    async def slots(self, sheets: Sequence[Sheet], known: Sequence[str], condition: str) -> list[Slot]:
        """The values of all keys after what is known, in order."""
        requests, made = [], []
        for i, (sheet, text) in enumerate(zip(sheets, known, strict=True)):
            for name, words, value in asks(sheet):
                asked = self.encode(self.examples + prompt(text, words))
                requests.append(ScoreRequest(asked, self.encode(f" {value}.")))
                ids = tuple(token for token in requests[-1].target if token in self.digits)
                made.append((f"{i}", (condition, name in text), ids))
        found = await self.engine.score(requests)
        costs = [self._nats(request, row) for request, row in zip(requests, found, strict=True)]
        return [Slot(*slot, nll) for slot, nll in zip(made, costs, strict=True)]

    async def code(self, known: Sequence[str], coded: Sequence[str]) -> NDArray[np.float64]:
        """Nats of the numbers in each text after another."""
        texts = zip(known, coded, strict=True)
        requests = [ScoreRequest(self.encode(f"{text}\n\nThe ledger:\n"), self.encode(lines)) for text, lines in texts]
        found = await self.engine.score(requests)
        return np.array([self._nats(request, row) for request, row in zip(requests, found, strict=True)])

    def _nats(self, request: ScoreRequest, row: Sequence[float]) -> float:
        return -sum(p for p, token in zip(row, request.target, strict=True) if token in self.digits)


async def look(model: Model, number: int, setting: Setting, tasks: int, coded: int) -> Row:
    """Measure one setting."""
    rng = Random(f"validation/{number}")
    sheets = [make_sheet(setting.dials, rng) for _ in range(tasks)]
    relays = [setting.encoder(sheet, rng) for sheet in sheets]
    pages = [page(sheet) for sheet in sheets]
    half = np.arange(tasks) % 2 == 0
    full, relay = await _answered(model, sheets, {"full": pages, "relay": relays}, half)
    few, empty = slice(coded), [""] * coded
    ceiling = await model.code(empty, pages[few])
    direct, floor = await model.code(relays[few], pages[few]), await model.code(pages[few], pages[few])
    additive = await model.code(empty, relays[few]), await model.code(pages[few], relays[few])
    found = share_removed(direct, floor, ceiling)
    judged = float(np.mean([lost(sheets[i], relays[i]) for i in np.flatnonzero(~half)]))
    leaked = -truth.answers(setting.dials) * truth.key_entropy(setting.dials) if setting.encoder is leaking else 0.0
    total = truth.context_entropy(setting.dials) / truth.value_entropy(setting.dials)
    return Row(
        setting=setting.name,
        delta=leaked or judged * truth.task_information(setting.dials),
        found_delta=relay_loss(full[~half], relay[~half]),
        reader_excess=mean(full[half]).value - truth.answers(setting.dials) * truth.key_entropy(setting.dials),
        share=1 - setting.kept / total,
        found_share=found.value,
        floor=found.floor / found.ceiling,
        chain=chain_rule_gap(direct, ceiling, *additive).value / found.ceiling,
    )


async def _answered(
    model: Model, sheets: Sequence[Sheet], known: dict[str, list[str]], half: NDArray[np.bool_]
) -> list[NDArray[np.float64]]:
    """NLL of each task's key under each condition, by the calibrated reader."""
    slots = {name: await model.slots(sheets, texts, name) for name, texts in known.items()}
    flat = [slot for found in slots.values() for slot in found]
    nll = calibrated(flat, [bool(half[int(slot.task)]) for slot in flat])
    totals = {name: np.zeros(len(sheets)) for name in slots}
    for (name, slot), cost in zip([(n, s) for n, found in slots.items() for s in found], nll, strict=True):
        totals[name][int(slot.task)] += cost
    return list(totals.values())


def line(row: Row) -> str:
    """One row of the table."""
    delta, low, high = row.found_delta.value, row.found_delta.low, row.found_delta.high
    cells = [row.setting, f"{row.delta:.3f}", f"{delta:.3f} [{low:.3f}, {high:.3f}]", f"{row.reader_excess:.3f}"]
    cells += [_verdict(row.reader, abs(delta - row.delta) < DELTA_LIMIT)]
    cells += [f"{row.share:.3f}", f"{row.found_share:.3f}", f"{row.floor:.1%}", f"{row.chain:+.1%}"]
    cells += [_verdict(row.reference, abs(row.found_share - row.share) < SHARE_LIMIT)]
    return "| " + " | ".join(cells) + " |"


def _verdict(adequate: bool, near: bool) -> str:
    return ("agrees" if near else "DISAGREES") if adequate else "inadequate" + (", agrees" if near else "")


HEADINGS = ("setting", "Delta", "found [95%]", "NLL(M) - H", "reader", "u", "found", "floor", "chain", "reference")


async def validate(name: str, tasks: int, coded: int) -> list[Row]:
    engine = TransformersEngine(TransformersConfig(kind="transformers", model=name, device="cpu"))
    await engine.start()
    print("| " + " | ".join(HEADINGS) + " |\n|" + "---|" * len(HEADINGS), flush=True)
    rows = []
    for number, setting in enumerate(settings()):
        rows.append(await look(Model(engine, setting.dials), number, setting, tasks, coded))
        print(line(rows[-1]), flush=True)
    await engine.close()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="qwen2.5-0.5b", help="a model for transformers")
    parser.add_argument("--tasks", type=int, default=120, help="a setting: half to calibrate, half to measure")
    parser.add_argument("--coded", type=int, default=24, help="tasks a setting for code lengths")
    args = parser.parse_args()
    rows = asyncio.run(validate(args.model, args.tasks, args.coded))
    both = [row.setting for row in rows if row.reader and row.reference]
    print(json.dumps({"adequate": both, "rows": [structs.asdict(row) for row in rows]}, default=structs.asdict))


if __name__ == "__main__":
    main()
