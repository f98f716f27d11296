"""Actions: `search[words]` and `click[what the page offers]`, as models write them.

Verbs and white space are forgiving, the rest is the official shop's: what is clicked must stand on the page. Buying is
a click as well, but has a tool name of its own, so that a role may look around without the right to buy.
"""

from __future__ import annotations

import re

from relaybench.benchmarks.base import FINISH, Action
from relaybench.benchmarks.webshop.pages import BUY

SEARCH, CLICK, BUYING = "search", "click", "buy"
LONGEST = 300
"""Characters of a query or a click that the shop is given."""

_LINE = re.compile(r"\bAction[ \t*]*:[ \t*`]*([^\n]*)", re.IGNORECASE)
_BARE = re.compile(rf"^[ \t>*`-]*((?:{SEARCH}|{CLICK})[ \t]*\[[^\n]*|{FINISH}\b[^\n]*)", re.IGNORECASE | re.MULTILINE)
_CALL = re.compile(rf"({SEARCH}|{CLICK})[ \t]*\[(.*)\]", re.IGNORECASE)
_FINISH = re.compile(rf"{FINISH}\b", re.IGNORECASE)


def parse_action(reply: str) -> Action | None:
    """The first action of a reply, or None."""
    found = _LINE.search(reply) or _BARE.search(reply)
    if found is None:
        return None
    text = found.group(1).strip().strip("`").strip()
    if _FINISH.match(text):
        return Action(FINISH, FINISH)
    call = _CALL.match(text)
    if call is None:
        return None
    argument = " ".join(call.group(2).split())[:LONGEST].strip()
    if not argument:
        return None
    if call.group(1).lower() == SEARCH:
        return Action(SEARCH, f"{SEARCH}[{argument.strip('[]')}]") if argument.strip("[]") else None
    tool = BUYING if argument.casefold() == BUY.casefold() else CLICK
    return Action(tool, f"{CLICK}[{argument}]")
