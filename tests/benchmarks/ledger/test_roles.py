"""The report format reads what it writes, and nothing else."""

import pytest

from relaybench.benchmarks.ledger import Ledger
from relaybench.benchmarks.ledger.roles import LedgerReport
from relaybench.config_benchmarks import LedgerConfig

REPORT = LedgerReport()


@pytest.mark.parametrize("alias", [False, True])
def test_what_is_needed_survives_being_written_and_read(alias):
    ledger = Ledger(LedgerConfig(name="ledger", records=6, fields=3, asked=2, alias=alias))
    for task in ledger.tasks():
        needed = ledger.needed(task)
        assert len(needed) == 2
        assert REPORT.parse(REPORT.render(needed)) == needed


def test_an_empty_report_is_a_legal_one():
    assert REPORT.parse(REPORT.render({})) == {}


def test_a_register_named_twice_keeps_its_first_value():
    assert REPORT.parse("Ada.badge: 1\n\nAda.badge: 2") == {"Ada.badge": "1"}


@pytest.mark.parametrize("text", ["Here it is:\nAda.badge: 1", "Ada: 1", "Ada.badge is 1", "Ada.badge: none", "1"])
def test_a_line_of_another_form_makes_a_report_ill_formed(text):
    assert REPORT.parse(text) is None


def test_only_the_answerer_may_submit_and_only_the_reader_may_open():
    ledger = Ledger(LedgerConfig(name="ledger", tasks=1))
    roles = ledger.roles(ledger.tasks()[0])
    reader, answerer = roles.parts
    assert (reader.tools, answerer.tools, roles.whole.tools) == ({"open", "finish"}, {"submit"}, None)
    assert reader.reads_only
    assert list(answerer.receives) == [reader.id]
