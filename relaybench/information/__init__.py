"""The instruments: what a relay removed, what it lost, how complex it had to be, and what that predicts.

Symbols as in the paper: M the upstream context, X the next subtask, Y its target, m the relay. Everything is in nats
(`bits` converts), everything is conditional on X, and every figure comes with its interval over tasks. Negative
losses are reported as they are: a reader that is distracted by M gains from a relay (docs/estimators.md).
"""

from __future__ import annotations

from relaybench.information.capability import Beta, break_even, regression, slope
from relaybench.information.complexity import Bracket, Rung, complexity
from relaybench.information.context_reduction import Share, chain_rule_gap, context_reduction, rate, share_removed
from relaybench.information.gain import Agreement, agreement, stage_gain
from relaybench.information.leak import Leak, leak, unsourced
from relaybench.information.relay_loss import bits, halves, information, reader_gain, relay_loss, relief, strongest
from relaybench.information.targets import answer_nll, joint_nll

__all__ = [
    "Agreement",
    "Beta",
    "Bracket",
    "Leak",
    "Rung",
    "Share",
    "agreement",
    "answer_nll",
    "bits",
    "break_even",
    "chain_rule_gap",
    "complexity",
    "context_reduction",
    "halves",
    "information",
    "joint_nll",
    "leak",
    "rate",
    "reader_gain",
    "regression",
    "relay_loss",
    "relief",
    "share_removed",
    "slope",
    "stage_gain",
    "strongest",
    "unsourced",
]
