"""The two roles of a WorkBench task: a reader looks things up, a writer makes the change (paper, appendix D.1).

What crosses is a report with RESULT (ACTION_NEEDED or NO_ACTION) and FIELDS, the exact arguments of the calls to
make. Both roles know the date and the office hours; only the reader sees the databases. Every prototype has the same
20 steps: 12 to read and 8 to write, or all of them in one worker.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping

from relaybench.benchmarks.base import FINISH
from relaybench.benchmarks.workbench.sandbox import DIRECTORY, TOOLS
from relaybench.rollout.plan import Roles, Subtask

VERSION = "workbench-roles@1"
"""Raise it with any change of wording, tool descriptions or split."""

READER, WRITER = "reader", "writer"
READ_STEPS, WRITE_STEPS = 12, 8
RESULT, NEEDED, NOTHING = "RESULT", "ACTION_NEEDED", "NO_ACTION"

FACTS = "Today is Thursday 2023-11-30, 00:00:00. Meetings start at 09:00 or later and are over by 18:00."

ABOUT: dict[str, str] = {
    "email.get_email_information_by_id": "one field: subject, body, sent_datetime, sender/recipient",
    "email.search_emails": "the newest 5 emails that hold every word of query; dates YYYY-MM-DD",
    "email.send_email": "sends an email",
    "email.delete_email": "deletes an email",
    "email.forward_email": "forwards an email",
    "email.reply_email": "answers an email",
    "calendar.get_event_information_by_id": "one field: event_name, participant_email, event_start, duration",
    "calendar.search_events": (
        "the first 5 events with query in name or participant; they start in the range, YYYY-MM-DD HH:MM:SS"
    ),
    "calendar.create_event": "books a meeting; start YYYY-MM-DD HH:MM:SS, duration in minutes; gives its id",
    "calendar.delete_event": "deletes an event",
    "calendar.update_event": "changes one field of an event",
    "analytics.get_visitor_information_by_id": "all visits of a visitor",
    "analytics.total_visits_count": "visits by day; dates YYYY-MM-DD, both included",
    "analytics.engaged_users_count": "engaged users by day",
    "analytics.traffic_source_count": "visits by day from direct, referral, search engine or social media",
    "analytics.get_average_session_duration": "mean seconds of a session by day",
    "analytics.create_plot": (
        "plots total_visits, session_duration_seconds, user_engaged, visits_direct, visits_referral, "
        "visits_search_engine or visits_social_media as bar, line, scatter or histogram"
    ),
    "project_management.get_task_information_by_id": (
        "one field: task_name, assigned_to_email, list_name, due_date, board"
    ),
    "project_management.search_tasks": "all tasks that match every given text",
    "project_management.create_task": (
        "adds a task; lists Backlog, In Progress, In Review, Completed; boards Back end, Front end, Design"
    ),
    "project_management.delete_task": "deletes a task",
    "project_management.update_task": "changes one field of a task",
    "customer_relationship_manager.search_customers": "the first 5 customers that match every given text or date",
    "customer_relationship_manager.add_customer": "adds a customer; status Qualified, Won, Lost, Lead or Proposal",
    "customer_relationship_manager.update_customer": (
        "changes one field; product_interest is Software, Hardware, Services, Consulting or Training"
    ),
    "customer_relationship_manager.delete_customer": "deletes a customer",
    "company_directory.find_email_address": "email addresses that contain a name; use a first or a last name",
}
"""What each tool does, for prompts."""

_EXAMPLE = {
    READER: 'company_directory.find_email_address(name="maria")',
    WRITER: 'calendar.delete_event(event_id="00000123")',
}


class FieldsReport:
    """RESULT and FIELDS: `action` and arguments, each `key: "value"`; of further calls numbered, as in "2.task_id"."""

    name = "workbench-fields@1"

    def __init__(self, tools: Iterable[str]) -> None:
        self.request = (
            "Your part ends here. Tell the writer what to do, in this form and with nothing around it. "
            f"{RESULT} is {NEEDED} or {NOTHING}; under FIELDS stand the tool to call and its exact arguments "
            "(number further calls 2., 3. and so on); leave FIELDS empty where nothing is to be done.\n"
            f'{RESULT}: {NEEDED}\nFIELDS:\naction: "calendar.update_event"\nevent_id: "..."\nfield: "..."\n'
            'new_value: "..."\n'
            f"The writer's tools: {'; '.join(_signature(name) for name in tools)}"
        )

    _result = re.compile(
        rf"\s*{RESULT}\s*:\s*({NEEDED}|{NOTHING}|\[\w+\])\s*(?:\n\s*FIELDS\s*:\s*(?:\{{\s*\}})?\s*(.*))?", re.DOTALL
    )
    _field = re.compile(r"[-*\s]*((?:\d+\.\s*)?[A-Za-z_][\w./]*)\s*:\s*(.*?)\s*,?")

    def parse(self, text: str) -> dict[str, str] | None:
        """Values by key, RESULT first; a key that comes again is numbered. None where the form is another one."""
        found = self._result.fullmatch(text)
        if found is None:
            return None
        fields = {RESULT: found.group(1)}
        for line in filter(str.strip, (found.group(2) or "").splitlines()):
            match = self._field.fullmatch(line)
            if match is None:
                return None
            fields[_free(re.sub(r"\s", "", match.group(1)), fields)] = _unquoted(match.group(2))
        return fields

    def render(self, fields: Mapping[str, str]) -> str:
        """The report's text, values in double quotes; without a RESULT among `fields` it has no such line."""
        rest = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items() if key != RESULT]
        first = [f"{RESULT}: {fields[RESULT]}"] if RESULT in fields else []
        return "\n".join([*first, "FIELDS:", *rest])


def roles(toolset: str, domains: Collection[str]) -> Roles:
    """Reader and writer, and the whole that SAS does alone. `toolset` "domains": only tools of `domains`."""
    offered = [n for n, tool in TOOLS.items() if toolset == "all" or tool.domain in (*domains, DIRECTORY)]
    read = [name for name in offered if not TOOLS[name].writes]
    write = [name for name in offered if TOOLS[name].writes]
    return Roles(
        version=f"{VERSION}-{toolset}",
        whole=Subtask(
            id="whole",
            role="whole",
            system=_system("You are an office assistant: you look things up and make changes.", offered, READER),
            instruction="Do what the task asks for and nothing else; where its condition fails, change nothing.",
            max_steps=READ_STEPS + WRITE_STEPS,
            tools=frozenset(offered),
        ),
        parts=(_reader(read), _writer(write)),
        pairs=((READER, WRITER),),
    )


def _reader(tools: list[str]) -> Subtask:
    return Subtask(
        id=READER,
        role=READER,
        system=_system(
            "You are the reader of an office team: you look things up, and a writer makes the change afterwards.",
            tools,
            READER,
        ),
        instruction=(
            "Find out whether a change is called for, and every exact value that it takes: "
            "ids, email addresses, names, dates and times. Change nothing."
        ),
        max_steps=READ_STEPS,
        tools=frozenset(tools),
        reads_only=True,
    )


def _writer(tools: list[str]) -> Subtask:
    return Subtask(
        id=WRITER,
        role=WRITER,
        system=_system(
            "You are the writer of an office team: a reader has looked things up, and you make the change.",
            tools,
            WRITER,
        ),
        instruction=(
            "Make the change that is called for, with exactly the values that were found. "
            f"Where none is called for ({NOTHING}), change nothing."
        ),
        max_steps=WRITE_STEPS,
        tools=frozenset(tools),
        receives={READER: FieldsReport(tools)},
    )


def _system(who: str, tools: Iterable[str], example: str) -> str:
    return "\n".join(
        [
            f"{who} {FACTS}",
            "Reply with two lines, a short thought and one call, and wait for its result:",
            "Thought: what to do next",
            f"Action: {_EXAMPLE[example]}",
            "Arguments are named strings in double quotes; leave out what you do not need.",
            f"When your part is done: Action: {FINISH}",
            "Tools:",
            *(f"{_signature(name)}: {ABOUT[name]}" for name in tools),
        ]
    )


def _signature(name: str) -> str:
    return f"{name}({', '.join(TOOLS[name].parameters)})"


def _free(key: str, taken: Collection[str]) -> str:
    """`key`, or with the first number from 2 that makes it new."""
    number, free = 1, key
    while free in taken:
        number += 1
        free = f"{number}.{key}"
    return free


def _unquoted(text: str) -> str:
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return text
    return value if isinstance(value, str) else text
