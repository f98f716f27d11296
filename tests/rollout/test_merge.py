import os
from pathlib import Path

import msgspec
import pytest

from relaybench.engines.fake import FakeEngine
from relaybench.errors import UserError
from relaybench.records import Score, Shared, WorkerRecord
from relaybench.rollout.grid import Shard
from relaybench.rollout.merge import merge
from relaybench.rollout.reading import EPISODES, SHARED
from relaybench.rollout.store import StoredRun, read_run

from .toy import Toy, play, run_toy, toy_config


async def sharded(folder: Path) -> list[Path]:
    for i in (1, 2):
        await run_toy(toy_config(folder / f"s{i}"), benchmark=Toy(3), shard=Shard(i, 2))
    return [folder / "s1", folder / "s2"]


def outcomes(run: StoredRun) -> dict[str, tuple[Score, int]]:
    return {episode.key: (episode.score, len(episode.workers)) for episode in run.episodes}


async def test_shards_merged_are_the_whole_run(tmp_path: Path) -> None:
    await run_toy(toy_config(tmp_path / "whole"), benchmark=Toy(3))
    line = merge(tmp_path / "joint", await sharded(tmp_path))
    whole, joint = read_run(tmp_path / "whole"), read_run(tmp_path / "joint")
    assert outcomes(joint) == outcomes(whole)
    assert joint.notes == []
    assert joint.meta["planned"] == len(whole.episodes) == 21
    assert "21 episodes from 2 runs" in line
    assert {name for name in os.listdir(tmp_path) if name.startswith(".")} == set()  # noqa: PTH208


async def test_a_merged_folder_can_be_resumed(tmp_path: Path) -> None:
    merge(tmp_path / "joint", await sharded(tmp_path))
    engine = FakeEngine(play)
    summary = await run_toy(toy_config(tmp_path / "joint"), engine, Toy(3))
    assert (summary.stored, engine.calls) == (21, 0)


async def test_runs_that_overlap_keep_each_key_once(tmp_path: Path) -> None:
    runs = await sharded(tmp_path)
    merge(tmp_path / "joint", [*runs, *runs])
    run = read_run(tmp_path / "joint")
    assert len(run.episodes) == 21
    assert run.notes == []


async def test_each_episode_keeps_the_shared_rollout_it_really_used(tmp_path: Path) -> None:
    """The first shard rolled the second's task out too, for a foreign relay; make the two differ, as sampling would."""
    one, two = await sharded(tmp_path)
    theirs = read_run(two).episodes
    key = next(e.shared[0] for e in theirs if e.shared)
    records = [msgspec.json.decode(line, type=Shared) for line in (one / SHARED).read_bytes().splitlines()]
    other = WorkerRecord("reader", "reader", (), (), "budget")
    changed = [Shared(key, worker=other) if record.key == key else record for record in records]
    assert changed != records
    (one / SHARED).write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in changed))
    merge(tmp_path / "joint", [one, two])
    joint = {e.key: e.workers for e in read_run(tmp_path / "joint").episodes}
    assert all(joint[e.key] == e.workers for e in theirs)


async def test_another_revision_is_never_pooled(tmp_path: Path) -> None:
    other = Toy(3)
    other.revision = "toy-2"
    await run_toy(toy_config(tmp_path / "a"), benchmark=Toy(3))
    await run_toy(toy_config(tmp_path / "b"), benchmark=other)
    with pytest.raises(UserError, match="never pooled"):
        merge(tmp_path / "joint", [tmp_path / "a", tmp_path / "b"])
    assert not (tmp_path / "joint").exists()


async def test_an_existing_folder_is_left_alone(tmp_path: Path) -> None:
    runs = await sharded(tmp_path)
    with pytest.raises(UserError, match="there already"):
        merge(tmp_path / "s1", runs)
    with pytest.raises(UserError, match="no run folder"):
        merge(tmp_path / "joint", [*runs, tmp_path / "nothing"])


async def test_torn_and_corrupt_lines_of_a_shard_are_left_out(tmp_path: Path) -> None:
    runs = await sharded(tmp_path)
    path = runs[0] / EPISODES
    path.write_bytes(b"{broken}\n" + path.read_bytes()[:-5])
    merge(tmp_path / "joint", runs)
    run = read_run(tmp_path / "joint")
    assert len(run.episodes) == 20
    assert run.notes == []
