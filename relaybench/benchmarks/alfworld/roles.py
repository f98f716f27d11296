"""The two roles of an ALFWorld task: an explorer finds the objects, an executor does the task (paper, appendix D.1).

The explorer walks, opens and looks, and touches nothing; its report names each target object and its place. Walking
and opening change the world, so its actions are replayed wherever its rollout is shared. Every prototype has the same
50 steps (the paper's text states no number): 30 to explore and 20 to execute, or all of them in one worker.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from relaybench.benchmarks.alfworld.environment import EXAMINE, GO, INVENTORY, LOOK, OPEN
from relaybench.benchmarks.alfworld.expert import Found
from relaybench.benchmarks.base import FINISH
from relaybench.rollout.plan import Roles, Subtask

VERSION = "alfworld-roles@1"
"""Raise it with any change of wording or split."""

EXPLORER, EXECUTOR = "explorer", "executor"
EXPLORE_STEPS, EXECUTE_STEPS = 30, 20
LOOKING = frozenset({GO, OPEN, EXAMINE, LOOK, INVENTORY})
"""What the explorer may do."""

_LOOK_ABOUT = """\
go to PLACE (you see and reach only what is at the place where you are)
open PLACE (drawers, cabinets, fridges and the like hide what is in them until they are open)
examine PLACE, examine OBJECT
look
inventory (what you hold)"""
_HANDLE = """\
close PLACE
take OBJECT from PLACE (you can hold one object at a time)
move OBJECT to PLACE (puts down what you hold, in or on the place where you are; changes nothing about it)
clean OBJECT with PLACE (what you hold, at a sinkbasin)
heat OBJECT with PLACE (what you hold, at a microwave)
cool OBJECT with PLACE (what you hold, at a fridge)
use OBJECT (switches on a lamp that is where you are)"""
_NUMBERS = (
    "PLACE and OBJECT are names with their numbers, just as you saw them: drawer 2, mug 1. "
    'The answer "Nothing happens." means that the action did not fit: you are not at that place, you are there '
    "already, or the name is not exact. Then try something else."
)
_HOW_TO = (
    "Only the actions clean, heat and cool make something clean, hot or cold; move it to where the task wants it "
    "afterwards. To look at something under a lamp, hold it, go to the lamp and use the lamp. The task ends by "
    "itself once it is done; if it has not ended, something is missing: check with inventory and read the task again."
)


class FoundReport:
    """Between <report> and </report>: `object` and `location`, of further objects numbered, as in "2.object"."""

    name = "alfworld-found@1"
    request = (
        "Your part ends here. Tell the executor which object to use and the place where it is, in this form and with "
        "nothing around it. Give each name with its number. Where the task needs a second object or a lamp, add "
        "2.object and 2.location.\n<report>\nobject: ...\nlocation: ...\n</report>"
    )

    _report = re.compile(r"\s*<report>\s*\n(.*)\n\s*</report>\s*", re.DOTALL | re.IGNORECASE)
    _field = re.compile(r"[-*\s]*((?:\d+\.\s*)?(?:object|location))\s*:\s*(.*?)\s*", re.IGNORECASE)

    def parse(self, text: str) -> dict[str, str] | None:
        """Values by key; a key that comes again is numbered. None where the form is another one."""
        found = self._report.fullmatch(text)
        if found is None:
            return None
        fields: dict[str, str] = {}
        for line in filter(str.strip, found.group(1).splitlines()):
            match = self._field.fullmatch(line)
            if match is None:
                return None
            fields[_free(re.sub(r"\s", "", match.group(1)).lower(), fields)] = match.group(2)
        return fields

    def render(self, fields: Mapping[str, str]) -> str:
        """The report's text."""
        return "\n".join(["<report>", *(f"{key}: {value}" for key, value in fields.items()), "</report>"])


def fields_of(things: Found) -> dict[str, str]:
    """The report's fields for what was found."""
    fields: dict[str, str] = {}
    for number, (thing, place) in enumerate(things, 1):
        before = f"{number}." if number > 1 else ""
        fields |= {f"{before}object": thing, f"{before}location": place}
    return fields


def roles(examples: Mapping[str, str] | None = None, version: str = "zero-shot") -> Roles:
    """Explorer and executor, and the whole that SAS does alone.

    `examples`: solved episodes by subtask id, as text; `version` names them.
    """
    shown = examples or {}
    whole, explorer, executor = (
        replace(part, system=f"{part.system}\n\n{shown[part.id]}") if part.id in shown else part
        for part in (_whole(), _explorer(), _executor())
    )
    return Roles(f"{VERSION}-{version}", whole, (explorer, executor), ((EXPLORER, EXECUTOR),))


def _whole() -> Subtask:
    return Subtask(
        id="whole",
        role="whole",
        system=_system("You do tasks in a household.", f"{_LOOK_ABOUT}\n{_HANDLE}", _HOW_TO),
        instruction="Find what the task names and do it.",
        max_steps=EXPLORE_STEPS + EXECUTE_STEPS,
    )


def _explorer() -> Subtask:
    return Subtask(
        id=EXPLORER,
        role=EXPLORER,
        system=_system(
            "You are the explorer of a household team: you find things, and an executor does the task afterwards.",
            _LOOK_ABOUT,
        ),
        instruction=(
            "Find each object that the task is about, and the lamp if it needs one. Touch nothing. "
            f"Once you have seen where they are: Action: {FINISH}"
        ),
        max_steps=EXPLORE_STEPS,
        tools=LOOKING,
    )


def _executor() -> Subtask:
    return Subtask(
        id=EXECUTOR,
        role=EXECUTOR,
        system=_system(
            "You are the executor of a household team: an explorer has found things, and you do the task.",
            f"{_LOOK_ABOUT}\n{_HANDLE}",
            _HOW_TO,
        ),
        instruction=(
            "Do the task with what was found: go straight to where it is, without searching again. "
            "You stand where the explorer stopped, and what it opened is open."
        ),
        max_steps=EXECUTE_STEPS,
        receives={EXPLORER: FoundReport()},
    )


def _system(who: str, actions: str, *rules: str) -> str:
    return "\n".join(
        [
            f"{who} You see the house in words alone.",
            "Reply with two lines, a short thought and one action, and wait for what happens:",
            "Thought: what to do next",
            "Action: go to shelf 1",
            "Actions, in exactly these words:",
            actions,
            _NUMBERS,
            *rules,
            f"When there is nothing left for you to do: Action: {FINISH}",
        ]
    )


def _free(key: str, taken: Mapping[str, str]) -> str:
    """`key`, or with the first number from 2 that makes it new."""
    base = re.sub(r"^\d+\.", "", key)
    number, free = 1, key
    while free in taken:
        number += 1
        free = f"{number}.{base}"
    return free
