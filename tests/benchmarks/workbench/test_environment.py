"""One WorkBench task as a world: calls in, observations out, the official verdict at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from relaybench.benchmarks.base import FINISH, Action
from relaybench.benchmarks.workbench import WorkBench
from relaybench.benchmarks.workbench.environment import WorkBenchEnvironment, parse_action
from relaybench.config_benchmarks import WorkBenchConfig
from relaybench.errors import UserError

DELETE = 'email.delete_email(email_id="00000001")'

REPLIES: dict[str, str | None] = {
    f"Thought: gone.\nAction: {DELETE}": "email.delete_email",
    f"**Action:** `{DELETE}`": "email.delete_email",
    DELETE: "email.delete_email",
    f"I will do it.\n{DELETE}\nThen I am done.": "email.delete_email",
    'Action: email.send_email(recipient="a@b.c",\n  subject="s",\n  body="x")\nObservation: sent': "email.send_email",
    'Action: email.send_email.func(recipient="a@b.c", subject="s", body="one\ntwo")': "email.send_email",
    "Action: finish": FINISH,
    "Thought: done\nAction: Finish()": FINISH,
    "Action: email.no_such_tool()": "email.no_such_tool",
    "Action: delete the email": None,
    "I think the task is done.": None,
    "": None,
}


@pytest.mark.parametrize(("reply", "tool"), REPLIES.items())
def test_the_action_of_a_reply(reply: str, tool: str | None) -> None:
    action = parse_action(reply)
    assert (action and action.tool) == tool


def make(data: Path, rules: str = "v2", split: str = "multi_domain") -> WorkBench:
    return WorkBench(WorkBenchConfig.model_validate({"name": "workbench", "rules": rules, "split": split}), data)


async def observations(environment: WorkBenchEnvironment, *actions: str) -> list[str]:
    await environment.reset()
    return [(await environment.step(action)).observation for action in actions]


@pytest.mark.parametrize("rules", ["v1", "v2"])
async def test_the_right_change_scores_and_says_whether_one_was_called_for(data: Path, rules: str) -> None:
    benchmark = make(data, rules)
    acting, idle = benchmark.tasks()
    environment = benchmark.environment(acting)
    await observations(environment, 'email.search_emails(query="lunch")', DELETE)
    score = await environment.score()
    assert score.success
    assert score.values == {"unwanted_side_effects": 0.0, "exact_match": 1.0, "has_action": 1.0}
    environment = benchmark.environment(idle)
    await observations(environment, DELETE)
    score = await environment.score()
    assert not score.success
    assert score.values == {"unwanted_side_effects": 1.0, "exact_match": 0.0, "has_action": 0.0}


async def test_results_and_failures_are_observations(data: Path) -> None:
    benchmark = make(data)
    seen = await observations(
        benchmark.environment(benchmark.tasks()[0]),
        'email.get_email_information_by_id(email_id="00000001", field="subject")',
        'company_directory.find_email_address("bo")',
        'email.delete_email(id="1")',
        "email.delete_mail()",
        "email.delete_email(email_id=mail_id)",
        "email.delete_email('1', '2', '3')",
        'customer_relationship_manager.search_customers(customer_name="Cy")',
    )
    assert seen[0] == '{"subject":"Lunch"}'
    assert seen[1] == '["bo.ray@atlas.com"]'
    assert seen[2].startswith("TypeError: ")
    assert seen[2].endswith("email.delete_email takes email_id.")
    assert seen[3] == "There is no tool email.delete_mail; did you mean 'email.delete_email'?"
    assert seen[4].startswith("NameError")
    assert seen[5].startswith("TypeError")
    assert '"notes":null' in seen[6]


async def test_a_positional_call_counts_as_the_same_call_by_name(data: Path) -> None:
    benchmark = make(data)
    environment = benchmark.environment(benchmark.tasks()[0])
    await observations(environment, 'email.delete_email("00000001")')
    assert (await environment.score()).values["exact_match"] == 1.0


async def test_reset_starts_over(data: Path) -> None:
    benchmark = make(data)
    environment = benchmark.environment(benchmark.tasks()[1])
    await observations(environment, DELETE)
    assert await observations(environment, 'email.get_email_information_by_id("00000001", "subject")') == [
        '{"subject":"Lunch"}'
    ]
    assert (await environment.score()).success


def test_a_benchmark_names_its_rules_and_refuses_v2_elsewhere(data: Path) -> None:
    v1, v2 = make(data, "v1"), make(data, "v2")
    assert v2.label == "workbench multi_domain (v2)"
    assert v1.revision != v2.revision
    assert len(make(data, "v1", "all").tasks()) == 12
    for split in ("email", "all"):
        with pytest.raises(UserError, match="set benchmark.rules to v1"):
            make(data, "v2", split)


def test_what_a_sufficient_relay_carries(data: Path) -> None:
    acting, idle = make(data).tasks()
    assert make(data).needed(acting) == {
        "RESULT": "ACTION_NEEDED",
        "action": "email.delete_email",
        "email_id": "00000001",
    }
    assert make(data).needed(idle) == {"RESULT": "NO_ACTION"}


async def test_the_ground_truth_solves_every_real_task_under_both_rules(shared: Path) -> None:
    for rules in ("v1", "v2"):
        benchmark = make(shared / "data" / "workbench", rules)
        for task in benchmark.tasks()[::7]:
            environment = benchmark.environment(task)
            actions = [parse_action(f"Action: {text}") for text in task.data["truth"]]
            assert all(isinstance(action, Action) for action in actions)
            await observations(environment, *(action.text for action in actions if action))
            assert (await environment.score()).success, task.id
