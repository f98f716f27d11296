"""Is the sign that `relaybench advise` goes by right? Predicted on a few tasks of a run, seen on all its other tasks.

    python scripts/evaluate_advice.py runs/a runs/b runs/c --tasks 8
    python scripts/evaluate_advice.py runs/* --reader smollm2-135m

A cell is one relay into one worker of one run. Predicted: the mean of G_NLL = NLL(M) - NLL(m) over the first `--tasks`
tasks (in the order of their hash, as `advise` takes them). Seen: success with the relay minus that of SAS-contextflow,
on the tasks left. A cell counts where the sign seen is determined (its 95% interval excludes 0); the others are listed.
The share of right signs stands beside that of always saying the commoner sign, and beside that of a threshold on G_NLL
that is fitted on the other runs (leave one run out). A Markdown table and one JSON line are printed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from contextlib import AsyncExitStack
from itertools import pairwise
from pathlib import Path

import numpy as np
from msgspec import Struct

from relaybench.information.instruments import CONDITIONS, Instruments
from relaybench.information.measuring import askers_of, engines_of, judged
from relaybench.information.relay_loss import ranked
from relaybench.information.scorebook import Scorebook
from relaybench.reporting.statistics import Estimate, mean, proportion
from relaybench.rollout.reading import read_run

FULL, RELAY = CONDITIONS.index("full"), CONDITIONS.index("relay")


class Cell(Struct, frozen=True):
    """One relay of one run."""

    run: str
    relay: str
    predicted: Estimate
    """G_NLL on the few tasks, nats."""
    seen: Estimate
    """Gain in success on the others."""

    @property
    def sign(self) -> int:
        """The sign seen; 0 where it is not determined."""
        low, high = self.seen.low, self.seen.high
        return 0 if low is None or high is None or low <= 0 <= high else 1 if low > 0 else -1


async def cells_of(folder: Path, tasks: int, name: str | None) -> list[Cell]:
    run = read_run(folder)
    found, aims, _ = judged(run)
    few = set(ranked(sorted({stage.task for stage in found}))[:tasks])
    reader = name or next(iter(engines_of(run)))
    async with AsyncExitStack() as stack:
        asker = (await askers_of(stack, engines_of(run), [reader]))[reader]
        chosen = [stage for stage in found if stage.task in few]
        instruments = Instruments(chosen, aims, [asker], asker, Scorebook(folder), sample=0)
        await instruments.fill(codes=False)
        gains: dict[str, list[float]] = {}
        for place, stage in enumerate(instruments.stages):
            nll = instruments.nlls(asker, place)
            gains.setdefault(stage.system, []).append(nll[FULL] - nll[RELAY])
    seen: dict[str, list[float]] = {}
    for stage in found:
        if stage.task not in few and stage.success_full is not None:
            seen.setdefault(stage.system, []).append(stage.success - stage.success_full)
    return [Cell(folder.name, relay, mean(gains[relay]), mean(seen[relay])) for relay in gains if relay in seen]


def threshold(cells: Sequence[Cell]) -> float:
    """The G_NLL between two cells that splits the signs seen best; 0 where none splits them better."""
    values = sorted(cell.predicted.value for cell in cells)
    cuts = [0.0, *((a + b) / 2 for a, b in pairwise(values))]
    return max(cuts, key=lambda cut: sum((cell.predicted.value > cut) == (cell.sign > 0) for cell in cells))


def summary(cells: Sequence[Cell]) -> dict[str, object]:
    """Shares of right signs over the determined cells."""
    known = [cell for cell in cells if cell.sign]
    if not known:
        return {"cells": len(cells), "determined": 0}
    right = sum((cell.predicted.value > 0) == (cell.sign > 0) for cell in known)
    others = {run: threshold([cell for cell in known if cell.run != run]) for run in {cell.run for cell in known}}
    fitted = sum((cell.predicted.value > others[cell.run]) == (cell.sign > 0) for cell in known)
    gains = sum(cell.sign > 0 for cell in known)
    pairs = np.array([[cell.predicted.value, cell.seen.value] for cell in cells])
    return {
        "cells": len(cells),
        "determined": len(known),
        "right": proportion(right, len(known)),
        "majority": max(gains, len(known) - gains) / len(known),
        "right_with_fitted_threshold": proportion(fitted, len(known)),
        "correlation_of_all": round(float(np.corrcoef(pairs.T)[0, 1]), 3),
    }


def line(cell: Cell) -> str:
    marks = {1: "+", -1: "-", 0: "?"}
    right = "" if not cell.sign else "yes" if (cell.predicted.value > 0) == (cell.sign > 0) else "NO"
    p, s = cell.predicted, cell.seen
    seen = f"{s.value:+.2f} [{s.low:+.2f}, {s.high:+.2f}]"
    return f"| {cell.run} | {cell.relay} | {p.value:+.2f} | {seen} | {marks[cell.sign]} | {right} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", help="run folders")
    parser.add_argument("--tasks", type=int, default=8, help="tasks to predict from")
    parser.add_argument("--reader", help="an engine of the runs, or a model for transformers (default: each run's own)")
    args = parser.parse_args()
    print("| run | relay | G_NLL | gain seen | sign | right |\n|---|---|---|---|---|---|")
    cells: list[Cell] = []
    for folder in args.runs:
        found = asyncio.run(cells_of(folder, args.tasks, args.reader))
        print("\n".join(map(line, found)), flush=True)
        cells += found
    print(json.dumps(summary(cells), default=lambda e: [round(e.value, 3), round(e.low, 3), round(e.high, 3)]))


if __name__ == "__main__":
    main()
