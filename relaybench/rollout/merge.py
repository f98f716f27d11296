"""Merging: the run folders of shards become one, each episode once.

The joint folder appears whole or not at all: it is built beside its place and renamed. Shards may each have made the
same shared rollout (one for its own episodes, another for a foreign relay); where the two differ, the second goes by
another key, and its shard's episodes with it, so that every episode keeps the rollout that it really used.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from relaybench.errors import UserError
from relaybench.records import Episode, Failure, Shared
from relaybench.rollout.journal import append_synced, replace_file, sync_folder
from relaybench.rollout.metadata import CONFIG, Meta, read_meta, write_meta
from relaybench.rollout.reading import EPISODES, FAILURES, SHARED, Reader

_encode = msgspec.json.Encoder().encode


def merge(out: Path, runs: Sequence[Path]) -> str:
    """Join run folders into `out`; one line that says what came of it.

    Raises UserError where `out` is there already, or the runs are not of one benchmark revision.
    """
    if out.exists():
        raise UserError(f"{out} is there already; name a new folder to merge into, or remove that one")
    metas = [read_meta(run) for run in runs]
    _check_same(runs, metas)
    building = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        building.mkdir(parents=True)
        episodes = _join(building, runs)
        replace_file(building / CONFIG, (runs[0] / CONFIG).read_bytes())
        write_meta(building, _joint(metas, episodes))
        building.rename(out)
        sync_folder(out.parent)
    except OSError as error:
        raise UserError(f"cannot write {out} ({error.strerror}: {error.filename}); mend that and merge again") from None
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return f"{out}: {episodes:,} episodes from {len(runs)} runs; `relaybench report {out}` shows them"


def _check_same(runs: Sequence[Path], metas: Sequence[Meta]) -> None:
    for run, meta in zip(runs, metas, strict=True):
        if (meta.benchmark, meta.revision) != (metas[0].benchmark, metas[0].revision):
            raise UserError(
                f"{run} holds {meta.label}, revision {meta.revision}, and {runs[0]} holds {metas[0].label}, revision "
                f"{metas[0].revision}; the two are never pooled: merge them apart"
            )


def _join(building: Path, runs: Sequence[Path]) -> int:
    """Write the joint journals; the number of episodes."""
    shared: dict[str, Shared] = {}
    done: set[str] = set()
    for run in runs:
        added, names = _shared(Reader(run / SHARED, Shared), shared)
        append_synced(building / SHARED, map(_encode, added))
        append_synced(building / FAILURES, (_encode(failure) for _, failure in Reader(run / FAILURES, Failure)))
        append_synced(building / EPISODES, map(_encode, _episodes(Reader(run / EPISODES, Episode), names, done)))
    return len(done)


def _shared(reader: Reader[Shared], known: dict[str, Shared]) -> tuple[list[Shared], dict[str, str]]:
    """Records that are not known yet, and the keys that this run's records go by."""
    added: list[Shared] = []
    names: dict[str, str] = {}
    for _, record in reader:
        if record.key in names:
            continue
        key = record.key
        while key in known and known[key] != msgspec.structs.replace(record, key=key):
            key += "+"
        names[record.key] = key
        if key not in known:
            known[key] = msgspec.structs.replace(record, key=key)
            added.append(known[key])
    return added, names


def _episodes(reader: Reader[Episode], names: Mapping[str, str], done: set[str]) -> Iterable[Episode]:
    for _, episode in reader:
        if episode.key in done or not set(episode.shared) <= names.keys():
            continue
        done.add(episode.key)
        yield msgspec.structs.replace(episode, shared=tuple(names[key] for key in episode.shared))


def _joint(metas: Sequence[Meta], episodes: int) -> Meta:
    return Meta(
        schema=max(meta.schema for meta in metas),
        benchmark=metas[0].benchmark,
        label=metas[0].label,
        revision=metas[0].revision,
        started=min(meta.started for meta in metas),
        planned=max(episodes, sum(meta.planned for meta in metas)),
        sessions=tuple(session for meta in metas for session in meta.sessions),
    )
