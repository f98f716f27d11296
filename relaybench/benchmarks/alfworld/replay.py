"""Replay: actions carried out in ALFWorld games of any split, and every observation that they give.

`relaybench replay alfworld` writes rows of `game`, `observations` (the first one included, as the official engine
words it), `rewards` and `won`; other fields are passed through.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from relaybench.benchmarks.alfworld.games import Game, normal_path, read_games
from relaybench.benchmarks.alfworld.session import Session
from relaybench.benchmarks.rows import lines, texts, write
from relaybench.errors import UserError


def replay(game: Game, actions: Sequence[str]) -> dict[str, Any]:
    """What the actions gave, one after another. A game that is won goes on, as the engine lets it, and stays won."""
    session = Session(game.text)
    try:
        seen = [session.step(action) for action in actions]
        return {
            "observations": [session.first, *(each.observation for each in seen)],
            "rewards": [each.reward for each in seen],
            "won": any(each.won for each in seen),
        }
    finally:
        session.close()


def replay_actions(actions: Path, data_dir: Path, out: Path) -> str:
    """Replay a file; returns a line that says what was done. UserError for a bad row or an unknown game."""
    require_engine()
    rows = [(where, row, texts(where, row, "actions")) for where, row in lines(actions)]
    games = _games(data_dir, [(where, _path(where, row)) for where, row, _ in rows])
    done = [row | replay(games[_path(where, row)], each) for where, row, each in rows]
    for row in done:
        del row["actions"]
    write(out, done)
    won = sum(row["won"] for row in done)
    return f"replayed {len(done)} games, {sum(len(row['rewards']) for row in done)} actions, {won} won, to {out}"


def require_engine() -> None:
    """Raises UserError where TextWorld or ALFWorld is not installed."""
    for package in ("textworld", "fast_downward", "alfworld"):
        if find_spec(package) is None:
            raise UserError(f"ALFWorld's games need {package}; run `scripts/install benchmarks`")


def _path(where: str, row: dict[str, Any]) -> str:
    if not isinstance(row.get("game"), str):
        raise UserError(f'{where} has no text "game"; name one as in valid_unseen/TYPE-.../trial_.../game.tw-pddl')
    return normal_path(row["game"])


def _games(data_dir: Path, named: Sequence[tuple[str, str]]) -> dict[str, Game]:
    paths = {path for _, path in named}
    found = {game.path: game for split in _splits(paths) for game in read_games(data_dir, split, paths.__contains__)}
    for where, path in named:
        if path not in found:
            raise UserError(f"{where}: no game {path} in {data_dir}; name it as its split's file does")
    return found


def _splits(paths: Iterable[str]) -> list[str]:
    return sorted({path.split("/")[0] for path in paths})
