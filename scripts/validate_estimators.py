"""Do the instruments find the truth with a small language model as reader and as reference?

    python scripts/validate_estimators.py                        train for 30 minutes, then measure (about 45 in all)
    python scripts/validate_estimators.py --model DIR            measure with a model that was trained before

The ledger's truths are closed forms (docs/ledger.md). A small Llama is trained on ledger text of all settings (see
ledger_lm.py), and then asked as `relaybench measure` asks: `Engine.score`, the target under three conditions, code
lengths of context and relay. A setting counts where the model is adequate: as a reader, NLL(M) - H(Y|X,M) below 0.05
nats on one half of the tasks (Delta is measured on the other); as a reference, a copy floor below 2% of the ceiling and
a chain rule that closes to 2% of it. Where it is not, the setting is named. Prints a Markdown table and one JSON line.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from ledger_lm import Encoder, Setting, code_parts, context_text, target_parts, train
from msgspec import Struct, structs

from relaybench.benchmarks.ledger import truth
from relaybench.benchmarks.ledger.generate import Sheet, make_sheet
from relaybench.config import TransformersConfig
from relaybench.config_benchmarks import LedgerConfig
from relaybench.engines.base import ScoreRequest
from relaybench.engines.transformers import TransformersEngine
from relaybench.information import chain_rule_gap, relay_loss, share_removed
from relaybench.reporting.statistics import Estimate, mean

READER_LIMIT, FLOOR_LIMIT, CHAIN_LIMIT = 0.05, 0.02, 0.02
DELTA_LIMIT, SHARE_LIMIT = 0.1, 0.05


def without(field: str) -> Encoder:
    """All registers, but those of one field; each once."""
    return lambda sheet, rng: " ".join(
        dict.fromkeys(line.text for line in sheet.lines if line.key and not line.key.endswith(f".{field}"))
    )


def some(kept: int) -> Encoder:
    """So many of the register lines, chosen blindly; in the ledger's order."""

    def write(sheet: Sheet, rng: Random) -> str:
        lines = [line.text for line in sheet.lines if line.key]
        chosen = sorted(rng.sample(range(len(lines)), kept))
        return " ".join(lines[i] for i in chosen)

    return write


def needed(sheet: Sheet, rng: Random) -> str:
    """The asked registers: sufficient."""
    return " ".join(dict.fromkeys(line.text for line in sheet.lines if line.key in sheet.needed))


def leaking(sheet: Sheet, rng: Random) -> str:
    """The answer key in the words of a register: it saw Y."""
    pairs = zip(sheet.asked, sheet.answer, strict=True)
    return " ".join(f"{sheet.record}'s {field} is {value}." for field, value in pairs)


def settings() -> list[Setting]:
    """The dials, each at an end or in the middle, with an encoder that loses something (or nothing, or leaks)."""

    def dropping(name: str, **dials: Any) -> Setting:
        shape = LedgerConfig(name="ledger", **{"digits": 1, "question": "blind", **dials})
        lost = truth.loss_dropping(shape, ["badge"])
        return Setting(name, shape, without("badge"), lost, shape.records * (shape.fields - 1))

    def keeping(name: str, kept: int, **dials: Any) -> Setting:
        shape = LedgerConfig(name="ledger", **{"digits": 1, "question": "blind", **dials})
        return Setting(name, shape, some(kept), truth.loss_keeping(shape, kept), truth.registers_held(shape, kept))

    noisy = LedgerConfig(name="ledger", digits=1, records=4, key_noise=0.2)
    told = 1 - truth.key_entropy(noisy) / truth.value_entropy(noisy)
    aware = LedgerConfig(name="ledger", digits=1, records=8)
    return [
        keeping("2 of 4 records", 2, records=4),
        keeping("2 of 8 records", 2, records=8),
        keeping("V = 90", 2, records=4, digits=2),
        dropping("fields", records=2, fields=3),
        dropping("skewed", records=3, fields=3, skew=1.5),
        dropping("two asked", records=2, fields=3, asked=2),
        keeping("noise lines", 2, records=4, noise=4),
        keeping("noisy key", 2, records=4, key_noise=0.2),
        dropping("noisier key", records=2, fields=2, key_noise=0.4),
        Setting("query-aware", aware, needed, 0.0, 1),
        keeping("each register twice", 4, records=4, copies=2),
        dropping("remainder", records=2, fields=3, asked=2, target="remainder"),
        Setting("leak", noisy, leaking, -truth.key_entropy(noisy), told),
    ]


class Row(Struct, frozen=True):
    """What was found at one setting, nats."""

    setting: str
    delta: float
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


async def digit_nats(engine: TransformersEngine, parts: Sequence[tuple[str, str]]) -> np.ndarray[Any, Any]:
    """-log p of the digits of each target, given all words."""
    assert engine.chat is not None
    ids = [(engine.chat.encode(context), engine.chat.encode(target)) for context, target in parts]
    digits = {engine.chat.encode(digit)[0] for digit in "0123456789"}
    found = await engine.score([ScoreRequest(context, target) for context, target in ids])
    pairs = zip(found, ids, strict=True)
    return np.array(
        [-sum(p for p, token in zip(row, target, strict=True) if token in digits) for row, (_, target) in pairs]
    )


async def look(engine: TransformersEngine, number: int, setting: Setting, tasks: int, coded: int) -> Row:
    """Measure one setting on tasks that training has not seen."""
    rng = Random(f"held out/{number}")
    sheets = [make_sheet(setting.dials, rng) for _ in range(tasks)]
    relays = [setting.encoder(sheet, rng) for sheet in sheets]
    pages = [context_text(sheet) for sheet in sheets]
    full, relay = [
        await digit_nats(engine, [target_parts(number, k, s) for k, s in zip(known, sheets, strict=True)])
        for known in (pages, relays)
    ]
    few = list(zip(sheets, pages, relays, strict=True))[:coded]

    async def code(known: str, what: str) -> np.ndarray[Any, Any]:
        texts = [{"": "", "m": relay, "M": page} for _, page, relay in few]
        parts = [code_parts(number, t[known], s, t[what]) for t, (s, _, _) in zip(texts, few, strict=True)]
        return await digit_nats(engine, parts)

    ceiling, direct, floor = await code("", "M"), await code("m", "M"), await code("M", "M")
    chain = chain_rule_gap(direct, ceiling, await code("", "m"), await code("M", "m")).value
    found = share_removed(direct, floor, ceiling)
    total = truth.context_entropy(setting.dials) / truth.value_entropy(setting.dials)
    known = truth.task_information(setting.dials) / truth.field_information(setting.dials)
    half = tasks // 2
    return Row(
        setting=setting.name,
        delta=setting.loss,
        found_delta=relay_loss(full[half:], relay[half:]),
        reader_excess=mean(full[:half]).value - known * truth.key_entropy(setting.dials),
        share=1 - setting.kept / total,
        found_share=found.value,
        floor=found.floor / found.ceiling,
        chain=chain / found.ceiling,
    )


def line(row: Row) -> str:
    """One row of the table."""
    delta, low, high = row.found_delta.value, row.found_delta.low, row.found_delta.high
    cells = [row.setting, f"{row.delta:.3f}", f"{delta:.3f} [{low:.3f}, {high:.3f}]", f"{row.reader_excess:.3f}"]
    cells += [_verdict(row.reader, abs(delta - row.delta) < DELTA_LIMIT)]
    cells += [f"{row.share:.3f}", f"{row.found_share:.3f}", f"{row.floor:.1%}", f"{row.chain:+.1%}"]
    cells += [_verdict(row.reference, abs(row.found_share - row.share) < SHARE_LIMIT)]
    return "| " + " | ".join(cells) + " |"


def _verdict(adequate: bool, near: bool) -> str:
    return ("agrees" if near else "DISAGREES") if adequate else "inadequate"


HEADINGS = ("setting", "Delta", "found [95%]", "NLL(M) - H", "reader", "u", "found", "floor", "chain", "reference")


async def validate(folder: Path, tasks: int, coded: int) -> list[Row]:
    engine = TransformersEngine(TransformersConfig(kind="transformers", model=str(folder), device="cpu"))
    await engine.start()
    print("| " + " | ".join(HEADINGS) + " |\n|" + "---|" * len(HEADINGS))
    rows = []
    for number, setting in enumerate(settings()):
        rows.append(await look(engine, number, setting, tasks, coded))
        print(line(rows[-1]), flush=True)
    await engine.close()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="a model that this script trained and saved")
    parser.add_argument("--out", type=Path, default=Path("runs/ledger-lm"), help="where a new one is saved")
    parser.add_argument("--minutes", type=float, default=30.0, help="of training")
    parser.add_argument("--tasks", type=int, default=4000, help="a setting: half to calibrate, half to measure")
    parser.add_argument("--coded", type=int, default=300, help="tasks a setting for code lengths")
    args = parser.parse_args()
    if args.model is None:
        print(json.dumps(train(args.out, settings(), minutes=args.minutes)))
    rows = asyncio.run(validate(args.model or args.out, args.tasks, args.coded))
    both = [row.setting for row in rows if row.reader and row.reference]
    print(json.dumps({"adequate": both, "rows": [structs.asdict(row) for row in rows]}, default=structs.asdict))


if __name__ == "__main__":
    main()
