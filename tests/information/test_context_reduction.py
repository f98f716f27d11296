"""Context reduction: the additive form, the direct one, and the share between floor and ceiling."""

import numpy as np
import pytest

from relaybench.information.context_reduction import chain_rule_gap, context_reduction, rate, share_removed

from .registers import SETTINGS


@pytest.mark.parametrize("name", [name for name in SETTINGS if name != "leak"])
def test_the_additive_form_is_the_direct_one_for_a_consistent_model(name: str) -> None:
    system = SETTINGS[name]
    drawn = system.sample(25_000, np.random.default_rng(0))
    reduction = context_reduction(drawn.context_code, drawn.relay_code).value
    assert reduction == pytest.approx(system.truth.reduction, rel=0.01, abs=0.02)
    assert rate(drawn.relay_code).value == pytest.approx(system.truth.rate, rel=0.01, abs=0.02)
    assert chain_rule_gap(drawn.direct_code, drawn.context_code, drawn.relay_code).value == pytest.approx(0)


def test_noise_in_the_relay_is_neither_rate_about_m_nor_reduction() -> None:
    drawn = SETTINGS["one of 8"].sample(50, np.random.default_rng(0))
    chatter = np.full(50, 3.0)  # drawn by the encoder, not from M
    noisy = drawn.relay_code + chatter
    assert rate(noisy, chatter).value == pytest.approx(rate(drawn.relay_code).value)
    plain = context_reduction(drawn.context_code, drawn.relay_code)
    assert context_reduction(drawn.context_code, noisy, chatter).value == pytest.approx(plain.value)


def test_the_share_lies_between_its_anchors_and_is_not_clamped() -> None:
    rng = np.random.default_rng(0)
    ceiling, floor = rng.normal(100, 5, 200), rng.normal(1, 0.1, 200)
    found = share_removed((ceiling + floor) / 2, floor, ceiling)
    assert found.value == pytest.approx(0.5)
    assert found.low <= 0.5 <= found.high
    assert found.adequate
    assert share_removed(ceiling + 5, floor, ceiling).value > 1
    assert not share_removed(ceiling, floor + 9, ceiling).adequate
    with pytest.raises(ValueError, match="not above the floor"):
        share_removed(ceiling, ceiling, floor)
