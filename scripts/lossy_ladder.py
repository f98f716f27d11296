"""A lossy ladder, measured: does Delta rise with what is lost, and does u and Delta predict the gain?

    relaybench run configs/run/ladder_ledger.yaml
    python scripts/lossy_ladder.py runs/ladder-ledger --readers qwen2.5-0.5b

Delta is that of the answer-bearing tokens, by calibrated readers; on the ledger it stands beside its closed form, the
share of needed values lost times a (log V - h). The gain of each relay, in gold-action NLL and in success, is predicted
as a u - b v (u the share of the context removed, v Delta as a share of its ceiling) with a and b fitted on all other
relays, and compared with the gain seen. A Markdown table and one JSON line are printed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from relaybench.benchmarks.ledger.truth import task_information
from relaybench.config_benchmarks import LedgerConfig
from relaybench.information.capability import leave_one_out
from relaybench.information.cells import Cell
from relaybench.information.gain import agreement
from relaybench.information.measuring import measure
from relaybench.information.table import figure
from relaybench.rollout.reading import read_run

HEADINGS = ("relay", "n", "lost", "Delta answers", "closed form", "u", "G_NLL", "predicted", "gain seen", "predicted")


def closed_form(folder: Path, cell: Cell) -> float | None:
    """Delta of a relay that loses so many of the needed values; None off the ledger and for misinformation."""
    dials = read_run(folder).config["benchmark"]
    if dials["name"] != "ledger" or "foreign" in cell.system:
        return None
    return cell.achieved_loss.value * task_information(LedgerConfig.model_validate(dials))


def report(folder: Path, cells: Sequence[Cell]) -> dict[str, Any]:
    """Print the table; the figures that sum it up."""
    removed = [cell.reduction.value / (cell.reduction.value + cell.rate.value) for cell in cells]
    ceiling = max(cell.answer_delta.value for cell in cells)
    lost = [cell.answer_delta.value / ceiling for cell in cells]
    seen = {"nll": [cell.gain.value for cell in cells], "success": [cell.seen.value for cell in cells]}
    told = {name: leave_one_out(values, removed, lost) for name, values in seen.items()}
    truths = [closed_form(folder, cell) for cell in cells]
    print("| " + " | ".join(HEADINGS) + " |\n|" + "---|" * len(HEADINGS))
    for i, cell in enumerate(cells):
        truth = "-" if truths[i] is None else f"{truths[i]:.2f}"
        row = [cell.system, str(cell.tasks), f"{cell.achieved_loss.value:.0%}", figure(cell.answer_delta), truth]
        row += [f"{removed[i]:.2f}", figure(cell.gain), f"{told['nll'][i]:+.2f}"]
        row += [figure(cell.seen), f"{told['success'][i]:+.2f}"]
        print("| " + " | ".join(row) + " |")
    gaps = [abs(c.answer_delta.value - t) for c, t in zip(cells, truths, strict=True) if t is not None]
    rungs = [(c.achieved_loss.value, c.answer_delta.value) for c in cells if "foreign" not in c.system]
    found = {name: agreement(told[name], values) for name, values in seen.items()}
    return {
        "cells": len(cells),
        "H(Y|M) of the reader": round(cells[0].answer_full.value, 3),
        "largest_gap_to_closed_form": round(max(gaps), 3) if gaps else None,
        "rank_correlation_lost_delta": round(float(stats.spearmanr(*np.array(rungs).T).statistic), 3),
        **{f"{name}_r": [round(a.correlation, 3), round(a.low, 3), round(a.high, 3)] for name, a in found.items()},
        **{f"{name}_sign": f"{a.signs.value:.2f} (majority {a.majority:.2f})" for name, a in found.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="run folder")
    parser.add_argument("--readers", default="", help="as for `relaybench measure`")
    parser.add_argument("--reference", help="as for `relaybench measure`")
    args = parser.parse_args()
    readers = [name for name in args.readers.split(",") if name]
    measured = asyncio.run(measure(args.run, readers=readers, reference=args.reference, sample=0))
    print(json.dumps(report(args.run, measured.cells)))


if __name__ == "__main__":
    main()
