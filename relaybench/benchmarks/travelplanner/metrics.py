"""Metrics: a verdict as a score, and the six official aggregates from the scores of many tasks."""

from __future__ import annotations

from collections.abc import Sequence

from relaybench.benchmarks.travelplanner.commonsense import CHECKS
from relaybench.benchmarks.travelplanner.queries import Query, Split
from relaybench.benchmarks.travelplanner.scoring import Rules, Summary, Verdict
from relaybench.records import Score


def score_of(query: Query, verdict: Verdict, rules: Rules) -> Score:
    """Success is the final pass under `rules`. `verdict` must have been made under hardened rules: it has both.

    Of the values, `delivery`, `commonsense_macro` (CS-macro of the paper), `hard_macro` (HC-macro) and the finals are 0
    or 1; `commonsense_passed` counts to 8, `hard_passed` to `hard_requested`, the budget among them.
    """
    official = verdict.all_commonsense and verdict.all_hard
    finals = {"official": official, "hardened": verdict.final}
    values = {
        "delivery": verdict.delivered,
        "commonsense_macro": verdict.all_commonsense,
        "commonsense_passed": verdict.commonsense_passed,
        "hard_macro": verdict.all_hard,
        "hard_passed": verdict.hard_passed,
        "hard_requested": 1 + query.local_constraint.count,
        "final_official": official,
        "final_hardened": verdict.final,
        "official_error": verdict.error is not None,
    }
    return Score(finals[rules], float(finals[rules]), {name: float(value) for name, value in values.items()})


def aggregates(split: Split, rules: Rules, scores: Sequence[Score]) -> Summary:
    """The official aggregates over the scores of one system, as `summarise` makes them from verdicts."""
    n = len(scores)

    def total(name: str) -> float:
        return sum(score.values[name] for score in scores)

    def share(count: float, of: float) -> float:
        return count / of if of else 0.0

    return Summary(
        split=split,
        rules=rules,
        n=n,
        requested=int(total("hard_requested")),
        delivery=share(total("delivery"), n),
        commonsense_micro=share(total("commonsense_passed"), len(CHECKS) * n),
        commonsense_macro=share(total("commonsense_macro"), n),
        hard_micro=share(total("hard_passed"), total("hard_requested")),
        hard_macro=share(total("hard_macro"), n),
        final=share(total(f"final_{rules}"), n),
        errors=int(total("official_error")),
    )
