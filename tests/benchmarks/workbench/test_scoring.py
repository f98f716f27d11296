"""Outcome match and side effects under both rules; tests/parity compares v1 with every official verdict."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from relaybench.benchmarks.workbench.data import Query
from relaybench.benchmarks.workbench.sandbox import Base, Rules
from relaybench.benchmarks.workbench.scoring import Rate, Scorer, score_answers
from relaybench.errors import UserError

DELETE = 'email.delete_email.func(email_id="00000001")'
READ = 'email.search_emails.func(query="x")'
EVENTS = [
    f'calendar.create_event.func(event_name="{n}", participant_email="x@y.z", event_start="s", duration="30")'
    for n in ("A", "B")
]
UPDATES = [
    f'project_management.update_task.func(task_id="0000000{i}", field="board", new_value="Design")' for i in (0, 1)
]
PLOT = (
    'analytics.create_plot.func(time_min="2023-11-01", time_max="2023-11-{}", '
    'value_to_plot="total_visits", plot_type="bar")'
)


def verdict(base: Base, rules: Rules, truth: list[str], predicted: list[str], error: str = "") -> tuple[bool, bool]:
    query = Query("multi_domain-000", "?", tuple(truth), "T", ())
    result = Scorer(base, rules).score(query, predicted, error)
    return result.correct, result.unwanted_side_effects


@pytest.mark.parametrize("rules", ["v1", "v2"])
def test_reading_never_counts_and_the_right_state_is_right(base: Base, rules: Rules) -> None:
    assert verdict(base, rules, [DELETE], [READ, DELETE]) == (True, False)
    assert verdict(base, rules, [], [READ]) == (True, False)
    assert verdict(base, rules, [DELETE], [READ]) == (False, False)
    assert verdict(base, rules, [], [DELETE]) == (False, True)


@pytest.mark.parametrize("rules", ["v1", "v2"])
def test_case_counts_in_no_text_but_status_list_and_board(base: Base, rules: Rules) -> None:
    assert verdict(base, rules, [EVENTS[0]], [EVENTS[0].replace('"A"', '"a"')]) == (True, False)
    status = (
        'customer_relationship_manager.add_customer.func(customer_name="N", assigned_to_email="a@b.c", status="Lead")'
    )
    assert verdict(base, rules, [status], [status.replace("Lead", "lead")]) == (False, True)


@pytest.mark.parametrize("rules", ["v1", "v2"])
def test_an_error_makes_it_wrong_but_is_no_side_effect(base: Base, rules: Rules) -> None:
    assert verdict(base, rules, [DELETE], [DELETE], "Context window exceeded") == (False, False)


def test_a_raising_call_is_skipped_in_2024_and_fatal_in_2026(base: Base) -> None:
    assert verdict(base, "v1", [DELETE], ["nonsense(", DELETE]) == (True, False)
    assert verdict(base, "v2", [DELETE], ["nonsense(", DELETE]) == (False, True)
    assert verdict(base, "v2", [], ["email.no_such_tool.func()"]) == (False, False)


def test_the_suffix_is_needed_in_2024_only(base: Base) -> None:
    assert verdict(base, "v1", [DELETE], [DELETE.replace(".func", "")]) == (False, False)
    assert verdict(base, "v2", [DELETE], [DELETE.replace(".func", "")]) == (True, False)


def test_the_order_of_sent_mail_counts_in_2024_and_ids_in_both(base: Base) -> None:
    mails = [f'email.send_email.func(recipient="a@b.c", subject="{s}", body="x")' for s in ("one", "two")]
    assert verdict(base, "v1", mails, mails[::-1]) == (False, True)
    assert verdict(base, "v2", mails, mails[::-1]) == (False, True)  # the ids are swapped
    plots = [PLOT.format(29), PLOT.format(28)]
    assert verdict(base, "v1", plots, plots[::-1]) == (False, True)
    assert verdict(base, "v2", plots, plots[::-1]) == (True, False)


def test_2026_takes_both_last_days_of_a_chart_and_no_plot_for_a_side_effect(base: Base) -> None:
    assert verdict(base, "v2", [PLOT.format(29)], [PLOT.format(30)]) == (True, False)
    assert verdict(base, "v1", [PLOT.format(29)], [PLOT.format(30)]) == (False, True)
    assert verdict(base, "v2", [], [PLOT.format(29)]) == (False, False)
    assert verdict(base, "v1", [], [PLOT.format(29)]) == (False, True)


def test_exact_match_is_of_the_write_calls_in_any_order(base: Base) -> None:
    query = Query("multi_domain-000", "?", tuple(UPDATES), "T", ())
    scorer = Scorer(base, "v1")
    assert (
        scorer.score(query, [READ, UPDATES[1], UPDATES[0].upper().replace("PROJECT", "project", 1)]).exact_match
        is False
    )
    assert scorer.score(query, [READ, UPDATES[1], UPDATES[0]]).exact_match


def test_wilson_intervals_stay_within_0_and_1() -> None:
    assert Rate(0, 10).interval == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert Rate(5, 10).interval == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert Rate(0, 0).interval == (0.0, 1.0)


def write_rows(path: Path, *rows: dict[str, Any]) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def test_a_file_is_scored_with_other_fields_passed_through(data: Path, tmp_path: Path) -> None:
    answers = write_rows(
        tmp_path / "a.jsonl.gz",
        {"id": "email-0", "predicted": [DELETE], "error": "", "model": "m"},
        {"id": "multi_domain-001", "predicted": [DELETE], "error": None},
    )
    summary = score_answers(answers, "v1", data, tmp_path / "out.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows == [
        {"id": "email-0", "correct": True, "unwanted_side_effects": False, "exact_match": True, "model": "m"},
        {"id": "multi_domain-001", "correct": False, "unwanted_side_effects": True, "exact_match": False},
    ]
    assert summary.n == 2
    assert (summary.correct.count, summary.correct_with_action.n) == (1, 1)
    assert "rules v1, n = 2" in str(summary)
    assert "unverified" not in str(summary)


def test_v2_says_that_it_is_unverified_and_refuses_other_ids(data: Path, tmp_path: Path) -> None:
    good = write_rows(tmp_path / "a.jsonl", {"id": "multi_domain-000", "predicted": [DELETE]})
    assert "unverified" in str(score_answers(good, "v2", data))
    bad = write_rows(tmp_path / "b.jsonl", {"id": "email-000", "predicted": []})
    with pytest.raises(UserError, match="line 1: rules v2 exist for multi_domain only"):
        score_answers(bad, "v2", data)


def test_an_unknown_task_is_named_with_its_line_and_the_nearest(data: Path, tmp_path: Path) -> None:
    rows = [{"id": "email-000", "predicted": []}, {"id": "emial-001", "predicted": []}]
    with pytest.raises(UserError, match="line 2: there is no task 'emial-001'; did you mean 'email-001'"):
        score_answers(write_rows(tmp_path / "a.jsonl", *rows), "v1", data)


def test_a_task_given_twice_is_refused_however_its_id_is_written(data: Path, tmp_path: Path) -> None:
    rows = [{"id": "email-0", "predicted": []}, {"id": "email-000", "predicted": []}]
    with pytest.raises(UserError, match="line 2: 'email-000' was already given"):
        score_answers(write_rows(tmp_path / "a.jsonl", *rows), "v1", data)
