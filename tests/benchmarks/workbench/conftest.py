"""A small WorkBench in the official layout, made here: a few rows a table, two tasks a file."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from relaybench.benchmarks.workbench.data import SPLITS, V2_FILE
from relaybench.benchmarks.workbench.sandbox import Base, Sandbox

MAIL = ("email_id", "inbox/outbox", "sender/recipient", "subject", "sent_datetime", "body")
EVENT = ("event_id", "event_name", "participant_email", "event_start", "duration")
TASK = ("task_id", "task_name", "assigned_to_email", "list_name", "due_date", "board")
VISIT = ("date_of_visit", "visitor_id", "page_views", "session_duration_seconds", "traffic_source", "user_engaged")
CUSTOMER = (
    "customer_id",
    "assigned_to_email",
    "customer_name",
    "customer_email",
    "customer_phone",
    "last_contact_date",
    "product_interest",
    "status",
    "follow_up_by",
    "notes",
)

SANDBOX = {
    "emails.csv": [
        MAIL,
        ("00000000", "inbox", "ann.lee@atlas.com", "Budget", "2023-11-01 09:00:00", "The budget (draft)"),
        ("00000001", "inbox", "bo.ray@atlas.com", "Lunch", "2023-11-03 09:00:00", "Noon?"),
        ("00000002", "outbox", "ann.lee@atlas.com", "Budget again", "2023-11-02 09:00:00", "Final"),
    ],
    "calendar_events.csv": [
        EVENT,
        ("00000001", "Sync up", "ann.lee@atlas.com", "2023-12-01 09:00:00", "30"),
        ("00000000", "Review", "bo.ray@atlas.com", "2023-12-02 11:00:00", "60"),
    ],
    "analytics_data.csv": [
        VISIT,
        ("2023-11-02", "0002", "3", "9", "direct", "True"),
        ("2023-11-01", "0001", "1", "4", "referral", "False"),
        ("2023-11-01", "0002", "2", "5", "direct", "True"),
    ],
    "project_tasks.csv": [
        TASK,
        ("00000000", "Fix login", "ann.lee@atlas.com", "Backlog", "2023-12-01", "Front end"),
        ("00000001", "Draw logo", "bo.ray@atlas.com", "In Review", "2023-12-05", "Design"),
    ],
    "customer_relationship_manager_data.csv": [
        CUSTOMER,
        (
            "00000000",
            "ann.lee@atlas.com",
            "Cy Poe",
            "cy.poe@acme",
            "",
            "2023-11-01",
            "Software",
            "Lead",
            "2023-12-09",
            "",
        ),
        (
            "00000001",
            "bo.ray@atlas.com",
            "Di Orr",
            "di.orr@acme",
            "1-2",
            "2023-11-20",
            "Training",
            "Won",
            "2023-12-08",
            "Called",
        ),
    ],
}
"""By file: the header and a few rows."""

TRUTHS = ["['email.delete_email.func(email_id=\"00000001\")']", "[]"]


def write_csv(path: Path, rows: Sequence[Sequence[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def make_data(folder: Path) -> Path:
    """A data folder with all the files of the real one."""
    for name, rows in SANDBOX.items():
        write_csv(folder / "sandbox" / name, rows)
    (folder / "raw").mkdir()
    (folder / "raw" / "email_addresses.csv").write_text("ann.lee@atlas.com\nbo.ray@atlas.com\n", encoding="utf-8")
    shared = ("base_template", "chosen_template", "domains")
    for split in SPLITS:
        rows = [(f"{split} {i}", truth, "T", "T", "['crm', 'email']") for i, truth in enumerate(TRUTHS)]
        write_csv(folder / "queries" / f"{split}_queries_and_answers.csv", [("query", "answer", *shared), *rows])
    rows = [(f"new text {i}", truth, "T", "T", "['crm', 'email']") for i, truth in enumerate(TRUTHS)]
    write_csv(folder / V2_FILE, [("task", "outcome", *shared), *rows])
    return folder


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("workbench"))


@pytest.fixture(scope="session")
def base(data: Path) -> Base:
    return Base(data)


@pytest.fixture
def box(base: Base) -> Sandbox:
    """A fresh sandbox under the 2024 rules."""
    return Sandbox(base)
