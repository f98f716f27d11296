"""Roles, report, expert and examples."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybench.benchmarks.alfworld.examples import choose, is_plain, shown, version_of
from relaybench.benchmarks.alfworld.expert import exploration, found
from relaybench.benchmarks.alfworld.games import Game
from relaybench.benchmarks.alfworld.roles import EXECUTOR, EXPLORER, FoundReport, fields_of, roles

REPORT = FoundReport()
TWO = {"object": "mug 1", "location": "shelf 2", "2.object": "desklamp 1", "2.location": "desk 1"}


def test_the_budget_is_the_same_for_every_prototype() -> None:
    made = roles()
    assert made.whole.max_steps == sum(part.max_steps for part in made.parts) == 50
    assert not any(part.reads_only for part in (made.whole, *made.parts))


def test_a_report_reads_as_it_is_written() -> None:
    assert REPORT.parse(REPORT.render(TWO)) == TWO
    assert REPORT.parse("<report>\nobject: mug 1\nlocation: shelf 2\n</report>") == {
        "object": "mug 1",
        "location": "shelf 2",
    }
    again = "<REPORT>\nObject: mug 1\nLocation: shelf 2\nObject: mug 2\nLocation: desk 1\n</REPORT>"
    assert REPORT.parse(again) == {
        "object": "mug 1", "location": "shelf 2", "2.object": "mug 2", "2.location": "desk 1",
    }  # fmt: skip


@pytest.mark.parametrize(
    "text", ["", "object: mug 1", "<report>\nobject: mug 1", "<report></report>", "<report>\nThe mug!\n</report>"]
)
def test_other_forms_are_no_report(text: str) -> None:
    assert REPORT.parse(text) is None


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    for each in (text, f"<report>\n{text}\n</report>", f"<report>\nobject: {text}\n</report>"):
        REPORT.parse(each)


def test_what_has_to_be_found_is_what_the_walkthrough_uses() -> None:
    look = ["go to desk 2", "open drawer 1", "take clock 1 from desk 2", "go to desk 1", "use desklamp 1"]
    assert fields_of(found(look)) == {
        "object": "clock 1", "location": "desk 2", "2.object": "desklamp 1", "2.location": "desk 1",
    }  # fmt: skip
    two = ["go to safe 1", "open safe 1", "take mug 1 from safe 1", "go to desk 1", "move mug 1 to desk 1",
           "go to safe 1", "take mug 2 from safe 1", "go to desk 1", "move mug 2 to desk 1"]  # fmt: skip
    assert found(two) == (("mug 1", "safe 1"), ("mug 2", "safe 1"))
    assert exploration(two) == ["go to safe 1", "open safe 1"]
    assert found([]) == ()


def test_a_plain_walkthrough_takes_what_it_went_to_and_ends_as_the_task_says() -> None:
    assert is_plain(["go to desk 1", "take mug 1 from desk 1", "go to shelf 1", "move mug 1 to shelf 1"])
    assert not is_plain(["go to desk 1", "take mug 1 from bed 1", "go to shelf 1", "move mug 1 to shelf 1"])
    assert not is_plain(["go to desk 1", "take mug 1 from desk 1", "go to microwave 1", "heat mug 1 with microwave 1"])


@pytest.fixture(scope="module")
def chosen(data: Path) -> dict[str, list[Game]]:
    for package in ("textworld", "fast_downward", "alfworld"):
        pytest.importorskip(package, reason=f"no {package}: run `scripts/install benchmarks`")
    return choose(data, ["look", "pick two"], 2)


def test_examples_are_solved_train_games_of_the_type_and_always_the_same(
    chosen: dict[str, list[Game]], data: Path
) -> None:
    assert {kind: [g.kind for g in games] for kind, games in chosen.items()} == {
        "look": ["look"] * 2, "pick two": ["pick two"] * 2,
    }  # fmt: skip
    games = [game for each in chosen.values() for game in each]
    assert all(game.path.startswith("train/") and is_plain(game.walkthrough) for game in games)
    fewer = choose(data, ["look"], 1)
    assert fewer == {"look": chosen["look"][:1]}
    assert version_of(fewer) != version_of(chosen)


def test_each_worker_is_shown_its_own_part(chosen: dict[str, list[Game]]) -> None:
    told = shown(chosen["pick two"])
    assert set(told) == {"whole", EXPLORER, EXECUTOR}
    assert all(text.count("Example ") == 2 and "Nothing happens." not in text for text in told.values())
    assert "take " not in told[EXPLORER].replace("I take it", "")
    assert told[EXPLORER].count("<report>") == told[EXECUTOR].count("<report>") == 2
    assert told[EXPLORER].count("Action: finish") == 2
    assert told["whole"].count("Action: move") == told[EXECUTOR].count("Action: move") == 4
    made = roles(told, "few-shot")
    assert all(told[part.id] in part.system for part in (made.whole, *made.parts))
