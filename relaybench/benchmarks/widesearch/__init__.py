"""WideSearch (Wong et al. 2025, arXiv 2508.07999): collect many facts of one kind from the web into one table.

Two back ends: `live`, the web as the paper has it, and `offline`, a stand-in made from the gold tables (corpus.py).
Results of the two never compare; label, revision and every search result say which one it was. The same holds for the
judge: `exact` compares strings where the official scorer asks a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

from relaybench.benchmarks.base import Action, Task
from relaybench.benchmarks.widesearch import corpus, decomposition
from relaybench.benchmarks.widesearch.actions import parse_action
from relaybench.benchmarks.widesearch.background import Background
from relaybench.benchmarks.widesearch.environment import WideSearchEnvironment
from relaybench.benchmarks.widesearch.judge import ExactJudge, Judge
from relaybench.benchmarks.widesearch.live import LiveWeb
from relaybench.benchmarks.widesearch.offline import OfflineWeb
from relaybench.benchmarks.widesearch.questions import Question, load_questions
from relaybench.benchmarks.widesearch.roles import roles
from relaybench.benchmarks.widesearch.web import Web
from relaybench.config_benchmarks import WideSearchConfig
from relaybench.errors import UserError
from relaybench.rollout.plan import Roles

__all__ = ["WideSearch"]

RULES = "official@1"
"""Version of the scoring."""


class WideSearch:
    """The questions of one language, or of both. `judge` takes the place of the exact one, `web` of the configured one.

    Raises UserError where data or a decomposition is missing.
    """

    name = "widesearch"

    def __init__(
        self, config: WideSearchConfig, data_dir: Path, judge: Judge | None = None, web: Web | None = None
    ) -> None:
        questions = load_questions(data_dir).values()
        self._questions = {q.instance_id: q for q in questions if config.language in (q.language, "all")}
        path = config.decompositions or decomposition.STORED
        self._decompositions = decomposition.load(path)
        decomposition.check(self._decompositions, self._questions.values(), path)
        self._split = decomposition.digest(self._decompositions)
        judge = judge or ExactJudge()
        self._web = web or _web(config, list(self._questions.values()))
        self._background = Background(judge, data_dir)
        backend = corpus.VERSION if config.backend == "offline" else "live@1"
        self.revision = f"{RULES}-{backend}-{judge.name}-{_digest(self._questions.values())}"
        self.label = f"widesearch {config.language} ({self._web.name}, judge {judge.name})"
        self._tasks = tuple(_task(question) for question in self._questions.values())

    def tasks(self) -> Sequence[Task]:
        return self._tasks

    def environment(self, task: Task) -> WideSearchEnvironment:
        return WideSearchEnvironment(self._questions[task.id], self._web, self._background)

    def roles(self, task: Task) -> Roles:
        return roles(self._decompositions[task.id], self._split)

    def parse_action(self, reply: str) -> Action | None:
        return parse_action(reply)

    def needed(self, task: Task) -> dict[str, str]:
        """Nothing: no relay crosses between searchers."""
        return {}

    async def close(self) -> None:
        """Lets go of corpus, connections and judge."""
        await self._background.close()
        await self._web.close()


def _web(config: WideSearchConfig, questions: list[Question]) -> Web:
    return OfflineWeb(questions) if config.backend == "offline" else LiveWeb(config.cache)


def _digest(questions: Iterable[Question]) -> str:
    """12 hex digits over queries, rules and gold tables."""
    digest = sha256()
    for question in questions:
        digest.update(repr((question.instance_id, question.query, question.evaluation)).encode())
        try:
            digest.update(question.gold.read_bytes())
        except OSError as error:
            raise UserError(
                f"no gold table at {question.gold} ({error.strerror}); fetch or import the widesearch data again"
            ) from error
    return digest.hexdigest()[:12]


def _task(question: Question) -> Task:
    evaluation = question.evaluation
    return Task(
        id=question.instance_id,
        instruction=question.query,
        template=question.topic,
        data={"columns": list(evaluation.required), "key": list(evaluation.unique_columns)},
    )
