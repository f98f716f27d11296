"""Launching: what `relaybench run` does with a config, from its objects to the last line."""

from __future__ import annotations

import shlex
import sys

from relaybench.build import make_benchmark, make_engine
from relaybench.config import RunConfig
from relaybench.rollout.forecast import forecast
from relaybench.rollout.grid import Grid, Shard
from relaybench.rollout.progress import duration, make_progress
from relaybench.rollout.runner import Runner, RunSummary
from relaybench.rollout.store import open_store, stored_keys


async def launch(config: RunConfig, *, shard: str | None = None, dry_run: bool = False, quiet: bool = False) -> int:
    """Run (or resume) a config. The exit code: 0 all done, 1 failures or stopped early, 130 interrupted.

    `shard` is "i/n". Raises UserError for what only the user can mend.
    """
    part = None if shard is None else Shard.parse(shard)
    benchmark = make_benchmark(config.benchmark)
    grid = Grid(config, benchmark, part)
    if dry_run:
        print(forecast(grid, stored_keys(config.out)))
        return 0
    engines = {engine.label: make_engine(engine) for engine in config.engines}
    store = open_store(config, benchmark, [job.key for job in grid.jobs], None if part is None else str(part))
    try:
        progress = make_progress(quiet)
        for note in store.notes:
            print(f"relaybench: {note}", file=sys.stderr)
        summary = await Runner(config, benchmark, engines, store, progress, grid=grid).run()
    finally:
        store.close()
    print(_last_line(config, summary))
    return summary.exit_code


def _last_line(config: RunConfig, summary: RunSummary) -> str:
    out = shlex.quote(str(config.out))
    there = summary.stored + summary.done
    head = f"{out}: {there:,} of {summary.planned:,} episodes"
    table = f"`relaybench report {out}` shows the table"
    again = "the same command with this folder goes on from here"
    if summary.stopped is not None:
        return f"{head}; stopped: {summary.stopped}; {again} (--out {out})"
    if summary.failed:
        return f"{head}, {summary.failed:,} failed ({out}/failures.jsonl says why); {again}; {table}"
    return f"{head}, {duration(summary.seconds)}; {table}"
