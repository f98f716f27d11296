"""Few-shot examples: whole episodes of the train split, played at run time from their walkthroughs.

Chosen by task type and the digest of their path among plain ones, so that everyone gets the same. A worker is shown
its own part of each: the explorer the walk to what it has to find and the report, the executor the report and the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

from relaybench.benchmarks.alfworld.environment import room
from relaybench.benchmarks.alfworld.expert import effective, exploration, found
from relaybench.benchmarks.alfworld.games import Game, kind_of, read_games
from relaybench.benchmarks.alfworld.roles import EXECUTOR, EXPLORER, FoundReport, fields_of
from relaybench.benchmarks.alfworld.session import Session
from relaybench.benchmarks.base import FINISH

SPLIT = "train"
CANDIDATES = 16
"""Games looked at for each one that is chosen: more than enough of them are plain."""
Steps = Sequence[tuple[str, str]]
"""(action, observation) ..."""


def choose(data_dir: Path, kinds: Iterable[str], number: int) -> dict[str, list[Game]]:
    """`number` games of the train split for each kind: plain ones, those with the smallest digests of their paths."""
    paths: dict[str, list[str]] = {kind: [] for kind in sorted(set(kinds))}

    def note(path: str) -> bool:
        paths.get(kind_of(path), []).append(path)
        return False

    list(read_games(data_dir, SPLIT, note))
    first = {path for each in paths.values() for path in sorted(each, key=_digest)[: number * CANDIDATES]}
    games = sorted(read_games(data_dir, SPLIT, first.__contains__), key=lambda game: _digest(game.path))
    return {kind: [g for g in games if g.kind == kind and is_plain(g.walkthrough)][:number] for kind in paths}


def is_plain(walkthrough: Sequence[str]) -> bool:
    """Whether it does what the task says: some take from elsewhere what is in reach, or stop when a look-alike counts.

    A plain one takes only where it went, and ends by putting something down or with the lamp.
    """
    place = ""
    for action in walkthrough:
        if action.startswith("go to "):
            place = action.removeprefix("go to ")
        elif action.startswith("take ") and not action.endswith(f" from {place}"):
            return False
    return walkthrough[-1].split(" ")[0] in ("move", "use")


def shown(games: Sequence[Game]) -> dict[str, str]:
    """By subtask id, what its worker is shown: one example after another."""
    parts = [_parts(game) for game in games]
    return {
        name: "\n\n".join(f"Example {i}\n{part[name]}" for i, part in enumerate(parts, 1)) + "\n\nNow your own task."
        for name in ("whole", EXPLORER, EXECUTOR)
    }


def version_of(games: dict[str, list[Game]]) -> str:
    """Names the examples, for episode keys."""
    paths = "\n".join(game.path for kind in sorted(games) for game in games[kind])
    return f"few-shot-{sha256(paths.encode()).hexdigest()[:8]}"


def _parts(game: Game) -> dict[str, str]:
    first, whole = _play(game, game.walkthrough)
    walk = exploration(game.walkthrough)
    _, both = _play(game, [*walk, *game.walkthrough])
    report = FoundReport().render(fields_of(found(game.walkthrough)))
    opening = f"Your task is to: {game.task}\n\n{first}"
    seen = both[: len(walk)]
    return {
        "whole": f"{opening}\n\n{_told(whole)}",
        EXPLORER: f"{opening}\n\n{_told(effective(seen))}\n\nAction: {FINISH}\n\nReport, once asked for:\n{report}",
        EXECUTOR: f"{opening}\n\nFrom {EXPLORER}:\n{report}\n\n{_told(effective(both[len(walk) :]))}",
    }


def _play(game: Game, actions: Iterable[str]) -> tuple[str, list[tuple[str, str]]]:
    session = Session(game.text)
    try:
        return room(session.first), [(action, session.step(action).observation) for action in actions]
    finally:
        session.close()


def _told(steps: Steps) -> str:
    return "\n\n".join(f"Thought: {_thought(action)}\nAction: {action}\n\n{seen}" for action, seen in steps)


_THOUGHTS = {
    "go": "that is the place to go to next.",
    "open": "it is closed, so I open it.",
    "take": "here is what I need; I take it.",
    "move": "this is where it belongs.",
    "clean": "it has to be clean.",
    "heat": "it has to be hot.",
    "cool": "it has to be cold.",
    "use": "here is the lamp; I switch it on.",
}


def _thought(action: str) -> str:
    return _THOUGHTS.get(action.split(" ")[0], "that comes next.")


def _digest(path: str) -> str:
    return sha256(path.encode()).hexdigest()
