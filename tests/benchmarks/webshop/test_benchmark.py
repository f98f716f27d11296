"""WebShop as a benchmark: its draw, its report, and all four prototypes with a model that knows what to do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybench.benchmarks.webshop import WebShop
from relaybench.benchmarks.webshop.expert import buy_target
from relaybench.benchmarks.webshop.goals import Shop
from relaybench.benchmarks.webshop.report import FIELDS, CandidatesReport
from relaybench.config import RunConfig
from relaybench.config_benchmarks import WebShopConfig
from relaybench.engines.base import Request
from relaybench.engines.fake import FakeEngine
from relaybench.errors import UserError
from relaybench.rollout.grid import Grid
from relaybench.rollout.progress import Progress
from relaybench.rollout.reading import read_run
from relaybench.rollout.runner import Runner
from relaybench.rollout.store import open_store

SYSTEMS: list[dict[str, Any]] = [
    {"prototype": "sas"},
    {"prototype": "sas-plan"},
    {"prototype": "sas-contextflow"},
    {"prototype": "mas", "relay": {"encoder": "report"}},
    {"prototype": "mas", "relay": {"encoder": "oracle"}},
    {"prototype": "mas", "relay": {"encoder": "report", "loss": {"drop": ["asin", "price", "options"]}}},
]


@pytest.mark.usefixtures("session")
def test_goals_are_drawn_by_seed_and_the_label_says_which_shop(data: Path) -> None:
    one = WebShop(WebShopConfig(name="webshop", tasks=2), data)
    assert [t.id for t in one.tasks()] == [t.id for t in WebShop(WebShopConfig(name="webshop", tasks=2), data).tasks()]
    assert "1,000-product catalogue, not comparable" in one.label
    other = WebShop(WebShopConfig(name="webshop", tasks=2, construction_seed=1), data)
    assert other.revision != one.revision
    with pytest.raises(UserError, match=r"this shop has 1 human goals, not 2; lower benchmark\.tasks"):
        WebShop(WebShopConfig(name="webshop", goals="human", tasks=2), data)


@pytest.mark.usefixtures("session")
def test_roles_share_the_steps_and_only_buyers_buy(data: Path) -> None:
    made = WebShop(WebShopConfig(name="webshop", tasks=1), data)
    roles = made.roles(made.tasks()[0])
    assert [part.max_steps for part in (roles.whole, *roles.parts)] == [60, 30, 30]
    assert [part.tools is not None and "buy" in part.tools for part in (roles.whole, *roles.parts)] == [
        True,
        False,
        True,
    ]


def shopper(request: Request) -> str:
    """Searches, opens the cushion, reports it; buys it with what the instruction asks for, if it knows its code."""
    words = "\n".join(message.content for message in request.messages)
    last = request.messages[-1].content
    if "Write down for the buyer" in last:
        return "name: Red Wool Cushion\nasin: B000000001\nprice: 12\noptions: small\n"
    wish = re.findall(r"color: (wine \| red|teal)", words)[0]
    searches_only = "You are the searcher" in words and "You are the buyer" not in words
    clicked = [m.content for m in request.messages if m.role == "assistant"]
    if "[SEP] Buy Now" in last:
        if searches_only:
            return "Action: finish"
        steps = [f"click[{wish}]", "click[small]", "click[Buy Now]"]
        opened = max(i for i, said in enumerate(clicked) if "B000000001" in said)
        return f"Action: {steps[min(2, len(clicked) - opened - 1)]}"
    if "B000000001" in last and "Total results" in last:
        return "Action: click[B000000001]"
    return "Action: search[red wool cushion]"


@pytest.mark.usefixtures("session")
async def test_all_four_prototypes_run(data: Path, tmp_path: Path) -> None:
    config = RunConfig.model_validate(
        {
            "benchmark": {"name": "webshop", "tasks": 2},
            "engines": [{"kind": "openai", "model": "fake"}],
            "systems": SYSTEMS,
            "out": tmp_path / "run",
        }
    )
    assert config.benchmark.name == "webshop"
    made = WebShop(config.benchmark, data)
    grid = Grid(config, made)
    store = open_store(config, made, [job.key for job in grid.jobs])
    try:
        summary = await Runner(config, made, {"fake": FakeEngine(shopper)}, store, Progress(), grid=grid).run()
    finally:
        store.close()
    assert (summary.done, summary.failed) == (2 * len(SYSTEMS), 0)
    episodes = read_run(config.out).episodes
    assert all(episode.score.success for episode in episodes)
    lossy = [relay for e in episodes if "-asin" in e.system for relay in e.relays]
    assert {relay.text for relay in lossy} == {"name: Red Wool Cushion"}
    assert all(relay.missing == 0.0 for e in episodes if "oracle" in e.system for relay in e.relays)


def test_the_report_is_read_and_written() -> None:
    form = CandidatesReport()
    text = "name: A\nasin: B1\nprice: 3.5\noptions: size: large; color: red\nname: C\nasin: B2"
    fields = form.parse(text)
    assert fields is not None
    assert fields["options"] == "size: large; color: red"
    assert fields["2.asin"] == "B2"
    assert form.render(fields) == text
    assert form.parse("1. Name: A\n   - ASIN: B1") == {"name": "A", "asin": "B1"}
    for torn in ("asin: B1", "name: A\nI like it", "name: A\nname: B\nname: B\nasin: x\nasin: y"):
        assert form.parse(torn) is None or torn.startswith("name: A\nname: B\nname")


@given(st.text(max_size=200))
def test_any_report_is_read_or_refused(text: str) -> None:
    form = CandidatesReport()
    fields = form.parse(text)
    if fields:
        assert {key.rpartition(".")[2] for key in fields} <= set(FIELDS)
        assert form.parse(form.render(fields)) == fields


@pytest.mark.slow
async def test_the_exact_target_is_bought_on_the_real_catalogue(shared: Path) -> None:
    """All 6,910 goals without an error; 1.0 on 480 of the first 500."""
    folder = shared / "data" / "webshop"
    made = WebShop(WebShopConfig(name="webshop", tasks=6910), folder)
    goals = Shop(folder).goals
    rewards = {}
    for task in made.tasks():
        environment = made.environment(task)
        rewards[task.data["goal"]] = (await buy_target(environment, task, goals[task.data["goal"]])).reward
        await environment.close()
    assert sum(rewards[number] == 1.0 for number in range(500)) == 480
    assert len(rewards) == 6910
