"""The world answers the same actions alike, and replies are read as the grammar says."""

import asyncio

import pytest

from relaybench.benchmarks.base import FINISH, Action
from relaybench.benchmarks.ledger import Ledger
from relaybench.benchmarks.ledger.environment import LedgerEnvironment, parse_action
from relaybench.benchmarks.ledger.generate import Line, Sheet, sheet_of
from relaybench.config_benchmarks import LedgerConfig

SHEET = Sheet(
    lines=tuple(
        Line(f"{who}'s badge is {value}.", f"{who}.badge", value)
        for who, value in [("Ada", "4821"), ("Ben", "1930"), ("Cy", "77")]
    ),
    page_size=2,
    question="What are Ada's badge and desk, in this order?",
    record="Ada",
    asked=("badge", "desk"),
    values=("4821", "1930"),
    answer=("4821", "1930"),
)


def play(*actions: str, sheet: Sheet = SHEET):
    async def run():
        environment = LedgerEnvironment(sheet)
        assert await environment.reset() == ""
        results = [await environment.step(action) for action in actions]
        return results, await environment.score()

    return asyncio.run(run())


def test_pages_are_shown_line_by_line_and_only_those_there_are():
    (first, second, third), score = play("open 1", "open 2", "open 3")
    assert first.observation == "Page 1 of 2\nAda's badge is 4821.\nBen's badge is 1930."
    assert second.observation == "Page 2 of 2\nCy's badge is 77."
    assert third.observation == "There is no page 3. The pages are 1 to 2."
    assert [first.done, second.done, third.done] == [False, False, False]
    assert (score.success, score.values) == (False, {"right": 0.0, "submitted": 0.0})


@pytest.mark.parametrize(
    ("said", "right", "success"),
    [("4821, 1930", 1.0, True), ("4821, 1931", 0.5, False), ("1930, 4821", 0.0, False), ("4821", 0.5, False),
     ("4821, 1930, 77", 1.0, False)],
)  # fmt: skip
def test_submit_ends_the_episode_with_the_share_that_is_right(said, right, success):
    (result,), score = play(f"submit {said}")
    assert (result.done, result.reward) == (True, right)
    assert (score.success, score.reward, score.values["right"]) == (success, right, right)


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ("submit 4821", "submit 4821"),
        ("Action: submit 4821", "submit 4821"),
        ("Thought: it is Ada.\nAction: `submit 4821`", "submit 4821"),
        ("**Submit**: 4821, 1930.", "submit 4821, 1930"),
        ("4821", "submit 4821"),
        ("Ada's badge is 4821.", "submit 4821"),
        ("Ada.badge: 4821", "submit 4821"),
        ("4821 or 1930", "submit 4821, 1930"),
        ("open 2", "open 2"),
        ("open page 2", "open 2"),
        ("- open 02: shows page 2", "open 2"),
        ("submit 1\nopen 2", "submit 1"),
    ],
)
def test_replies_are_read_leniently_but_one_way(reply, action):
    assert parse_action(reply, digits=4) == Action(action.split()[0], action)


@pytest.mark.parametrize(
    "reply", ["", "I cannot tell.", "submit", "open the page", "12345", "123", "reopen 2", "__import__('os')"]
)
def test_what_is_no_action_is_none(reply):
    assert parse_action(reply, digits=4) is None


@pytest.mark.parametrize("reply", ["done", "Done.", "finish"])
def test_done_ends_a_subtask_and_so_does_the_shared_word(reply):
    assert parse_action(reply, 4) == Action(FINISH, "done")


def test_the_declared_policy_opens_every_page_then_hands_over():
    from relaybench.records import Context, Message

    ledger = Ledger(LedgerConfig(name="ledger", records=5, fields=2, page_size=4, tasks=1))
    roles = ledger.roles(ledger.tasks()[0])
    for subtask, last in ((roles.parts[0], "done"), (roles.whole, None), (roles.joined(), None)):
        context = Context("w")
        said = []
        for _ in range(4):
            reply = subtask.script(context)
            said.append(reply)
            context.append(Message("assistant", reply or "submit 1"))
            context.append(Message("user", "..."))
        assert said == ["open 1", "open 2", "open 3", last]


@pytest.mark.parametrize("reader", ["scripted", "model"])
@pytest.mark.parametrize("question", ["upstream", "blind"])
def test_every_prototype_has_the_same_step_budget(reader, question):
    ledger = Ledger(LedgerConfig(name="ledger", records=5, fields=2, tasks=1, reader=reader, question=question))
    roles = ledger.roles(ledger.tasks()[0])
    assert sum(part.max_steps for part in roles.parts) == roles.whole.max_steps == roles.joined().max_steps
    assert (roles.whole.script is None) == (reader == "model")


async def test_a_remainder_is_one_number_of_any_length() -> None:
    dials = LedgerConfig(name="ledger", tasks=20, fields=2, asked=2, digits=2, target="remainder")
    ledger = Ledger(dials)
    for task in ledger.tasks():
        answer = sheet_of(task).answer[0]
        action = ledger.parse_action(f"The remainder is {answer}.")
        assert action is not None
        environment = ledger.environment(task)
        await environment.reset()
        assert (await environment.step(action.text)).done
        assert (await environment.score()).success
        system = ledger.roles(task).parts[1].system
        assert system.endswith("with one number.")


def test_the_key_is_told_by_register_noise_and_all() -> None:
    noisy = Ledger(LedgerConfig(name="ledger", tasks=20, fields=2, asked=2, key_noise=0.5))
    keys = [noisy.keys(task) for task in noisy.tasks()]
    assert [list(key) for key in keys] == [list(noisy.needed(task)) for task in noisy.tasks()]
    assert [", ".join(key.values()) for key in keys] == [noisy.targets(task, "answerer")[0] for task in noisy.tasks()]
    assert keys != [noisy.needed(task) for task in noisy.tasks()]
    sums = Ledger(LedgerConfig(name="ledger", tasks=1, fields=2, asked=2, target="remainder"))
    assert list(sums.keys(sums.tasks()[0])) == ["remainder"]
