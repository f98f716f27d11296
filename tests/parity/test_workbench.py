"""Agreement with the official WorkBench code, row by row: verdicts, return values, exceptions and final states.

The oracle files were made with the official code of 2024 on real model predictions (shared/oracles/workbench).
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from relaybench.benchmarks.workbench.data import load_base, load_queries
from relaybench.benchmarks.workbench.replay import replay
from relaybench.benchmarks.workbench.sandbox import Base, Sandbox
from relaybench.benchmarks.workbench.scoring import Scorer

RUNS = ("gpt-3.5_domains", "llama2-70b_domains", "mistral-8x7B_all", "mistral-8x7B_domains")
COMPARED = ("tool", "args", "ok", "return_sha", "return_len", "return_type", "return", "exc")


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.open(path, "rt", encoding="utf-8")]


@pytest.fixture(scope="module")
def oracle(shared: Path) -> Path:
    return shared / "oracles" / "workbench"


@pytest.fixture(scope="module")
def data(shared: Path) -> Path:
    return shared / "data" / "workbench"


@pytest.fixture(scope="module")
def base(data: Path) -> Base:
    return load_base(data)


@pytest.fixture(scope="module")
def scorer(base: Base) -> Scorer:
    """One for all files: ground-truth states are worked out once."""
    return Scorer(base, "v1")


def test_the_untouched_databases_have_the_official_digests(base: Base, oracle: Path) -> None:
    assert base.digests == json.loads(gzip.decompress((oracle / "base_state_digests.json.gz").read_bytes()))


@pytest.mark.parametrize("run", RUNS)
def test_every_verdict_and_final_state_is_the_official_one(
    run: str, oracle: Path, data: Path, base: Base, scorer: Scorer
) -> None:
    queries = load_queries(data, "v1")
    official = rows(oracle / f"{run}.jsonl.gz")
    assert len(official) == 690
    wrong = []
    for row in official:
        verdict = scorer.score(queries[row["id"]], row["predicted_raw"], row["error"])
        ours = (verdict.correct, verdict.unwanted_side_effects, verdict.exact_match)
        state = replay(Sandbox(base), row["predicted"])["state"]
        theirs = (row["correct"], row["unwanted_side_effects"], row["exact_match"])
        if ours != theirs or state != row["state_pred"]:
            wrong.append((row["id"], ours, theirs))
    assert wrong == []


@pytest.mark.parametrize("run", [*RUNS, "ground_truth"])
def test_every_return_value_and_exception_is_the_official_one(run: str, oracle: Path, base: Base) -> None:
    wrong = []
    for row in rows(oracle / "traces" / f"{run}.jsonl.gz"):
        done = replay(Sandbox(base), [action["call"] for action in row["actions"]])
        for ours, theirs in zip(done["actions"], row["actions"], strict=True):
            if any(ours.get(key) != theirs.get(key) for key in COMPARED):
                wrong.append((row["id"], ours, theirs))
        if "state" in row and done["state"] != row["state"]:
            wrong.append((row["id"], done["state"], row["state"]))
    assert wrong == []
