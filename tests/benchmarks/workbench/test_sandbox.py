"""The tools do what the official ones do, quirks included; tests/parity compares every official return value."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from relaybench.benchmarks.workbench.sandbox import TOOLS, Base, Sandbox, exception_name
from relaybench.benchmarks.workbench.timestamps import DateParseError
from relaybench.errors import UserError


def test_there_are_27_tools_and_14_write() -> None:
    assert len(TOOLS) == 27
    assert sum(tool.writes for tool in TOOLS.values()) == 14
    assert TOOLS["calendar.create_event"].parameters == ("event_name", "participant_email", "event_start", "duration")


def test_deleting_then_sending_destroys_the_last_old_mail_in_2024_and_not_in_2026(base: Base) -> None:
    old, new = Sandbox(base, "v1"), Sandbox(base, "v2")
    for box in (old, new):
        box.call("email.delete_email", "00000000")
        assert box.call("email.send_email", "A@B.C", "Hi", "Text") == "Email sent successfully."
    assert [row[0] for row in old.state["email"].rows] == ["00000001", "3"]
    assert [row[0] for row in new.state["email"].rows] == ["00000001", "00000002", "00000003"]
    assert old.state["email"].rows[-1][2] == "a@b.c"


def test_searching_old_and_new_mail_together_raises_in_2024_only(base: Base) -> None:
    old, new = Sandbox(base, "v1"), Sandbox(base, "v2")
    for box in (old, new):
        box.call("email.send_email", "a@b.c", "Budget", "Text")
    with pytest.raises(TypeError):
        old.call("email.search_emails", "budget")
    found = new.call("email.search_emails", "budget")
    assert isinstance(found, list)
    assert [mail["email_id"] for mail in found] == ["00000003", "00000002", "00000000"]


def test_mail_is_found_by_every_word_newest_first_within_days(box: Sandbox) -> None:
    found = box.call("email.search_emails", query="BUDGET ann.lee", date_min="2023-11-01", date_max="2023-11-02")
    assert isinstance(found, list)
    assert [mail["email_id"] for mail in found] == ["00000002", "00000000"]
    assert box.call("email.search_emails", "no such words") == "No emails found."


def test_a_forward_and_a_reply_copy_the_mail(box: Sandbox) -> None:
    box.call("email.forward_email", "00000001", "x@y.z")
    box.call("email.reply_email", "00000001", "Yes")
    rows = box.state["email"].rows
    assert rows[3][2:4] == ("x@y.z", "FW: Lunch")
    assert rows[4][2:4] == ("bo.ray@atlas.com", "Lunch")
    assert box.call("email.forward_email", "00000001", "nobody") == "Invalid recipient email address."


def test_new_events_carry_label_0_and_the_next_id(box: Sandbox) -> None:
    assert box.call("calendar.create_event", "A", "x@y.z", "2023-12-03 09:00:00", "30") == "00000002"
    assert box.call("calendar.create_event", "B", "x@y.z", "2023-12-03 10:00:00", "30") == "00000003"
    assert box.state["calendar"].labels == [0, 1, 0, 0]
    assert box.call("calendar.create_event", "B") == "Participant email not provided."


def test_an_event_may_grow_a_field_and_then_answers_for_it(box: Sandbox) -> None:
    assert box.call("calendar.update_event", "00000001", "room", "R1") == "Event updated successfully."
    assert box.call("calendar.get_event_information_by_id", "00000001", "room") == {"room": "R1"}
    assert box.call("calendar.get_event_information_by_id", "00000001", "end") == "Field not found."


def test_an_unreadable_start_breaks_later_searches_by_time(box: Sandbox) -> None:
    box.call("calendar.create_event", "A", "x@y.z", "None", "30")
    assert isinstance(box.call("calendar.search_events", "A"), list)
    with pytest.raises(DateParseError) as caught:
        box.call("calendar.search_events", "A", time_min="2023-12-01")
    assert exception_name(caught.value) == "DateParseError"


def test_a_broken_pattern_raises_in_2024_and_is_plain_text_in_2026(base: Base) -> None:
    with pytest.raises(re.error) as caught:
        Sandbox(base, "v1").call("calendar.search_events", "sync (")
    assert exception_name(caught.value) == "error"
    assert Sandbox(base, "v2").call("calendar.search_events", "sync (") == "No events found."


def test_visits_are_counted_by_day_in_order_of_days(box: Sandbox) -> None:
    assert box.call("analytics.total_visits_count") == {"2023-11-01": 2, "2023-11-02": 1}
    assert box.call("analytics.engaged_users_count", "2023-11-01", "2023-11-01") == {"2023-11-01": 1}
    assert box.call("analytics.traffic_source_count", traffic_source="referral") == {"2023-11-01": 1, "2023-11-02": 0}
    assert box.call("analytics.get_average_session_duration") == {"2023-11-01": 4.5, "2023-11-02": 9.0}
    assert box.call("analytics.total_visits_count", "2024-01-01") == {}


def test_only_the_accepted_metrics_can_be_plotted(box: Sandbox) -> None:
    made = box.call("analytics.create_plot", "2023-11-01", "2023-11-02", "visits_direct", "bar")
    assert made == "plots/2023-11-01_2023-11-02_visits_direct_bar.png"
    refused = box.call("analytics.create_plot", "2023-11-01", "2023-11-02", "direct", "bar")
    assert str(refused).startswith("Value to plot must be one of")


def test_project_checks_come_in_the_official_order(box: Sandbox) -> None:
    create = TOOLS["project_management.create_task"].run
    assert create(box, "N", "no@one.x", "bad", "2023-12-01", "bad").startswith("Assignee")
    assert create(box, "N", "ann.lee@atlas.com", "bad", "2023-12-01", "bad").startswith("List")
    assert create(box, "N", "ann.lee@atlas.com", "Backlog", "2023-12-01", "bad").startswith("Board")
    assert create(box, "N", "ann.lee@atlas.com", "Backlog", "2023-12-01", "Design") == "00000002"
    update = TOOLS["project_management.update_task"].run
    assert update(box, "9", "board", "bad").startswith("Board")
    assert update(box, "9", "owner", "x") == "Task not found."
    assert update(box, "00000000", "owner", "x") == "Field not valid."


def test_all_matching_tasks_are_listed_and_none_is_an_empty_list(box: Sandbox) -> None:
    assert box.call("project_management.search_tasks", list_name="e") == box.state["project_management"].records(
        box.state["project_management"].rows[1:]
    )
    assert box.call("project_management.search_tasks", "nothing like it") == []
    assert box.call("project_management.search_tasks") == "No search parameters provided."


def test_customers_are_searched_by_text_and_dates(box: Sandbox) -> None:
    found = box.call("customer_relationship_manager.search_customers", status="w", follow_up_by_max="2023-12-08")
    assert isinstance(found, list)
    assert [customer["customer_name"] for customer in found] == ["Di Orr"]
    assert found[0]["notes"] == "Called"


def test_a_customer_without_an_email_breaks_a_search_by_email(box: Sandbox) -> None:
    assert box.call("customer_relationship_manager.add_customer", "Ed Fox", "ANN.LEE@atlas.com", "Lead") == "00000002"
    assert box.state["customer_relationship_manager"].rows[-1][:4] == ("00000002", "ann.lee@atlas.com", "Ed Fox", None)
    with pytest.raises(ValueError, match="NaN"):
        box.call("customer_relationship_manager.search_customers", customer_email="acme")


def test_the_directory_is_searched_by_lower_cased_pattern(box: Sandbox) -> None:
    assert box.call("company_directory.find_email_address", "LEE") == ("ann.lee@atlas.com",)
    assert box.call("company_directory.find_email_address", "Ann Lee") == ()
    assert box.call("company_directory.find_email_address") == "Name not provided."


def test_sandboxes_of_one_base_do_not_see_each_other(base: Base) -> None:
    one, other = Sandbox(base), Sandbox(base)
    one.call("email.delete_email", "00000000")
    one.call("calendar.update_event", "00000000", "event_name", "X")
    assert other.state == base.state
    assert other.digests() == base.digests
    assert one.digests() != base.digests


def test_a_folder_without_data_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="relaybench data fetch workbench"):
        Base(tmp_path)
