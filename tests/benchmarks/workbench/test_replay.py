"""A replay has the form of the official traces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relaybench.benchmarks.workbench.replay import replay, replay_actions
from relaybench.benchmarks.workbench.sandbox import Sandbox
from relaybench.errors import UserError


def test_a_record_has_the_official_fields(box: Sandbox) -> None:
    done = replay(box, ['company_directory.find_email_address.func(name="bo")', "update_event.func(x='1')"])
    assert done["actions"] == [
        {
            "call": 'company_directory.find_email_address.func(name="bo")',
            "tool": "company_directory.find_email_address",
            "args": {"name": "bo"},
            "ok": True,
            "return_sha": done["actions"][0]["return_sha"],
            "return_len": 33,
            "return_type": "ndarray",
            "return": {"ndarray": ["bo.ray@atlas.com"]},
        },
        {
            "call": "update_event.func(x='1')",
            "tool": "update_event.func",
            "args": {"x": "1"},
            "ok": False,
            "exc": "NameError",
            "exc_msg": "name 'update_event' is not defined",
        },
    ]
    assert done["state"] == box.base.digests


def test_a_time_of_sending_is_marked_and_a_missing_cell_is_null(box: Sandbox) -> None:
    actions = [
        'email.send_email.func("a@b.c", "unique", "text")',
        'email.search_emails.func(query="unique")',
        'customer_relationship_manager.search_customers.func(customer_name="cy")',
    ]
    done = replay(box, actions)["actions"]
    assert done[0]["args"] == {"recipient": "a@b.c", "subject": "unique", "body": "text"}
    assert done[1]["return"][0]["sent_datetime"] == {"timestamp": "2023-11-30 00:00:00"}
    assert done[2]["return"][0]["notes"] is None


def test_a_long_return_is_left_out_but_measured(box: Sandbox) -> None:
    box.call("calendar.update_event", "00000001", "notes", "x" * 7000)
    [record] = replay(box, ['calendar.get_event_information_by_id.func(event_id="00000001", field="notes")'])["actions"]
    assert record["return_len"] == len(json.dumps({"notes": "x" * 7000}))
    assert "return" not in record


def test_a_file_of_strings_or_calls_is_replayed_row_by_row(data: Path, tmp_path: Path) -> None:
    delete = 'email.delete_email.func(email_id="00000001")'
    rows = [{"id": "a", "actions": [delete]}, {"id": "b", "actions": [{"call": delete, "ok": True}]}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    said = replay_actions(tmp_path / "in.jsonl", data, tmp_path / "out.jsonl")
    out = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert said.startswith("replayed 2 rows, 2 actions of which 0 raised")
    assert [row["id"] for row in out] == ["a", "b"]
    assert out[0]["actions"] == out[1]["actions"]
    assert out[0]["state"]["email"]["n"] == 2


def test_an_action_without_a_call_is_refused(data: Path, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"id": "a", "actions": [{"tool": "x"}]}\n', encoding="utf-8")
    with pytest.raises(UserError, match='line 1: "actions" must be a list of strings or objects'):
        replay_actions(tmp_path / "in.jsonl", data, tmp_path / "out.jsonl")
