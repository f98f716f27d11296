"""Ledgers are reproducible, independent of each other, and drawn as truth.py says."""

from collections import Counter
from random import Random

import pytest

from relaybench.benchmarks.ledger import Ledger, describe
from relaybench.benchmarks.ledger.generate import FIELDS, ask, make_sheet, make_task, revision, sheet_of
from relaybench.benchmarks.ledger.truth import p_asked
from relaybench.config_benchmarks import LedgerConfig


def dials(**changes: object) -> LedgerConfig:
    return LedgerConfig.model_validate({"name": "ledger", "fields": 2, **changes})


EVERY = [
    dials(),
    dials(records=1, fields=1),
    dials(records=60, fields=3, noise=20, page_size=7),
    dials(records=5, alias=True, asked=2),
    dials(records=1, alias=True),
    dials(records=40, alias=True),
    dials(fields=4, skew=1.5, noise=5, asked=2),
    dials(question="blind", key_noise=0.5),
    dials(digits=12),
]


def test_more_tasks_leave_the_earlier_ones_as_they_were():
    few, many = Ledger(dials(tasks=5)), Ledger(dials(tasks=50))
    assert many.tasks()[:5] == few.tasks()
    assert many.revision == few.revision
    assert len({task.id for task in many.tasks()}) == 50


@pytest.mark.parametrize("setting", EVERY, ids=describe)
def test_the_asked_registers_stand_in_the_ledger_once_and_as_they_are(setting):
    for index in range(10):
        sheet = sheet_of(make_task(setting, index))
        current = {line.key: line.value for line in sheet.lines if line.key}
        assert len(current) == setting.records * setting.fields == sum(bool(line.key) for line in sheet.lines)
        assert all(line.value in line.text and len(line.value) in (0, setting.digits) for line in sheet.lines)
        assert sheet.needed.items() <= current.items()
        assert len(sheet.needed) == setting.asked
        assert sum(map(len, sheet.pages)) == len(sheet.lines)
        assert max(map(len, sheet.pages)) <= setting.page_size


def test_any_dial_that_shapes_a_task_changes_the_revision():
    base = {"name": "ledger", "fields": 2}
    changes = [
        {"records": 5}, {"fields": 3}, {"digits": 5}, {"noise": 1}, {"page_size": 3}, {"asked": 2},
        {"question": "blind"}, {"key_noise": 0.1}, {"alias": True}, {"skew": 1.0}, {"seed": 1},
        {"copies": 2}, {"asked": 2, "target": "remainder"},
    ]  # fmt: skip
    revisions = {revision(LedgerConfig.model_validate({**base, **change})) for change in [{}, *changes]}
    assert len(revisions) == len(changes) + 1
    assert revision(dials(reader="model", tasks=3)) == revision(dials())


def test_a_seed_means_the_same_ledger_on_every_machine():
    sheet = sheet_of(make_task(dials(), 0))
    assert (sheet.question, sheet.values) == ("What is Tess's badge?", ("3166",))


def test_values_are_uniform_and_key_noise_moves_the_stated_share():
    setting = dials(digits=1, key_noise=0.25, records=2)
    sheets = [make_sheet(setting, Random(i)) for i in range(3000)]
    counts = Counter(line.value for sheet in sheets for line in sheet.lines)
    assert set(counts) == set("123456789")
    assert all(abs(n / 12000 - 1 / 9) < 0.012 for n in counts.values())
    changed = [(sheet.values[0], sheet.answer[0]) for sheet in sheets if sheet.values != sheet.answer]
    assert abs(len(changed) / 3000 - 0.25) < 0.025
    others = Counter((int(said) - int(true)) % 9 for true, said in changed)
    assert set(others) == set(range(1, 9))
    assert all(abs(n / len(changed) - 1 / 8) < 0.04 for n in others.values())


@pytest.mark.parametrize(
    "setting", [dials(fields=4, skew=1.0, asked=2), dials(fields=3, skew=0.0, asked=1)], ids=describe
)
def test_fields_are_asked_as_often_as_the_truth_says(setting):
    rng = Random(0)
    drawn = Counter(field for _ in range(4000) for field in ask(setting, rng))
    assert all(abs(drawn[field] / 4000 - p_asked(setting, field)) < 0.025 for field in FIELDS[: setting.fields])


def test_a_blind_question_is_in_no_word_the_reader_sees():
    ledger = Ledger(dials(question="blind"))
    for task in ledger.tasks()[:10]:
        sheet, roles = sheet_of(task), ledger.roles(task)
        reader, answerer = roles.parts
        seen = f"{task.instruction} {reader.system} {reader.instruction}"
        assert sheet.question not in seen
        assert sheet.record not in seen
        assert all(sheet.question in told.instruction for told in (answerer, roles.whole))
    upstream = Ledger(dials()).tasks()[0]
    assert sheet_of(upstream).question in upstream.instruction


def test_an_aliased_question_shares_no_name_with_its_register_and_has_rivals():
    setting = dials(alias=True, records=6)
    for index in range(20):
        sheet = sheet_of(make_task(setting, index))
        first, last = sheet.record.split()
        office = sheet.question.removesuffix(" office?").rsplit(" the ", 1)[1]
        assert last not in sheet.question
        assert [line.text for line in sheet.lines if line.text.endswith(f" heads the {office} office.")] == [
            f"{sheet.record} heads the {office} office."
        ]
        assert any(f"headed the {office} office until" in line.text for line in sheet.lines)
        assert any(line.key.startswith(f"{first} ") and last not in line.key for line in sheet.lines)
        assert any(f"{sheet.record}'s" in line.text and " was " in line.text for line in sheet.lines)


def test_under_skew_noise_looks_like_a_record_but_is_never_asked_for():
    sheet = sheet_of(make_task(dials(skew=1.0, noise=8), 0))
    names = {line.key.split(".")[0] for line in sheet.lines if line.key}
    noise = [line.text for line in sheet.lines if not line.key]
    assert len(noise) == 8
    assert {text.split("'s ")[0] for text in noise} <= names


def test_asking_for_more_fields_than_there_are_is_refused():
    with pytest.raises(ValueError, match="asked is 3, but a record has 2 fields"):
        dials(asked=3)


def test_later_dials_leave_tasks_and_revision_as_they_were():
    plain = LedgerConfig(name="ledger", tasks=3)
    assert revision(plain) == revision(LedgerConfig(name="ledger", copies=1, target="values")) == "ledger@1-a125a7e98a"
    assert [make_task(dials(copies=1), i) for i in range(3)] == [make_task(dials(), i) for i in range(3)]


def test_each_register_stands_on_as_many_lines_as_told():
    sheet = make_sheet(dials(copies=3, records=2, noise=1), Random(0))
    assert set(Counter(line.text for line in sheet.lines if line.key).values()) == {3}
    assert len(sheet.lines) == 2 * 2 * 3 + 1


@pytest.mark.parametrize("alias", [False, True])
def test_a_remainder_is_that_of_the_asked_values(alias):
    setting = dials(fields=4, asked=3, target="remainder", alias=alias)
    sheet = make_sheet(setting, Random(1))
    assert sheet.answer == (str(sum(map(int, sheet.values)) % 9000),)
    assert len(sheet.values) == 3
    assert sheet.question.count(" plus ") == 2
    assert sheet.question.endswith("is divided by 9000?")
    noisy = [make_sheet(setting.model_copy(update={"key_noise": 0.5}), Random(i)) for i in range(400)]
    wrong = sum(sheet.answer != (str(sum(map(int, sheet.values)) % 9000),) for sheet in noisy)
    assert 150 < wrong < 250
    assert all(0 <= int(sheet.answer[0]) < 9000 for sheet in noisy)


def test_a_remainder_of_one_value_is_refused():
    with pytest.raises(ValueError, match="set asked to 2 or more"):
        dials(target="remainder")
