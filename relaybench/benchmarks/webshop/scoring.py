"""Scoring: purchases from a file, rewarded as the official shop does."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

from msgspec import Struct, structs

from relaybench.benchmarks.rows import lines, write
from relaybench.benchmarks.webshop.catalogue import CONSTRUCTION_SEED
from relaybench.benchmarks.webshop.goals import Goal, Shop
from relaybench.benchmarks.webshop.rewards import Reward, reward
from relaybench.errors import UserError, nearest

_READ = ("human_goals", "goal_index", "bought_asin", "bought_price", "chosen_options", "goal")


class Summary(Struct, frozen=True):
    """Over purchases; success is a reward of 1."""

    n: int
    mean_reward: float
    success: float
    seed: int

    def __str__(self) -> str:
        return "\n".join(
            [
                f"webshop, 1,000-product catalogue, construction seed {self.seed}, n = {self.n}",
                f"mean reward  {self.mean_reward:.4f}",
                f"success      {self.success:.4f}",
                "not comparable with results on the million-product catalogue",
            ]
        )


def score_answers(answers: Path, data_dir: Path, out: Path | None = None, seed: int = CONSTRUCTION_SEED) -> Summary:
    """Score a file of purchases; rows go to `out` where one is named. UserError for a bad file or line."""

    @cache
    def shop(human: bool) -> Shop:
        return Shop(data_dir, human=human, seed=seed)

    rewards: list[Reward] = []
    rows: list[dict[str, Any]] = []
    for where, row in lines(answers):
        rewards.append(_score(where, row, shop(_human(where, row))))
        judged = {"id": row["id"]} | structs.asdict(rewards[-1])
        rows.append(judged | {key: row[key] for key in row if key not in judged and key not in _READ})
    if out is not None:
        write(out, rows)
    values = [found.reward for found in rewards]
    return Summary(len(values), fmean(values or [0.0]), fmean([value == 1 for value in values] or [0.0]), seed)


def _human(where: str, row: dict[str, Any]) -> bool:
    for field in ("id", "goal_index", "bought_asin", "bought_price"):
        if field not in row:
            raise UserError(
                f'{where} has no field "{field}"{nearest(field, row)}; see `relaybench score webshop --help`'
            )
    if row.get("human_goals", 0) not in (0, 1):
        raise UserError(f'{where}: "human_goals" is {row["human_goals"]!r}; it is 0 (synthetic goals) or 1')
    return bool(row.get("human_goals", 0))


def _score(where: str, row: dict[str, Any], shop: Shop) -> Reward:
    goal = _goal(where, row["goal_index"], shop)
    asin, price, chosen = row["bought_asin"], row["bought_price"], row.get("chosen_options") or {}
    if not isinstance(asin, str) or asin not in shop.catalogue.by_asin:
        raise UserError(f"{where}: there is no product {asin!r} in the catalogue")
    if isinstance(price, bool) or not isinstance(price, int | float):
        raise UserError(f'{where}: "bought_price" is {price!r}; it is a number of dollars')
    if not isinstance(chosen, dict) or not all(isinstance(value, str) for value in chosen.values()):
        raise UserError(f'{where}: "chosen_options" maps option names to values, {{}} for none')
    return reward(shop.catalogue.by_asin[asin], goal, price, chosen)


def _goal(where: str, index: Any, shop: Shop) -> Goal:
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(shop.goals):
        raise UserError(f'{where}: there is no goal {index!r}; "goal_index" runs from 0 to {len(shop.goals) - 1}')
    return shop.goals[index]
