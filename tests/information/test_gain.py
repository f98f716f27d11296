"""The stage-wise gain: Theorem 4.1 on small random systems, and how predictions are judged."""

import numpy as np
import pytest

from relaybench.information.gain import agreement, stage_gain

Joint = np.ndarray
M, Y, RELAY = 0, 1, 2


def entropy(p: Joint, *keep: int) -> float:
    """Entropy of some axes of a joint distribution, nats."""
    marginal = p.sum(axis=tuple(i for i in range(p.ndim) if i not in keep)).ravel()
    positive = marginal[marginal > 0]
    return float(-(positive * np.log(positive)).sum())


def information(p: Joint, i: int, j: int) -> float:
    return entropy(p, i) + entropy(p, j) - entropy(p, i, j)


def random_system(rng: np.random.Generator) -> Joint:
    """p(M, Y, m) of four contexts, three targets and a relay that is a function of M or a noisy one."""
    my = rng.dirichlet(np.full(12, 0.5)).reshape(4, 3)
    relay = np.eye(4)[rng.integers(4, size=4)] if rng.random() < 0.5 else rng.dirichlet(np.ones(4), size=4)
    return my[:, :, None] * relay[:, None, :]


def test_theorem_4_1_holds_and_beta_up_to_one_never_flips_the_sign() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        joint, beta = random_system(rng), float(rng.uniform(0, 5))
        removed = entropy(joint, M, RELAY) - entropy(joint, RELAY)
        lost = information(joint, M, Y) - information(joint, RELAY, Y)
        assert -1e-12 <= lost <= removed + 1e-12
        of_context = entropy(joint, M) - beta * information(joint, M, Y)
        of_relay = information(joint, M, RELAY) - beta * information(joint, RELAY, Y)
        gain = stage_gain([removed], [lost], beta).value
        assert gain == pytest.approx(of_context - of_relay, abs=1e-12)
        assert beta > 1 or gain > -1e-12


def test_agreement_counts_signs_and_correlates() -> None:
    found = agreement([1.0, 2.0, -1.0, -3.0, 0.5], [0.9, 2.2, -0.8, -2.9, -0.1])
    assert found.signs.value == 0.8
    assert found.majority == 0.6
    assert found.low < found.correlation < found.high <= 1
    assert np.isnan(agreement([1.0, 1.0], [1.0, 2.0]).correlation)
    with pytest.raises(ValueError, match="two cells"):
        agreement([1.0], [1.0])
