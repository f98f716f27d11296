"""The world of one question: what each action is answered, whatever it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import permutations
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybench.benchmarks.widesearch.actions import parse_action
from relaybench.benchmarks.widesearch.background import Background
from relaybench.benchmarks.widesearch.environment import LONGEST_TABLE, MOST_TABLES, WideSearchEnvironment
from relaybench.benchmarks.widesearch.judge import ExactJudge
from relaybench.benchmarks.widesearch.questions import Question
from relaybench.benchmarks.widesearch.web import HITS, PART, Hit, Page, Unreachable
from tests.benchmarks.widesearch.conftest import RESPONSE

pytest.importorskip("pandas", reason="no pandas: run `scripts/install benchmarks`")
pytest.importorskip("dateparser", reason="no dateparser: run `scripts/install benchmarks`")

HEADER, RULE, ASH, BIRCH = RESPONSE.splitlines()[2:6]


class Shelf:
    """A web of three pages."""

    name = "test web"
    pages: ClassVar[dict[str, str]] = {"https://a.example/short": "short", "https://a.example/long": "word " * 1500}

    async def search(self, query: str) -> list[Hit]:
        if query == "slow":
            raise Unreachable("the search took longer than 20 seconds")
        return [Hit(f"About {query}", url, text[:100]) for url, text in self.pages.items() if query != "nothing"]

    async def page(self, url: str) -> Page:
        if url not in self.pages:
            raise Unreachable("the page took longer than 20 seconds")
        return Page("A title", url, self.pages[url])

    async def close(self) -> None: ...


@pytest.fixture
async def world(question: Question, data: Path) -> AsyncIterator[WideSearchEnvironment]:
    background = Background(ExactJudge(), data)
    environment = WideSearchEnvironment(question, Shelf(), background)
    assert await environment.reset() == ""
    yield environment
    await environment.close()
    await background.close()


async def told(world: WideSearchEnvironment, action: str) -> str:
    result = await world.step(action)
    assert not result.done
    return result.observation


async def test_searches_and_pages_are_shown(world: WideSearchEnvironment) -> None:
    found = await told(world, "search[towns]")
    assert found.startswith("Found in the test web:\n1. About towns\n   https://a.example/short\n   short\n2.")
    assert await told(world, "open[https://a.example/short]") == "A title\n\nshort"
    first = await told(world, "open[https://a.example/long]")
    assert first.endswith("(part 1 of 3; the next: open[https://a.example/long 2])")
    assert (await told(world, "open[https://a.example/long 3]")).endswith("(part 3 of 3)")
    assert "has 3 parts; there is no part 4" in await told(world, "open[https://a.example/long 4]")


@pytest.mark.parametrize(
    ("action", "answer"),
    [
        ("search[]", "A search needs words"),
        ("search[nothing]", "The test web has nothing for these words"),
        ("search[slow]", "Nothing was searched: the search took longer than 20 seconds."),
        ("open[]", "Name the page to open"),
        ("open[https://b.example]", "Not opened: the page took longer than 20 seconds."),
        ("open[https://a.example/short 0]", "That page has 1 part; there is no part 0."),
        ("serch[towns]", "There is no action 'serch'; did you mean 'search'?"),
        ("", "There is no action ''"),
        ("submit\nI found nothing", "Not submitted: there is no table."),
        (f"submit\n{'| a ' * LONGEST_TABLE}", "Not submitted: 1,199,999 characters are too many"),
    ],
)
async def test_what_cannot_be_done_is_said(world: WideSearchEnvironment, action: str, answer: str) -> None:
    result = await world.step(action)
    assert result.observation.startswith(answer)
    assert not result.finished


async def test_a_submission_ends_the_part_and_not_the_task(world: WideSearchEnvironment) -> None:
    result = await world.step(f"submit\n{RESPONSE}")
    assert (result.observation, result.finished, result.done) == ("Submitted: a table of 2 rows.", True, False)
    score = await world.score()
    assert (score.success, score.reward, score.values["row_f1"], score.values["tables"]) == (True, 1.0, 1.0, 1.0)
    await world.reset()
    score = await world.score()
    assert (score.success, score.reward, score.values["unreadable"]) == (False, 0.0, 1.0)


async def test_tables_of_several_workers_are_scored_as_one_whatever_their_order(world: WideSearchEnvironment) -> None:
    tables = [f"```markdown\n{HEADER}\n{RULE}\n{rows}\n```" for rows in (ASH, BIRCH, "")]
    for order in permutations(tables):
        await world.reset()
        await asyncio.gather(*(world.step(f"submit\n{table}") for table in order))
        assert (await world.score()).success


async def test_there_is_an_end_to_submissions(world: WideSearchEnvironment) -> None:
    for _ in range(MOST_TABLES):
        await world.step(f"submit\n{RESPONSE}")
    result = await world.step(f"submit\n{RESPONSE}")
    assert result.observation.startswith("Not submitted")
    assert result.finished


NEAR = st.sampled_from(
    ["search[{}]", "open[{}]", "open[https://a.example/long {}]", "submit\n{}", "submit\n| {} | b |\n"]
)
ANY = st.text() | st.text(alphabet="|-\n` []\x00\x1b\u202e\ud800")


@pytest.fixture(scope="module")
def fuzzed(question: Question, data: Path) -> Iterator[tuple[asyncio.Runner, Background, WideSearchEnvironment]]:
    """One world and one scoring process for all examples."""
    with asyncio.Runner() as runner:
        background = Background(ExactJudge(), data)
        yield runner, background, WideSearchEnvironment(question, Shelf(), background)
        runner.run(background.close())


@given(actions=st.lists(ANY | st.builds(lambda form, text: form.format(text), NEAR, ANY), min_size=1, max_size=4))
def test_no_action_raises(fuzzed: tuple[asyncio.Runner, Background, WideSearchEnvironment], actions: list[str]) -> None:
    runner, _, world = fuzzed

    async def act() -> None:
        await world.reset()
        for action in actions:
            parsed = parse_action(f"Action: {action}")
            for text in (action, action if parsed is None else parsed.text):
                result = await world.step(text)
                assert len(result.observation) < PART + HITS * 1000
        assert (await world.score()).reward >= 0

    runner.run(act())


async def test_huge_actions_are_answered(world: WideSearchEnvironment) -> None:
    for text in ("search[" + "x " * 10**6, "open[" + "/" * 10**6 + "]", "y" * 10**6, "submit\n" + "|a" * 10**5):
        assert len(await told(world, text)) < PART + HITS * 1000
