"""The `openai` engine against a real vLLM server, started by `relaybench serve`."""

from __future__ import annotations

import asyncio
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
from .serving import serving

pytestmark = pytest.mark.vllm
ADAPTER = "relay-v1"


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
    log = tmp_path_factory.mktemp("server") / "log"
    adapter = ["--adapter", f"{ADAPTER}={lora}"]
    with serving(reference.model_folder(), log, adapter, ["--max-model-len", "512"]) as url:
        yield url


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
