"""The diff of two runs: what changed for each system on the tasks both have, and which settings differ.

Differences are second minus first, paired over common tasks. Runs of different data revisions are not comparable
(the same task id may mean another task or truth): their settings are listed and no difference is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from relaybench.records import Episode
from relaybench.reporting import words
from relaybench.reporting.flat import Cell, figure, write_csv, write_json
from relaybench.reporting.measures import Measures
from relaybench.reporting.pooling import measured
from relaybench.reporting.statistics import Cells, Difference, Estimate, paired, paired_mean, success_rate, task_means
from relaybench.reporting.summary import success_cells
from relaybench.reporting.table import Grid, markdown, render
from relaybench.rollout.reading import StoredRun

IGNORED = ("out", "concurrency", "deadline", "error_budget")
"""Config keys that change where and how fast a run goes, not what comes out."""
TASKS_SHOWN = 12


class Change(Struct, frozen=True):
    """One system in two runs."""

    system: str
    first: Estimate
    """Success in the first run, over its own tasks."""
    second: Estimate
    difference: Difference | None
    """Of success, second minus first, over common tasks; None where there are none."""
    tokens: Estimate | None
    """Tokens an episode, mean paired difference over common tasks."""
    gained: list[str]
    """Tasks that do better in the second run."""
    lost: list[str]


class Comparison(Struct, frozen=True):
    """Two runs side by side."""

    first: str
    second: str
    comparable: bool
    """False where benchmark or data revision differ."""
    changes: list[Change]
    settings: dict[str, tuple[Any, Any]]
    """What differs: dotted config keys, versions, revision, prompts; None where a run lacks it."""
    only_first: list[str]
    """Systems of one run alone."""
    only_second: list[str]


def compare(first: StoredRun, second: StoredRun) -> Comparison:
    """Compare two runs. Systems are matched by name, engines too where a run has several."""
    settings = _differing(_settings(first), _settings(second))
    comparable = not settings.keys() & {"benchmark.name", "data.revision"}
    left, right = _systems(first), _systems(second)
    numbers = {**measured(first)}, {**measured(second)}
    common = [name for name in left if name in right]
    return Comparison(
        first=str(first.path),
        second=str(second.path),
        comparable=comparable,
        changes=[_change(name, left[name], right[name], *numbers) for name in common] if comparable else [],
        settings=settings,
        only_first=[name for name in left if name not in right],
        only_second=[name for name in right if name not in left],
    )


def as_text(comparison: Comparison) -> str:
    """For a terminal."""
    return "\n".join(_lines(comparison, render(_grid(comparison)) if comparison.changes else "", "  "))


def as_markdown(comparison: Comparison) -> str:
    """As Markdown."""
    return "\n".join(_lines(comparison, f"\n{markdown(_grid(comparison))}\n" if comparison.changes else "", "- "))


def as_csv(comparison: Comparison) -> str:
    """One line a system."""
    return write_csv([_flat(change) for change in comparison.changes])


def as_json(comparison: Comparison) -> str:
    """Everything."""
    return write_json(comparison)


def _change(
    name: str, left: list[Episode], right: list[Episode], first: Mapping[str, Measures], second: Mapping[str, Measures]
) -> Change:
    a, b = success_cells(left), success_cells(right)
    found = paired(a, b)
    means_a, means_b = task_means(a), task_means(b)
    shared = [task for task in means_a if task in means_b]
    return Change(
        system=name,
        first=success_rate(a),
        second=success_rate(b),
        difference=found,
        tokens=paired_mean(_tokens(left, first), _tokens(right, second)),
        gained=[task for task in shared if means_b[task] > means_a[task]],
        lost=[task for task in shared if means_b[task] < means_a[task]],
    )


def _tokens(episodes: list[Episode], numbers: Mapping[str, Measures]) -> Cells:
    return {(e.task, e.seed): float(numbers[e.key].tokens) for e in episodes}


def _systems(run: StoredRun) -> dict[str, list[Episode]]:
    several = len({episode.engine for episode in run.episodes}) > 1
    systems: dict[str, list[Episode]] = {}
    for episode in run.episodes:
        name = f"{episode.system} ({episode.engine})" if several else episode.system
        systems.setdefault(name, []).append(episode)
    return systems


def _settings(run: StoredRun) -> dict[str, Any]:
    """Everything that may explain a difference, flat."""
    config = {key: value for key, value in run.config.items() if key not in IGNORED}
    found = _flatten(config)
    found["data.revision"] = run.meta["revision"]
    found["prompts"] = ", ".join(sorted({episode.prompts for episode in run.episodes}))
    for session in run.meta.get("sessions", ()):
        for package, version in session["versions"].items():
            found.setdefault(f"version.{package}", version)
        if "commit" in session:
            found["commit"] = session["commit"]
    return found


def _flatten(value: Any, path: str = "") -> dict[str, Any]:
    """Nested config as dotted keys; list items by number."""
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        items = enumerate(value)  # type: ignore[assignment]
    else:
        return {path: value}
    flat: dict[str, Any] = {}
    for key, item in items:
        flat |= _flatten(item, f"{path}.{key}" if path else str(key))
    return flat


def _differing(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    names = [*first, *(name for name in second if name not in first)]
    return {n: (first.get(n), second.get(n)) for n in names if first.get(n) != second.get(n)}


def _lines(comparison: Comparison, table: str, mark: str) -> list[str]:
    lines = [f"{comparison.first} -> {comparison.second}", *([table] if table else [])]
    if not comparison.comparable:
        lines.append(f"{mark}not comparable: benchmark or data revision differ, so no differences are given")
    for change in comparison.changes:
        for word, tasks in (("gained", change.gained), ("lost", change.lost)):
            if tasks:
                more = f" and {len(tasks) - TASKS_SHOWN} more" if len(tasks) > TASKS_SHOWN else ""
                lines.append(f"{mark}{change.system} {word} {len(tasks)}: {', '.join(tasks[:TASKS_SHOWN])}{more}")
    for where, names in (("first", comparison.only_first), ("second", comparison.only_second)):
        if names:
            lines.append(f"{mark}only in the {where}: {', '.join(names)}")
    lines += [f"{mark}{name}: {a} -> {b}" for name, (a, b) in comparison.settings.items()]
    return [*lines, *([] if comparison.settings else [f"{mark}no setting differs"])]


def _grid(comparison: Comparison) -> Grid:
    head = ["system", "n", "first", "second", "difference", "p", "flips", "tokens, difference"]
    return [head, *(_cells(change) for change in comparison.changes)]


def _cells(change: Change) -> list[str]:
    found = change.difference
    common = found.n if found else 0
    successes = words.share(change.first), words.share(change.second)
    outcome = words.difference(found, common), words.p_value(found)
    flips = f"+{len(change.gained)} -{len(change.lost)}"
    return [change.system, f"{common:,}", *successes, *outcome, flips, words.range_(change.tokens)]


def _flat(change: Change) -> dict[str, Cell]:
    found = change.difference
    cells: dict[str, Cell] = {"system": change.system}
    cells |= figure("first", change.first) | figure("second", change.second) | figure("difference", found)
    cells |= {"difference_p": found.p if found else None, "difference_test": found.test if found else None}
    cells |= figure("tokens_difference", change.tokens)
    return cells | {"gained": " ".join(change.gained), "lost": " ".join(change.lost)}
