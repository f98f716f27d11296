"""Prototypes: which graph, and which relay on its edges (paper, section 5.1)."""

from __future__ import annotations

from relaybench.relays.base import RelayEncoder
from relaybench.relays.identity import Identity
from relaybench.rollout.plan import Plan, Roles


def sas(roles: Roles) -> Plan:
    """One worker, all tools, the whole budget."""
    return Plan((roles.whole,))


def sas_plan(roles: Roles) -> Plan:
    """One worker with the parts' sub-instructions, all tools, the whole budget."""
    return Plan((roles.joined(),))


def sas_contextflow(roles: Roles) -> Plan:
    """MAS at infinite bandwidth (Prop. 3.1): the roles in order, each seeing all that came before."""
    return roles.in_order(Identity())


def mas(roles: Roles, relay: RelayEncoder) -> Plan:
    """The roles' graph with `relay` on every pair that carries one."""
    return roles.plan(relay)
