"""TravelPlanner (Xie et al. 2024, arXiv 2402.01622): a trip that keeps to a budget and to a sandbox of places.

Scored as officially; under `hardened` rules success also asks for what the official evaluation overlooks, and both
verdicts are in every score. Flights that are not public are said to be unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from relaybench.benchmarks.base import Action, Task
from relaybench.benchmarks.travelplanner.actions import parse_action
from relaybench.benchmarks.travelplanner.environment import TravelPlannerEnvironment
from relaybench.benchmarks.travelplanner.expert import submission
from relaybench.benchmarks.travelplanner.queries import Query, load_queries
from relaybench.benchmarks.travelplanner.reports import CITY_LIST
from relaybench.benchmarks.travelplanner.roles import PLAN, roles
from relaybench.benchmarks.travelplanner.tools import load_tools
from relaybench.config_benchmarks import TravelPlannerConfig
from relaybench.rollout.plan import Roles

__all__ = ["TravelPlanner"]

RULES = "@1"
"""Version of tools, plan reading and scoring."""


class TravelPlanner:
    """The queries of one split and some levels. UserError where the data is missing."""

    name = "travelplanner"

    def __init__(self, config: TravelPlannerConfig, data_dir: Path) -> None:
        self.config = config
        self._tools = load_tools(data_dir)
        queries = load_queries(data_dir, config.split).values()
        self._queries = {_id(query, config.split): query for query in queries if query.level in config.levels}
        levels = "+".join(level for level in ("easy", "medium", "hard") if level in config.levels)
        self.revision = f"{config.rules}{RULES}-{_digest(data_dir, self._queries.values())}"
        self.label = f"travelplanner {config.split} {levels} ({config.rules} rules)"
        self._tasks = tuple(_task(name, query) for name, query in self._queries.items())

    def tasks(self) -> Sequence[Task]:
        return self._tasks

    def environment(self, task: Task) -> TravelPlannerEnvironment:
        return TravelPlannerEnvironment(self._queries[task.id], self._tools, self.config.rules)

    def roles(self, task: Task) -> Roles:
        return roles(self._queries[task.id])

    def parse_action(self, reply: str) -> Action | None:
        return parse_action(reply)

    def needed(self, task: Task) -> dict[str, str]:
        """The city of a trip to one city; nothing where the choice of cities and options is the workers' own.

        Every relay needs it, and the plan needs more: an oracle relay is no sufficient one here.
        """
        query = self._queries[task.id]
        return {CITY_LIST: query.dest} if query.visiting_city_number == 1 else {}

    def targets(self, task: Task, worker: str) -> list[str]:
        """The annotated plan, where there is one (train)."""
        query = self._queries[task.id]
        return [submission(query)] if worker == PLAN and query.annotated_plan else []

    async def close(self) -> None:
        """Nothing is held."""


def _id(query: Query, split: str) -> str:
    return f"{split}-{query.id}"


def _digest(data_dir: Path, queries: Iterable[Query]) -> str:
    """12 hex digits over the sandbox and the queries."""
    digest = sha256()
    for path in sorted(path for path in (data_dir / "sandbox").rglob("*") if path.is_file()):
        digest.update(path.read_bytes())
    for query in queries:
        digest.update(msgspec.json.encode(query))
    return digest.hexdigest()[:12]


def _task(name: str, query: Query) -> Task:
    return Task(
        id=name,
        instruction=query.text,
        template=f"{query.level}, {query.days} days",
        data=msgspec.to_builtins(query),
    )
