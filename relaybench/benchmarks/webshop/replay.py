"""Replay: actions carried out in the shop, with every page; or queries, with what each finds.

Records have the form of the official transcripts. Sessions live on the server, so rows may share them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from relaybench.benchmarks.rows import lines, write
from relaybench.benchmarks.webshop.catalogue import CONSTRUCTION_SEED
from relaybench.benchmarks.webshop.goals import Shop
from relaybench.benchmarks.webshop.search import Index
from relaybench.benchmarks.webshop.session import Server, Session
from relaybench.errors import UserError, nearest


def make_session(data_dir: Path, *, human: bool = False, seed: int = CONSTRUCTION_SEED) -> Session:
    """A browser in a new shop, as the official constructor leaves it (it draws one visitor)."""
    shop = Shop(data_dir, human=human, seed=seed)
    session = Session(Server(shop, Index(shop.catalogue.products)))
    session.reset()
    return session


def replay(session: Session, steps: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One record a step: the step itself with text, rich, avail, url, reward, done, or error and message.

    Reward and done of a reset are None.
    """
    return [{**step, **_carry_out(session, step)} for step in steps]


def replay_actions(actions: Path, data_dir: Path, out: Path, seed: int = CONSTRUCTION_SEED) -> str:
    """Replay a file of {"id", "human_goals", "steps"}; a line that says what was done. UserError for a bad line."""

    @cache
    def session(human: bool) -> Session:
        return make_session(data_dir, human=human, seed=seed)

    rows: list[dict[str, Any]] = []
    for where, row in lines(actions):
        steps = _steps(where, row)
        rows.append({**row, "steps": replay(session(bool(row.get("human_goals", 0))), steps)})
    write(out, rows)
    records = [record for row in rows for record in row["steps"]]
    raised = sum(record.get("error") is not None for record in records)
    return f"replayed {len(rows)} rows, {len(records)} steps of which {raised} raised, to {out}"


def replay_queries(queries: Path, data_dir: Path, out: Path) -> str:
    """Search for a file of {"id", "query", "seed"?}: asins in order, or error and message."""
    session = make_session(data_dir)
    rows = [_found(session, where, row) for where, row in lines(queries)]
    write(out, rows)
    return f"searched for {len(rows)} queries, {sum('error' in row for row in rows)} raised, to {out}"


def _carry_out(session: Session, step: Mapping[str, Any]) -> dict[str, Any]:
    reward: float | None = None
    done: bool | None = None
    if step.get("pre_seed") is not None:
        session.draw_from(step["pre_seed"])
    try:
        if step["op"] == "reset":
            session.reset(step.get("session"))
        else:
            reward, done = session.step(step["action"])
    except Exception as error:  # noqa: BLE001  what the official shop raises is what the transcript records
        return {"error": type(error).__name__, "message": str(error)}
    avail = {"has_search_bar": session.page.search_bar, "clickables": session.page.clickables}
    shown = {"text": session.text, "rich": session.rich, "avail": avail, "url": session.url}
    return {**shown, "reward": reward, "done": done, "error": None}


def _found(session: Session, where: str, row: dict[str, Any]) -> dict[str, Any]:
    query = row.get("query")
    if "id" not in row or not isinstance(query, str):
        raise UserError(f'{where}: a row is {{"id": ..., "query": "words"}}, and "seed" for <r>; mend that line')
    if row.get("seed") is not None:
        session.draw_from(row["seed"])
    try:
        return {"id": row["id"], "asins": session.find(query)}
    except Exception as error:  # noqa: BLE001  as above
        return {"id": row["id"], "error": type(error).__name__, "message": str(error)}


def _steps(where: str, row: dict[str, Any]) -> list[Mapping[str, Any]]:
    steps = row.get("steps")
    if "id" not in row or not isinstance(steps, list):
        raise UserError(f'{where} needs "id" and "steps"{nearest("steps", row)}; steps is a list')
    for step in steps:
        if not isinstance(step, dict) or step.get("op") not in ("reset", "step"):
            form = '{"op": "reset", "session": 7} or {"op": "step", "action": "click[buy now]"}'
            raise UserError(f"{where}: {step!r} is no step; write {form}")
        if step["op"] == "step" and not isinstance(step.get("action"), str):
            raise UserError(f'{where}: a step needs "action", a string such as "click[buy now]"')
        if not isinstance(step.get("session"), int | str | None) or not isinstance(step.get("pre_seed"), int | None):
            raise UserError(f'{where}: "session" is a number, a name or null, and "pre_seed" a number')
    return steps
