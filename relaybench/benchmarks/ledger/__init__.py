"""Ledger: a generated agentic benchmark with dials, exact answers and closed-form truths (docs/ledger.md).

A reader opens the pages of a ledger, an answerer submits some fields of one record, or the remainder of their sum.
Nothing needs downloading; a 135M model answers it some of the time; and what a relay may lose, and what that costs, is
known exactly (truth.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from relaybench.benchmarks.base import Action, Task
from relaybench.benchmarks.ledger.environment import LedgerEnvironment, parse_action
from relaybench.benchmarks.ledger.generate import make_task, revision, sheet_of
from relaybench.benchmarks.ledger.roles import ANSWERER, roles
from relaybench.config_benchmarks import LedgerConfig
from relaybench.rollout.plan import Roles

__all__ = ["Ledger", "describe"]


class Ledger:
    """The benchmark for one setting of the dials."""

    name = "ledger"

    def __init__(self, config: LedgerConfig) -> None:
        self.config = config
        self.revision = revision(config)
        self.label = f"ledger {describe(config)}"
        self._tasks = tuple(make_task(config, index) for index in range(config.tasks))

    def tasks(self) -> Sequence[Task]:
        return self._tasks

    def environment(self, task: Task) -> LedgerEnvironment:
        return LedgerEnvironment(sheet_of(task))

    def roles(self, task: Task) -> Roles:
        return roles(self.config, sheet_of(task))

    def parse_action(self, reply: str) -> Action | None:
        return parse_action(reply, self.config.digits, shorter=self.config.target == "remainder")

    def needed(self, task: Task) -> dict[str, str]:
        """The asked registers as the ledger holds them (key noise, where set, is not in them)."""
        return sheet_of(task).needed

    def targets(self, task: Task, worker: str) -> list[str]:
        """The answer key, key noise and all, as the bare numbers that the answerer is asked for."""
        return [", ".join(sheet_of(task).answer)] if worker == ANSWERER else []

    def keys(self, task: Task) -> dict[str, str]:
        """The answer key by register; of a remainder, under that name."""
        sheet = sheet_of(task)
        names = list(sheet.needed) if len(sheet.answer) == len(sheet.asked) else ["remainder"]
        return dict(zip(names, sheet.answer, strict=True))

    async def close(self) -> None:
        """Nothing is held."""


def describe(dials: LedgerConfig) -> str:
    """The dials in short, e.g. "4x2 of 4 digits, 1 asked"."""
    parts = [f"{dials.records}x{dials.fields} of {dials.digits} digits, {dials.asked} asked"]
    parts += [f"{dials.noise} noise lines"] if dials.noise else []
    parts += ["blind"] if dials.question == "blind" else []
    parts += [f"key noise {dials.key_noise:g}"] if dials.key_noise else []
    parts += ["aliases"] if dials.alias else []
    parts += [f"skew {dials.skew:g}"] if dials.skew else []
    parts += [f"{dials.copies} copies"] if dials.copies > 1 else []
    parts += ["remainder"] if dials.target == "remainder" else []
    return ", ".join(parts)
