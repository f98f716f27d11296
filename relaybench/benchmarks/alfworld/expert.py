"""The scripted expert: a game's official walkthrough, split as the roles split a task.

What the walkthrough takes (and the lamp it uses) is what the explorer has to find; the executor then plays it from
where the explorer stopped. It checks an environment end to end, and tells the values of a sufficient relay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from relaybench.benchmarks.alfworld.environment import NOTHING
from relaybench.benchmarks.base import FINISH
from relaybench.records import Context
from relaybench.rollout.plan import Roles, Script, Subtask

Found = tuple[tuple[str, str], ...]
"""(object, place it is found at), in the order of the report."""
_TAKE = re.compile(r"take (.+) from (.+)")
_AT = re.compile(r"go to (.+)")
_USE = re.compile(r"use (.+)")


def found(walkthrough: Sequence[str]) -> Found:
    """The objects that it takes, each where it first lies, then the lamp that it uses."""
    taken: dict[str, str] = {}
    used: dict[str, str] = {}
    place = ""
    for action in walkthrough:
        if at := _AT.fullmatch(action):
            place = at[1]
        elif take := _TAKE.fullmatch(action):
            taken.setdefault(take[1], take[2])
        elif use := _USE.fullmatch(action):
            used.setdefault(use[1], place)
    return tuple((taken | used).items())


def exploration(walkthrough: Sequence[str]) -> list[str]:
    """The actions that see all that `found` tells: go there, and open what the walkthrough opens."""
    places = dict.fromkeys(place for _, place in found(walkthrough))
    opened = [place for place in places if f"open {place}" in walkthrough]
    return [a for place in places for a in (f"go to {place}", *([f"open {place}"] if place in opened else []))]


def script(actions: Sequence[str]) -> Script:
    """Plays `actions` one a turn, then finishes; one that did nothing was not needed."""

    def reply(context: Context) -> str:
        turn = sum(message.role == "assistant" for message in context.own)
        return f"Action: {actions[turn] if turn < len(actions) else FINISH}"

    return reply


def with_expert(roles: Roles, walkthrough: Sequence[str]) -> Roles:
    """The same roles, played by the expert."""
    explorer, executor = roles.parts
    return replace(
        roles,
        whole=_scripted(roles.whole, walkthrough),
        parts=(_scripted(explorer, exploration(walkthrough)), _scripted(executor, walkthrough)),
    )


def effective(steps: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """(action, observation) pairs without those that did nothing."""
    return [(action, observation) for action, observation in steps if observation != NOTHING]


def _scripted(subtask: Subtask, actions: Sequence[str]) -> Subtask:
    return replace(subtask, script=script(actions))
