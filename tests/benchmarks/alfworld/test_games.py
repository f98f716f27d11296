"""Games: both forms of the data give the same files."""

from __future__ import annotations

import json
import lzma
import zipfile
from pathlib import Path

import pytest

from relaybench.benchmarks.alfworld.games import Game, kind_of, normal_path, read_games, revision_of
from relaybench.errors import UserError

PATH = "valid_seen/pick_two_obj_and_place-Mug-None-Desk-1/trial_T1/game.tw-pddl"
ROW = {
    "path": PATH, "task": "put two mugs in desk.", "tmpl": 0, "problem": "(define)", "solvable": True,
    "walkthrough": ["go to desk 1"],
}  # fmt: skip
TEMPLATE = {"pddl_domain": "(domain)", "grammar": 'grammar :: {"rhs": "Your task is to: @@TASK@@"}'}
TEXT = json.dumps(
    {
        "pddl_domain": "(domain)",
        "grammar": 'grammar :: {"rhs": "Your task is to: put two mugs in desk."}',
        "pddl_problem": "(define)",
        "solvable": True,
        "walkthrough": ["go to desk 1"],
    }
)


def compact(folder: Path) -> Path:
    (folder / "templates.json").write_text(json.dumps([TEMPLATE]))
    (folder / "valid_seen.jsonl.xz").write_bytes(lzma.compress((json.dumps(ROW) + "\n").encode()))
    return folder


def unpacked(folder: Path) -> Path:
    for path in (PATH, PATH.replace("Mug", "MugSliced"), PATH.replace("trial", "movable_trial")):
        file = folder / "json_2.1.1" / path
        file.parent.mkdir(parents=True)
        file.write_text(TEXT)
    unsolvable = folder / "json_2.1.1" / PATH.replace("T1", "T2")
    unsolvable.parent.mkdir(parents=True)
    unsolvable.write_text(TEXT.replace('"solvable": true', '"solvable": false'))
    return folder


def zipped(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "json_2.1.2_tw-pddl.zip", "w") as archive:
        archive.writestr(f"json_2.1.1/{PATH}", TEXT)
        archive.writestr(f"json_2.1.1/{PATH.replace('valid_seen', 'train')}", TEXT)
    return folder


@pytest.mark.parametrize("form", [compact, unpacked, zipped])
def test_every_form_gives_the_same_game(form: object, tmp_path: Path) -> None:
    assert callable(form)
    games = list(read_games(form(tmp_path), "valid_seen"))
    assert [(g.path, g.task, g.walkthrough, g.text, g.kind) for g in games] == [
        (PATH, "put two mugs in desk.", ("go to desk 1",), TEXT, "pick two")
    ]
    assert list(read_games(tmp_path, "valid_seen", lambda path: "Cup" in path)) == []


def test_a_split_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no ALFWorld games of split 'train' in .*; get them with"):
        list(read_games(compact(tmp_path), "train"))


@pytest.mark.parametrize("damage", [b"", b"no xz", lzma.compress(b'{"path": 3}\n'), lzma.compress(b"{}\n" * 9)[:-9]])
def test_a_damaged_file_is_one_line(damage: bytes, tmp_path: Path) -> None:
    (compact(tmp_path) / "valid_seen.jsonl.xz").write_bytes(damage)
    with pytest.raises(UserError, match="is no whole file of ALFWorld games .*; fetch or import it again"):
        list(read_games(tmp_path, "valid_seen"))


def test_paths_and_types() -> None:
    assert normal_path(f"/data/json_2.1.1/{PATH}") == PATH
    assert normal_path(PATH.removesuffix("/game.tw-pddl")) == PATH
    assert normal_path(PATH.replace("/", "\\")) == PATH
    assert normal_path("x") == "x/game.tw-pddl"
    assert (kind_of(PATH), kind_of("odd/game"), kind_of("")) == ("pick two", "other", "other")


def test_the_revision_depends_on_contents_and_not_on_order(tmp_path: Path) -> None:
    game = next(read_games(compact(tmp_path), "valid_seen"))
    other = Game(PATH.replace("T1", "T3"), game.task, game.walkthrough, game.packed)
    assert revision_of([game, other]) == revision_of([other, game]) != revision_of([game])
