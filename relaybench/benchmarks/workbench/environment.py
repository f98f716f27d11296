"""One WorkBench task as a world: a call is carried out in the sandbox, its result is the observation.

Grammar: one call a reply, `domain.function(name="value", ...)`, after "Action:" or at the start of a line; it may run
over several lines. `finish` ends a worker's part. Calls that do not parse are no actions; calls that raise are
answered with the exception's name and text. The world has no end of its own: success is judged by the final state.
"""

from __future__ import annotations

import json
import re

from relaybench.benchmarks.base import FINISH, Action, StepResult
from relaybench.benchmarks.workbench.calls import SUFFIX, Call, execute, parse
from relaybench.benchmarks.workbench.data import Query
from relaybench.benchmarks.workbench.sandbox import TOOLS, Sandbox, exception_name
from relaybench.benchmarks.workbench.scoring import Scorer
from relaybench.errors import nearest
from relaybench.records import Score

_START = re.compile(r"\bAction[ \t*]*:[ \t*`]*(.*)", re.IGNORECASE | re.DOTALL)
_BARE = re.compile(r"^[ \t>*`-]*([a-z_]+\.[a-z_]+(?:\.func)?\(.*)", re.MULTILINE | re.DOTALL)
_FINISH = re.compile(rf"{FINISH}\b", re.IGNORECASE)
LONGEST = 12
"""Lines that a call may run over."""


def parse_action(reply: str) -> Action | None:
    """The first call of a reply, or the wish to finish; None where there is neither."""
    found = _START.search(reply) or _BARE.search(reply)
    if found is None:
        return None
    text = found.group(1).strip()
    if _FINISH.match(text):
        return Action(FINISH, FINISH)
    lines = text.splitlines()
    for count in range(1, min(len(lines), LONGEST) + 1):
        for joint in ("\n", " "):  # inside a text a line break is meant, between arguments it is layout
            action = _call(joint.join(lines[:count]).strip().strip("`").strip())
            if action is not None:
                return action
    return None


class WorkBenchEnvironment:
    """A sandbox, and a list of what was done in it, in the official form, for the scorer."""

    def __init__(self, query: Query, scorer: Scorer) -> None:
        self._query = query
        self._scorer = scorer
        self._box = Sandbox(scorer.base, scorer.rules)
        self._done: list[str] = []

    async def reset(self) -> str:
        """Nothing is seen before a tool is used."""
        self._box = Sandbox(self._scorer.base, self._scorer.rules)
        self._done = []
        return ""

    async def step(self, action: str) -> StepResult:
        """Carry out one call; there is no reward before the score, and no end."""
        try:
            official = _official(parse(action))
        except (SyntaxError, ValueError, NameError, TypeError) as error:
            return StepResult(f"{exception_name(error)}: {error}")
        self._done.append(official)
        try:
            value = execute(self._box, official)
        except Exception as error:  # noqa: BLE001  whatever a tool raises, the worker is told
            return StepResult(_explained(official, error))
        return StepResult(_shown(value))

    async def score(self) -> Score:
        """The official verdict under the scorer's rules."""
        verdict = self._scorer.score(self._query, self._done)
        return Score(
            verdict.correct,
            float(verdict.correct),
            {
                "unwanted_side_effects": float(verdict.unwanted_side_effects),
                "exact_match": float(verdict.exact_match),
                "has_action": float(bool(self._query.truth)),
            },
        )

    async def close(self) -> None:
        """Nothing is held."""


def _call(text: str) -> Action | None:
    try:
        call = parse(text)
    except (SyntaxError, ValueError):
        return None
    return Action(_name(call), text)


def _name(call: Call) -> str:
    path = call.path[:-1] if len(call.path) > 1 and call.path[-1] == SUFFIX else call.path
    return ".".join(path)


def _official(call: Call) -> str:
    """The call as official predictions write it: `.func`, every argument a named string."""
    name = _name(call)
    args, kwargs = call.values()
    names = TOOLS[name].parameters if name in TOOLS else ()
    if len(args) > len(names):
        raise TypeError(f"{name} takes at most {len(names)} arguments, all of them by name")
    named = dict(zip(names, args, strict=False)) | kwargs
    arguments = [f"{key}={_quoted(value)}" for key, value in named.items() if value is not None]
    return f"{name}.{SUFFIX}({', '.join(arguments)})"


def _quoted(value: object) -> str:
    return json.dumps(value if isinstance(value, str) else str(value), ensure_ascii=False)


def _shown(value: object) -> str:
    """Text as it is, everything else as compact JSON; a time of sending as text."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def _explained(official: str, error: Exception) -> str:
    name = _name(parse(official))
    if name not in TOOLS:
        return f"There is no tool {name}{nearest(name, TOOLS) or '.'}"
    return f"{exception_name(error)}: {error}. {name} takes {', '.join(TOOLS[name].parameters)}."
