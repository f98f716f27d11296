"""Agreement with the official WebShop code on the 1,000-product catalogue (shared/oracles/webshop)."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from relaybench.benchmarks.webshop import pages
from relaybench.benchmarks.webshop.goals import Goal, Shop
from relaybench.benchmarks.webshop.replay import make_session, replay
from relaybench.benchmarks.webshop.rewards import reward
from relaybench.benchmarks.webshop.search import Index, document
from relaybench.benchmarks.webshop.session import Session
from relaybench.benchmarks.webshop.words import words

for package in ("thefuzz", "nltk", "regex"):
    pytest.importorskip(package, reason=f"no {package}: run `scripts/install benchmarks`")


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lzma.open(path, "rt", encoding="utf-8")]


@pytest.fixture(scope="module")
def oracle(shared: Path) -> Path:
    return shared / "oracles" / "webshop"


@pytest.fixture(scope="module")
def shops(shared: Path) -> dict[int, Shop]:
    """By `human_goals`."""
    return {human: Shop(shared / "data" / "webshop", human=bool(human)) for human in (0, 1)}


def plain(goal: Goal) -> dict[str, Any]:
    product = goal.product
    return {
        "asin": product.asin,
        "category": product.category,
        "query": product.query,
        "name": product.title,
        "product_category": product.product_category,
        "instruction_text": goal.instruction,
        "attributes": list(goal.attributes),
        "price_upper": goal.price_upper,
        "goal_options": goal.options,
        "weight": pytest.approx(goal.weight, rel=1e-12),
    }


def test_prices_and_goals_are_the_official_ones_in_the_official_order(oracle: Path, shops: dict[int, Shop]) -> None:
    assert shops[0].catalogue.prices == json.loads((oracle / "prices.json").read_text())
    for human, official in (
        (0, json.loads(gzip.decompress((oracle / "goals.json.gz").read_bytes()))),
        (1, json.loads((oracle / "goals_human.json").read_text())),
    ):
        assert [plain(goal) for goal in shops[human].goals] == official


def test_every_reward_and_its_parts_are_official(oracle: Path, shops: dict[int, Shop]) -> None:
    official = rows(oracle / "rewards.jsonl.xz")
    assert len(official) == 2734
    wrong = []
    for row in official:
        shop = shops[row["human_goals"]]
        bought, goal = shop.catalogue.by_asin[row["bought_asin"]], shop.goals[row["goal_index"]]
        found = reward(bought, goal, row["bought_price"], row["chosen_options"])
        parts = {name: getattr(found, name) for name in found.__struct_fields__}
        if any(row[name] != (pytest.approx(value, abs=1e-12) if value else value) for name, value in parts.items()):
            wrong.append((row["id"], parts))
    assert wrong == []


def test_every_text_has_lucenes_words(oracle: Path, shops: dict[int, Shop]) -> None:
    products = shops[0].catalogue.by_asin
    queries = {row["id"]: row["query"] for row in rows(oracle / "search.jsonl.xz")}
    for row in rows(oracle / "tokens.jsonl.xz"):
        if "asin" in row:
            assert words(document(products[row["asin"]])) == row["tokens"], row["asin"]
        elif row["id"] in queries:
            assert words(queries[row["id"]].lower()) == row["tokens"], row["id"]


def test_every_plain_query_finds_the_official_products_in_order(oracle: Path, shops: dict[int, Shop]) -> None:
    index = Index(shops[0].catalogue.products)
    plain_queries = [row for row in rows(oracle / "search.jsonl.xz") if "asins" in row and row["query"][:1] != "<"]
    assert len(plain_queries) > 300
    wrong = [row["id"] for row in plain_queries if index.search(row["query"].lower()) != row["asins"]]
    assert wrong == []


@pytest.fixture(scope="module")
def sessions(shared: Path) -> dict[int, Session]:
    """By `human_goals`; each draws as the official process did."""
    return {human: make_session(shared / "data" / "webshop", human=bool(human)) for human in (0, 1)}


def test_every_page_of_every_product_is_official(oracle: Path, sessions: dict[int, Session]) -> None:
    session = sessions[0]
    for row in rows(oracle / "pages.jsonl.xz"):
        session.reset(0)
        product = session._server.shop.catalogue.by_asin[row["asin"]]
        shown = {"item": pages.item(session.visit.goal.instruction, product)}
        for name in ("Description", "Features"):
            shown[name.lower()] = pages.sub_page(session.visit.goal.instruction, product, name)
        assert shown["item"].clickables == row["clickables"]
        for name, page in shown.items():
            assert {"text": page.text(), "rich": page.rich("", ())} == row[name], (row["asin"], name)


def test_every_step_of_every_episode_is_official(oracle: Path, sessions: dict[int, Session]) -> None:
    compared = ("text", "rich", "avail", "url", "reward", "done", "error")
    for episode in rows(oracle / "episodes.jsonl.xz"):
        found = replay(sessions[episode["human_goals"]], episode["steps"])
        for step, record in zip(episode["steps"], found, strict=True):
            official = {name: step[name] for name in compared if name in step}  # transcripts hold what was seen
            assert {name: record.get(name) for name in official} == official, (episode["id"], step)


def test_visitors_without_a_number_get_the_official_goals(oracle: Path, shared: Path) -> None:
    official = json.loads((oracle / "resets.json").read_text())
    for human in (0, 1):
        known = official[f"human_goals_{human}"]
        session = make_session(shared / "data" / "webshop", human=bool(human))
        goals = session._server.shop.goals
        assert goals.index(session.visit.goal) == known["ctor"]["goal_index"]
        for drawn in known["after_ctor"]:
            session.reset()
            assert goals.index(session.visit.goal) == drawn["goal_index"]


def test_the_exact_target_is_worth_one_on_480_of_the_first_500_goals(shops: dict[int, Shop]) -> None:
    shop = shops[0]
    found = [
        reward(goal.product, goal, shop.catalogue.prices[goal.product.asin], dict(goal.options)).reward
        for goal in shop.goals[:500]
    ]
    assert sum(value == 1 for value in found) == 480


def test_the_exact_target_of_every_goal_is_paid_without_error(shops: dict[int, Shop]) -> None:
    """Where it is below 1, it is so by the options alone: the official matching does not find all of its own."""
    shop = shops[0]
    paid = [reward(g.product, g, shop.catalogue.prices[g.product.asin], dict(g.options)) for g in shop.goals]
    assert len(paid) == 6910
    below = [found for found in paid if found.reward < 1]
    assert len(below) == 458
    assert all(found.r_option < 1 and (found.r_type, found.r_att, found.r_price) == (1, 1, 1) for found in below)
