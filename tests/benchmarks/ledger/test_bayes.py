"""The Bayes reader on real ledger tasks: with it, the estimators find what truth.py says."""

import pytest

from relaybench.benchmarks.ledger import Ledger
from relaybench.benchmarks.ledger.bayes import BayesReader, registers
from relaybench.benchmarks.ledger.generate import Sheet, sheet_of
from relaybench.benchmarks.ledger.truth import (
    context_entropy,
    context_reduction,
    loss_dropping,
    relay_complexity,
    task_information,
    value_entropy,
)
from relaybench.config_benchmarks import LedgerConfig
from relaybench.information import context_reduction as measured_reduction
from relaybench.information import information, rate, relay_loss

SETTINGS = {
    "default": {},
    "more records": {"records": 12},
    "fields": {"records": 3, "fields": 4},
    "short numbers": {"digits": 1},
    "long numbers": {"digits": 8},
    "noise": {"noise": 20},
    "three asked": {"fields": 4, "asked": 3},
    "noisy key": {"key_noise": 0.2},
    "blind": {"question": "blind", "fields": 2},
    "blind, skewed": {"question": "blind", "fields": 4, "skew": 1.5},
    "alias": {"alias": True, "fields": 2},
    "copies": {"fields": 2, "copies": 3},
    "remainder": {"fields": 3, "asked": 2, "target": "remainder"},
    "remainder, blind, noisy": {"fields": 2, "asked": 2, "target": "remainder", "question": "blind", "key_noise": 0.2},
    "all of it": {"records": 6, "fields": 4, "asked": 2, "key_noise": 0.1, "skew": 1.0, "noise": 8},
}


def relay_of(sheet: Sheet, without: str = "") -> str:
    """All current registers, but those of one field."""
    lines = [line for line in sheet.lines if line.key and not line.key.endswith(f".{without}")]
    return "\n".join(f"{line.key}: {line.value}" for line in lines)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_estimators_find_the_closed_forms(name: str) -> None:
    dials = LedgerConfig(name="ledger", tasks=3_000, **SETTINGS[name])  # type: ignore[arg-type]
    sheets = [sheet_of(task) for task in Ledger(dials).tasks()]
    reader = BayesReader(dials)
    page = ["\n".join(line.text for line in sheet.lines) for sheet in sheets]
    relays = [relay_of(sheet, "badge") for sheet in sheets]
    full, lossy = (
        [reader.target_nll(s, registers(text)) for s, text in zip(sheets, texts, strict=True)]
        for texts in (page, relays)
    )
    none = [reader.target_nll(s, {}) for s in sheets]
    context = [reader.context_nats(s) for s in sheets]
    code = [reader.relay_nats(s, text) for s, text in zip(sheets, relays, strict=True)]
    kept = dials.records * (dials.fields - 1)
    slack = 4 * 9.2 * 3_000**-0.5  # four deviations of a mean of NLLs that key noise and chance questions move
    exact = dials.key_noise == 0 and dials.skew == 0 and dials.asked == dials.fields
    within = 1e-9 if exact else slack
    assert sum(context) / len(context) == pytest.approx(context_entropy(dials))
    assert rate(code).value == pytest.approx(kept * value_entropy(dials))
    assert measured_reduction(context, code).value == pytest.approx(context_reduction(dials, kept))
    assert information(none, full).value == pytest.approx(task_information(dials), abs=within)
    assert relay_loss(full, lossy).value == pytest.approx(loss_dropping(dials, ["badge"]), abs=within)
    direct = [reader.context_given_relay(s, text) for s, text in zip(sheets, relays, strict=True)]
    assert sum(direct) == pytest.approx(sum(context) - sum(code))


@pytest.mark.parametrize("name", ["default", "three asked", "blind, skewed", "alias"])
def test_a_sufficient_relay_has_the_rate_of_truth_and_loses_nothing(name: str) -> None:
    dials = LedgerConfig(name="ledger", tasks=50, **SETTINGS[name])  # type: ignore[arg-type]
    reader = BayesReader(dials)
    for task in Ledger(dials).tasks():
        sheet = sheet_of(task)
        aware = dials.question == "upstream"
        text = "\n".join(f"{k}: {v}" for k, v in sheet.needed.items()) if aware else relay_of(sheet)
        assert reader.relay_nats(sheet, text) == pytest.approx(relay_complexity(dials))
        assert reader.target_nll(sheet, registers(text)) == pytest.approx(0)


def test_registers_are_read_in_both_forms_and_contradictions_are_dropped() -> None:
    text = (
        "Ada Baker.badge: 4821\nBen's locker is 7754.\nCarl.desk: 1000\nCarl's desk is 2000.\n"
        "Ben's locker was 1 until May."
    )
    assert registers(text) == {"Ada Baker.badge": "4821", "Ben.locker": "7754"}
