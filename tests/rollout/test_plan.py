"""Plans: graphs that may grow, and roles that serve every prototype."""

from dataclasses import replace

import pytest

from relaybench.relays.identity import Identity
from relaybench.rollout.plan import Edge, Plan, Roles, Subtask
from relaybench.rollout.prototypes import mas, sas, sas_contextflow, sas_plan


def part(name: str, steps: int = 2) -> Subtask:
    return Subtask(id=name, role=name, system=f"You are {name}.", instruction=f"Do {name}.", max_steps=steps)


ROLES = Roles("test@1", whole=part("whole", 6), parts=(part("a"), part("b"), part("c")), pairs=(("a", "b"), ("a", "c")))


def test_a_subtask_is_ready_when_its_upstream_has_finished() -> None:
    plan = Plan((part("a"), part("b"), part("c")), (Edge("a", "b"), Edge("a", "c")))
    assert [s.id for s in plan.ready(finished=set(), started=set())] == ["a"]
    assert [s.id for s in plan.ready(finished={"a"}, started={"a"})] == ["b", "c"]
    assert plan.ready(finished={"a"}, started={"a", "b", "c"}) == []


def test_a_plan_must_be_acyclic_and_know_its_subtasks() -> None:
    with pytest.raises(ValueError, match="cycle"):
        Plan((part("a"), part("b")), (Edge("a", "b"), Edge("b", "a")))
    with pytest.raises(ValueError, match="unknown subtasks"):
        Plan((part("a"),), (Edge("a", "z"),))
    with pytest.raises(ValueError, match="must differ"):
        Plan((part("a"), part("a")))


def test_phase_budgets_stay_within_the_total_for_every_prototype() -> None:
    for plan in (sas(ROLES), sas_plan(ROLES), sas_contextflow(ROLES), mas(ROLES, Identity())):
        assert plan.total_steps <= ROLES.whole.max_steps
    with pytest.raises(ValueError, match="more than the task's budget of 5"):
        mas(replace(ROLES, whole=part("whole", 5)), Identity())


def test_growth_adds_but_never_touches_what_has_started() -> None:
    plan = Plan((part("a"),), budget=6)
    grown = plan.grow([part("b")], [Edge("a", "b")], started={"a"})
    assert [s.id for s in grown.subtasks] == ["a", "b"]
    assert plan.subtasks == (part("a"),)
    with pytest.raises(ValueError, match="already started"):
        grown.grow([part("c")], [Edge("c", "a")], started={"a"})
    with pytest.raises(ValueError, match="budget"):
        plan.grow([part("b", 5)], started={"a"})


def test_growth_keeps_topological_order_when_a_node_comes_before_a_waiting_one() -> None:
    plan = Plan((part("a"), part("b")), (Edge("a", "b"),))
    grown = plan.grow([part("c")], [Edge("a", "c"), Edge("c", "b")], started={"a"})
    assert [s.id for s in grown.subtasks] == ["a", "c", "b"]


def test_contextflow_has_an_identity_edge_for_every_earlier_to_later_pair() -> None:
    plan = sas_contextflow(ROLES)
    assert {(e.source, e.target) for e in plan.edges} == {("a", "b"), ("a", "c"), ("b", "c")}
    assert all(isinstance(e.encoder, Identity) for e in plan.edges)


def test_mas_has_edges_on_the_benchmarks_pairs_alone() -> None:
    assert [(e.source, e.target) for e in mas(ROLES, Identity()).edges] == [("a", "b"), ("a", "c")]


def test_sas_plan_says_every_part_in_order() -> None:
    words = sas_plan(ROLES).subtasks[0].instruction
    assert [words.index(f"{i}. Do {name}.") for i, name in enumerate("abc", 1)] == sorted(
        words.index(f"Do {name}.") - 3 for name in "abc"
    )
    assert sas_plan(ROLES).subtasks[0].system == sas(ROLES).subtasks[0].system


@pytest.mark.parametrize(("steps", "shares"), [(6, [2, 2, 2]), (15, [5, 5, 5]), (8, [3, 3, 2]), (3, [1, 1, 1])])
def test_another_number_of_steps_is_shared_out_over_the_parts(steps: int, shares: list[int]) -> None:
    roles = ROLES.within(steps)
    assert [p.max_steps for p in roles.parts] == shares
    assert roles.whole.max_steps == roles.joined().max_steps == mas(roles, Identity()).total_steps == steps


def test_shares_follow_the_benchmarks_own_and_none_is_empty() -> None:
    roles = replace(ROLES, parts=(part("a", 8), part("b", 5), part("c", 5), part("d", 5), part("e", 7)))
    assert [p.max_steps for p in roles.within(15).parts] == [4, 3, 3, 2, 3]
    with pytest.raises(ValueError, match="4 steps are too few for 5 parts"):
        roles.within(4)
