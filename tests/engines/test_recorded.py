"""A replay of a stored run gives its records again, and makes nothing up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from relaybench.config import RecordedConfig
from relaybench.engines.base import Request, ScoreRequest
from relaybench.engines.fake import FakeEngine
from relaybench.engines.recorded import RecordedEngine
from relaybench.errors import UserError
from relaybench.records import Decoding, Episode, Message
from relaybench.rollout.store import read_run
from tests.rollout.toy import FOREIGN, REPORT, SYSTEMS, Toy, play, run_toy, toy_config

TRUNCATE = {"prototype": "mas", "relay": {"encoder": "truncate", "tokens": 40}}
DROP = {"prototype": "mas", "relay": {"encoder": "report", "loss": {"drop": ["value"]}}}


def said(episode: Episode) -> Episode:
    """What a replay must give again: all but keys, names of engines and times."""
    workers = tuple(msgspec.structs.replace(worker, seconds=0.0) for worker in episode.workers)
    return msgspec.structs.replace(
        episode, key="", engine="", model="", started="", seconds=0.0, shared=(), workers=workers
    )


def by_task(folder: Path) -> dict[tuple[str, str, int], Episode]:
    return {(e.task, e.system, e.seed): said(e) for e in read_run(folder).episodes}


def recorded(folder: Path, **settings: Any) -> RecordedEngine:
    return RecordedEngine(RecordedConfig(kind="recorded", run=folder, **settings))


@pytest.mark.parametrize("chat", [True, False])
@pytest.mark.parametrize("share", [True, False])
@pytest.mark.parametrize("systems", [SYSTEMS, [FOREIGN], [DROP, REPORT], [TRUNCATE]])
async def test_a_replay_gives_the_same_records(
    tmp_path: Path, chat: bool, share: bool, systems: list[dict[str, Any]]
) -> None:
    settings = {"share_upstream": share, "decoding": {"logprobs": True}}
    first = toy_config(tmp_path / "first", systems, **settings)
    await run_toy(first, FakeEngine(play, chat=chat))
    again = toy_config(tmp_path / "again", systems, **settings)
    summary = await run_toy(again, recorded(tmp_path / "first"))
    assert summary.failed == 0
    assert by_task(tmp_path / "again") == by_task(tmp_path / "first") != {}


async def test_each_seed_is_replayed_with_its_own_answers(tmp_path: Path) -> None:
    def moody(request: Request) -> str:
        """Another answer for every seed of a call: as if sampled."""
        return f"{play(request)} {request.seed}" if "write" in play(request) else play(request)

    settings = {"seeds": [0, 1, 2], "decoding": {"temperature": 1.0}}
    await run_toy(toy_config(tmp_path / "first", **settings), FakeEngine(moody))
    await run_toy(toy_config(tmp_path / "again", **settings), recorded(tmp_path / "first"))
    assert by_task(tmp_path / "again") == by_task(tmp_path / "first")


async def test_a_lossy_relay_alone_is_replayed_from_the_relay_it_was_made_from(tmp_path: Path) -> None:
    await run_toy(toy_config(tmp_path / "first", [DROP]), FakeEngine(play), Toy(1))
    await run_toy(toy_config(tmp_path / "again", [DROP]), recorded(tmp_path / "first"), Toy(1))
    assert by_task(tmp_path / "again") == by_task(tmp_path / "first")


async def test_a_torn_line_is_passed_over(tmp_path: Path) -> None:
    await run_toy(toy_config(tmp_path / "first", [REPORT]), FakeEngine(play))
    with (tmp_path / "first" / "episodes.jsonl").open("a") as file:
        file.write('{"key": "torn')
    engine = recorded(tmp_path / "first")
    await engine.start()
    assert engine.chat is not None


async def test_contexts_that_were_full_are_full_again(tmp_path: Path) -> None:
    await run_toy(toy_config(tmp_path / "first", [REPORT]), FakeEngine(play, context_limit=300))
    stops = {worker.stop for e in read_run(tmp_path / "first").episodes for worker in e.workers}
    assert "context_full" in stops
    await run_toy(toy_config(tmp_path / "again", [REPORT]), recorded(tmp_path / "first"))
    assert by_task(tmp_path / "again") == by_task(tmp_path / "first")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"messages": (Message("user", "Something new."),)}, "no answer to this prompt"),
        ({"decoding": Decoding(temperature=0.5)}, "under these settings"),
        ({"adapter": "relay-v1"}, "under these settings"),
        ({"max_tokens": 3}, "under these settings"),
    ],
)
async def test_what_was_not_asked_has_no_answer(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    await run_toy(toy_config(tmp_path / "run", [{"prototype": "sas"}]), FakeEngine(play), Toy(1))
    engine = recorded(tmp_path / "run")
    await engine.start()
    messages = read_run(tmp_path / "run").episodes[0].workers[0].messages[:2]
    request = Request(messages, None, Decoding(), 256)
    assert (await engine.generate(request)).text == "Action: look"
    with pytest.raises(UserError, match=told):
        await engine.generate(msgspec.structs.replace(request, **change))
    with pytest.raises(UserError, match="cannot score"):
        await engine.score([ScoreRequest([1], [2])])


async def test_folders_that_cannot_be_replayed_are_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no run folder"):
        await recorded(tmp_path / "nowhere").start()
    with pytest.raises(UserError, match="no finished episodes"):
        await recorded(tmp_path).start()
    await run_toy(toy_config(tmp_path / "run", systems=[{"prototype": "sas"}]), FakeEngine(play), Toy(1))
    with pytest.raises(UserError, match="did you mean 'fake'"):
        await recorded(tmp_path / "run", model="fakes").start()
