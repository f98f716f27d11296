"""Calendar tools: events with a start and a duration. Messages and quirks as in the official code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaybench.benchmarks.workbench.matching import choose, contains
from relaybench.benchmarks.workbench.timestamps import at_or_before

if TYPE_CHECKING:
    from relaybench.benchmarks.workbench.sandbox import Sandbox

LIMIT = 5


def create_event(
    box: Sandbox,
    /,
    event_name: str | None = None,
    participant_email: str | None = None,
    event_start: str | None = None,
    duration: str | None = None,
) -> str:
    if not event_name:
        return "Event name not provided."
    if not participant_email:
        return "Participant email not provided."
    if not event_start:
        return "Event start not provided."
    if not duration:
        return "Event duration not provided."
    events = box.state["calendar"]
    event_id = str(events.next_number("event_id")).zfill(8)
    cells = {
        "event_id": event_id,
        "event_name": event_name,
        "participant_email": participant_email.lower(),
        "event_start": event_start,
        "duration": duration,
    }
    events.append(cells, label=0)  # the official frame is concatenated with a one-row frame, labels kept
    return event_id


def delete_event(box: Sandbox, /, event_id: str | None = None) -> str:
    if not event_id:
        return "Event ID not provided."
    events = box.state["calendar"]
    if not events.where("event_id", event_id):
        return "Event not found."
    events.delete("event_id", event_id)
    return "Event deleted successfully."


def update_event(
    box: Sandbox, /, event_id: str | None = None, field: str | None = None, new_value: str | None = None
) -> str:
    """Sets any field of an event; an unknown one becomes a new column of the table."""
    if not event_id or not field or not new_value:
        return "Event ID, field, or new value not provided."
    events = box.state["calendar"]
    if not events.where("event_id", event_id):
        return "Event not found."
    events.update("event_id", event_id, field, new_value)
    return "Event updated successfully."


def get_event_information_by_id(
    box: Sandbox, /, event_id: str | None = None, field: str | None = None
) -> dict[str, object] | str:
    if not event_id:
        return "Event ID not provided."
    if not field:
        return "Field not provided."
    events = box.state["calendar"]
    rows = events.where("event_id", event_id)
    if not rows:
        return "Event not found."
    event = events.records(rows[:1])[0]
    return {field: event[field]} if field in event else "Field not found."


def search_events(
    box: Sandbox, /, query: str = "", time_min: str | None = None, time_max: str | None = None
) -> list[dict[str, object]] | str:
    """The first five events, in table order, whose name or participant matches and that start in the range."""
    events = box.state["calendar"]
    test = contains(query, literal=box.literal)
    named = choose([test(cell) for cell in events.column("event_name")])
    joined = choose([test(cell) for cell in events.column("participant_email")])
    found = [events.rows[i] for i in sorted({*named, *joined})]
    start = events.columns.index("event_start")
    if time_min:
        found = [row for row in found if at_or_before(time_min, row[start])]
    if time_max:
        found = [row for row in found if at_or_before(row[start], time_max)]
    return events.records(found[:LIMIT]) or "No events found."


READS = (get_event_information_by_id, search_events)
WRITES = (create_event, delete_event, update_event)
