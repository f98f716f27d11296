"""WebShop (Yao et al. 2022): find and buy the product that an instruction describes, in a shop of real products.

The catalogue is the official one of 1,000 products: results are not comparable with the million-product one, and every
label says so. Goals are drawn with a fixed seed; success is a reward of 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from random import Random

from relaybench.benchmarks.base import Action, Task
from relaybench.benchmarks.pins import file_digest
from relaybench.benchmarks.webshop.actions import parse_action
from relaybench.benchmarks.webshop.catalogue import ATTRIBUTES, HUMAN, NOUNS, PRODUCTS
from relaybench.benchmarks.webshop.environment import WebShopEnvironment
from relaybench.benchmarks.webshop.goals import Goal, Shop
from relaybench.benchmarks.webshop.roles import VERIFIER, roles
from relaybench.benchmarks.webshop.search import Index
from relaybench.config_benchmarks import WebShopConfig
from relaybench.errors import UserError
from relaybench.rollout.plan import Roles

__all__ = ["WebShop"]

RULES = "webshop@1"
"""Raise it with any change of pages, search, rewards or how goals are drawn."""


class WebShop:
    """Drawn goals of one shop. UserError where the data is missing, or there are fewer goals than asked for."""

    name = "webshop"

    def __init__(self, config: WebShopConfig, data_dir: Path) -> None:
        self.config = config
        self._shop = Shop(data_dir, human=config.goals == "human", seed=config.construction_seed)
        self._index = Index(self._shop.catalogue.products)
        count = len(self._shop.goals)
        if config.tasks > count:
            raise UserError(
                f"this shop has {count:,} {config.goals} goals, not {config.tasks:,}; lower benchmark.tasks"
            )
        drawn = Random(config.draw_seed).sample(range(count), config.tasks)
        self._tasks = tuple(_task(number, self._shop.goals[number]) for number in drawn)
        shop = f"{config.goals}/{config.construction_seed}/{config.observation}"
        self.revision = f"{RULES}-{_digest(data_dir, shop)}"
        self.label = (
            f"webshop {config.goals} goals ({config.observation}; 1,000-product catalogue, not comparable with the "
            "million-product one)"
        )

    def tasks(self) -> Sequence[Task]:
        return self._tasks

    def environment(self, task: Task) -> WebShopEnvironment:
        return WebShopEnvironment(self._shop, self._index, task.data["goal"], self.config.observation)

    def roles(self, task: Task) -> Roles:
        return roles()

    def parse_action(self, reply: str) -> Action | None:
        return parse_action(reply)

    def needed(self, task: Task) -> dict[str, str]:
        """The product that the goal was made from, as the report has it; others may satisfy the goal too."""
        return {name: task.data[name] for name in ("name", "asin", "price", "options") if task.data[name]}

    def targets(self, task: Task, worker: str) -> list[str]:
        """The buyer begins with a search for the product's name."""
        return [f"Action: search[{task.data['name']}]"] if worker == VERIFIER else []

    async def close(self) -> None:
        """Nothing is held."""


def _task(number: int, goal: Goal) -> Task:
    options = goal.options
    wished = "; ".join(f"{name}: {value}" for name, value in options.items()) if isinstance(options, dict) else ""
    return Task(
        id=f"webshop-{number:05d}",
        instruction=f"Instruction: {goal.instruction}",
        data={
            "goal": number,
            "name": goal.product.title,
            "asin": goal.product.asin,
            "price": goal.product.price_tag.replace("$", ""),
            "options": wished or "; ".join(options),
        },
    )


def _digest(data_dir: Path, shop: str) -> str:
    files = [file_digest(data_dir / name) for name in (PRODUCTS, ATTRIBUTES, HUMAN, NOUNS)]
    return sha256("/".join([shop, *files]).encode()).hexdigest()[:10]
