import fcntl
import json
import os
from pathlib import Path

import msgspec
import pytest

from relaybench.errors import UserError
from relaybench.records import Episode, Failure, Relay, Score, Shared, WorkerRecord
from relaybench.rollout.store import RunStore, open_store, read_run

from .toy import Toy, toy_config


def episode(key: str, shared: tuple[str, ...] = ()) -> Episode:
    return Episode(
        key, "toy", "toy-1", "toy-0", "sas", "sas", "fake", "fake", 0, Score(True), ("reader", "whole"),
        workers=(worker("whole"),), shared=shared,
    )  # fmt: skip


def worker(name: str, stop: str = "finished") -> WorkerRecord:
    return WorkerRecord(name, name, (), (), stop)  # type: ignore[arg-type]


def opened(out: Path) -> RunStore:
    return open_store(toy_config(out), Toy(), ["a", "b", "c"])


async def fill(out: Path, *keys: str) -> None:
    store = opened(out)
    store.share(Shared("up", worker=worker("reader")))
    for key in keys:
        await store.add(episode(key, ("up",)))
    store.close()


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


async def test_what_is_added_is_on_disk_when_add_returns(tmp_path: Path) -> None:
    store = opened(tmp_path / "run")
    await store.add(episode("a"))
    assert [json.loads(line)["key"] for line in lines(tmp_path / "run/episodes.jsonl")] == ["a"]
    store.close()


async def test_a_shared_rollout_is_stored_before_the_episode_and_comes_back_into_it_in_order(tmp_path: Path) -> None:
    await fill(tmp_path / "run", "a")
    run = read_run(tmp_path / "run")
    assert [w.subtask for w in run.episodes[0].workers] == ["reader", "whole"]
    assert run.shared["up"].worker == worker("reader")
    assert run.notes == []


async def test_a_shared_record_is_found_before_and_after_it_is_synced_and_after_a_restart(tmp_path: Path) -> None:
    store = opened(tmp_path / "run")
    relay = Shared("r", relay=Relay("hi", ("reader",), "writer", "report@1", 2))
    store.share(Shared("up", worker=worker("reader")))
    store.share(relay)
    assert store.shared("r") == relay
    await store.add(episode("a"))
    assert store.shared("r") == relay
    store.close()
    again = opened(tmp_path / "run")
    assert again.shared("r") == relay
    assert again.shared("nothing") is None
    again.close()


async def test_a_torn_last_line_is_cut_off_and_said(tmp_path: Path) -> None:
    await fill(tmp_path / "run", "a", "b")
    path = tmp_path / "run/episodes.jsonl"
    path.write_bytes(path.read_bytes()[:-7])
    assert [e.key for e in read_run(tmp_path / "run").episodes] == ["a"]
    store = opened(tmp_path / "run")
    assert store.done == {"a"}
    assert any("episodes.jsonl:2" in note and "torn" in note for note in store.notes)
    await store.add(episode("b"))
    store.close()
    run = read_run(tmp_path / "run")
    assert [e.key for e in run.episodes] == ["a", "b"]
    assert run.notes == []


async def test_a_corrupt_line_in_the_middle_is_named_set_aside_and_its_key_runs_again(tmp_path: Path) -> None:
    await fill(tmp_path / "run", "a", "b", "c")
    path = tmp_path / "run/episodes.jsonl"
    first, _, last = lines(path)
    path.write_bytes(b"\n".join([first, b'{"key": "b", broken', last, b""]))
    assert any("episodes.jsonl:2" in note for note in read_run(tmp_path / "run").notes)
    store = opened(tmp_path / "run")
    store.close()
    assert store.done == {"a", "c"}
    assert any("episodes.jsonl:2" in note for note in store.notes)
    assert lines(tmp_path / "run/damaged.jsonl") == [b'{"key": "b", broken']
    assert lines(path) == [first, last]


async def test_episodes_whose_shared_rollout_is_corrupt_run_again(tmp_path: Path) -> None:
    await fill(tmp_path / "run", "a")
    (tmp_path / "run/shared.jsonl").write_bytes(b"{}\n")
    assert read_run(tmp_path / "run").episodes == []
    store = opened(tmp_path / "run")
    store.close()
    assert store.done == set()
    assert len(lines(tmp_path / "run/damaged.jsonl")) == 2


async def test_of_one_key_the_first_line_counts(tmp_path: Path) -> None:
    await fill(tmp_path / "run", "a")
    path = tmp_path / "run/episodes.jsonl"
    second = msgspec.structs.replace(episode("a", ("up",)), score=Score(False))
    path.write_bytes(path.read_bytes() + msgspec.json.encode(second) + b"\n")
    run = read_run(tmp_path / "run")
    assert [e.score.success for e in run.episodes] == [True]
    assert any("stored before" in note for note in run.notes)


async def test_two_processes_cannot_write_one_folder(tmp_path: Path) -> None:
    store = opened(tmp_path / "run")
    with pytest.raises(UserError, match="another relaybench is writing"):
        opened(tmp_path / "run")
    store.close()
    opened(tmp_path / "run").close()


async def test_the_lock_is_the_kernels_and_dies_with_its_process(tmp_path: Path) -> None:
    opened(tmp_path / "run").close()
    handle = os.open(tmp_path / "run/.lock", os.O_RDWR)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with pytest.raises(UserError):
        opened(tmp_path / "run")
    os.close(handle)  # as the kernel does for a killed process
    opened(tmp_path / "run").close()


async def test_another_revision_or_benchmark_is_refused(tmp_path: Path) -> None:
    await fill(tmp_path / "run", "a")
    other = Toy()
    other.revision = "toy-2"
    with pytest.raises(UserError, match="toy-2"):
        open_store(toy_config(tmp_path / "run"), other, [])
    opened(tmp_path / "run").close()  # and the folder is free again


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(UserError, match="no run folder"):
        opened(tmp_path)


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="--out"):
        opened(tmp_path / "file" / "run")


@pytest.mark.parametrize("there", [False, True])
def test_what_is_no_run_cannot_be_read(tmp_path: Path, there: bool) -> None:
    if there:
        (tmp_path / "run").mkdir()
    with pytest.raises(UserError, match="relaybench run CONFIG"):
        read_run(tmp_path / "run")


async def test_metadata_names_versions_and_each_session_and_keeps_the_start(tmp_path: Path) -> None:
    await fill(tmp_path / "run", "a")
    first = read_run(tmp_path / "run").meta
    await fill(tmp_path / "run", "b")
    second = read_run(tmp_path / "run").meta
    assert second["started"] == first["started"]
    assert len(second["sessions"]) == 2
    assert second["sessions"][0]["versions"]["relaybench"]
    assert second["planned"] == 3
    assert second["revision"] == "toy-1"


async def test_an_empty_metadata_file_does_not_brick_the_run(tmp_path: Path) -> None:
    await fill(tmp_path / "run", "a")
    (tmp_path / "run/run.json").write_bytes(b"")
    with pytest.raises(UserError, match="run the same config again"):
        read_run(tmp_path / "run")
    store = opened(tmp_path / "run")
    store.close()
    assert store.done == {"a"}
    assert len(read_run(tmp_path / "run").episodes) == 1


async def test_a_newer_schema_is_refused_by_name(tmp_path: Path) -> None:
    await fill(tmp_path / "run", "a")
    meta = tmp_path / "run/run.json"
    meta.write_text(meta.read_text().replace('"schema": 1', '"schema": 99'))
    with pytest.raises(UserError, match="newer relaybench"):
        read_run(tmp_path / "run")


async def test_a_failed_write_is_told_to_whoever_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opened(tmp_path / "run")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("relaybench.rollout.journal.os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        await store.add(episode("a"))
    monkeypatch.undo()
    with pytest.raises(OSError, match="No space left"):  # the end of the file is unknown: nothing is appended to it
        await store.add(episode("b"))
    assert store.done == set()
    store.close()


async def test_failures_are_kept_and_those_not_mended_since_are_known(tmp_path: Path) -> None:
    store = opened(tmp_path / "run")
    for key in ("a", "b", "b"):
        await store.fail(Failure(key, "toy-0", "sas", "fake", 0, "engine", "500"))
    await store.add(episode("a"))
    store.close()
    run = read_run(tmp_path / "run")
    assert len(run.failures) == 3
    assert [failure.key for failure in run.open_failures] == ["b"]


async def test_a_run_of_schema_1_stays_readable() -> None:
    """tests/data/run_schema1 was written by version 0.1 and is never written anew."""
    run = read_run(Path(__file__).parents[1] / "data/run_schema1")
    assert run.notes == []
    systems = {episode.system: episode for episode in run.episodes}
    assert {name: episode.score.success for name, episode in systems.items()} == {
        "sas": True, "sas-contextflow": True, "mas report": True, "mas report -value": False,
    }  # fmt: skip
    assert [worker.subtask for worker in systems["sas-contextflow"].workers] == ["reader", "writer"]
    assert systems["mas report"].relays[0].fields == {"value": "v0"}
    assert systems["sas"].workers[0].messages[0].token_ids
    assert run.failures[0].kind == "engine"
    assert run.meta["revision"] == "toy-1"
    assert run.config["systems"][0]["prototype"] == "sas"
