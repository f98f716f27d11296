"""The executor and its workers: order, overlap, layout of prompts, growth, and how each part of a plan may end."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import pytest

from relaybench.benchmarks.base import StepResult, Task
from relaybench.engines.base import EngineError, Request
from relaybench.engines.fake import FakeEngine
from relaybench.engines.model import Model
from relaybench.records import Context, Decoding, Relay
from relaybench.relays.identity import Identity
from relaybench.rollout.executor import Rollout, Setting, execute
from relaybench.rollout.plan import Edge, Plan, Subtask

from .toy import Notebook, Toy

TASK = Task("toy-0", "The task.", "box", {"value": "v0"})


def part(name: str, steps: int = 3, tools: frozenset[str] | None = None) -> Subtask:
    return Subtask(id=name, role=name, system=f"ROLE {name}.", instruction=f"Do {name}.", max_steps=steps, tools=tools)


def role_of(request: Request) -> str:
    """The role whose turn a request is: the last one its messages name."""
    words = " ".join(message.content for message in request.messages)
    return words.rsplit("ROLE ", 1)[1].split(".")[0]


class Says:
    """Each role says its lines one after another, and finishes when it has none left; remembers what was asked."""

    def __init__(self, **lines: Sequence[str]) -> None:
        self.lines = {role: list(said) for role, said in lines.items()}
        self.asked: list[Request] = []

    def __call__(self, request: Request) -> str:
        self.asked.append(request)
        left = self.lines.get(role_of(request), [])
        return left.pop(0) if left else "Action: finish"


class Note:
    """A relay that says who sent it."""

    name = "note@1"
    sees_next_subtask = False
    knows_target = False

    async def encode(self, context: Context, next_subtask: Subtask, budget: int | None = None) -> Relay:
        text = f"note of {context.worker}"
        return Relay(sources=(context.worker,), to=next_subtask.id, encoder=self.name, text=text, rate_tokens=len(text))


def setting(engine: FakeEngine, **changes: object) -> Setting:
    toy = Toy()
    made = Setting(TASK, Model(engine), lambda: Notebook("v0"), toy.parse_action)
    return replace(made, **changes)  # type: ignore[arg-type]


async def run(plan: Plan, says: Says, **changes: object) -> Rollout:
    return await execute(plan, setting(FakeEngine(says), **changes), Notebook("v0"))


async def test_after_identity_the_next_worker_goes_on_in_the_same_token_list() -> None:
    says = Says(a=["Action: look"])
    await run(Plan((part("a"), part("b")), (Edge("a", "b", Identity()),)), says)
    before, after = says.asked[1].token_ids, says.asked[2].token_ids
    assert before is not None
    assert after is not None
    assert list(after[: len(before)]) == list(before)
    assert [m.role for m in says.asked[2].messages].count("system") == 1


async def test_any_other_relay_starts_a_fresh_context_with_its_text_last() -> None:
    says = Says(a=["Action: look"])
    rollout = await run(Plan((part("a"), part("b")), (Edge("a", "b", Note()),)), says)
    system, user = says.asked[2].messages
    assert (system.role, system.content) == ("system", "ROLE b.")
    assert user.content == "The task.\n\nDo b.\n\nFrom a:\nnote of a"
    assert [(r.sources, r.to, r.text) for r in rollout.relays] == [(("a",), "b", "note of a")]


async def test_an_edge_without_encoder_keeps_the_order_and_sends_nothing() -> None:
    says = Says()
    rollout = await run(Plan((part("a"), part("b")), (Edge("a", "b"),)), says)
    assert [role_of(request) for request in says.asked] == ["a", "b"]
    assert rollout.relays == []
    assert "From" not in says.asked[1].messages[-1].content


async def test_independent_workers_run_side_by_side_and_the_last_waits_for_all() -> None:
    parts = (part("a"), part("b"), part("c"), part("d"))
    says = Says()
    engine = FakeEngine(says, latency=0.02)
    plan = Plan(parts, tuple(Edge(name, "d", Note()) for name in "abc"))
    rollout = await execute(plan, setting(engine), Notebook("v0"))
    assert engine.most_at_once == 3
    assert role_of(says.asked[-1]) == "d"
    assert (
        says.asked[-1].messages[-1].content.endswith("From a:\nnote of a\n\nFrom b:\nnote of b\n\nFrom c:\nnote of c")
    )
    assert set(rollout.records) == set("abcd")


@dataclass
class FollowUp:
    """A planner that sends one more worker after each that found something, until there are three."""

    asked: list[str] = field(default_factory=list)

    def revise(self, plan: Plan, finished: Context, started: Collection[str]) -> Plan:
        self.asked.append(finished.worker)
        found = any("The value is" in message.content for message in finished.messages())
        if not found or len(plan.subtasks) == 3:
            return plan
        name = f"w{len(plan.subtasks)}"
        return plan.grow([part(name)], [Edge(finished.worker, name, Note())], started=started)


async def test_a_plan_grows_while_it_runs_and_the_planner_is_asked_after_each_worker() -> None:
    planner, says = FollowUp(), Says(w0=["Action: look"], w1=["Action: look"], w2=["Action: look"])
    rollout = await run(Plan((part("w0"),), budget=9), says, planner=planner)
    assert planner.asked == ["w0", "w1", "w2"]
    assert list(rollout.records) == ["w0", "w1", "w2"]
    assert [(r.sources, r.to) for r in rollout.relays] == [(("w0",), "w1"), (("w1",), "w2")]
    assert [s.id for s in rollout.plan.subtasks] == ["w0", "w1", "w2"]


async def test_a_plan_cannot_grow_past_the_tasks_budget() -> None:
    with pytest.raises(ValueError, match="budget of 5"):
        await run(Plan((part("w0"),), budget=5), Says(w0=["Action: look"]), planner=FollowUp())


async def test_when_the_task_is_done_nothing_more_is_started() -> None:
    says = Says(a=["Action: write v0"])
    rollout = await run(Plan((part("a"), part("b")), (Edge("a", "b"),)), says)
    assert list(rollout.records) == ["a"]
    assert rollout.records["a"].stop == "done"


async def test_a_forbidden_tool_is_refused_by_name_and_costs_a_step() -> None:
    says = Says(a=["Action: write v0"])
    rollout = await run(Plan((part("a", tools=frozenset({"look", "finish"})),)), says)
    record = rollout.records["a"]
    assert [step.outcome for step in record.steps] == ["forbidden", "finish"]
    assert "write is not available in your role. Your tools: finish, look." in record.messages[3].content


async def test_a_reply_without_an_action_is_answered_and_costs_a_step() -> None:
    rollout = await run(Plan((part("a", steps=2),)), Says(a=["hm", "hm"]))
    record = rollout.records["a"]
    assert [step.outcome for step in record.steps] == ["ill_formed", "ill_formed"]
    assert record.stop == "budget"


async def test_a_full_context_ends_the_worker_and_not_the_episode() -> None:
    engine = FakeEngine(Says(a=["Action: look"] * 3), context_limit=490)
    short = setting(engine, model=Model(engine, Decoding(max_tokens=400)))
    rollout = await execute(Plan((part("a"), part("b")), (Edge("a", "b", Note()),)), short, Notebook("v0"))
    assert rollout.records["a"].stop == "context_full"
    assert rollout.records["b"].stop == "finished"


async def test_a_worker_that_fails_takes_its_neighbours_down_before_the_environment_closes() -> None:
    def trouble(request: Request, number: int) -> Exception | None:
        return EngineError("down") if role_of(request) == "a" else None

    engine = FakeEngine(Says(b=["Action: look"] * 3), latency=0.01, trouble=trouble)
    with pytest.raises(EngineError, match="down"):
        await execute(Plan((part("a"), part("b"))), setting(engine), Notebook("v0"))
    assert engine.most_at_once == 2


async def test_a_worker_may_know_another_text_of_the_task_and_is_told_it_once() -> None:
    a, b, c = replace(part("a"), task="A part of it."), replace(part("b"), task="A part of it."), part("c")
    says = Says()
    edges = tuple(Edge(x, y, Identity()) for x, y in (("a", "b"), ("a", "c"), ("b", "c")))
    await run(Plan((a, b, c), edges), says)
    first, second, third = ([message.content for message in request.messages] for request in says.asked)
    assert "A part of it." in first[1]
    assert "The task." not in first[1]
    assert second[-1].splitlines()[0] == "ROLE b."
    assert "A part of it." not in second[-1]
    assert "The task." in third[-1]


async def test_a_step_may_end_its_worker_and_leave_the_task_open() -> None:
    class Desk(Notebook):
        async def step(self, action: str) -> StepResult:
            return StepResult("Handed in.", finished=True)

    says = Says(a=["Action: hand in", "Action: never asked"], b=["Action: hand in"])
    made = setting(FakeEngine(says))
    rollout = await execute(Plan((part("a"), part("b")), (Edge("a", "b", Note()),)), made, Desk("v0"))
    assert [(name, record.stop, len(record.steps)) for name, record in rollout.records.items()] == [
        ("a", "finished", 1),
        ("b", "finished", 1),
    ]
