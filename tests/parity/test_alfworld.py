"""Agreement with the official ALFWorld engine, observation by observation (shared/oracles/alfworld)."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from relaybench.benchmarks.alfworld.games import Game, read_games
from relaybench.benchmarks.alfworld.replay import replay, replay_actions
from relaybench.cli import main

for package in ("textworld", "fast_downward", "alfworld"):
    pytest.importorskip(package, reason=f"no {package}: run `scripts/install benchmarks`")
SAMPLE = 12
"""Walkthroughs, evenly spread, that the quick test plays."""


@pytest.fixture(scope="module")
def data(shared: Path) -> Path:
    return shared / "data" / "alfworld"


@pytest.fixture(scope="module")
def games(data: Path) -> list[Game]:
    return list(read_games(data, "valid_unseen"))


@pytest.fixture(scope="module")
def official(shared: Path) -> list[dict[str, Any]]:
    path = shared / "oracles" / "alfworld" / "expert_transcripts.jsonl.gz"
    return [json.loads(line) for line in gzip.open(path, "rt", encoding="utf-8")]


def test_the_split_is_the_official_one(games: list[Game]) -> None:
    assert Counter(game.kind for game in games) == {
        "pick": 24, "look": 18, "clean": 31, "heat": 23, "cool": 21, "pick two": 17,
    }  # fmt: skip


def test_every_observation_is_official(official: list[dict[str, Any]], data: Path, tmp_path: Path) -> None:
    assert len(official) == 34
    rows = [{"game": row["game"], "n": row["n"], "actions": [step[0] for step in row["trans"]]} for row in official]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    main(["replay", "alfworld", "--actions", str(tmp_path / "in.jsonl"), "--out", str(tmp_path / "out.jsonl"),
          "--data", str(data)])  # fmt: skip
    ours = [json.loads(line) for line in (tmp_path / "out.jsonl").open(encoding="utf-8")]
    theirs = [
        {
            "game": row["game"],
            "n": row["n"],
            "observations": [row["obs0"], *(step[1] for step in row["trans"])],
            "rewards": [step[2] for step in row["trans"]],
            "won": row["won"],
        }
        for row in official
    ]
    assert ours == theirs


def test_walkthroughs_win(games: list[Game]) -> None:
    chosen = games[:: len(games) // SAMPLE]
    assert [game.path for game in chosen if not _wins(game)] == []


@pytest.mark.slow
def test_all_134_walkthroughs_win(games: list[Game]) -> None:
    assert len(games) == 134
    assert [game.path for game in games if not _wins(game)] == []


def test_games_of_every_split_can_be_replayed_in_any_order(data: Path, tmp_path: Path) -> None:
    found = [next(read_games(data, split)) for split in ("train", "valid_seen", "valid_train")]
    rows = [{"game": f"/x/json_2.1.1/{g.path}", "actions": [*g.walkthrough, "look"]} for g in found]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = replay_actions(tmp_path / "in.jsonl", data, tmp_path / "out.jsonl")
    assert said.startswith("replayed 3 games, ")
    assert [json.loads(line)["won"] for line in (tmp_path / "out.jsonl").open()] == [True] * 3


def _wins(game: Game) -> bool:
    done = replay(game, game.walkthrough)
    return bool(done["won"]) and done["rewards"][:-1] == [0] * (len(game.walkthrough) - 1)
