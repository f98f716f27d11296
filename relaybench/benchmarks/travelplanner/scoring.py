"""Scoring: the official verdict on plans, and the six official aggregates.

A plan is judged as the official evaluation of 2024 does, quirks included; what makes that code raise is kept as
`error`, and such a plan satisfies nothing. Hard constraints are judged only where the plan is complete and within the
sandbox. Rows are found by idx, not by position.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, structs, to_builtins

from relaybench.benchmarks.rows import lines, once, write
from relaybench.benchmarks.travelplanner import commonsense, hard
from relaybench.benchmarks.travelplanner.hardened import faults
from relaybench.benchmarks.travelplanner.places import Places, load_places
from relaybench.benchmarks.travelplanner.queries import Query, Split, load_queries
from relaybench.errors import UserError, nearest

Rules = Literal["official", "hardened"]
_GATE = ("is_not_absent", "is_valid_information_in_sandbox")


class Verdict(Struct, frozen=True):
    """The benchmark's judgement of one plan; constraints by official name."""

    delivered: bool
    commonsense: dict[str, bool] | None = None
    """None where nothing was delivered, or the official code raises."""
    hard: dict[str, bool | None] | None = None
    """None where the plan did not get through the gate; a constraint is None where nobody asked for it."""
    final: bool = False
    """All of both."""
    error: str | None = None
    """What the official code raises on this plan."""
    faults: tuple[str, ...] = ()
    """Under hardened rules: what the official evaluation let pass in a plan that is final by it."""

    @property
    def commonsense_passed(self) -> int:
        return sum((self.commonsense or {}).values())

    @property
    def hard_passed(self) -> int:
        return sum(verdict is True for verdict in (self.hard or {}).values())

    @property
    def all_commonsense(self) -> bool:
        return self.commonsense is not None and all(self.commonsense.values())

    @property
    def all_hard(self) -> bool:
        return self.hard is not None and all(verdict is not False for verdict in self.hard.values())


def judge(query: Query, plan: Any, places: Places, rules: Rules = "official") -> Verdict:
    """The verdict on a plan of any form; never raises. Under `hardened`, a plan with faults is not final."""
    if not plan:
        return Verdict(delivered=False)
    soft: dict[str, bool] | None = None
    asked: dict[str, bool | None] | None = None
    try:
        days = [plan[i] for i in range(min(query.days, len(plan)))]
        soft = {name: check(query, days, places) for name, check in commonsense.CHECKS.items()}
        if all(soft[name] for name in _GATE):
            asked = {name: check(query, days, places) for name, check in hard.CHECKS.items()}
    except Exception as error:  # noqa: BLE001  as officially: what a malformed plan raises is its verdict
        return Verdict(delivered=True, commonsense=soft, error=f"{type(error).__name__}: {error}")
    verdict = Verdict(delivered=True, commonsense=soft, hard=asked)
    final = verdict.all_commonsense and verdict.all_hard
    found = tuple(faults(query, days, places)) if final and rules == "hardened" else ()
    return structs.replace(verdict, final=final and not found, faults=found)


class Summary(Struct, frozen=True):
    """The official aggregates, shares of 1; `str()` is what the command prints."""

    split: str
    rules: Rules
    n: int
    requested: int
    """Hard constraints that the queries ask for, the budget included."""
    delivery: float
    commonsense_micro: float
    commonsense_macro: float
    hard_micro: float
    hard_macro: float
    final: float
    errors: int

    def __str__(self) -> str:
        names = ("delivery", "commonsense_micro", "commonsense_macro", "hard_micro", "hard_macro", "final")
        shown = [f"travelplanner {self.split}, {self.rules} rules, n = {self.n}"]
        shown += [f"{name.replace('_', ' '):18} {getattr(self, name):.4f}" for name in names]
        if self.errors:
            shown.append(f"{self.errors} plans make the official code raise; they satisfy nothing")
        return "\n".join(shown)


def summarise(split: str, rules: Rules, judged: Sequence[tuple[Query, Verdict]]) -> Summary:
    """The aggregates over these plans; 0 where there are none."""
    n = len(judged)
    requested = sum(1 + query.local_constraint.count for query, _ in judged)
    verdicts = [verdict for _, verdict in judged]

    def share(count: int, of: int) -> float:
        return count / of if of else 0.0

    return Summary(
        split=split,
        rules=rules,
        n=n,
        requested=requested,
        delivery=share(sum(v.delivered for v in verdicts), n),
        commonsense_micro=share(sum(v.commonsense_passed for v in verdicts), len(commonsense.CHECKS) * n),
        commonsense_macro=share(sum(v.all_commonsense for v in verdicts), n),
        hard_micro=share(sum(v.hard_passed for v in verdicts), requested),
        hard_macro=share(sum(v.all_hard for v in verdicts), n),
        final=share(sum(v.final for v in verdicts), n),
        errors=sum(v.error is not None for v in verdicts),
    )


def score_answers(
    answers: Path, split: Split, data_dir: Path, out: Path | None = None, rules: Rules = "official"
) -> Summary:
    """Score a file of {"idx", "plan"}; rows go to `out` where one is named. UserError for a bad file or line."""
    queries, places = load_queries(data_dir, split), load_places(data_dir)
    judged: list[tuple[Query, Verdict]] = []
    rows: list[dict[str, Any]] = []
    seen: set[str] = set()
    for where, row in lines(answers):
        query = _query(where, row, queries, split)
        once(where, query.id, seen)
        verdict = judge(query, row["plan"], places, rules)
        judged.append((query, verdict))
        rows.append(_scored(row, verdict, rules))
    if out is not None:
        write(out, rows)
    return summarise(split, rules, judged)


def _query(where: str, row: dict[str, Any], queries: dict[int, Query], split: Split) -> Query:
    for field, what in (("idx", "the query's number in its split"), ("plan", "the plan, null for none")):
        if field not in row:
            raise UserError(f'{where} has no field "{field}"{nearest(field, row)}; it is {what}')
    idx = row["idx"]
    if isinstance(idx, bool) or not isinstance(idx, int) or idx not in queries:
        raise UserError(f'{where}: there is no query {idx!r} in {split}; "idx" runs from 1 to {len(queries)}')
    return queries[idx]


def _scored(row: dict[str, Any], verdict: Verdict, rules: Rules) -> dict[str, Any]:
    """The verdict under the row's idx, and every field of the row that is not part of an answer."""
    judged: dict[str, Any] = {"idx": row["idx"]} | to_builtins(verdict)
    if rules == "official":
        del judged["faults"]
    return judged | {key: value for key, value in row.items() if key not in judged and key not in ("plan", "query")}
