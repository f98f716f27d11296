"""Effective beta of several models on one run: how much a nat of the target is worth against a nat of the context.

    relaybench run configs/run/capability_ledger.yaml
    python scripts/effective_beta.py runs/capability-ledger --readers smollm2-135m,qwen2.5-0.5b

Every reader scores the targets of the same stages (nothing is generated). The gain of each relay in gold-action NLL is
regressed on u, the share of the context that it removes, and v, the share of needed values that it does not hold, both
the same for all readers. Printed: beta_norm = b/a with its 90% interval over tasks, and the order of the readers as the
share of resamples, paired over tasks, in which the first of two has the smaller beta.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from contextlib import AsyncExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaybench.information.capability import regression
from relaybench.information.instruments import CONDITIONS, Instruments
from relaybench.information.measuring import askers_of, engines_of, judged
from relaybench.information.relay_loss import ranked
from relaybench.information.scorebook import Scorebook
from relaybench.information.stages import Stage
from relaybench.rollout.reading import read_run

FULL, RELAY = CONDITIONS.index("full"), CONDITIONS.index("relay")
Floats = NDArray[np.float64]


def removed(stage: Stage) -> float:
    """u: the share of the context's characters that the relay leaves out; the numbers in them are alike."""
    return 1 - min(1.0, len(stage.message) / len(stage.context))


async def gains_of(folder: Path, name: str, tasks: int) -> tuple[list[Stage], Floats]:
    """Stages and their G_NLL by one reader, on the first tasks; the reader is closed before the next is loaded."""
    run = read_run(folder)
    found, aims, _ = judged(run)
    few = set(ranked(sorted({stage.task for stage in found}))[:tasks])
    async with AsyncExitStack() as stack:
        asker = (await askers_of(stack, engines_of(run), [name]))[name]
        chosen = [stage for stage in found if stage.task in few]
        instruments = Instruments(chosen, aims, [asker], asker, Scorebook(folder), sample=0)
        await instruments.fill(lambda what, done, of: print(f"{what}: {done} of {of}", flush=True), codes=False)
        nll = np.array([instruments.nlls(asker, place) for place in range(len(instruments.stages))])
        return instruments.stages, nll[:, FULL] - nll[:, RELAY]


def table(stages: Sequence[Stage], gains: Floats) -> tuple[list[str], Floats, Floats, Floats]:
    """Systems, gains of shape (tasks, systems), u and v of each system."""
    systems = list(dict.fromkeys(stage.system for stage in stages))
    tasks = list(dict.fromkeys(stage.task for stage in stages))
    grid = np.full((len(tasks), len(systems)), np.nan)
    for stage, gain in zip(stages, gains, strict=True):
        grid[tasks.index(stage.task), systems.index(stage.system)] = gain
    u = [float(np.mean([removed(s) for s in stages if s.system == name])) for name in systems]
    v = [float(np.mean([s.achieved_loss for s in stages if s.system == name])) for name in systems]
    return systems, grid[np.isfinite(grid).all(axis=1)], np.array(u), np.array(v)


def resampled_betas(grid: Floats, u: Floats, v: Floats, draws: int = 500) -> Floats:
    """beta of resamples of tasks, the same resamples for every reader with the same tasks."""
    rng = np.random.default_rng(0)
    picks = rng.integers(0, len(grid), size=(draws, len(grid)))
    design = np.stack([u, -v], axis=1)
    means = grid[picks].mean(axis=1)
    a, b = np.linalg.lstsq(design, means.T, rcond=None)[0]
    return np.asarray(np.where(a > 0, b / np.where(a > 0, a, 1), np.inf))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="run folder")
    parser.add_argument("--readers", required=True, metavar="A,B", help="weakest first")
    parser.add_argument("--tasks", type=int, default=16, help="tasks to score")
    args = parser.parse_args()
    draws: dict[str, Floats] = {}
    report: dict[str, Any] = {}
    for name in args.readers.split(","):
        systems, grid, u, v = table(*asyncio.run(gains_of(args.run, name, args.tasks)))
        beta = regression(grid, u, v)
        draws[name] = resampled_betas(grid, u, v)
        means = dict(zip(systems, grid.mean(axis=0).round(2).tolist(), strict=True))
        interval = [round(beta.low, 2), round(beta.high, 2)]
        report[name] = {"beta_norm": round(beta.value, 2), "90%": interval, "identified": beta.identified}
        report[name] |= {"removal_pays": beta.removal_pays, "n": beta.n, "gains": means}
        print(f"{name}: {report[name]}", flush=True)
    names = list(draws)
    report["u"], report["v"] = (dict(zip(systems, x.round(3).tolist(), strict=True)) for x in (u, v))
    report["order"] = {f"{a} < {b}": float((draws[a] < draws[b]).mean()) for a, b in pairwise(names)}
    print(json.dumps(report))


if __name__ == "__main__":
    main()
