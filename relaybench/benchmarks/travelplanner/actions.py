"""Actions: what a reply may ask for, and its one canonical form.

`Tool[argument, argument]` for the searches, `SubmitPlan` with the plan after it, `finish`. Case, spacing, brackets,
quotes and named arguments are taken as small models write them; a plan without an action is a submission.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from relaybench.benchmarks.base import FINISH, Action

SEARCHES: dict[str, tuple[str, ...]] = {
    "CitySearch": ("State",),
    "FlightSearch": ("From", "To", "Date"),
    "GoogleDistanceMatrix": ("From", "To", "Mode"),
    "AccommodationSearch": ("City",),
    "RestaurantSearch": ("City",),
    "AttractionSearch": ("City",),
}
"""Tools that look things up, with their arguments in order."""
SUBMIT = "SubmitPlan"
TOOLS = (*SEARCHES, SUBMIT)
LONGEST = 300
"""Characters of the arguments of a search; of at most four, 60 each are read."""

_START = re.compile(r"\bAction[ \t*]{0,4}\d{0,3}[ \t*]{0,4}:", re.IGNORECASE)
_KNOWN = re.compile(
    r"\b(?:(?:Cit(?:y|ies)|Flights?|Accommodations?|Restaurants?|Attractions?)[ _-]?Search"
    r"|(?:Google[ _-]?)?Distance[ _-]?Matrix|Submit[ _-]?Plan)\b",
    re.IGNORECASE,
)
_FINISH = re.compile(rf"[\s*`]*{FINISH}(?:ed)?\b", re.IGNORECASE)
_WORD = re.compile(r"[\s*`]*([A-Za-z][A-Za-z_]{1,40})")
_BARE = re.compile(rf"^[ \t>*`-]{{0,8}}({_KNOWN.pattern})[ \t*`]*(?=[\[({{:]|$)", re.IGNORECASE | re.MULTILINE)
_DAY_1 = re.compile(r"^[ \t>*#`-]{0,8}Day[ \t]*1\b", re.IGNORECASE | re.MULTILINE)
_CITY = re.compile(r"Current[ _]?City", re.IGNORECASE)
_NAMED = re.compile(r"[A-Za-z_ ]{1,24}[=:]")
_PAIRS = {"[": "]", "(": ")", "{": "}", "<": ">"}


@dataclass(frozen=True, slots=True)
class Request:
    """A canonical action, taken apart."""

    tool: str
    arguments: tuple[str, ...] = ()
    plan: str = ""
    """Of SubmitPlan: the plan as it was written."""


def parse_action(reply: str) -> Action | None:
    """The first action of a reply in canonical form; None where there is none."""
    found = _START.search(reply)
    bare = None if found else _BARE.search(reply)
    if found is not None:
        text = reply[found.end() :]
    elif bare is not None:
        text = reply[bare.start(1) :]
    else:
        plan = _bare_plan(reply)
        return _action(Request(SUBMIT, plan=plan)) if plan else None
    request = read(text)
    if request.tool == SUBMIT and not request.plan:
        request = Request(SUBMIT, plan=_bare_plan(reply[: found.start()] if found else reply))
    return _action(request)


def read(action: str) -> Request:
    """An action's text taken apart. Any text has a reading; the tool may be "" or one that does not exist."""
    line = action.lstrip().partition("\n")[0][:LONGEST]
    found = _KNOWN.search(line)
    if _FINISH.match(action) or found is None:
        word = _WORD.match(action)
        if _FINISH.match(action) or word is None:
            return Request(FINISH if word else "")
        return Request(word[1], _arguments(action[word.end() :]))
    tool = _canonical(found[0])
    rest = action.lstrip()[found.end() :]
    if tool == SUBMIT:
        return Request(tool, plan=rest.strip().removeprefix(":").strip())
    return Request(tool, _arguments(rest))


def _bare_plan(reply: str) -> str:
    """The plan that a reply holds outside of an action, or ""."""
    day = _DAY_1.search(reply)
    return reply[day.start() :].strip() if day and _CITY.search(reply, day.end()) else ""


def _action(request: Request) -> Action | None:
    if not request.tool:
        return None
    if request.tool == FINISH:
        return Action(FINISH, FINISH)
    if request.tool == SUBMIT:
        return Action(SUBMIT, f"{SUBMIT}\n{request.plan}")
    return Action(request.tool, f"{request.tool}[{', '.join(request.arguments)}]")


def _canonical(name: str) -> str:
    letters = re.sub(r"[^a-z]", "", name.lower())
    starts = {"cit": "CitySearch", "fli": "FlightSearch", "acc": "AccommodationSearch", "res": "RestaurantSearch"}
    starts |= {"att": "AttractionSearch", "sub": SUBMIT}
    return starts.get(letters[:3], "GoogleDistanceMatrix")


def _arguments(rest: str) -> tuple[str, ...]:
    """What stands in the brackets, or on the line where there are none, split at commas and cleaned."""
    text = rest.lstrip(" \t*`:")[:LONGEST]
    close = _PAIRS.get(text[:1])
    if close is None:
        text = text.partition("\n")[0]
    else:
        body = text[1:] if close == "]" else text[1:].partition("\n")[0]
        end = body.find(close) if close == "]" else body.rfind(close)
        text = body if end < 0 else body[:end]
    cleaned = (_clean(part) for part in text.split(","))
    return tuple(part for part in cleaned if part)[:4]


def _clean(argument: str) -> str:
    """Printable, without quotes and without a name before it ("city=Rome")."""
    plain = "".join(c if c.isprintable() and c not in "[]" else " " for c in argument)
    text, before = " ".join(plain.split())[:60], ""
    while text != before:
        before, text = text, text.strip("\"'`“”*<>{} ")
        named = _NAMED.match(text)
        text = text[named.end() :] if named else text
    return text
