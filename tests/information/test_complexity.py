"""The bracket of delta holds the truth, for blind and for query-aware encoders."""

from dataclasses import replace

import numpy as np
import pytest

from relaybench.information.complexity import Rung, complexity, loss_limit
from relaybench.information.relay_loss import halves

from .registers import SETTINGS, Registers

BLIND = [name for name, system in SETTINGS.items() if not (system.aware or system.leak or system.copies > 1)]
N = 2_000


def sweep(system: Registers) -> tuple[np.ndarray, np.ndarray, list[Rung]]:
    """All budgets of a blind encoder, on the same tasks."""
    drawn = {
        kept: replace(system, kept=kept).sample(N, np.random.default_rng(5)) for kept in range(system.registers + 1)
    }
    rungs = [Rung(f"{kept} kept", d.relay_code, d.relay - d.full) for kept, d in drawn.items()]
    return drawn[0].none, drawn[0].full, rungs


@pytest.mark.parametrize("name", BLIND)
def test_a_blind_bracket_holds_the_truth(name: str) -> None:
    system = SETTINGS[name]
    none, full, rungs = sweep(system)
    half = halves([str(i) for i in range(N)])
    found = complexity(none, full, rungs, half, epsilon=0.005, query_aware=False)
    assert found.upper is not None
    assert found.lower.low is not None
    assert found.lower.low <= system.truth.complexity <= found.upper.value + 1e-9
    assert found.upper.value == pytest.approx(system.registers * np.log(system.values))  # what this encoder needs
    assert not found.crossed


@pytest.mark.parametrize("name", ["query-aware", "query-aware, noisy", "xor, aware"])
def test_an_aware_encoder_closes_the_bracket_up_to_the_key_noise(name: str) -> None:
    system = SETTINGS[name]
    drawn = system.sample(N, np.random.default_rng(6))
    rungs = [
        Rung("none", 0 * drawn.none, drawn.none - drawn.full),
        Rung("aware", drawn.relay_code, drawn.relay - drawn.full),
    ]
    found = complexity(
        drawn.none, drawn.full, rungs, halves([str(i) for i in range(N)]), epsilon=0.01, query_aware=True
    )
    assert found.rung == "aware"
    assert found.upper is not None
    assert found.upper.value - found.lower.value == pytest.approx(system.key_entropy, abs=0.1)


def test_where_no_rung_passes_there_is_no_upper_bound() -> None:
    drawn = SETTINGS["one of 8"].sample(N, np.random.default_rng(7))
    rungs = [Rung("half", drawn.relay_code, drawn.relay - drawn.full)]
    found = complexity(drawn.none, drawn.full, rungs, halves(list("abcd") * 500), epsilon=0.01, query_aware=False)
    assert (found.upper, found.rung) == (None, None)
    assert loss_limit([0.1]) == float("inf")


def test_a_reader_that_is_bad_without_a_relay_crosses_the_bracket() -> None:
    drawn = SETTINGS["query-aware"].sample(N, np.random.default_rng(8))
    rungs = [Rung("aware", drawn.relay_code, drawn.relay - drawn.full)]
    found = complexity(
        drawn.none + 9, drawn.full, rungs, halves([str(i) for i in range(N)]), epsilon=0.01, query_aware=True
    )
    assert found.crossed
