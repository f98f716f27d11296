"""A walk through a small shop, purchases from a file, and actions of any form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybench.benchmarks.webshop.goals import Shop
from relaybench.benchmarks.webshop.replay import make_session, replay_actions, replay_queries
from relaybench.benchmarks.webshop.scoring import score_answers
from relaybench.benchmarks.webshop.session import Session
from relaybench.errors import UserError


def test_goals_take_every_combination_of_options(data: Path) -> None:
    shop = Shop(data)
    assert sorted(goal.options["color"] for goal in shop.goals) == ["teal", "wine | red"]  # type: ignore[call-overload]
    assert 10 <= shop.catalogue.prices["B000000001"] <= 20
    assert all(goal.price_upper > shop.catalogue.prices[goal.product.asin] for goal in shop.goals)
    assert [goal.instruction[:22] for goal in Shop(data, human=True).goals] == ["i need a blue cushion,"]


def test_another_construction_seed_changes_prices_and_not_the_order(data: Path) -> None:
    one, other = Shop(data, seed=1), Shop(data, seed=2)
    assert one.catalogue.prices != other.catalogue.prices
    assert [goal.options for goal in one.goals] == [goal.options for goal in other.goals]


def test_buying_what_was_asked_for_is_worth_one(session: Session) -> None:
    session.reset(0)
    wish = session.visit.goal.options["color"]  # type: ignore[call-overload]
    for action in ("search[red wool cushion]", "click[B000000001]", f"click[{wish}]", "click[small]"):
        assert session.step(action) == (0.0, False)
    assert f"You have clicked {wish}." in session.rich
    assert session.step("click[Buy Now]") == (1.0, True)
    assert session.text.startswith("Thank you for shopping with us!")


@pytest.mark.parametrize("action", ["", "search[]", "click[nothing]", "Click[search]", "click[search]", "buy", "[x]"])
def test_what_is_no_action_changes_nothing(session: Session, action: str) -> None:
    session.reset(0)
    before = session.rich
    assert session.step(action) == (0, False)
    assert session.rich == before


def test_a_search_on_top_of_an_item_forgets_its_options(session: Session) -> None:
    session.reset(0)
    for action in ("search[cushion]", "click[b000000001]", "click[teal]", "search[chair]"):
        session.step(action)
    assert session.visit.options == {}
    assert session.page.clickables == ["back to search", "next >", "b000000003"]


ACTIONS = st.text(max_size=40) | st.sampled_from(["search", "click"]).flatmap(
    lambda name: st.text(min_size=1, max_size=20).map(lambda text: f"{name}[{text}]")
)
CLICKS = st.sampled_from(["next >", "< prev", "b000000001", "teal", "description", "buy now", "back to search"])


@given(actions=st.lists(ACTIONS | CLICKS.map(lambda name: f"click[{name}]"), max_size=12))
def test_no_action_raises_but_the_official_commands(data: Path, actions: list[str]) -> None:
    session = SESSIONS.setdefault(data, make_session(data))
    session.reset(1)
    for action in actions:
        if "[<" not in action:
            reward, _ = session.step(action)
            assert 0 <= reward <= 1
            assert session.text


SESSIONS: dict[Path, Session] = {}


def test_purchases_from_a_file(data: Path, tmp_path: Path, session: Session) -> None:
    answers, out = tmp_path / "a.jsonl", tmp_path / "o.jsonl"
    row = {
        "id": 1,
        "goal_index": 0,
        "bought_asin": "B000000003",
        "bought_price": 100.0,
        "chosen_options": {},
        "by": "me",
    }
    answers.write_text(json.dumps(row) + "\n")
    summary = score_answers(answers, data, out)
    assert (summary.n, summary.mean_reward, summary.success) == (1, 0, 0)
    assert json.loads(out.read_text()) == {
        "id": 1, "reward": 0.0, "r_type": 0.0, "r_att": 0.0, "r_option": 0.0, "r_price": False, "by": "me",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"goal_index": 99}, "no goal 99"),
        ({"goal_index": True}, "no goal True"),
        ({"bought_asin": "B1"}, "no product 'B1'"),
        ({"bought_price": "1"}, "number of dollars"),
        ({"chosen_options": {"size": 1}}, "maps option names to values"),
        ({"human_goals": 2}, "0 .synthetic goals. or 1"),
    ],
)
def test_a_bad_purchase_is_named(change: dict[str, Any], message: str, data: Path, tmp_path: Path) -> None:
    row = {"id": 1, "goal_index": 0, "bought_asin": "B000000002", "bought_price": 1.0} | change
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(UserError, match=message):
        score_answers(path, data)


def test_replays_say_what_was_raised(data: Path, tmp_path: Path, session: Session) -> None:
    path, out = tmp_path / "a.jsonl", tmp_path / "o.jsonl"
    steps = [{"op": "reset", "session": 0}, {"op": "step", "action": "search[<c>]"}, {"op": "step", "action": "x"}]
    path.write_text(json.dumps({"id": 1, "human_goals": 0, "steps": steps}) + "\n")
    assert replay_actions(path, data, out).startswith("replayed 1 rows, 3 steps of which 1 raised")
    reset, raised, noop = json.loads(out.read_text())["steps"]
    assert (raised["error"], noop["reward"], noop["text"]) == ("IndexError", 0, reset["text"])
    path.write_text('{"id": 1, "query": "garden chair"}\n{"id": 2, "query": "<a>"}\n')
    replay_queries(path, data, out)
    found, failed = map(json.loads, out.read_text().splitlines())
    assert found == {"id": 1, "asins": ["B000000003"]}
    assert failed["error"] == "TypeError"
