"""Fixtures: the real games, for no small ones can be made by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from relaybench.benchmarks.alfworld.games import Game, read_games
from relaybench.benchmarks.alfworld.processes import Processes


@pytest.fixture(scope="session")
def data(shared: Path) -> Path:
    folder = shared / "data" / "alfworld"
    if not folder.is_dir():
        pytest.skip(f"no ALFWorld games at {folder}")
    return folder


@pytest.fixture(scope="session")
def games(data: Path) -> dict[str, Game]:
    """The first game of each type, by type."""
    first: dict[str, Game] = {}
    for game in read_games(data, "valid_unseen"):
        first.setdefault(game.kind, game)
    return first


@pytest.fixture
async def processes() -> AsyncIterator[Processes]:
    for package in ("textworld", "fast_downward", "alfworld"):
        pytest.importorskip(package, reason=f"no {package}: run `scripts/install benchmarks`")
    made = Processes(2)
    yield made
    await made.close()
