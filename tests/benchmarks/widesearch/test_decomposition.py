"""Shares of the work: the stored ones, and how a model makes others."""

from __future__ import annotations

import json
from asyncio import run
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybench.benchmarks.widesearch.decomposition import STORED, check, decompose_file, load
from relaybench.benchmarks.widesearch.questions import Question, load_questions
from relaybench.engines.base import EngineError, Request
from relaybench.engines.fake import FakeEngine
from relaybench.errors import UserError

GOOD = 'Years, I think.\n{"axis": "town", "groups": [["Ash"], ["Birch", 2024], ["others"]]}'


def test_every_question_has_a_stored_decomposition(shared: Path) -> None:
    questions = load_questions(shared / "data" / "widesearch")
    stored = load()
    check(stored, questions.values(), STORED)
    assert len(stored) == len(questions) == 135
    assert {(entry.author, len(entry.date)) for entry in stored.values()} == {("relaybench authors", 10)}


def test_a_model_writes_what_the_file_lacks(question: Question, tmp_path: Path) -> None:
    out, asked = tmp_path / "shares.jsonl", []

    def reply(request: Request) -> str:
        asked.append(request.messages[-1].content)
        return GOOD

    summary = run(decompose_file([question], FakeEngine(reply, model="m-1"), out))
    assert str(summary) == f"{out}: 1 written, 0 were there"
    entry = load(out)["ws_en_900"]
    assert (entry.author, entry.axis, entry.units) == ("m-1", "town", (("Ash",), ("Birch", "2024"), ("others",)))
    assert question.query in asked[0]
    assert run(decompose_file([question], FakeEngine(reply), out)).there == 1
    assert len(asked) == 1


@pytest.mark.parametrize(
    "reply",
    [
        "", "I cannot.", "{}", '{"groups": [["a"], ["b"]]}', '{"groups": [["a"], ["b"], []]}', '{"groups": "abc"}',
        '{"groups": [["a"], ["b"], ["a"]]}', '{"groups": [["a"], ["b"], [["c"]]]}', '{"groups": [["a"], ["b"], [" "]]}',
    ],
)  # fmt: skip
def test_a_reply_of_no_use_writes_nothing(reply: str, question: Question, tmp_path: Path) -> None:
    out = tmp_path / "shares.jsonl"
    summary = run(decompose_file([question], FakeEngine(lambda request: reply), out))
    assert (summary.failed, out.read_text()) == (("ws_en_900",), "")


@given(
    st.text()
    | st.recursive(st.none() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)).map(json.dumps)
)
def test_no_reply_raises(question: Question, tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    out = tmp_path_factory.getbasetemp() / "fuzz.jsonl"
    out.unlink(missing_ok=True)
    safe = text.encode(errors="replace").decode()
    run(decompose_file([question], FakeEngine(lambda request: f'{{"groups": {safe}}}'), out))


def test_a_server_that_is_gone_is_one_line(question: Question, tmp_path: Path) -> None:
    engine = FakeEngine(lambda request: GOOD, trouble=lambda request, number: EngineError("503"))
    with pytest.raises(UserError, match=r"no answer \(503\); the same command goes on"):
        run(decompose_file([question], engine, tmp_path / "shares.jsonl"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"shares.jsonl:1 is no decomposition"),
        ('{"instance_id": "a"}', r"shares.jsonl:1 is no decomposition"),
        ('{"instance_id": "a", "author": "", "date": "", "axis": "", "units": [["x"], ["y"]]}', "there are 2 groups"),
        (
            '{"instance_id": "a", "author": "", "date": "", "axis": "", "units": [["x"], ["y"], ["x"]]}',
            "'x' is there twice",
        ),
    ],
)
def test_a_bad_line_is_named(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "shares.jsonl"
    path.write_text(line)
    with pytest.raises(UserError, match=message):
        load(path)


def test_a_question_without_shares_is_named(question: Question, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no decomposition of ws_en_900; make them with"):
        check({}, [question], tmp_path)
    with pytest.raises(UserError, match="cannot read the decompositions"):
        load(tmp_path / "none.jsonl")
