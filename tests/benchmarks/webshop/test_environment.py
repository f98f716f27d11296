"""The shop as an environment: the expert buys, nothing raises, visitors do not disturb each other."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relaybench.benchmarks.webshop import WebShop
from relaybench.benchmarks.webshop.environment import BOUGHT, LONGEST, WebShopEnvironment
from relaybench.benchmarks.webshop.expert import buy_target
from relaybench.benchmarks.webshop.goals import Shop
from relaybench.benchmarks.webshop.search import Index
from relaybench.config_benchmarks import WebShopConfig

pytestmark = pytest.mark.usefixtures("session")  # skips where the packages of the shop are missing
NEAR = [
    "search[red cushion]",
    "click[next >]",
    "click[< prev]",
    "click[B000000001]",
    "click[teal]",
    "click[features]",
    "click[back to search]",
    "search[<r>]",
    "search[<a>]",
    "search[<c> garden]",
    "click[search]",
    "click[b000000002]",
]


def benchmark(data: Path, **changes: object) -> WebShop:
    return WebShop(WebShopConfig(name="webshop", **{"tasks": 2, **changes}), data)  # type: ignore[arg-type]


async def test_the_expert_buys_the_target(data: Path) -> None:
    shop = Shop(data)
    made = benchmark(data)
    for task in made.tasks():
        score = await buy_target(made.environment(task), task, shop.goals[task.data["goal"]])
        assert score.success
        assert score.values["reward"] == score.values["options"] == 1.0


async def test_after_the_purchase_nothing_counts(data: Path) -> None:
    made = benchmark(data)
    environment = made.environment(made.tasks()[0])
    await environment.reset()
    await environment.step("search[garden chair]")
    await environment.step("click[B000000003]")
    bought = await environment.step("click[Buy Now]")
    assert bought.done
    again = await environment.step("search[red wool cushion]")
    assert (again.observation, again.done) == (BOUGHT, True)
    score = await environment.score()
    assert not score.success
    assert score.reward == bought.reward < 1


async def test_without_a_purchase_there_is_no_reward(data: Path) -> None:
    made = benchmark(data)
    environment = made.environment(made.tasks()[0])
    assert "Instruction:" in await environment.reset()
    useless = await environment.step("click[teal]")
    assert useless.observation.startswith("Nothing happens")
    crashed = await environment.step("search[<a>]")
    assert crashed.observation.startswith("The shop cannot do that (TypeError)")
    score = await environment.score()
    assert (score.success, score.reward, score.values["bought"]) == (False, 0.0, 0.0)


async def test_rich_pages_mark_what_can_be_clicked(data: Path) -> None:
    made = benchmark(data, observation="text_rich")
    environment = made.environment(made.tasks()[0])
    assert "[button] Search [button_]" in await environment.reset()


async def test_visitors_of_one_goal_do_not_see_each_other(data: Path) -> None:
    made = benchmark(data)
    task = made.tasks()[0]
    one, other = made.environment(task), made.environment(task)
    await one.reset()
    first = [(await one.step(action)).observation for action in NEAR]
    await other.reset()
    mixed = []
    for action in NEAR:
        mixed.append((await other.step(action)).observation)
        await one.step("search[<r>]")
    assert mixed == first


@settings(max_examples=40)
@given(st.lists(st.one_of(st.sampled_from(NEAR), st.text(max_size=60), st.text(max_size=30).map("click[{}]".format))))
def test_no_action_raises(data: Path, actions: list[str]) -> None:
    shop = Shop(data)
    environment = WebShopEnvironment(shop, Index(shop.catalogue.products), 0, "text_rich")

    async def play() -> None:
        await environment.reset()
        for action in (*actions, "search[" + "word " * 3000 + "]", "click[" + "\x00" * 1000 + "]"):
            step = await environment.step(action)
            assert len(step.observation) < LONGEST + 200
        await environment.score()
        await environment.close()

    asyncio.run(play())
