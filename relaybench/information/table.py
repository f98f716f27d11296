"""The table of a measurement: one block a model and worker, a line a relay, every figure with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan

import msgspec
from msgspec import Struct

from relaybench.information.cells import Cell
from relaybench.information.gain import Agreement, agreement
from relaybench.information.instruments import Cost
from relaybench.reporting.flat import write_csv, write_json
from relaybench.reporting.statistics import Estimate
from relaybench.reporting.table import render

SIGNS = {1: "+", 0: "?", -1: "-"}


class Measured(Struct, frozen=True):
    """A measurement of one run."""

    run: str
    reference: str
    readers: tuple[str, ...]
    targets: str
    """Where they are from."""
    cells: list[Cell]
    cost: Cost
    noise: Mapping[str, float]
    """Noise floor of each reader's engine, nats a token."""
    rollout_seconds: float
    """Wall seconds of the calls of the run itself, summed."""

    def show(self, form: str) -> str:
        """As "table", "md", "csv" or "json"."""
        if form == "json":
            return write_json(self)
        if form == "csv":
            return write_csv([_flat(cell) for cell in self.cells])
        blocks = [_block(name, group, form) for name, group in _groups(self.cells).items()]
        return "\n\n".join([*blocks, _notes(self)])

    def agreement(self) -> Agreement | None:
        """G_NLL against the gain in success, over cells; None for fewer than two where that is known."""
        known = [cell for cell in self.cells if not isnan(cell.seen.value)]
        if len(known) < 2:
            return None
        return agreement([cell.gain.value for cell in known], [cell.seen.value for cell in known])


def _groups(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(f"{cell.engine}, relays into {cell.worker}", []).append(cell)
    return groups


HEADINGS = (
    "relay",
    "n",
    "rate tokens",
    "rate nats",
    "H(M|m)",
    "u",
    "I(M;Y|X)",
    "Delta_strong",
    "lost",
    "Delta answers",
    "G_NLL",
    "sign",
    "gain seen",
)


def _block(name: str, cells: Sequence[Cell], form: str) -> str:
    grid = [list(HEADINGS), *(_line(cell) for cell in cells)]
    if form != "md":
        return f"{name} (nats)\n{render(grid)}"
    lines = ["| " + " | ".join(row) + " |" for row in grid]
    return "\n".join([f"**{name}** (nats)", "", lines[0], "|" + "---|" * len(HEADINGS), *lines[1:]])


def _line(cell: Cell) -> list[str]:
    name = cell.system + (" (leak?)" if cell.leak.suspected else "")
    u = "-" if cell.share is None else f"{cell.share.value:.2f} [{cell.share.low:.2f},{cell.share.high:.2f}]"
    u += "" if cell.share is None or cell.share.adequate else " *"
    return [
        name,
        str(cell.tasks),
        f"{cell.rate_tokens.value:.0f}",
        f"{cell.rate.value:.0f}",
        f"{cell.reduction.value:.0f}",
        u,
        figure(cell.task_information),
        figure(cell.delta_strong),
        "-" if isnan(cell.achieved_loss.value) else f"{cell.achieved_loss.value:.0%}",
        figure(cell.answer_delta),
        figure(cell.gain),
        SIGNS[cell.predicted],
        figure(cell.seen),
    ]


def figure(estimate: Estimate) -> str:
    """ "+1.23 [+0.91,+1.55]"; "-" for what is not known."""
    if isnan(estimate.value):
        return "-"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:+.2f}"
    return f"{estimate.value:+.2f} [{estimate.low:+.2f},{estimate.high:+.2f}]"


def _notes(measured: Measured) -> str:
    cost = measured.cost
    spent = f"{cost.target_scores:,} targets scored in {cost.target_seconds:.1f} s"
    spent += f" (calls of the run: {measured.rollout_seconds:.1f} s)" if measured.rollout_seconds else ""
    spent += f", {cost.code_scores:,} code lengths in"
    lines = [
        f"Readers: {', '.join(measured.readers)}; reference of code lengths: {measured.reference}.",
        f"Targets: {measured.targets}. 95% intervals over tasks. {spent} {cost.code_seconds:.1f} s.",
        "Noise floor: " + ", ".join(f"{name} {gap:.1e} nats a token" for name, gap in measured.noise.items()) + ".",
        "lost: share of needed values that the relays do not hold. Delta answers: on their tokens, readers calibrated.",
        "sign: of G_NLL, ? where its interval holds 0. gain seen: success minus that of sas-contextflow.",
    ]
    if any(cell.share is not None and not cell.share.adequate for cell in measured.cells):
        lines.append("* the reference copies badly (floor above 2% of the ceiling): do not trust this u.")
    found = measured.agreement()
    if found is not None:
        interval = f"[{found.low:.2f},{found.high:.2f}]"
        lines.append(f"G_NLL and gain seen over {found.n} cells: r = {found.correlation:.2f} {interval}.")
    leaks = [cell for cell in measured.cells if cell.leak.suspected]
    lines += [f"Leak? {cell.system}: {'; '.join(cell.leak.unsourced[:3])}" for cell in leaks]
    return "\n".join(lines)


def _flat(cell: Cell) -> dict[str, str | int | float | bool | None]:
    flat: dict[str, str | int | float | bool | None] = {}
    for name, value in msgspec.structs.asdict(cell).items():
        if isinstance(value, Estimate):
            flat |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high, f"{name}_n": value.n}
        elif isinstance(value, str | int):
            flat[name] = value
    if cell.share is not None:
        flat |= {"u": cell.share.value, "u_low": cell.share.low, "u_high": cell.share.high}
    return flat | {"sign": cell.predicted, "leak": cell.leak.suspected}
