"""NLLs of targets from token log-probabilities."""

import numpy as np
import pytest

from relaybench.information.targets import answer_nll, joint_nll


def test_valid_targets_add_up() -> None:
    assert joint_nll([[-1.0, -1.0]]) == pytest.approx(2.0)
    assert joint_nll([[np.log(0.25)], [np.log(0.5)]]) == pytest.approx(-np.log(0.75))
    assert joint_nll([[-900.0], [-900.0]]) == pytest.approx(900 - np.log(2))
    with pytest.raises(ValueError, match="a target is needed"):
        joint_nll([])


def test_the_form_around_an_answer_is_left_out() -> None:
    assert answer_nll([-5.0, -1.0, -2.0], [False, True, True]) == pytest.approx(3.0)
    with pytest.raises(ValueError, match="shorter|longer"):
        answer_nll([-1.0], [True, False])
