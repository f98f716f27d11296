"""Run folders as the store writes them, with known figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from relaybench.records import SCHEMA, Episode, Failure, Shared
from tests.reporting.made import episode, reader, relay

MakeRun = Callable[..., Path]


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """(name, episodes, failures, config changes) -> a run folder on disk."""

    def make(
        name: str,
        episodes: Sequence[Episode],
        failures: Sequence[Failure] = (),
        planned: int | None = None,
        revision: str = "r1",
        **config: Any,
    ) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        systems = [{"prototype": "sas-contextflow"}, {"prototype": "mas", "relay": {"encoder": "report"}}]
        price = {"prompt": 1.0, "cached": 0.1, "generated": 4.0, "currency": "EUR"}
        engines = [{"kind": "openai", "model": "org/tiny", "price": price}]
        settings = {"benchmark": {"name": "workbench"}, "engines": engines, "systems": systems, **config}
        (folder / "config.yaml").write_text(yaml.safe_dump(settings))
        meta = {
            "schema": SCHEMA,
            "benchmark": "workbench",
            "label": "workbench multi_domain (v2)",
            "revision": revision,
            "started": "2026-01-01T00:00:00+00:00",
            "planned": len(episodes) if planned is None else planned,
            "sessions": [{"started": "", "versions": {"relaybench": "0.1.0"}, "platform": "x", "cpus": 2}],
        }
        (folder / "run.json").write_bytes(msgspec.json.encode(meta))
        uses = {(e.task, e.seed) for e in episodes if e.shared}
        shared = [Shared(f"up/{task}/{seed}", worker=reader(task)) for task, seed in sorted(uses)]
        written = {(e.task, e.seed): r for e in episodes for r in e.relays if r.encode_usage.calls}
        shared += [Shared(f"report/{task}/{seed}", relay=r) for (task, seed), r in written.items()]
        for file, records in (("episodes", episodes), ("shared", shared), ("failures", failures)):
            lines = b"".join(msgspec.json.encode(record) + b"\n" for record in records)
            (folder / f"{file}.jsonl").write_bytes(lines)
        return folder

    return make


@pytest.fixture
def grid() -> list[Episode]:
    """Ten tasks of two systems that share the upstream: contextflow solves t0-t7, the report t0-t4 and t8."""
    tasks = [f"t{i}" for i in range(10)]
    whole = [
        episode(t, "sas-contextflow", i < 8, relays=(relay("identity@1", written=False),)) for i, t in enumerate(tasks)
    ]
    told = [
        episode(t, "mas report", i < 5 or i == 8, relays=(relay("report@1", well_formed=i != 3),))
        for i, t in enumerate(tasks)
    ]
    return [*whole, *told]
