"""Agreement with the official TravelPlanner evaluation: every constraint of every plan, and the six aggregates.

The verdicts were made with the official code on published model plans and on the annotated train plans
(shared/oracles/travelplanner).
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from relaybench.benchmarks.travelplanner.places import load_places
from relaybench.benchmarks.travelplanner.queries import Query, load_queries
from relaybench.benchmarks.travelplanner.scoring import Verdict, judge, summarise

RUNS = (
    "annotated",
    "evoagent_gemini_collaboration",
    "evoagent_gemini_cot",
    "evoagent_gemini_direct",
    "evoagent_gemini_refine",
    "evoagent_gemini_ssp",
    "evoagent_mistral-7B-32K_cot",
    "evoagent_mistral-7B-32K_direct",
    "mobi_gpt-4-1106-preview_cot_sole-planning",
    "mobi_gpt-4-1106-preview_direct_sole-planning",
    "mobi_gpt-4-1106-preview_two-stage",
)
AGGREGATES = {
    "delivery": "delivery",
    "cs_micro": "commonsense_micro",
    "cs_macro": "commonsense_macro",
    "hard_micro": "hard_micro",
    "hard_total": "requested",
    "hard_macro": "hard_macro",
    "final": "final",
    "crashes": "errors",
}


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.open(path, "rt", encoding="utf-8")]


def verdicts(shared: Path, run: str) -> tuple[list[dict[str, Any]], list[tuple[Query, Verdict]]]:
    """The official rows, and ours in the same order."""
    oracle, data = shared / "oracles" / "travelplanner", shared / "data" / "travelplanner"
    official = rows(oracle / "official" / f"{run}.official.jsonl.gz")
    queries = load_queries(data, "train" if len(official) == 45 else "validation")
    if run == "annotated":
        plans = {query.idx: query.annotated_plan for query in queries.values()}
    else:
        plans = {row["idx"]: row["plan"] for row in rows(oracle / "plans" / f"{run}.jsonl.gz")}
    places = load_places(data)
    return official, [(queries[row["idx"]], judge(queries[row["idx"]], plans[row["idx"]], places)) for row in official]


def plain(verdict: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if verdict is None else {name: value for name, (value, _) in verdict.items()}


@pytest.mark.parametrize("run", RUNS)
def test_every_constraint_of_every_plan_and_the_aggregates_are_official(run: str, shared: Path) -> None:
    official, ours = verdicts(shared, run)
    wrong = [
        row["idx"]
        for row, (_, verdict) in zip(official, ours, strict=True)
        if (row["delivered"], plain(row["commonsense"]), plain(row["hard"]), row["error"])
        != (verdict.delivered, verdict.commonsense, verdict.hard, verdict.error)
    ]
    assert wrong == []
    summary = summarise("", "official", ours)
    known = json.loads((shared / "oracles" / "travelplanner" / "summary.json").read_text())
    expected = next(entry["all"] for name, entry in known.items() if name.endswith(f"/{run}"))
    assert {name: getattr(summary, ours) for name, ours in AGGREGATES.items()} == pytest.approx(
        {name: expected[name] for name in AGGREGATES}, abs=1e-12
    )


def test_the_annotated_plans_score_one_hundred_per_cent(shared: Path) -> None:
    _, ours = verdicts(shared, "annotated")
    summary = summarise("train", "official", ours)
    assert [getattr(summary, AGGREGATES[name]) for name in AGGREGATES if name not in ("hard_total", "crashes")] == [
        1
    ] * 6
