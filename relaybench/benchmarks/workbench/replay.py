"""Replay: actions carried out in order from a fresh sandbox, with every return value and the final digests.

Records have the form of the official traces: `call`, `tool`, `args`, `ok`, then `return_sha`, `return_len`,
`return_type` and `return` (left out over 6,000 characters) or `exc` and `exc_msg`. `replay_actions` does so for a
file of {"id", "actions": [action | {"call": action}]}.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from relaybench.benchmarks.rows import lines, once, texts, write
from relaybench.benchmarks.workbench.calls import SUFFIX, clean, parse, written_name
from relaybench.benchmarks.workbench.data import load_base, task_id
from relaybench.benchmarks.workbench.sandbox import TOOLS, Sandbox, exception_name
from relaybench.benchmarks.workbench.tables import sha16
from relaybench.benchmarks.workbench.tools_directory import Addresses

LONGEST = 6000


def replay(box: Sandbox, actions: Sequence[str]) -> dict[str, Any]:
    """What the actions gave, and the state they left: {"actions": [record ...], "state": {domain: digests}}."""
    return {"actions": [_record(box, clean(action)) for action in actions], "state": box.digests()}


def replay_actions(actions: Path, data_dir: Path, out: Path) -> str:
    """Replay a file, each row from a fresh sandbox; returns a line that says what was done.

    Ids are free here (nothing is scored) but must differ. UserError for a bad file or line.
    """
    base = load_base(data_dir)
    seen: set[str] = set()
    rows: list[dict[str, Any]] = []
    for where, row in lines(actions):
        once(where, task_id(where, row), seen)
        rows.append({"id": row["id"]} | replay(Sandbox(base), texts(where, row, "actions", nested="call")))
    write(out, rows)
    records = [record for row in rows for record in row["actions"]]
    raised = sum(not record["ok"] for record in records)
    return f"replayed {len(rows)} rows, {len(records)} actions of which {raised} raised, to {out}"


def plain(value: object) -> Any:
    """A tool's value as JSON: a missing cell null, the moment of sending and the directory's array marked."""
    if isinstance(value, Addresses):
        return {"ndarray": list(value)}
    if isinstance(value, datetime):
        return {"timestamp": str(value)}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    return value


def _record(box: Sandbox, action: str) -> dict[str, Any]:
    record: dict[str, Any] = {"call": action, "tool": written_name(action), "args": None, "ok": False}
    try:
        call = parse(action)
        record["args"] = _arguments(action)
        tool = call.tool(strict=True)
        args, kwargs = call.values()
        value = box.call(tool, *args, **kwargs)
    except Exception as error:  # noqa: BLE001  whatever a call raises is what the trace records
        return record | {"exc": exception_name(error), "exc_msg": str(error)}
    return record | {"ok": True} | _returned(value)


def _arguments(action: str) -> dict[str, Any] | None:
    """The arguments by name where they are literals; positional ones under the tool's parameter names."""
    call = parse(action)
    try:
        args, kwargs = call.values()
    except (NameError, ValueError, TypeError, SyntaxError):
        return None
    name = ".".join(part for part in call.path if part != SUFFIX)
    names = TOOLS[name].parameters if name in TOOLS else ()
    named = {names[i] if i < len(names) else str(i): value for i, value in enumerate(args)}
    return {key: plain(value) for key, value in (named | kwargs).items()}


def _returned(value: object) -> dict[str, Any]:
    shown = plain(value)
    text = json.dumps(shown)
    kind = "ndarray" if isinstance(value, Addresses) else type(value).__name__
    result: dict[str, Any] = {"return_sha": sha16(shown), "return_len": len(text), "return_type": kind}
    return result | {"return": shown} if len(text) <= LONGEST else result
