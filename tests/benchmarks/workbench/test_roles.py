"""Reader and writer: who may use what, and the report that crosses."""

from __future__ import annotations

from pathlib import Path

import pytest

from relaybench.benchmarks.workbench import WorkBench
from relaybench.benchmarks.workbench.roles import ABOUT, READER, WRITER, FieldsReport, roles
from relaybench.benchmarks.workbench.sandbox import TOOLS
from relaybench.config_benchmarks import WorkBenchConfig

REPORT = FieldsReport(["email.delete_email"])


def test_reader_and_writer_share_out_all_tools_and_all_steps() -> None:
    split = roles("all", ())
    reader, writer = split.parts
    assert split.whole.tools == frozenset(TOOLS)
    assert (reader.tools or frozenset()) | (writer.tools or frozenset()) == split.whole.tools
    assert not any(TOOLS[name].writes for name in reader.tools or ())
    assert all(TOOLS[name].writes for name in writer.tools or ())
    assert reader.max_steps + writer.max_steps == split.whole.max_steps == 20
    assert split.pairs == ((READER, WRITER),)


def test_the_domains_tool_set_offers_those_and_the_directory() -> None:
    whole = roles("domains", ("email", "customer_relationship_manager")).whole
    domains = {TOOLS[name].domain for name in whole.tools or ()}
    assert domains == {"email", "customer_relationship_manager", "company_directory"}
    assert "calendar." not in whole.system.split("Tools:")[1]


def test_every_tool_is_described_with_its_parameters_within_the_room_of_a_small_model() -> None:
    assert set(ABOUT) == set(TOOLS)
    system = roles("all", ()).whole.system
    for name, tool in TOOLS.items():
        assert f"{name}({', '.join(tool.parameters)})" in system
    assert len(system) < 2500 * 3.2  # about 3.2 characters a token in such text
    assert "2023-11-30" in system


@pytest.mark.parametrize(
    "fields",
    [
        {"RESULT": "NO_ACTION"},
        {"RESULT": "ACTION_NEEDED", "action": "email.send_email", "body": 'He said "no": {1}\nBye, ä'},
        {"RESULT": "ACTION_NEEDED", "task_id": "00000001", "2.task_id": "00000002"},
        {"RESULT": "[hidden]", "due_date": "[hidden]"},
        {"RESULT": "ACTION_NEEDED", "note": ""},
    ],
)
def test_what_is_rendered_is_parsed_again(fields: dict[str, str]) -> None:
    assert REPORT.parse(REPORT.render(fields)) == fields


def test_the_report_is_asked_for_with_the_writers_tools() -> None:
    [report] = roles("domains", ("calendar",)).parts[1].receives.values()
    assert "calendar.delete_event(event_id)" in report.request
    assert "email." not in report.request


def test_reports_as_models_write_them() -> None:
    text = (
        'RESULT: ACTION_NEEDED\nFIELDS:\n- action: email.delete_email\n  email_id: "00000001",\n email_id: "00000002"\n'
    )
    assert REPORT.parse(text) == {
        "RESULT": "ACTION_NEEDED",
        "action": "email.delete_email",
        "email_id": "00000001",
        "2.email_id": "00000002",
    }
    assert REPORT.parse("RESULT: NO_ACTION\nFIELDS: {}") == {"RESULT": "NO_ACTION"}
    assert REPORT.parse("RESULT: NO_ACTION") == {"RESULT": "NO_ACTION"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "There is nothing to do.",
        "RESULT: MAYBE\nFIELDS:",
        "FIELDS:\nemail_id: 1",
        "RESULT: ACTION_NEEDED\nFIELDS:\nplease delete it",
        "RESULT: ACTION_NEEDED\nemail_id: 1",
    ],
)
def test_other_forms_are_ill_formed(text: str) -> None:
    assert REPORT.parse(text) is None


def test_the_needed_values_of_every_real_task_survive_the_report(shared: Path) -> None:
    benchmark = WorkBench(WorkBenchConfig(name="workbench"), shared / "data" / "workbench")
    for task in benchmark.tasks():
        needed = benchmark.needed(task)
        text = REPORT.render(needed)
        assert REPORT.parse(text) == needed
        assert all(value in text for value in needed.values())
