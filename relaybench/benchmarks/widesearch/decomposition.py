"""Decompositions: how a task's rows are shared out among three searchers, kept in a file so that all runs share them.

The file that comes with the package was written by hand from the queries alone, the gold tables unseen. `decompose`
lets any engine write another one, in the same form: JSONL, one task a line, with its author and date.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct

from relaybench.benchmarks.widesearch.model_judge import last_object
from relaybench.benchmarks.widesearch.questions import Question
from relaybench.engines.base import ContextFull, Engine, EngineError
from relaybench.engines.model import Model
from relaybench.errors import UserError
from relaybench.records import Context

STORED = Path(__file__).with_name("decompositions.jsonl")
GROUPS = 3
MAX_TOKENS = 1024
"""New tokens of a decomposition."""
LONGEST_UNIT = 200
"""Characters."""

_PROMPT = """A table is to be filled from the web by three people who work apart. Share its rows out among them.

The task:
{query}

Choose what to share out by: what the task itself names, such as things, regions, kinds, ranks or spans of time; the
three should not need the same pages. List every unit, spelling out spans ("2019 to 2021" is three years), and put each
into exactly one of three groups of about the same work. Together they cover the whole task, none overlaps another. Name
units only, never facts that are to be found. Use the task's language.

Answer with one JSON object and nothing else:
{{"axis": "year", "groups": [["2019"], ["2020"], ["2021"]]}}"""


class Decomposition(Struct, frozen=True):
    """Who gets which rows of one task."""

    instance_id: str
    author: str
    """Who wrote it; a model's name where one did."""
    date: str
    """YYYY-MM-DD."""
    axis: str
    """What the rows are shared out by, e.g. "year"."""
    units: tuple[tuple[str, ...], ...]
    """Three groups, none empty, no unit twice."""


def digest(decompositions: Mapping[str, Decomposition]) -> str:
    """Names a set of decompositions: the same for all its tasks, so that their results may be pooled."""
    told = [(name, decompositions[name].axis, decompositions[name].units) for name in sorted(decompositions)]
    return sha256(repr(told).encode()).hexdigest()[:8]


def load(path: Path = STORED) -> dict[str, Decomposition]:
    """Decompositions by instance_id. Raises UserError for a missing file, or a line in another form."""
    found: dict[str, Decomposition] = {}
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read the decompositions in {path} ({error})") from error
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            entry = msgspec.json.decode(line, type=Decomposition)
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            raise UserError(f"{path}:{number} is no decomposition ({error})") from error
        if fault := _fault(entry.units):
            raise UserError(f"{path}:{number}: {fault}; {entry.instance_id} needs {GROUPS} groups of different units")
        found[entry.instance_id] = entry
    return found


def check(found: dict[str, Decomposition], questions: Iterable[Question], path: Path) -> None:
    """Raises UserError where a question has no decomposition."""
    absent = [question.instance_id for question in questions if question.instance_id not in found]
    if absent:
        raise UserError(
            f"{path} has no decomposition of {absent[0]}" + f" and {len(absent) - 1} more" * (len(absent) > 1) + "; "
            "make them with `relaybench decompose widesearch`, or leave benchmark.decompositions out"
        )


async def decompose(
    questions: Sequence[Question], model: Model, *, author: str, date: str
) -> AsyncIterator[Decomposition | Question]:
    """One after another the model's decompositions; a question itself where its reply was of no use.

    Raises EngineError where no reply came.
    """
    for question in questions:
        context = Context("decompose")
        asked = model.message(context, "user", _PROMPT.format(query=question.query))
        try:
            message, _ = await model.reply(context, asked=asked, max_tokens=MAX_TOKENS)
        except ContextFull:
            yield question
            continue
        read = _read(message.content)
        yield question if read is None else Decomposition(question.instance_id, author, date, *read)


class Summary(Struct, frozen=True):
    """What `decompose_file` did."""

    out: Path
    there: int
    """Tasks that the file already held."""
    written: int
    failed: tuple[str, ...]
    """Tasks whose reply was of no use."""

    def __str__(self) -> str:
        told = f"{self.out}: {self.written} written, {self.there} were there"
        return told + (f"; no use: {', '.join(self.failed)}" if self.failed else "")


async def decompose_file(questions: Sequence[Question], engine: Engine, out: Path) -> Summary:
    """Append what `engine` makes of the questions that `out` lacks; each is on disk before the next is asked.

    Raises UserError where the server or the file cannot be used.
    """
    there = _held(out)
    todo = [question for question in questions if question.instance_id not in there]
    failed: list[str] = []
    await engine.start()
    try:
        with out.open("ab") as file:
            today = datetime.now(tz=UTC).date().isoformat()
            async for made in decompose(todo, Model(engine), author=engine.model, date=today):
                if isinstance(made, Question):
                    failed.append(made.instance_id)
                else:
                    file.write(msgspec.json.encode(made) + b"\n")
                    file.flush()
    except EngineError as error:
        raise UserError(f"no answer ({error}); the same command goes on from here") from error
    except OSError as error:
        raise UserError(f"cannot write {out} ({error.strerror}); choose another --out") from error
    finally:
        await engine.close()
    return Summary(out, len(questions) - len(todo), len(todo) - len(failed), tuple(failed))


def _held(out: Path) -> dict[str, Decomposition]:
    return load(out) if out.exists() else {}


def _read(reply: str) -> tuple[str, tuple[tuple[str, ...], ...]] | None:
    """(axis, units) of a reply, or None."""
    found = last_object(reply) or {}
    try:
        units = msgspec.convert(found.get("groups"), tuple[tuple[str | int, ...], ...])
    except msgspec.ValidationError:
        return None
    texts = tuple(tuple(" ".join(str(unit).split())[:LONGEST_UNIT] for unit in group) for group in units)
    axis = " ".join(str(found.get("axis") or "part").split())[:LONGEST_UNIT]
    return None if _fault(texts) else (axis, texts)


def _fault(units: Sequence[Sequence[str]]) -> str | None:
    """What keeps groups from being a decomposition, or None."""
    every = [unit for group in units for unit in group]
    if len(units) != GROUPS:
        return f"there are {len(units)} groups"
    if not all(units) or not all(every):
        return "a group or a unit is empty"
    if twice := [unit for unit in every if every.count(unit) > 1]:
        return f"unit {twice[0]!r} is there twice"
    return None
