"""A relay that saw the answer is flagged; one that relieves its reader is not."""

import numpy as np

from relaybench.information.leak import leak, unsourced
from relaybench.information.relay_loss import relay_loss

from .registers import SETTINGS


def test_a_leaking_relay_is_flagged() -> None:
    drawn = SETTINGS["leak"].sample(2_000, np.random.default_rng(0))
    found = leak(relay_loss(drawn.full, drawn.relay), unsourced("t1", {"key": "4821"}, "It is 4821.", "Ada: 7754"))
    assert found.negative
    assert found.unsourced == ("t1: 4821",)
    assert found.suspected


def test_relief_alone_is_no_leak() -> None:
    drawn = SETTINGS["query-aware"].sample(200, np.random.default_rng(0))
    distracted = drawn.full + np.random.default_rng(1).uniform(0.5, 1.0, 200)
    found = leak(relay_loss(distracted, drawn.relay), unsourced("t1", {"key": "4821"}, "It is 4821.", "Ada: 4821."))
    assert found.negative
    assert not found.suspected


def test_values_are_compared_whole() -> None:
    assert unsourced("t", {"a": "48"}, "48", "4821") == ["t: 48"]
    assert unsourced("t", {"a": "48"}, "nothing", "4821") == []
