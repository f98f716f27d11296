"""Calibrated readers: what must be guessed costs what guessing costs, what is known stays known."""

import numpy as np
import pytest

from relaybench.information.calibration import Slot, calibrated

N = 4_000


def slots(hallucinates: float) -> tuple[list[Slot], list[bool]]:
    """A value of two digits a task: known to the reader in one group, guessed in the other, where the reader gives
    99% to a wrong value."""
    rng = np.random.default_rng(0)
    made = []
    for i in range(N):
        ids = (int(rng.integers(1, 10)), int(rng.integers(0, 10)))
        made.append(Slot(f"{i}", "listed", ids, 0.01))
        made.append(Slot(f"{i}", "absent", ids, hallucinates))
    return made, [i % 4 < 2 for i in range(2 * N)]


@pytest.mark.parametrize("hallucinates", [5.0, 20.0])
def test_an_unknown_value_costs_its_entropy_and_a_known_one_next_to_nothing(hallucinates: float) -> None:
    made, half = slots(hallucinates)
    found = calibrated(made, half)
    assert found[1::2].mean() == pytest.approx(np.log(90), abs=0.02)
    assert found[::2].mean() == pytest.approx(0.01, abs=0.005)


def test_a_good_guesser_is_left_alone() -> None:
    made, half = slots(1.0)  # better than the prior: it knows more than the template
    assert calibrated(made, half)[1::2].mean() == pytest.approx(1.0, abs=0.01)


def test_the_weight_is_not_fitted_on_what_it_is_used_on() -> None:
    good, bad = (Slot("a", "g", (1,), 0.0), Slot("b", "g", (1,), 9.0))
    found = calibrated([good, bad], [True, False])
    assert found[0] > good.nll  # the weight of the other half distrusts the model
    assert found[1] == pytest.approx(9.0, abs=0.01)  # and that of this one trusts it


def test_a_group_of_one_side_keeps_the_models_own() -> None:
    assert calibrated([Slot("a", "g", (1,), 3.0)], [True]).tolist() == [3.0]
