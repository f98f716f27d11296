"""The environment: what replies mean, and that no action text makes it raise."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relaybench.benchmarks.alfworld.environment import (
    LONGEST_OBSERVATION,
    NOTHING,
    ALFWorldEnvironment,
    _bounded,
    parse_action,
    room,
)
from relaybench.benchmarks.alfworld.games import Game
from relaybench.benchmarks.alfworld.processes import Processes
from relaybench.benchmarks.alfworld.session import Session
from relaybench.benchmarks.base import FINISH, Action


@pytest.mark.parametrize(
    ("reply", "tool", "text"),
    [
        ("Thought: the mug\nAction: take mug 1 from shelf 2", "take", "take mug 1 from shelf 2"),
        ("action:  Go  To   Shelf2.", "go to", "go to shelf 2"),
        ("Action: `open fridge_1`", "open", "open fridge 1"),
        ("**Action:** [look]", "look", "look"),
        ("go to desk 1", "go to", "go to desk 1"),
        ("I should look around.\n> inventory", "inventory", "inventory"),
        ("Action: put mug 1 in desk 1", "put", "put mug 1 in desk 1"),
        ("Action: looking", "looking", "looking"),
        ("Action: Finish.", FINISH, FINISH),
        ("finish", FINISH, FINISH),
    ],
)
def test_replies_are_read_as_meant(reply: str, tool: str, text: str) -> None:
    assert parse_action(reply) == Action(tool, text)


@pytest.mark.parametrize("reply", ["", "The mug is on the shelf.", "Thought: hm", "Action:", "Action: '***'", "\0"])
def test_replies_without_an_action(reply: str) -> None:
    assert parse_action(reply) is None


@given(st.text(max_size=400))
def test_any_reply_can_be_read(reply: str) -> None:
    for text in (reply, f"Action: {reply}", f"go to {reply}"):
        action = parse_action(text)
        assert action is None or (action.tool and len(action.text) < 700)


def test_the_room_is_told_without_banner_and_task() -> None:
    assert (
        room("-= Welcome to TextWorld, ALFRED! =-\n\nYou see a bed 1.\n\nYour task is to: sleep.") == "You see a bed 1."
    )
    assert room("") == ""


def test_a_long_observation_says_that_it_was_cut() -> None:
    text = "x" * (LONGEST_OBSERVATION + 7)
    assert _bounded(text) == text[:-7] + " [... 7 more characters cut]"
    assert _bounded(text[:-7]) == text[:-7]


async def test_a_game_is_played_and_won(games: dict[str, Game], processes: Processes) -> None:
    game = games["look"]
    environment = ALFWorldEnvironment(game, processes)
    first = await environment.reset()
    assert first.startswith("You are in the middle of a room.")
    assert "task" not in first
    assert (await environment.step("go to desk 2")).observation.startswith("You arrive at desk 2.")
    assert (await environment.step("go to desk 2")).observation == NOTHING
    assert await environment.reset() == first
    results = [await environment.step(action) for action in game.walkthrough]
    assert [(r.reward, r.done) for r in results[:-1]] == [(0.0, False)] * (len(results) - 1)
    assert (results[-1].reward, results[-1].done) == (1.0, True)
    assert (await environment.step("look")).done
    score = await environment.score()
    assert (score.success, score.reward) == (True, 1.0)
    await environment.close()
    await environment.close()


def _near_misses(game: Game) -> st.SearchStrategy[str]:
    """Official actions with a word changed, left out or said twice."""
    session = Session(game.text)
    commands = session.commands
    session.close()

    @st.composite
    def spoilt(draw: st.DrawFn) -> str:
        words = draw(st.sampled_from(commands)).split(" ")
        place = draw(st.integers(0, len(words) - 1))
        words[place : place + 1] = draw(
            st.sampled_from([[], [words[place]] * 2, [words[place].upper()], ["99"], ["\0"]])
        )
        return " ".join(words)

    return spoilt()


async def test_no_action_makes_the_environment_raise(games: dict[str, Game], processes: Processes) -> None:
    game = games["pick"]
    environment = ALFWorldEnvironment(game, processes)
    await environment.reset()
    texts = st.one_of(
        st.text(),
        st.text(st.characters(categories=["Cc", "Cs", "Co", "Zl"])),
        st.text(min_size=1).map(lambda text: text * 20_000),
        _near_misses(game),
    )
    loop = asyncio.get_running_loop()

    @settings(suppress_health_check=list(HealthCheck), max_examples=100)
    @given(texts)
    def every(text: str) -> None:
        result = asyncio.run_coroutine_threadsafe(environment.step(text), loop).result()
        assert result.observation
        assert not result.done

    await asyncio.to_thread(every)
    assert (await environment.step("inventory")).observation.startswith("You are")
    await environment.close()
