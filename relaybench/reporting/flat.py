"""Flat forms: the same blocks as CSV (one line a system) and as JSON (nested, every figure with interval and n).

A column NAME comes with NAME_low, NAME_high (95%) and NAME_n. Token columns are tokens an episode, `seconds` seconds
an episode, `cost` in the configured currency, counts (`count_NAME`) are totals over the row's episodes.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO
from typing import Any

import msgspec

from relaybench.reporting.statistics import Difference, Estimate
from relaybench.reporting.summary import Block, Row

Cell = str | int | float | bool | None


def as_csv(blocks: Sequence[Block]) -> str:
    """One line a system, all columns."""
    return write_csv([{**_setting(block), **flat_row(row)} for block in blocks for row in block.rows])


def as_json(blocks: Sequence[Block]) -> str:
    """A list of blocks."""
    return write_json(blocks)


def write_csv(rows: Sequence[dict[str, Cell]]) -> str:
    """CSV with the columns of all rows in order of first appearance; empty where a row has no such figure."""
    names = dict.fromkeys(name for row in rows for name in row)
    file = StringIO()
    writer = csv.DictWriter(file, list(names), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().rstrip("\n")


def write_json(value: Any) -> str:
    """Indented JSON of any records; a number that is not finite becomes null."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def flat_row(row: Row) -> dict[str, Cell]:
    """One system as columns."""
    cells: dict[str, Cell] = {
        "system": row.system,
        "prototype": row.prototype,
        "knows_target": row.knows_target,
        "tasks": row.tasks,
        "episodes": row.episodes,
        "failures": row.failures,
    }
    cells |= figure("success", row.success) | figure("success_with_action", row.success_with_action)
    cells |= _difference(row.difference)
    for k, rate in row.pass_at.items():
        cells |= figure(f"pass@{k}", rate)
    for name, estimate in row.means.items():
        cells |= figure(name, estimate)
    cells |= {f"count_{name}": count for name, count in row.counts.items()}
    for name, estimate in row.by_type.items():
        cells |= figure(f"success[{name}]", estimate)
    return cells | figure("ill_formed_relay_share", row.ill_formed_relays)


def figure(name: str, estimate: Estimate | Difference | None) -> dict[str, Cell]:
    """A figure's four columns, empty where there is none."""
    if estimate is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None, f"{name}_n": 0}
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high, f"{name}_n": estimate.n}


def _difference(found: Difference | None) -> dict[str, Cell]:
    cells = figure("vs_contextflow", found)
    for name in ("p", "test", "wins", "losses"):
        cells[f"vs_contextflow_{name}"] = None if found is None else getattr(found, name)
    return cells


def _setting(block: Block) -> dict[str, Cell]:
    setting = block.setting
    return {
        "benchmark": block.label,
        "revision": setting.revision,
        "prompts": setting.prompts,
        "engine": setting.engine,
        "model": setting.model,
        "adapter": setting.adapter,
        "temperature": setting.decoding.temperature,
        "top_p": setting.decoding.top_p,
        "max_tokens": setting.decoding.max_tokens,
        "report_tokens": setting.decoding.report_tokens,
        "seeds": " ".join(map(str, block.seeds)),
        "currency": block.currency,
    }
