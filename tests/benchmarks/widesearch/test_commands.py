"""`score widesearch --judge llm` and `decompose widesearch` against a local server that plays the model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from relaybench.benchmarks.widesearch.decomposition import load
from relaybench.cli import main
from relaybench.engines import attempts, servers
from tests.benchmarks.widesearch.conftest import RESPONSE
from tests.engines.openai_server import FakeServer, Says, error

for package in ("pandas", "dateparser"):
    pytest.importorskip(package, reason=f"no {package}: run `scripts/install benchmarks`")


@pytest.fixture(autouse=True)
def _quick_and_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(servers, "GREETING", 600.0)
    monkeypatch.setattr(servers, "CONNECT", 600.0)


def says(text: str) -> Says:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return Says(body={"id": "1", "object": "chat.completion", "created": 0, "choices": [choice], "usage": usage})


async def command(*words: str | Path) -> int:
    return await asyncio.to_thread(main, [str(word) for word in words])


def answers(folder: Path) -> Path:
    path = folder / "answers.jsonl"
    path.write_text(json.dumps({"instance_id": "ws_en_900", "response": RESPONSE.replace("Ann Ames", "A. Ames")}))
    return path


async def test_a_model_named_on_the_command_line_judges(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with FakeServer() as server:
        server.script = [says('{"Ash": "Ash", "Birch": "Birch"}'), says('{"0": 1, "1": 1}')]
        judge = ("--judge", "llm", "--judge-model", "tiny", "--judge-url", server.url)
        code = await command(
            "score", "widesearch", "--answers", answers(tmp_path), *judge, "--data", data, "--out", tmp_path / "v.jsonl"
        )
    assert (code, json.loads((tmp_path / "v.jsonl").read_text())["score"]) == (0, 1.0)
    assert "judge widesearch-judge@1 tiny" in capsys.readouterr().out


async def test_a_judge_that_fails_is_no_verdict(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeServer() as server:
        server.script = [error(500, "down")] * 10
        judge = ("--judge", "llm", "--judge-model", "tiny", "--judge-url", server.url)
        assert await command("score", "widesearch", "--answers", answers(tmp_path), *judge, "--data", data) == 2
    assert "the judge gave no answer" in capsys.readouterr().err


@pytest.mark.parametrize("words", [("--judge", "llm"), ("--judge", "exact", "--judge-model", "tiny")])
async def test_judge_and_model_go_together(
    words: tuple[str, ...], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await command("score", "widesearch", "--answers", answers(tmp_path), *words, "--data", data) == 2
    assert "go together" in capsys.readouterr().err


async def test_a_model_shares_out_the_rows(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "shares.jsonl"
    async with FakeServer() as server:
        words = ("decompose", "widesearch", "--model", "tiny", "--url", server.url, "--out", out, "--data", data)
        assert await command(*words) == 1
        server.script = [says('{"axis": "town", "groups": [["Ash"], ["Birch"], ["others"]]}')]
        assert await command(*words) == 0
    assert load(out)["ws_en_900"].author == "tiny"
    assert "1 written, 0 were there" in capsys.readouterr().out
