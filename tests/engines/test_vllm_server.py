"""The `openai` engine against a real vLLM server, started by `relaybench serve`."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from relaybench.config import OpenAIConfig
from relaybench.engines.base import Request
from relaybench.engines.openai import OpenAIEngine
from relaybench.errors import UserError
from relaybench.records import Decoding, Message

from . import reference, vllm_facts

pytestmark = pytest.mark.vllm
ADAPTER = "relay-v1"
PATIENCE = 600
"""Seconds a server may take to come up."""


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def model() -> Any:
    return reference.load(reference.model_folder())


@pytest.fixture(scope="module")
def lora(model: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return reference.write_lora(model, tmp_path_factory.mktemp("lora") / ADAPTER)


@pytest.fixture(scope="module")
def url(lora: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log"
    command = [sys.executable, "-m", "relaybench.cli", "serve", str(reference.model_folder()), "--port", str(port)]
    command += ["--adapter", f"{ADAPTER}={lora}", "--", "--max-model-len", "512"]
    with log.open("w") as out:
        server = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)
        try:
            _wait_for(port, server, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            os.killpg(server.pid, 15)
            server.wait(60)


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(1)
    pytest.fail(f"the server did not come up:\n{log.read_text()[-3000:]}")


@pytest.fixture(scope="module")
def engine(url: str, runner: asyncio.Runner) -> Iterator[OpenAIEngine]:
    folder = str(reference.model_folder())
    engine = OpenAIEngine(OpenAIConfig(kind="openai", base_url=url, model=folder, tokenizer=folder, adapter=ADAPTER))
    runner.run(engine.start())
    yield engine
    runner.run(engine.close())


def test_a_second_turn_is_cached(engine: OpenAIEngine, runner: asyncio.Runner) -> None:
    assert engine.context_limit == 512
    vllm_facts.a_second_turn_extends_the_first_and_finds_it_cached(engine, runner.run)


def test_scores(engine: OpenAIEngine, runner: asyncio.Runner, model: Any) -> None:
    vllm_facts.scores_equal_transformers(engine, runner.run, model)
    vllm_facts.generated_logprobs_are_the_scores_of_what_was_generated(engine, runner.run)


def test_decoding(engine: OpenAIEngine, runner: asyncio.Runner) -> None:
    vllm_facts.seeds_decide_what_is_sampled(engine, runner.run)
    vllm_facts.stops_end_the_text(engine, runner.run)
    vllm_facts.what_does_not_fit_is_context_full(engine, runner.run)


def test_an_adapter(engine: OpenAIEngine, runner: asyncio.Runner, lora: Path) -> None:
    merged = reference.merge_lora(reference.load(reference.model_folder()), lora)
    vllm_facts.an_adapter_changes_the_scores_as_it_should(engine, runner.run, merged, ADAPTER)


def test_messages_without_a_tokenizer(url: str, runner: asyncio.Runner) -> None:
    async def talk() -> tuple[str, int]:
        engine = OpenAIEngine(OpenAIConfig(kind="openai", base_url=url, model=str(reference.model_folder())))
        await engine.start()
        reply = await engine.generate(Request([Message("user", "Say hello.")], None, Decoding(), 8))
        await engine.close()
        return reply.text, reply.usage.generated_tokens

    text, tokens = runner.run(talk())
    assert text
    assert 0 < tokens <= 8


def test_a_model_it_does_not_serve_is_said(url: str, runner: asyncio.Runner) -> None:
    engine = OpenAIEngine(OpenAIConfig(kind="openai", base_url=url, model="relay-v2"))
    with pytest.raises(UserError, match="did you mean 'relay-v1'"):
        runner.run(engine.start())
