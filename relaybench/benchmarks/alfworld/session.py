"""One game being played, in this process: TextWorld under ALFWorld's two wrappers, as the official code sets it up.

Texts, rewards and ends are the official ones, action by action. Blocking, and not thread-safe: worker.py runs
sessions in processes of their own, replay.py and examples.py play a few one after another.
"""

from __future__ import annotations

import json
from typing import Any

from msgspec import Struct

from relaybench.benchmarks.alfworld.speed import quicken


class Seen(Struct, frozen=True):
    """What the game answers."""

    observation: str
    reward: int
    """1 in every state that meets the goal, else 0."""
    won: bool


_idle: list[Any] = []
"""Environments without a game. They are used again, for Fast Downward's libraries cannot be unloaded."""


class Session:
    """A loaded game. `first` is its first observation, banner and task included."""

    def __init__(self, text: str) -> None:
        """`text` is the game file. Raises what TextWorld raises for one that is no game."""
        self._environment = _idle.pop() if _idle else _make()
        self._environment.load(json.loads(text))
        self._state = self._environment.reset()
        self.first: str = self._state.feedback

    def step(self, action: str) -> Seen:
        """Outer white space is tolerated, anything else must be exact; what fits nothing does nothing."""
        self._state, reward, _ = self._environment.step(action)
        return Seen(self._state.feedback, int(reward), bool(self._state["won"]))

    @property
    def commands(self) -> list[str]:
        """The actions that do something now."""
        return list(self._state["admissible_commands"])

    def close(self) -> None:
        """The session is over; it must not be used any more."""
        _idle.append(self._environment)
        del self._environment, self._state


def _make() -> Any:
    quicken()
    from alfworld.agents.environment.alfred_tw_env import AlfredDemangler, AlfredInfos
    from textworld import EnvInfos
    from textworld.envs.pddl.pddl import PddlEnv

    infos = EnvInfos(won=True, admissible_commands=True, extras=["gamefile"])
    return AlfredInfos(AlfredDemangler(PddlEnv(infos), shuffle=False))
