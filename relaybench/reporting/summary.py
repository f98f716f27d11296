"""The summary: blocks of comparable episodes, one row a system, every figure with its n and interval.

Episodes are pooled only where benchmark, data revision, engine, model, adapter, decoding and prompts are the same
(contract 10); whatever else differs gives a block of its own, and the report says so. Differences are paired over
the tasks that a system and SAS-contextflow both have, so a run that is not finished yet gives honest numbers too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from pydantic import ValidationError

from relaybench.config import SystemConfig
from relaybench.records import Episode, Usage, total
from relaybench.reporting.measures import Measures, Price, incurred, price_of, used
from relaybench.reporting.pooling import Part, Setting, pool, setting_of
from relaybench.reporting.statistics import (
    Difference,
    Estimate,
    means,
    paired,
    pass_rate,
    proportion,
    share,
    success_rate,
    task_means,
)
from relaybench.rollout.reading import StoredRun

REFERENCE = "sas-contextflow"
COUNTED = (
    "relays", "ill_formed_relays", "truncated_relays", "passed_through", "truncated_replies", "context_full",
    "branches", "ill_formed_actions", "forbidden_actions", "failed_calls",
)  # fmt: skip
"""Measures that are also given as counts over all episodes of a row."""


class Row(Struct, frozen=True):
    """One system."""

    system: str
    prototype: str
    knows_target: bool
    """Its relays were made from the task's record: an upper bound, not a contender."""
    tasks: int
    episodes: int
    success: Estimate
    """Over tasks; with several trials a task, Avg@N."""
    success_with_action: Estimate | None
    """Over the tasks whose right answer is to act, where the benchmark tells (a score value `has_action`)."""
    difference: Difference | None
    """Success minus that of SAS-contextflow on the tasks both have."""
    pass_at: dict[int, Estimate]
    """pass@k for k = 2, 4, ... up to the trials a task has; empty with one trial."""
    means: dict[str, Estimate]
    """Per-episode figures: `reward`, `value.NAME` of the score, and all of `Measures`."""
    counts: dict[str, int]
    """Totals over the row's episodes: `COUNTED`."""
    ill_formed_relays: Estimate | None
    """Share of its relays that do not follow their format (n: relays)."""
    by_type: dict[str, Estimate]
    """Success by task template or type, in order of name; empty where all tasks are of one."""
    failures: int
    """Episodes that ended for an outside reason and have not succeeded since."""


class Block(Struct, frozen=True):
    """One table: systems that may be compared."""

    label: str
    setting: Setting
    runs: list[str]
    seeds: list[int]
    tasks: int
    tasks_with_action: int | None
    rows: list[Row]
    logical_tokens: int
    """All tokens of all episodes, each as if it ran alone."""
    incurred_tokens: int
    """What they really took: shared rollouts and relays once, failed attempts included."""
    incurred_cost: float | None
    currency: str | None
    versions: list[str]
    notes: list[str]


def summarise(runs: Sequence[StoredRun]) -> list[Block]:
    """Blocks in order of first appearance. Episodes with one key count once; empty runs give no block."""
    return [_block(part) for part in pool(runs)]


def success_cells(episodes: Iterable[Episode], only: str | None = None) -> dict[tuple[str, int], float]:
    """Success (0 or 1) by (task, seed); `only` keeps episodes whose score value of that name is not 0."""
    kept = (e for e in episodes if only is None or e.score.values.get(only, 0.0) != 0.0)
    return {(e.task, e.seed): float(e.score.success) for e in kept}


def _block(part: Part) -> Block:
    episodes = list(part.episodes.values())
    systems: dict[str, list[Episode]] = defaultdict(list)
    for episode in episodes:
        systems[episode.system].append(episode)
    reference = next((group for group in systems.values() if group[0].prototype == REFERENCE), None)
    failures = _lasting_failures(part)
    really = _incurred(part)
    price = _price(part)
    if price is None:
        part.measures = {key: replace(numbers, cost=None) for key, numbers in part.measures.items()}
    acting = {e.task for e in episodes if e.score.values.get("has_action", 0.0) != 0.0}
    knows = any("has_action" in e.score.values for e in episodes)
    return Block(
        label=str(part.runs[0].meta["label"]),
        setting=part.setting,
        runs=[str(run.path) for run in part.runs],
        seeds=sorted({e.seed for e in episodes}),
        tasks=len({e.task for e in episodes}),
        tasks_with_action=len(acting) if knows else None,
        rows=[_row(group, part, reference, failures[system]) for system, group in systems.items()],
        logical_tokens=sum(m.tokens for m in part.measures.values()),
        incurred_tokens=really.total_tokens,
        incurred_cost=price.of(really) if price else None,
        currency=price.currency if price else None,
        versions=_versions(part.runs),
        notes=[*part.notes, *_progress(part, systems), *(note for run in part.runs for note in run.notes)],
    )


def _incurred(part: Part) -> Usage:
    """What the runs of a block really took, each for itself; of a run with several engines this part's share."""
    parts = []
    for run in part.runs:
        own = [e for e in run.episodes if setting_of(e) == part.setting]
        apart = run.shared if len(own) == len(run.episodes) else used(own, run.shared)
        parts.append(incurred(own, apart, (f for f in run.failures if f.engine == part.setting.engine)))
    return total(parts)


def _price(part: Part) -> Price | None:
    """The one price of a block; None, with a note, where its runs have different ones."""
    prices = {price_of(run.config, part.setting.engine) for run in part.runs}
    if len(prices) == 1:
        return prices.pop()
    part.notes.append("the runs have different prices: no joint cost")
    return None


def _row(group: Sequence[Episode], part: Part, reference: Sequence[Episode] | None, failures: int) -> Row:
    numbers = [part.measures[e.key] for e in group]
    cells, acting = success_cells(group), success_cells(group, "has_action")
    counts = {name: sum(getattr(m, name) for m in numbers) for name in COUNTED}
    trials = max(Counter(task for task, _ in cells).values())
    rates = {2**i: pass_rate(cells, 2**i) for i in range(1, trials.bit_length())}
    is_reference = reference is not None and reference[0].system == group[0].system
    return Row(
        system=group[0].system,
        prototype=group[0].prototype,
        knows_target=any(relay.knows_target for e in group for relay in e.relays),
        tasks=len({e.task for e in group}),
        episodes=len(group),
        success=success_rate(cells),
        success_with_action=success_rate(acting) if acting else None,
        difference=None if reference is None or is_reference else paired(success_cells(reference), cells),
        pass_at={k: rate for k, rate in rates.items() if rate is not None},
        means=_means(group, numbers),
        counts=counts,
        ill_formed_relays=proportion(counts["ill_formed_relays"], counts["relays"]) if counts["relays"] else None,
        by_type=_by_type(group),
        failures=failures,
    )


def _by_type(group: Sequence[Episode]) -> dict[str, Estimate]:
    names = sorted({e.template for e in group if e.template is not None})
    if len(names) < 2:
        return {}
    return {name: success_rate(success_cells(e for e in group if e.template == name)) for name in names}


def _means(group: Sequence[Episode], numbers: Sequence[Measures]) -> dict[str, Estimate]:
    """Mean of each figure over trials, then tasks, where at least one episode has it."""
    columns: dict[str, dict[tuple[str, int], float]] = defaultdict(dict)
    for episode, measures in zip(group, numbers, strict=True):
        cell = (episode.task, episode.seed)
        for name, value in figures(episode, measures).items():
            if value is not None:
                columns[name][cell] = value
    tasks = list(dict.fromkeys(e.task for e in group))
    by_task = [task_means(cells) for cells in columns.values()]
    matrix = np.array([[values.get(task, np.nan) for values in by_task] for task in tasks])
    found = dict(zip(columns, means(matrix), strict=True))
    return {name: share(estimate) if _is_share(name, estimate) else estimate for name, estimate in found.items()}


def _is_share(name: str, estimate: Estimate) -> bool:
    return name in ("reward", "missing") and 0.0 <= estimate.value <= 1.0


def figures(episode: Episode, measures: Measures) -> dict[str, float | None]:
    """All numbers of an episode by column name: reward, the score's values, measures."""
    values = {f"value.{name}": value for name, value in episode.score.values.items()}
    return {"reward": episode.score.reward, **values, **{n: getattr(measures, n) for n in Measures.__struct_fields__}}


def _lasting_failures(part: Part) -> Counter[str]:
    """Episodes by system that failed and are still missing."""
    lost = {
        failure.key: failure.system
        for run in part.runs
        for failure in run.open_failures
        if failure.engine == part.setting.engine and failure.key not in part.episodes
    }
    return Counter(lost.values())


def _progress(part: Part, systems: Mapping[str, Sequence[Episode]]) -> list[str]:
    """What is still missing of the planned episodes, in words."""
    notes = [
        f"{run.path}: {len(run.episodes):,} of {run.meta['planned']:,} planned episodes are there; "
        "differences use the tasks that both systems have"
        for run in part.runs
        if len(run.episodes) < run.meta["planned"]
    ]
    names = dict.fromkeys(name for run in part.runs for name in _configured(run))
    failures = _lasting_failures(part)
    absent = [f"{name} ({failures[name]} failed)" if failures[name] else name for name in names if name not in systems]
    return [*notes, *([f"no episodes yet: {', '.join(absent)}"] if absent else [])]


def _configured(run: StoredRun) -> list[str]:
    """Labels of the systems in a run's resolved config; none where an older version's cannot be read."""
    try:
        return [SystemConfig.model_validate(entry).label for entry in run.config.get("systems", [])]
    except ValidationError:
        return []


def _versions(runs: Sequence[StoredRun]) -> list[str]:
    sessions = [session for run in runs for session in run.meta.get("sessions", ())]
    return sorted({f"{name} {version}" for session in sessions for name, version in session["versions"].items()})
