"""SAS-contextflow is one growing token list: it equals an independent loop, prompt and action ids alike (Prop. 3.1).

On transformers with a tiny random model always, and with SmolLM2-135M where slow tests run; on a vLLM server that is
started here, where vLLM and a real model's folder are there (`scripts/test --vllm` sees to both). There, at higher
concurrency, tokens may differ; they are counted and set beside the engine's own noise floor, the tokens that differ
when the very same prompts are asked again in another batch.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from relaybench.benchmarks.base import Benchmark, Task
from relaybench.config import OpenAIConfig, TransformersConfig
from relaybench.config_benchmarks import LedgerConfig, WorkBenchConfig
from relaybench.engines.base import Engine
from relaybench.engines.model import Model
from relaybench.records import Decoding, Message
from relaybench.rollout.executor import Rollout, Setting, execute
from relaybench.rollout.prototypes import sas_contextflow
from tests.engines.reference import model_folder
from tests.engines.serving import serving

from .plain_loop import Complete, Turn, plain_loop

MAX_TOKENS = 24


def ledger() -> tuple[Benchmark, list[Task]]:
    from relaybench.benchmarks.ledger import Ledger

    benchmark = Ledger(LedgerConfig(name="ledger", tasks=3, records=4, reader="model"))
    return benchmark, list(benchmark.tasks())


def workbench(shared: Path, n: int = 2) -> tuple[Benchmark, list[Task]]:
    from relaybench.benchmarks.workbench import WorkBench

    config = WorkBenchConfig(name="workbench", toolset="domains")
    benchmark = WorkBench(config, shared / "data" / "workbench")
    return benchmark, list(benchmark.tasks())[:n]


async def contextflow(benchmark: Benchmark, task: Task, engine: Engine) -> Rollout:
    model = Model(engine, Decoding(max_tokens=MAX_TOKENS))
    setting = Setting(task, model, lambda: benchmark.environment(task), benchmark.parse_action)
    environment = benchmark.environment(task)
    rollout = await execute(sas_contextflow(benchmark.roles(task)), setting, environment)
    await environment.close()
    return rollout


def turns_of(rollout: Rollout) -> list[Turn]:
    """Prompt and action ids of every generated message of the last worker's context."""
    last = max(rollout.contexts.values(), key=lambda context: len(context.segments))
    ids: list[int] = []
    turns = []
    messages: list[Message] = list(last.messages())
    for message in messages:
        assert message.token_ids is not None
        if message.role == "assistant":
            turns.append(
                Turn(ids + list(message.token_ids[: message.template]), list(message.token_ids[message.template :]))
            )
        ids = ids + list(message.token_ids)
    return turns


@pytest.fixture(
    scope="module", params=["tiny", pytest.param("smollm2-135m", marks=[pytest.mark.model, pytest.mark.slow])]
)
def weights(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """(folder, tokenizer, model): two random layers that are made on the spot, or the quickstart's model."""
    torch = pytest.importorskip("torch", reason="torch is not installed: scripts/install cpu")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed: scripts/install cpu")
    folder = _tiny(tmp_path_factory) if request.param == "tiny" else _stored(request.param)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    return folder, tokenizer, model


def _tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.engines.tiny import save_model

    return save_model(tmp_path_factory.mktemp("tiny"), context=32768)


def _stored(name: str) -> str:
    from relaybench.engines.weights import resolve_model
    from relaybench.errors import UserError

    try:
        return resolve_model(name)
    except UserError as error:
        pytest.skip(str(error))


def greedy(model: Any, tokenizer: Any) -> Complete:
    import torch

    end = tokenizer.convert_tokens_to_ids("<|im_end|>")

    async def complete(ids: list[int], max_tokens: int) -> list[int]:
        out, cache, fed = [], None, ids
        with torch.no_grad():
            for _ in range(max_tokens):
                result = model(input_ids=torch.tensor([fed]), past_key_values=cache, use_cache=True)
                cache, token = result.past_key_values, int(result.logits[0, -1].argmax())
                out.append(token)
                fed = [token]
                if token == end:
                    break
        return out

    return complete


@pytest.mark.parametrize("which", ["ledger", "workbench"])
async def test_contextflow_equals_the_plain_loop_on_transformers(which: str, weights: Any, request: Any) -> None:
    benchmark, tasks = ledger() if which == "ledger" else workbench(request.getfixturevalue("shared"), n=1)
    folder, tokenizer, model = weights
    from relaybench.engines.transformers import TransformersEngine

    engine = TransformersEngine(
        TransformersConfig(kind="transformers", model=str(folder), dtype="float32", device="cpu")
    )
    await engine.start()
    try:
        for task in tasks:
            ours = turns_of(await contextflow(benchmark, task, engine))
            plain = await plain_loop(benchmark, task, tokenizer, greedy(model, tokenizer), MAX_TOKENS)
            assert len(ours) > 1
            assert ours == plain
    finally:
        await engine.close()


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenAIConfig]:
    """A vLLM server of the smallest real model on this machine."""
    folder = model_folder()
    log = tmp_path_factory.mktemp("server") / "log"
    with serving(folder, log, vllm_options=["--max-model-len", "8192"]) as url:
        yield OpenAIConfig(kind="openai", base_url=url, model=str(folder), tokenizer=str(folder))


def asked(config: OpenAIConfig) -> Complete:
    import httpx

    async def complete(ids: list[int], max_tokens: int) -> list[int]:
        body = {
            "model": config.model, "prompt": ids, "max_tokens": max_tokens, "temperature": 0,
            "return_token_ids": True, "skip_special_tokens": False,
        }  # fmt: skip
        async with httpx.AsyncClient(timeout=300) as client:
            reply = await client.post(f"{config.base_url}/completions", json=body)
        return list(reply.raise_for_status().json()["choices"][0]["token_ids"])

    return complete


@pytest.mark.vllm
@pytest.mark.parametrize("which", ["ledger", "workbench"])
async def test_contextflow_equals_the_plain_loop_on_vllm(which: str, config: OpenAIConfig, request: Any) -> None:
    import transformers

    from relaybench.engines.openai import OpenAIEngine

    benchmark, tasks = ledger() if which == "ledger" else workbench(request.getfixturevalue("shared"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(config.tokenizer)
    engine = OpenAIEngine(config)
    await engine.start()
    try:
        alone = []
        for task in tasks:
            alone.append(turns_of(await contextflow(benchmark, task, engine)))
            assert alone[-1] == await plain_loop(benchmark, task, tokenizer, asked(config), MAX_TOKENS)
        together = await asyncio.gather(*(contextflow(benchmark, task, engine) for task in tasks * 2))
        again = await asyncio.gather(*(asked(config)(turn.prompt, MAX_TOKENS) for turns in alone for turn in turns))
        print(json.dumps(differences(alone, [turns_of(r) for r in together], again)))
    finally:
        await engine.close()


def differences(alone: list[list[Turn]], together: list[list[Turn]], again: list[list[int]]) -> dict[str, int]:
    """Tokens that differ at concurrency above 1, beside those that differ for the very same prompts (noise floor)."""
    pairs = [(a, b) for one, other in zip(alone * 2, together, strict=True) for a, b in zip(one, other, strict=False)]
    return {
        "tokens": sum(len(a.action) for a, _ in pairs),
        "differ_together": sum(_differ(a.action, b.action) for a, b in pairs),
        "noise_tokens": sum(len(turn.action) for turns in alone for turn in turns),
        "noise_floor": sum(
            _differ(t.action, ids) for t, ids in zip([t for ts in alone for t in ts], again, strict=True)
        ),
    }


def _differ(a: list[int], b: list[int]) -> int:
    return sum(x != y for x, y in zip(a, b, strict=False)) + abs(len(a) - len(b))
