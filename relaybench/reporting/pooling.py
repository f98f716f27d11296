"""Pooling: which episodes may stand in one table.

Only those that agree in benchmark, data revision, engine, model, adapter, decoding and prompts (contract 10). An
episode that is in two runs counts once; a label that means two different systems keeps its runs apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from relaybench.records import Decoding, Episode, Failure
from relaybench.reporting.measures import Measures, measure, price_of
from relaybench.rollout.reading import StoredRun


class Setting(Struct, frozen=True):
    """What episodes must share to stand in one table."""

    benchmark: str
    revision: str
    engine: str
    model: str
    adapter: str | None
    decoding: Decoding
    prompts: str


@dataclass
class Part:
    """The episodes of one setting, from one or several runs."""

    setting: Setting
    runs: list[StoredRun]
    episodes: dict[str, Episode] = field(default_factory=dict)
    measures: dict[str, Measures] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def pool(runs: Sequence[StoredRun]) -> list[Part]:
    """The episodes of some runs in as few parts as may be, in order of first appearance."""
    pools: list[Part] = []
    for run in runs:
        for part in _parts(run):
            fitting = next((p for p in pools if p.setting == part.setting and not _conflict(p, part)), None)
            if fitting is None:
                _explain_split(part, pools)
                pools.append(part)
            else:
                _join(fitting, part)
    return pools


def setting_of(episode: Episode) -> Setting:
    """What an episode's figures depend on besides system, task and seed."""
    return Setting(**{name: getattr(episode, name) for name in Setting.__struct_fields__})


def measured(run: StoredRun) -> dict[str, Measures]:
    """The numbers of each episode of a run by key, its earlier failed attempts and its run's prices included."""
    lost: dict[str, list[Failure]] = defaultdict(list)
    for failure in run.failures:
        lost[failure.key].append(failure)
    return {e.key: measure(e, lost[e.key], price_of(run.config, e.engine)) for e in run.episodes}


def _parts(run: StoredRun) -> list[Part]:
    numbers = measured(run)
    parts: dict[Setting, Part] = {}
    for episode in run.episodes:
        part = parts.setdefault(setting_of(episode), Part(setting_of(episode), [run]))
        part.episodes[episode.key] = episode
        part.measures[episode.key] = numbers[episode.key]
    return list(parts.values())


def _join(pool: Part, part: Part) -> None:
    twice = pool.episodes.keys() & part.episodes.keys()
    if twice:
        pool.notes.append(f"{len(twice)} episodes are in more than one run and count once")
    pool.runs.extend(part.runs)
    pool.episodes = part.episodes | pool.episodes
    pool.measures = part.measures | pool.measures


def _conflict(pool: Part, part: Part) -> bool:
    """Two different episodes claim the same system, task and seed: the label means two things."""
    claims = {(e.system, e.task, e.seed): e.key for e in pool.episodes.values()}
    return any(claims.get((e.system, e.task, e.seed), e.key) != e.key for e in part.episodes.values())


def _explain_split(part: Part, pools: Sequence[Part]) -> None:
    for pool in pools:
        differs = [n for n in Setting.__struct_fields__ if getattr(pool.setting, n) != getattr(part.setting, n)]
        why = " and ".join(differs) if differs else "what a system of the same name is"
        if pool.setting.benchmark == part.setting.benchmark and pool.runs[0] is not part.runs[0]:
            part.notes.append(f"not pooled with {pool.runs[0].path}: {why} differ{'s' if len(differs) < 2 else ''}")
