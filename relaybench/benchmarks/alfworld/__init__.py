"""ALFWorld: household tasks in text, 134 unseen ones among 4,027 (Shridhar et al. 2021, arXiv 2010.03768).

The games run in the official engine, TextWorld under ALFWorld's wrappers, in processes of their own; observations are
official word by word (tests/parity/test_alfworld.py), success is the engine's. Task types (templates) are pick, look,
clean, heat, cool and pick two.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from relaybench.benchmarks.alfworld.environment import ALFWorldEnvironment, parse_action
from relaybench.benchmarks.alfworld.examples import choose, shown, version_of
from relaybench.benchmarks.alfworld.expert import found, with_expert
from relaybench.benchmarks.alfworld.games import Game, read_games, revision_of
from relaybench.benchmarks.alfworld.processes import Processes
from relaybench.benchmarks.alfworld.replay import require_engine
from relaybench.benchmarks.alfworld.roles import EXECUTOR, fields_of, roles
from relaybench.benchmarks.base import Action, Task
from relaybench.config_benchmarks import ALFWorldConfig
from relaybench.rollout.plan import Roles

__all__ = ["ALFWorld"]

RULES = "official@1"
"""Raise it with any change of what an action does or of what counts as success."""


class ALFWorld:
    """The games of one split. UserError where the data or the engine is missing."""

    name = "alfworld"

    def __init__(self, config: ALFWorldConfig, data_dir: Path) -> None:
        require_engine()
        self.config = config
        games = list(read_games(data_dir, config.split))
        self._games = {game.id: game for game in games}
        self._tasks = tuple(_task(game) for game in games)
        self.revision = f"{RULES}-{revision_of(games)}"
        self.label = f"alfworld {config.split} ({f'{config.examples}-shot' if config.examples else 'zero-shot'})"
        self.processes = Processes(config.processes)
        self._roles = self._made_roles(data_dir)

    def tasks(self) -> Sequence[Task]:
        return self._tasks

    def environment(self, task: Task) -> ALFWorldEnvironment:
        return ALFWorldEnvironment(self._games[task.id], self.processes)

    def roles(self, task: Task) -> Roles:
        return self._roles[self._games[task.id].kind]

    def expert(self, task: Task) -> Roles:
        """The same roles played by the walkthrough, which needs no model."""
        return with_expert(self.roles(task), self._games[task.id].walkthrough)

    def parse_action(self, reply: str) -> Action | None:
        return parse_action(reply)

    def needed(self, task: Task) -> dict[str, str]:
        """The objects that the walkthrough uses and their places: one sufficient relay, where others may do as well."""
        return fields_of(found(self._games[task.id].walkthrough))

    def targets(self, task: Task, worker: str) -> list[str]:
        """The executor's first action with those objects: to go to the first, or to take it where it stands there."""
        things = found(self._games[task.id].walkthrough)
        if worker != EXECUTOR or not things:
            return []
        thing, place = things[0]
        return [f"Action: go to {place}", f"Action: take {thing} from {place}"]

    async def close(self) -> None:
        """End the processes."""
        await self.processes.close()

    def _made_roles(self, data_dir: Path) -> dict[str, Roles]:
        kinds = {game.kind for game in self._games.values()}
        if not self.config.examples:
            return dict.fromkeys(kinds, roles())
        games = choose(data_dir, kinds, self.config.examples)
        return {kind: roles(shown(games[kind]), version_of(games)) for kind in kinds}


def _task(game: Game) -> Task:
    return Task(
        id=game.id,
        instruction=f"Your task is to: {game.task}",
        template=game.kind,
        data={"kind": game.kind, "walkthrough": list(game.walkthrough)},
    )
