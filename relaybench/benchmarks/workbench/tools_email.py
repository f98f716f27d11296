"""Email tools: the mailbox. Messages and quirks as in the official code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaybench.benchmarks.workbench.tables import Row
from relaybench.benchmarks.workbench.timestamps import NOW, day

if TYPE_CHECKING:
    from relaybench.benchmarks.workbench.sandbox import Sandbox

LIMIT = 5
SENT = "Email sent successfully."


def send_email(
    box: Sandbox, /, recipient: str | None = None, subject: str | None = None, body: str | None = None
) -> str:
    if not recipient or not subject or not body:
        return "Recipient, subject, or body not provided."
    if not _is_address(recipient):
        return "Invalid recipient email address."
    mails = box.state["email"]
    number = str(mails.next_number("email_id"))
    cells = {
        "email_id": number.zfill(8) if box.rules == "v2" else number,
        "inbox/outbox": "outbox",
        "sender/recipient": recipient.lower(),
        "subject": subject,
        "sent_datetime": NOW,
        "body": body,
    }
    if box.rules == "v2":
        mails.append(cells, label=len(mails.rows))
        mails.relabel()
    else:  # written under "number of rows", which after a deletion is the label of the last old email
        mails.put(cells, label=len(mails.rows))
    return SENT


def delete_email(box: Sandbox, /, email_id: str | None = None) -> str:
    if not email_id:
        return "Email ID not provided."
    mails = box.state["email"]
    if not mails.where("email_id", email_id):
        return "Email not found."
    mails.delete("email_id", email_id)
    return "Email deleted successfully."


def forward_email(box: Sandbox, /, email_id: str | None = None, recipient: str | None = None) -> str:
    if not email_id or not recipient:
        return "Email ID or recipient not provided."
    mail = _find(box, email_id)
    if mail is None:
        return "Email not found."
    result = send_email(box, recipient, f"FW: {mail['subject']}", mail["body"])  # type: ignore[arg-type]
    return "Email forwarded successfully." if result == SENT else result


def reply_email(box: Sandbox, /, email_id: str | None = None, body: str | None = None) -> str:
    if not email_id or not body:
        return "Email ID or body not provided."
    mail = _find(box, email_id)
    if mail is None:
        return "Email not found."
    result = send_email(box, mail["sender/recipient"], f"{mail['subject']}", body)  # type: ignore[arg-type]
    return "Email replied successfully." if result == SENT else result


def get_email_information_by_id(
    box: Sandbox, /, email_id: str | None = None, field: str | None = None
) -> dict[str, object] | str:
    if not email_id:
        return "Email ID not provided."
    if not field:
        return "Field not provided."
    mail = _find(box, email_id)
    if mail is None:
        return "Email not found."
    return {field: mail[field]} if field in mail else "Field not found."


def search_emails(
    box: Sandbox, /, query: str = "", date_min: str | None = None, date_max: str | None = None
) -> list[dict[str, object]] | str:
    """The newest five mails with every word of `query`. TypeError (v1) if old and just sent mails match."""
    words = query.lower().split()
    mails = box.state["email"]
    subject, body, sender, sent = (
        mails.columns.index(name) for name in ("subject", "body", "sender/recipient", "sent_datetime")
    )

    def matches(row: Row) -> bool:
        text = f"{row[subject]} {row[body]} {row[sender]}".lower()
        return all(word in text for word in words)

    found = [row for row in mails.rows if matches(row)]
    if box.rules == "v2":
        found.sort(key=lambda row: str(row[sent]), reverse=True)
    else:
        found.sort(key=lambda row: row[sent], reverse=True)  # type: ignore[arg-type, return-value]
    if date_min:
        found = [row for row in found if day(row[sent]) >= day(date_min)]
    if date_max:
        found = [row for row in found if day(row[sent]) <= day(date_max)]
    return mails.records(found[:LIMIT]) or "No emails found."


def _is_address(text: str) -> bool:
    return "@" in text and "." in text


def _find(box: Sandbox, email_id: str) -> dict[str, object] | None:
    mails = box.state["email"]
    rows = mails.where("email_id", email_id)
    return mails.records(rows[:1])[0] if rows else None


READS = (get_email_information_by_id, search_emails)
WRITES = (send_email, delete_email, forward_email, reply_email)
