"""Reporting: from run folders to tables, files and frames. No figure is given without its n and interval.

`report` and `diff` are what the command line calls; nothing heavy is imported before they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from relaybench.errors import UserError, nearest

FORMATS = ("table", "csv", "json", "md")
T = TypeVar("T")


def report(runs: Sequence[Path], format: str = "table") -> str:
    """The summary of one or several run folders; comparable episodes are pooled, others stand in blocks apart.

    Raises UserError for a folder that is no run, one without episodes, or an unknown format.
    """
    from relaybench.reporting import flat, table
    from relaybench.reporting.summary import summarise
    from relaybench.rollout.reading import read_run

    write = _choose({"table": table.as_text, "csv": flat.as_csv, "json": flat.as_json, "md": table.as_markdown}, format)
    stored = [read_run(path) for path in dict.fromkeys(runs)]
    for run in stored:
        _require_episodes(run.path, len(run.episodes), len(run.failures))
    return write(summarise(stored))


def diff(first: Path, second: Path, format: str = "table") -> str:
    """What changed between two runs, system by system, and which settings differ.

    Raises UserError for a folder that is no run, one without episodes, or an unknown format.
    """
    from relaybench.reporting import comparison
    from relaybench.rollout.reading import read_run

    text, markdown = comparison.as_text, comparison.as_markdown
    writers = {"table": text, "csv": comparison.as_csv, "json": comparison.as_json, "md": markdown}
    write = _choose(writers, format)
    runs = [read_run(path) for path in (first, second)]
    for run in runs:
        _require_episodes(run.path, len(run.episodes), len(run.failures))
    return write(comparison.compare(*runs))


def _choose(writers: Mapping[str, Callable[[T], str]], format: str) -> Callable[[T], str]:
    if format not in writers:
        raise UserError(f"unknown format '{format}'{nearest(format, writers) or '; known: ' + ', '.join(writers)}")
    return writers[format]


def _require_episodes(path: Path, episodes: int, failures: int) -> None:
    if not episodes:
        failed = f"all {failures} attempts failed, see {path / 'failures.jsonl'}"
        why = failed if failures else "nothing has ended there yet"
        raise UserError(f"{path} holds no episodes ({why}); run its config again, which resumes it")
