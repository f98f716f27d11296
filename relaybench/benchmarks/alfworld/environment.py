"""One ALFWorld game as a world, played in a process of its own (processes.py).

An action is the official text, e.g. `take mug 2 from shelf 1`; what fits nothing is answered "Nothing happens.", as
officially. The first observation is the room: the official banner is left out, and the task's sentence too, which
workers are told as the task. Success is the engine's `won`; the game is over then. Replies are read with case and
spacing put right ("Go To shelf1" is `go to shelf 1`), for the engine wants both exact.
"""

from __future__ import annotations

import re
from base64 import b64encode
from itertools import count

from relaybench.benchmarks.alfworld.games import Game
from relaybench.benchmarks.alfworld.processes import GameFailed, Process, Processes
from relaybench.benchmarks.base import FINISH, Action, StepResult, action_line
from relaybench.records import Score

GO, OPEN, CLOSE, TAKE, MOVE, EXAMINE = "go to", "open", "close", "take", "move", "examine"
CLEAN, HEAT, COOL, USE, SLICE, LOOK, INVENTORY, HELP = (
    "clean", "heat", "cool", "use", "slice", "look", "inventory", "help",
)  # fmt: skip
VERBS = (GO, OPEN, CLOSE, TAKE, MOVE, EXAMINE, CLEAN, HEAT, COOL, USE, SLICE, LOOK, INVENTORY, HELP)
"""What actions begin with: the tools of whitelists."""
NOTHING = "Nothing happens."
LONGEST_ACTION = 300
"""Characters; none of the games' actions comes near."""
LONGEST_OBSERVATION = 4000
"""Characters; official ones have some hundreds."""

_BANNER = re.compile(r"^-= .*? =-\s*")
_TASK = re.compile(r"\s*Your task is to: .*\Z", re.DOTALL)
_VERB = re.compile(rf"({'|'.join(VERBS)})\b")
_BARE = re.compile(rf"^[ \t>*`-]*((?:{'|'.join(VERBS)}|{FINISH})\b.*)", re.MULTILINE | re.IGNORECASE)
_GLUED = re.compile(r"\b([a-z]+)[_-]?(\d+)\b")
_sessions = count()


def parse_action(reply: str) -> Action | None:
    """The first action of a reply: after "Action:", else the first line that begins like one. None without any."""
    bare = _BARE.search(reply)
    text = normal_action(action_line(reply) or (bare.group(1) if bare else ""))
    if not text:
        return None
    verb = _VERB.match(text)
    tool = verb.group(1) if verb else text.split(" ")[0]
    return Action(FINISH, FINISH) if tool == FINISH else Action(tool, text)


def normal_action(text: str) -> str:
    """Lower case, single spaces, names apart from their numbers, nothing around: as the engine wants it."""
    plain = " ".join(text[:LONGEST_ACTION].lower().split()).strip(" .'\"`*[]<>")
    return _GLUED.sub(r"\1 \2", plain)


def room(first: str) -> str:
    """The official first observation without its banner and the task."""
    return _TASK.sub("", _BANNER.sub("", first))


class ALFWorldEnvironment:
    """A game from its first state. The same actions give the same observations."""

    def __init__(self, game: Game, processes: Processes) -> None:
        self._game = game
        self._processes = processes
        self._process: Process | None = None
        self._session = -1
        self._won = False

    async def reset(self) -> str:
        """What the room looks like. Raises GameFailed where the game's process dies."""
        await self.close()
        self._won = False
        self._process = await self._processes.process(self._game)
        self._session = next(_sessions)
        packed = b64encode(self._game.packed).decode()
        said = await self._process.ask(do="open", session=self._session, game=packed)
        return room(said["observation"])

    async def step(self, action: str) -> StepResult:
        """What the game answers; over once it is won. Raises GameFailed where its process dies."""
        if self._process is None:
            await self.reset()
        assert self._process is not None
        if self._won or len(action.strip()) > LONGEST_ACTION:
            return StepResult(NOTHING, done=self._won)
        said = await self._process.ask(do="step", session=self._session, action=action)
        self._won = bool(said["won"])
        return StepResult(_bounded(said["observation"]), float(said["reward"]), done=self._won)

    async def score(self) -> Score:
        """Whether the game was won."""
        return Score(self._won, float(self._won))

    async def close(self) -> None:
        """Let go of the session; one whose process has died is gone already."""
        process, self._process = self._process, None
        if process is not None and process.dead is None:
            try:
                await process.ask(do="close", session=self._session)
            except GameFailed:
                return


def _bounded(text: str) -> str:
    if len(text) <= LONGEST_OBSERVATION:
        return text
    return f"{text[:LONGEST_OBSERVATION]} [... {len(text) - LONGEST_OBSERVATION} more characters cut]"
