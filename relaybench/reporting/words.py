"""Words: how figures are written, the same in every table: a number is never without its interval and n."""

from __future__ import annotations

from collections.abc import Sequence

from relaybench.records import Decoding
from relaybench.reporting.statistics import Difference, Estimate

NOTHING = "-"


def share(estimate: Estimate | None) -> str:
    """A proportion: "0.214 [.16,.27]"."""
    return NOTHING if estimate is None else f"{estimate.value:.3f} {_bracket(estimate, _short)}"


def difference(found: Difference | None, tasks: int) -> str:
    """A paired difference: "-0.029 [-.07,+.01]", with its n where that is not the row's."""
    if found is None:
        return NOTHING
    shown = f"{found.value:+.3f} {_bracket(found, _signed)}"
    return shown if found.n == tasks else f"{shown} n={found.n:,}"


def p_value(found: Difference | None) -> str:
    """ ".21", "<.001", "1"."""
    if found is None:
        return NOTHING
    if found.p < 0.001:
        return "<.001"
    return f"{found.p:.3f}".lstrip("0") if found.p < 0.1 else _short(found.p)


def amount(estimate: Estimate | None) -> str:
    """A mean without its interval, for columns where there is no room: "5,912"."""
    return NOTHING if estimate is None else number(estimate.value)


def range_(estimate: Estimate | None) -> str:
    """A mean of any size with its interval: "5,912 [5,790..6,040]"."""
    return NOTHING if estimate is None else f"{number(estimate.value)} {_bracket(estimate, number, '..')}"


def number(value: float) -> str:
    """Three or more digits that matter, thousands set apart."""
    if abs(value) >= 100 or value == round(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def decoding(settings: Decoding) -> str:
    """ "greedy" or "temperature 0.7"."""
    if settings.temperature == 0:
        return "greedy"
    nucleus = "" if settings.top_p == 1 else f", top_p {settings.top_p:g}"
    return f"temperature {settings.temperature:g}{nucleus}"


def seeds(values: Sequence[int]) -> str:
    """ "seed 0" or "seeds 0-3"."""
    if len(values) == 1:
        return f"seed {values[0]}"
    run = list(range(values[0], values[-1] + 1)) == list(values)
    return f"seeds {values[0]}-{values[-1]}" if run else f"seeds {', '.join(map(str, values))}"


def _bracket(figure: Estimate | Difference, write: object, between: str = ",") -> str:
    if figure.low is None or figure.high is None:
        return "[?]"
    assert callable(write)
    return f"[{write(figure.low)}{between}{write(figure.high)}]"


def _short(value: float) -> str:
    """Two decimals without the leading zero: ".16", "1"."""
    text = f"{value:.2f}"
    return "1" if text == "1.00" else text.replace("0.", ".", 1)


def _signed(value: float) -> str:
    text = _short(abs(value))
    return text if text == ".00" else ("-" if value < 0 else "+") + text
