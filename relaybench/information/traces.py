"""Traces of other systems, read as messages: JSONL rows, Inspect logs, Harbor's ATIF trajectories.

JSONL: an object a line with "messages" as chat APIs take them; all its other keys are fields. Inspect: a log as JSON
(`inspect log convert --to json`), or an .eval file where inspect-ai is installed; a sample is a trace, its "target" and
"metadata" are fields. ATIF (v1.0 to v1.7): a trajectory, a list of them, or a folder of such files; a step is a
message, its tool calls a line each after the text, and each result of an observation is one more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from relaybench.benchmarks.rows import lines
from relaybench.errors import UserError
from relaybench.information.mapping import Said, Trace

ROLES = {"agent": "assistant", "developer": "system", "function": "tool", "model": "assistant"}


def read_traces(path: Path, form: str) -> list[Trace]:
    """All traces of a file (or folder, for ATIF). Raises UserError that names file and place."""
    if not path.exists():
        raise UserError(f"no traces at {path}; name a file of messages, an Inspect log or an ATIF trajectory")
    try:
        return list({"messages": _rows, "inspect": _inspect, "atif": _atif}[form](path))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        what = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise UserError(f"{path} is not a log of format '{form}' ({what}); set 'format' in the mapping") from None


def _rows(path: Path) -> Iterator[Trace]:
    for number, (_, row) in enumerate(lines(path), 1):
        fields = {key: value for key, value in row.items() if key != "messages"}
        said = tuple(_message(message) for message in row["messages"])
        yield Trace(str(row.get("id", f"line {number}")), said, fields)


def _inspect(path: Path) -> Iterator[Trace]:
    for sample in _inspect_log(path)["samples"]:
        fields = {**(sample.get("metadata") or {}), "target": sample.get("target")}
        said = tuple(_message(message) for message in sample["messages"])
        yield Trace(f"{sample['id']}/{sample.get('epoch', 1)}", said, fields)


def _inspect_log(path: Path) -> dict[str, Any]:
    if path.suffix != ".eval":
        return dict(_json(path))
    try:
        from inspect_ai.log import read_eval_log
    except ImportError:
        raise UserError(
            f"reading {path.name} takes inspect-ai: `scripts/install export`, or convert it with `inspect log convert`"
        ) from None
    return dict(read_eval_log(str(path)).model_dump())


def _atif(path: Path) -> Iterator[Trace]:
    for file in sorted(path.glob("**/*.json")) if path.is_dir() else [path]:
        data = _json(file)
        for i, trajectory in enumerate(data if isinstance(data, list) else [data]):
            name = str(trajectory.get("trajectory_id") or trajectory.get("session_id") or f"{file.stem}/{i}")
            said = tuple(said for step in trajectory["steps"] for said in _step(step))
            yield Trace(name, said, dict(trajectory.get("extra") or {}))


def _step(step: dict[str, Any]) -> Iterator[Said]:
    """What was said in it, tool calls included, and what was observed."""
    calls = [_call(call["function_name"], call.get("arguments")) for call in step.get("tool_calls") or ()]
    text = "\n".join(filter(None, [_text(step.get("message")), *calls]))
    yield Said(ROLES.get(step["source"], step["source"]), str(step.get("model_name") or ""), text)
    names = {call.get("tool_call_id"): call["function_name"] for call in step.get("tool_calls") or ()}
    for result in (step.get("observation") or {}).get("results") or ():
        yield Said("tool", names.get(result.get("source_call_id"), ""), _text(result.get("content")))


def _message(message: dict[str, Any]) -> Said:
    """A chat message; its tool calls stand after its text, a line each."""
    told = [_tool_call(call) for call in message.get("tool_calls") or ()]
    role = str(message["role"])
    text = "\n".join(filter(None, [_text(message.get("content")), *told]))
    return Said(ROLES.get(role, role), str(message.get("name") or message.get("function") or ""), text)


def _tool_call(call: dict[str, Any]) -> str:
    """A chat API's call has an object under "function", an Inspect log's has the name there."""
    function = call["function"]
    return _call(**function) if isinstance(function, dict) else _call(function, call.get("arguments"))


def _call(name: str, arguments: Any = None, **_: Any) -> str:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    return f"{name}({text})"


def _text(content: Any) -> str:
    """Plain text, or the text parts of a list; images and the like leave nothing."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return "" if content is None else str(content)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValueError):
        raise UserError(f"{path} is not a JSON file; name one whole log or trajectory") from None
