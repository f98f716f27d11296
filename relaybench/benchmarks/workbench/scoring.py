"""Scoring: outcome match and unwanted side effects, by the official rules of 2024 (v1) or 2026 (v2).

v1 agrees with the official verdicts row by row (tests/parity). An action that raises is skipped; the five final
tables must equal those of the ground truth with case folded (status, list and board excepted), row order and row
labels included. v2 ignores row order, calls a task wrong if any call raised or is unknown, takes 2023-11-30 and
2023-11-29 for the same end of a chart, and counts no plot as a side effect; no official v2 verdicts exist here to
check it against.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from typing import Any

from msgspec import Struct

from relaybench.benchmarks.rows import error_text, lines, once, texts, write
from relaybench.benchmarks.workbench.calls import clean, execute, parse, written_name
from relaybench.benchmarks.workbench.data import MULTI, Query, load_base, load_queries, task_id
from relaybench.benchmarks.workbench.sandbox import DOMAINS, TOOLS, Base, Rules, Sandbox, State
from relaybench.benchmarks.workbench.tables import same_outcome, same_rows
from relaybench.errors import UserError, nearest

WRITES = frozenset(name for name, tool in TOOLS.items() if tool.writes)
Z95 = 1.959963984540054
_READ = ("predicted", "error")
_TODAY, _LAST_DATA = 'time_max="2023-11-30"', 'time_max="2023-11-29"'


class Verdict(Struct, frozen=True):
    """The benchmark's judgement of one answer."""

    correct: bool
    unwanted_side_effects: bool
    exact_match: bool
    """The write calls are literally the ground truth's (case folded, any order): a diagnostic."""


class Scorer:
    """Judges answers under one set of rules; ground-truth states are worked out once a task."""

    def __init__(self, base: Base, rules: Rules):
        self.base = base
        self.rules: Rules = rules
        self._truths: dict[str, State] = {}

    def score(self, query: Query, predicted: Sequence[str], error: str = "") -> Verdict:
        """The verdict on `predicted`; a non-empty `error` makes it incorrect whatever the state."""
        actions = [clean(action) for action in predicted]
        matches, changed = self._v1(query, actions) if self.rules == "v1" else self._v2(query, actions)
        return Verdict(matches and not error, changed and not matches, _exact_match(actions, query.truth))

    def _v1(self, query: Query, actions: list[str]) -> tuple[bool, bool]:
        state, _ = run(Sandbox(self.base, "v1"), actions)
        truth = self._truth(query)
        matches = all(same_outcome(state[name], truth[name]) for name in DOMAINS)
        return matches, any(state[name] != self.base.state[name] for name in DOMAINS)

    def _v2(self, query: Query, actions: list[str]) -> tuple[bool, bool]:
        state, clean_run = run(Sandbox(self.base, "v2"), _same_chart_end(actions))
        truth = self._truth(query)
        matches = clean_run and all(same_rows(state[name], truth[name], fold=True) for name in DOMAINS)
        changed = any(
            not same_rows(state[name], self.base.state[name], fold=False) for name in DOMAINS if name != "analytics"
        )
        return matches, changed

    def _truth(self, query: Query) -> State:
        if query.id not in self._truths:
            actions = [clean(action) for action in query.truth]
            actions = _same_chart_end(actions) if self.rules == "v2" else actions
            self._truths[query.id], _ = run(Sandbox(self.base, self.rules), actions)
        return self._truths[query.id]


def run(box: Sandbox, actions: Sequence[str]) -> tuple[State, bool]:
    """The state after the actions, those that raise skipped, and whether none raised."""
    carry_out, fine = (_execute_v2 if box.rules == "v2" else execute), True
    for action in actions:
        try:
            carry_out(box, action)
        except Exception:  # noqa: BLE001  as officially, whatever a call raises is skipped
            fine = False
    return box.state, fine


def _execute_v2(box: Sandbox, action: str) -> object:
    """As the 2026 scorer does: `.func` optional, positional arguments ignored, every value made a string."""
    call = parse(action)
    tool = call.tool(strict=False)
    _, kwargs = call.values()
    return box.call(tool, **{name: str(value) for name, value in kwargs.items()})


def _same_chart_end(actions: Sequence[str]) -> list[str]:
    return [a.replace(_TODAY, _LAST_DATA) if a.startswith("analytics.create_plot") else a for a in actions]


def _exact_match(actions: Sequence[str], truth: Sequence[str]) -> bool:
    written = sorted(action.lower() for action in actions if written_name(action) in WRITES)
    return written == sorted(clean(action).lower() for action in truth)


class Rate(Struct, frozen=True):
    """A share with its 95% Wilson interval."""

    count: int
    n: int

    @property
    def share(self) -> float:
        return self.count / self.n if self.n else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """(0, 1) where n is 0."""
        if not self.n:
            return 0.0, 1.0
        p, n, z = self.share, self.n, Z95
        middle, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.share:.3f} [{low:.3f}, {high:.3f}]  ({self.count} of {self.n})" if self.n else "- (n = 0)"


class Summary(Struct, frozen=True):
    """What `score_answers` found; `str()` is what the command prints."""

    rules: Rules
    n: int
    correct: Rate
    correct_with_action: Rate
    """Over tasks with a non-empty ground truth: doing nothing scores 0 here."""
    unwanted_side_effects: Rate
    exact_match: Rate

    def __str__(self) -> str:
        shown = [
            f"workbench, rules {self.rules}, n = {self.n} (rate [95% interval])",
            f"correct                 {self.correct}",
            f"  tasks with an action  {self.correct_with_action}",
            f"unwanted side effects   {self.unwanted_side_effects}",
            f"exact match             {self.exact_match}",
        ]
        if self.rules == "v2":
            shown.append("v2 scoring is unverified: no official v2 verdicts were at hand to compare it with")
        return "\n".join(shown)


def score_answers(answers: Path, rules: Rules, data_dir: Path, out: Path | None = None) -> Summary:
    """Score a file of answers; rows go to `out` where one is named. UserError for a bad file, line or rule."""
    queries = load_queries(data_dir, rules)
    scorer = Scorer(load_base(data_dir), rules)
    judged: list[tuple[Query, Verdict]] = []
    rows: list[dict[str, Any]] = []
    seen: set[str] = set()
    for where, row in lines(answers):
        query = _query(where, row, queries, rules)
        once(where, query.id, seen)
        verdict = scorer.score(query, texts(where, row, "predicted"), error_text(where, row))
        judged.append((query, verdict))
        rows.append(_scored(row, verdict))
    if out is not None:
        write(out, rows)
    return _summary(rules, judged)


def _query(where: str, row: dict[str, Any], queries: dict[str, Query], rules: Rules) -> Query:
    name = task_id(where, row)
    if name in queries:
        return queries[name]
    if rules == "v2" and not name.startswith(f"{MULTI}-"):
        raise UserError(f"{where}: rules v2 exist for {MULTI} only, not for {name!r}; use --rules v1 or drop the row")
    raise UserError(f"{where}: there is no task {name!r}{nearest(name, queries)}; ids are <domain>-<row>")


def _scored(row: dict[str, Any], verdict: Verdict) -> dict[str, Any]:
    """The verdict under the row's id, and every field of the row that is not part of an answer."""
    judged = {"id": row["id"]} | {field: getattr(verdict, field) for field in Verdict.__struct_fields__}
    return judged | {key: value for key, value in row.items() if key not in judged and key not in _READ}


def _summary(rules: Rules, judged: list[tuple[Query, Verdict]]) -> Summary:
    acting = [verdict for query, verdict in judged if query.truth]
    verdicts = [verdict for _, verdict in judged]
    return Summary(
        rules=rules,
        n=len(judged),
        correct=Rate(sum(v.correct for v in verdicts), len(verdicts)),
        correct_with_action=Rate(sum(v.correct for v in acting), len(acting)),
        unwanted_side_effects=Rate(sum(v.unwanted_side_effects for v in verdicts), len(verdicts)),
        exact_match=Rate(sum(v.exact_match for v in verdicts), len(verdicts)),
    )
