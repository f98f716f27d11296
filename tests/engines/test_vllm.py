"""The `vllm` engine in process, with a real small model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from relaybench.config import VLLMConfig
from relaybench.engines.vllm import VLLMEngine
from relaybench.errors import UserError

from . import reference, vllm_facts
from .vllm_facts import request

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
def engine(runner: asyncio.Runner, model: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VLLMEngine]:
    lora = reference.write_lora(model, tmp_path_factory.mktemp("lora") / ADAPTER)
    folder = str(reference.model_folder())
    config = VLLMConfig(kind="vllm", model=folder, dtype="float32", max_context=512, adapter=ADAPTER, adapter_dir=lora)
    engine = VLLMEngine(config)
    runner.run(engine.start())
    yield engine
    runner.run(engine.close())


def test_a_second_turn_is_cached(engine: VLLMEngine, runner: asyncio.Runner) -> None:
    vllm_facts.a_second_turn_extends_the_first_and_finds_it_cached(engine, runner.run)


def test_scores(engine: VLLMEngine, runner: asyncio.Runner, model: Any) -> None:
    vllm_facts.scores_equal_transformers(engine, runner.run, model)
    vllm_facts.generated_logprobs_are_the_scores_of_what_was_generated(engine, runner.run)


def test_decoding(engine: VLLMEngine, runner: asyncio.Runner) -> None:
    vllm_facts.seeds_decide_what_is_sampled(engine, runner.run)
    vllm_facts.stops_end_the_text(engine, runner.run)
    vllm_facts.what_does_not_fit_is_context_full(engine, runner.run)


def test_a_cancelled_call_leaves_nothing_running(engine: VLLMEngine, runner: asyncio.Runner) -> None:
    async def cancel_one() -> int:
        prompt = list(range(5, 25))
        call = asyncio.create_task(engine.generate(request(prompt, max_tokens=400, temperature=1.0)))
        await asyncio.sleep(0.5)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        return int(engine._llm.get_num_unfinished_requests())

    assert runner.run(cancel_one()) == 0


def test_an_adapter(engine: VLLMEngine, runner: asyncio.Runner) -> None:
    folder = engine.config.adapter_dir
    assert folder is not None
    merged = reference.merge_lora(reference.load(reference.model_folder()), folder)
    vllm_facts.an_adapter_changes_the_scores_as_it_should(engine, runner.run, merged, ADAPTER)
    with pytest.raises(UserError, match="did you mean 'relay-v1'"):
        runner.run(engine.generate(vllm_facts.Request([], [5, 6], vllm_facts.Decoding(), 1, adapter="relay-v11")))


def test_a_model_that_is_not_there_is_said(tmp_path: Path) -> None:
    engine = VLLMEngine(VLLMConfig(kind="vllm", model=str(tmp_path)))
    with pytest.raises(UserError, match=r"config\.json"):
        asyncio.run(engine.start())
