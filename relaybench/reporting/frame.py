"""A stored run in Python: `run = relaybench.load("runs/ledger")`.

`run.episodes` and `run.failures` are the records (relaybench/records.py); `run.to_frame()` has one row an episode,
`run.relays_frame()` one row a relay. Frames need pandas (the `report` extra); nothing else here does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from relaybench.errors import UserError
from relaybench.records import Episode, Failure
from relaybench.reporting.pooling import measured
from relaybench.reporting.summary import Block, figures, summarise
from relaybench.rollout.reading import StoredRun, read_run

if TYPE_CHECKING:
    import pandas


class Run:
    """One run folder as it was when it was loaded."""

    def __init__(self, stored: StoredRun) -> None:
        self._stored = stored

    @property
    def path(self) -> Path:
        return self._stored.path

    @property
    def episodes(self) -> list[Episode]:
        """Whole episodes: shared upstream rollouts are in `workers`."""
        return self._stored.episodes

    @property
    def failures(self) -> list[Failure]:
        """Every attempt that ended for an outside reason, also of episodes that succeeded later."""
        return self._stored.failures

    @property
    def config(self) -> dict[str, Any]:
        """The resolved config as plain data."""
        return self._stored.config

    @property
    def meta(self) -> dict[str, Any]:
        """`run.json`: benchmark, revision, versions, number of planned episodes."""
        return self._stored.meta

    @property
    def notes(self) -> list[str]:
        """Lines of the folder that could not be used, and why."""
        return self._stored.notes

    def summary(self) -> list[Block]:
        """The figures of `relaybench report`: blocks of rows, each figure with interval and n."""
        return summarise([self._stored])

    def to_frame(self) -> pandas.DataFrame:
        """One row an episode. Raises UserError without pandas.

        Columns: key, benchmark, revision, task, template, system, prototype, engine, model, adapter, seed, prompts,
        started (UTC), success (bool), reward, `value.NAME` for each further official metric, knows_target, and the
        fields of `relaybench.reporting.measures.Measures`: steps (turns), token counts (tokens, disjoint parts that
        add up to `tokens`), relay counts, `missing` (share of needed values), seconds (wall), cost (in the
        configured currency; empty without a price).
        """
        numbers = measured(self._stored)
        rows = [{**_identity(e), **figures(e, numbers[e.key])} for e in self.episodes]
        return _pandas().DataFrame(rows)

    def relays_frame(self) -> pandas.DataFrame:
        """One row a relay, in the order of `episodes`. Raises UserError without pandas.

        Columns: key (of its episode), task, system, engine, seed, success, sources (space-separated), to, encoder,
        text, rate_tokens (reader's tokens), rate_nats (empty until measured), well_formed, truncated,
        passed_through, knows_target, foreign_task, missing (share of needed values), encoder_tokens,
        encoder_seconds.
        """
        return _pandas().DataFrame(list(self._relay_rows()))

    def __repr__(self) -> str:
        planned = self.meta.get("planned", "?")
        return f"Run({str(self.path)!r}: {self.meta['label']}, {len(self.episodes)} of {planned} episodes)"

    def _relay_rows(self) -> Iterator[dict[str, Any]]:
        copied = ("encoder", "text", "rate_tokens", "rate_nats", "well_formed", "truncated", "passed_through")
        for episode in self.episodes:
            shared = ("key", "task", "system", "engine", "seed")
            for relay in episode.relays:
                yield {
                    **{name: getattr(episode, name) for name in shared},
                    "success": episode.score.success,
                    "sources": " ".join(relay.sources),
                    "to": relay.to,
                    **{name: getattr(relay, name) for name in copied},
                    "knows_target": relay.knows_target,
                    "foreign_task": relay.foreign_task,
                    "missing": relay.missing,
                    "encoder_tokens": relay.encode_usage.total_tokens,
                    "encoder_seconds": relay.encode_usage.seconds,
                }


def load(run: str | Path) -> Run:
    """Read a run folder; a live or interrupted one gives what is there. Raises UserError where it is none."""
    return Run(read_run(Path(run)))


def _identity(episode: Episode) -> dict[str, Any]:
    names = ("key", "benchmark", "revision", "task", "template", "system", "prototype", "engine", "model", "adapter")
    return {
        **{name: getattr(episode, name) for name in (*names, "seed", "prompts", "started")},
        "success": episode.score.success,
        "knows_target": any(relay.knows_target for relay in episode.relays),
    }


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise UserError("frames need pandas; get it with `pip install 'relaybench[report]'`") from None
    return pandas
