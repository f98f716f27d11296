"""ALFWorld's games: TextWorld PDDL games, read from the compact files or from the official archive.

Compact: `<split>.jsonl.xz` has one game a line, and `templates.json` what they share (PDDL domain and grammar); a
game file is put together from both, byte for byte as the official one. Official: `game.tw-pddl` files under
`json_2.1.1/<split>`, unpacked or in a `*tw-pddl*.zip`; games with sliced or moved objects and unsolvable ones are
left out, as the official loader does.
"""

from __future__ import annotations

import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from relaybench.errors import UserError

KINDS = {
    "pick_and_place_simple": "pick",
    "look_at_obj_in_light": "look",
    "pick_clean_then_place_in_recep": "clean",
    "pick_heat_then_place_in_recep": "heat",
    "pick_cool_then_place_in_recep": "cool",
    "pick_two_obj_and_place": "pick two",
}
"""Task types as tables name them, by the official name that begins a game's path."""
FILE = "game.tw-pddl"
_TASK = re.compile(r'Your task is to: (.*?)"')
Reader = Callable[[], str]


class Game(Struct, frozen=True):
    """One game. Its file is some 80 KB of text, so it is kept packed."""

    path: str
    """`<split>/<type>-.../trial_.../game.tw-pddl`, as the official archive has it under json_2.1.1."""
    task: str
    walkthrough: tuple[str, ...]
    """Official actions that win."""
    packed: bytes

    @property
    def id(self) -> str:
        return self.path.removesuffix(f"/{FILE}")

    @property
    def kind(self) -> str:
        return kind_of(self.path)

    @property
    def text(self) -> str:
        """The game file."""
        return unpacked(self.packed)


def unpacked(packed: bytes) -> str:
    """The game file that is kept as `packed`."""
    return zlib.decompress(packed).decode()


class _Row(Struct):
    path: str
    task: str
    tmpl: int
    problem: str
    walkthrough: tuple[str, ...]
    solvable: Any


def read_games(folder: Path, split: str, wanted: Callable[[str], bool] = lambda path: True) -> Iterator[Game]:
    """The games of a split whose path is wanted, in file order (official archive: by path).

    Raises UserError where there is no such split, or its files are not what they must be.
    """
    compact = folder / f"{split}.jsonl.xz"
    if compact.is_file():
        yield from _compact(compact, wanted)
        return
    found = False
    for path, read in _official(folder, split):
        found = True
        if wanted(path) and (game := _official_game(path, read)) is not None:
            yield game
    if not found:
        raise UserError(
            f"no ALFWorld games of split {split!r} in {folder}: neither {compact.name} nor json_2.1.1/{split}; get "
            "them with `relaybench data fetch alfworld` or `relaybench data import alfworld DIR`"
        )


def kind_of(path: str) -> str:
    """The task type of a game's path, "other" for one that is not official."""
    folder = path.split("/")[1] if "/" in path else path
    return KINDS.get(folder.split("-")[0], "other")


def normal_path(text: str) -> str:
    """A game's path from any longer spelling: what stands before its split and after its trial does not matter."""
    parts = text.replace("\\", "/").strip("/").removesuffix(f"/{FILE}").split("/")
    return "/".join([*parts[-3:], FILE])


def revision_of(games: list[Game]) -> str:
    """Twelve hex digits that name these games, file contents included, in whatever order."""
    digest = sha256()
    for game in sorted(games, key=lambda game: game.path):
        digest.update(f"{game.path}\n{sha256(game.text.encode()).hexdigest()}\n".encode())
    return digest.hexdigest()[:12]


def _compact(file: Path, wanted: Callable[[str], bool]) -> Iterator[Game]:
    decode = msgspec.json.Decoder(_Row).decode
    try:
        templates = json.loads((file.parent / "templates.json").read_text(encoding="utf-8"))
        with lzma.open(file) as lines:
            for line in lines:
                row = decode(line)
                if wanted(row.path):
                    yield _game(row.path, row.task, row.walkthrough, _file_text(row, templates[row.tmpl]))
    except (OSError, EOFError, ValueError, LookupError, lzma.LZMAError, msgspec.MsgspecError) as error:
        raise UserError(f"{file} is no whole file of ALFWorld games ({error}); fetch or import it again") from error


def _file_text(row: _Row, template: dict[str, str]) -> str:
    return json.dumps(
        {
            "pddl_domain": template["pddl_domain"],
            "grammar": template["grammar"].replace("@@TASK@@", row.task),
            "pddl_problem": row.problem,
            "solvable": row.solvable,
            "walkthrough": list(row.walkthrough),
        }
    )


def _game(path: str, task: str, walkthrough: tuple[str, ...], text: str) -> Game:
    return Game(path, task, walkthrough, zlib.compress(text.encode(), 1))


def _official(folder: Path, split: str) -> Iterator[tuple[str, Reader]]:
    """(path, how to read it) of every game file of a split, by path; a folder goes before an archive."""
    for root in (folder / "json_2.1.1", folder):
        for file in sorted((root / split).rglob(FILE)):
            yield file.relative_to(root).as_posix(), lambda file=file: file.read_text(encoding="utf-8")  # type: ignore[misc]
        if (root / split).is_dir():
            return
    for archive in sorted(folder.glob("*tw-pddl*.zip"))[-1:]:
        with zipfile.ZipFile(archive) as opened:
            for name in sorted(opened.namelist()):
                path = name.removeprefix("json_2.1.1/")
                if path.startswith(f"{split}/") and path.endswith(f"/{FILE}"):
                    yield path, lambda name=name: opened.read(name).decode()  # type: ignore[misc]


def _official_game(path: str, read: Reader) -> Game | None:
    if "movable" in path or "Sliced" in path:
        return None
    try:
        text = read()
        data = json.loads(text)
        if not data.get("solvable"):
            return None
        task = _TASK.search(data["grammar"])
        return _game(path, task[1] if task else "", tuple(data.get("walkthrough") or ()), text)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise UserError(f"{path} is no ALFWorld game file ({error}); get the archive again") from error
