"""WorkBench: 690 office tasks over five small databases and 27 tools (Styles et al. 2024, arXiv 2405.00823).

Rules v1 are the official ones of 2024, agreed with row by row; rules v2 the 2026 tasks, truth and rules of the
multi-domain split, whose scoring no official verdicts were at hand to check. Never pool the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from relaybench.benchmarks.base import FINISH, Action, Task
from relaybench.benchmarks.workbench.calls import SUFFIX, parse
from relaybench.benchmarks.workbench.data import MULTI, Query, load_base, load_queries, revision_of
from relaybench.benchmarks.workbench.environment import WorkBenchEnvironment, parse_action
from relaybench.benchmarks.workbench.roles import NEEDED, NOTHING, RESULT, WRITER, roles
from relaybench.benchmarks.workbench.scoring import Scorer
from relaybench.config_benchmarks import WorkBenchConfig
from relaybench.errors import UserError
from relaybench.rollout.plan import Roles

__all__ = ["WorkBench"]


class WorkBench:
    """The tasks of one split under one set of rules. UserError where the data is missing or v2 is asked of v1 tasks."""

    name = "workbench"

    def __init__(self, config: WorkBenchConfig, data_dir: Path) -> None:
        if config.rules == "v2" and config.split != MULTI:
            raise UserError(
                f"workbench rules v2 exist for {MULTI} only, not for split {config.split!r}; "
                f"set benchmark.rules to v1 or benchmark.split to {MULTI}"
            )
        self.config = config
        self._queries = load_queries(data_dir, config.rules, None if config.split == "all" else config.split)
        self._scorer = Scorer(load_base(data_dir), config.rules)
        self.revision = f"{config.rules}-{revision_of(data_dir, self._queries.values())}"
        self.label = f"workbench {config.split} ({config.rules})"
        self._tasks = tuple(_task(query) for query in self._queries.values())

    def tasks(self) -> Sequence[Task]:
        return self._tasks

    def environment(self, task: Task) -> WorkBenchEnvironment:
        return WorkBenchEnvironment(self._queries[task.id], self._scorer)

    def roles(self, task: Task) -> Roles:
        return roles(self.config.toolset, self._queries[task.id].domains)

    def parse_action(self, reply: str) -> Action | None:
        return parse_action(reply)

    def needed(self, task: Task) -> dict[str, str]:
        """Whether to act, the tools to call and their arguments; of several calls, those from the second numbered."""
        truth = self._queries[task.id].truth
        fields = {RESULT: NEEDED if truth else NOTHING}
        for number, action in enumerate(truth, 1):
            call = parse(action)
            before = f"{number}." if number > 1 else ""
            fields[f"{before}action"] = ".".join(call.path[:2])
            fields |= {f"{before}{key}": str(value) for key, value in call.values()[1].items()}
        return fields

    def targets(self, task: Task, worker: str) -> list[str]:
        """The writer's first action: any of the calls of the ground truth, or to finish where there are none."""
        if worker != WRITER:
            return []
        calls = [action.replace(f".{SUFFIX}(", "(", 1) for action in self._queries[task.id].truth]
        return [f"Action: {call}" for call in dict.fromkeys(calls) or (FINISH,)]

    async def close(self) -> None:
        """Nothing is held."""


def _task(query: Query) -> Task:
    return Task(
        id=query.id,
        instruction=query.text,
        template=query.template,
        data={"truth": list(query.truth), "domains": list(query.domains)},
    )
