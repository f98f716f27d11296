"""The expert: a scripted policy that knows the goal, finds its product by name and buys it with the options asked for.

It scores less than 1 where the official reward does: on this catalogue 480 of the first 500 synthetic goals give 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from relaybench.benchmarks.base import Environment, Task
from relaybench.benchmarks.webshop.goals import Goal
from relaybench.benchmarks.webshop.pages import BUY, NEXT
from relaybench.benchmarks.webshop.search import RESULTS
from relaybench.records import Score

MOST_PAGES = RESULTS // 10


async def buy_target(environment: Environment, task: Task, goal: Goal) -> Score:
    """Play a task from start page to purchase; its score. Raises LookupError where the name does not find it."""
    await environment.reset()
    page = (await environment.step(f"search[{_query(goal)}]")).observation
    for _ in range(MOST_PAGES):
        if goal.product.asin in page:
            break
        page = (await environment.step(f"click[{NEXT}]")).observation
    else:
        raise LookupError(f"{task.id}: a search for its name does not find {goal.product.asin}")
    for action in (f"click[{goal.product.asin}]", *_options(goal), f"click[{BUY}]"):
        await environment.step(action)
    return await environment.score()


def _options(goal: Goal) -> Iterator[str]:
    wished = goal.options.values() if isinstance(goal.options, dict) else goal.options
    return (f"click[{value}]" for value in wished)


def _query(goal: Goal) -> str:
    """The title without brackets, which no action can hold."""
    return "".join(" " if letter in "[]" else letter for letter in goal.product.title)
