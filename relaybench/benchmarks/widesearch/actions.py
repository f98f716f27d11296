"""Actions: what a reply may ask for, and its one canonical form.

`search[words]`, `open[address]`, `open[address 2]` (the second part of a long page), `submit` with a table on the lines
after it, `finish`. Case, spacing, brackets and quotes are taken as small models write them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from relaybench.benchmarks.base import FINISH, Action

SEARCH, OPEN, SUBMIT = "search", "open", "submit"
LONGEST = 500
"""Characters of an argument that is no table."""
_START = re.compile(r"\bAction[ \t*]*:", re.IGNORECASE)
_WORD = re.compile(r"[\s*`]*([A-Za-z_]{1,40})")
_BARE = re.compile(r"^[ \t>*`-]{0,8}((?:search|open)[ \t]?[\[(]|(?:submit|finish)[ \t]*(?=[\[(:*`]|$))", re.I | re.M)
_FENCE = re.compile(r"^[ \t]*```markdown", re.MULTILINE)
_PAIRS = {"[": "]", "(": ")", "{": "}", '"': '"', "'": "'", "`": "`", "<": ">", "“": "”"}


@dataclass(frozen=True, slots=True)
class Request:
    """A canonical action, taken apart."""

    tool: str
    argument: str
    part: int = 1
    """Which part of a page, from 1."""


def parse_action(reply: str) -> Action | None:
    """The first action of a reply; None where there is none.

    A table in a markdown fence is a submission, without an action or above an empty `submit`.
    """
    found, fence = _START.search(reply), _FENCE.search(reply)
    table = None if fence is None else Action(SUBMIT, f"{SUBMIT}\n{reply[fence.start() :].strip()}")
    if found is not None:
        action = _action(reply[found.end() :])
        stands_above = action is not None and action.tool == SUBMIT and "|" not in action.text
        return table if table is not None and stands_above else action
    bare = _BARE.search(reply)
    return table if bare is None else _action(reply[bare.start(1) :])


def read(action: str) -> Request:
    """An action's text taken apart; any text has a reading, the tool need not exist."""
    word = _WORD.match(action)
    tool, rest = (word[1].lower(), action[word.end() :]) if word else ("", action)
    if tool == SUBMIT:
        return Request(tool, _unwrapped(rest.strip().removeprefix(":").strip()))
    argument = _argument(rest)
    if tool == OPEN:
        address, _, number = argument.rpartition(" ")
        if address and number.isascii() and number.isdecimal():
            return Request(tool, address.strip(" ,"), int(number[:6]))
    return Request(tool, argument)


def _action(text: str) -> Action | None:
    request = read(text)
    if not request.tool:
        return None
    if request.tool == FINISH:
        return Action(FINISH, FINISH)
    if request.tool == SUBMIT:
        return Action(SUBMIT, f"{SUBMIT}\n{request.argument}")
    part = f" {request.part}" if request.part != 1 else ""
    return Action(request.tool, f"{request.tool}[{request.argument}{part}]")


def _argument(rest: str) -> str:
    """The first line, without the brackets and quotes around it, printable."""
    lines = rest.strip().splitlines()
    line = lines[0].strip().strip("*").removeprefix(":").strip() if lines else ""
    opened = line[:1]
    if opened in _PAIRS and _PAIRS[opened] in line[1:]:
        line = line[: line.rindex(_PAIRS[opened]) + 1]
    clean = "".join(c if c.isprintable() else " " for c in _unwrapped(_unwrapped(line))[:LONGEST])
    return " ".join(clean.split())


def _unwrapped(text: str) -> str:
    """Without the pair of brackets or quotes around it."""
    if len(text) > 1 and not text.startswith("```") and _PAIRS.get(text[0]) == text[-1]:
        return text[1:-1].strip()
    return text
