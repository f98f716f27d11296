"""Configs become objects here and nowhere else.

Each branch imports its own module, so that nothing heavy is loaded unasked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaybench.config import AnyEngineConfig, OpenAIConfig, RecordedConfig, TransformersConfig
from relaybench.config_benchmarks import (
    ALFWorldConfig,
    BenchmarkConfig,
    LedgerConfig,
    TravelPlannerConfig,
    WebShopConfig,
    WideSearchConfig,
)

if TYPE_CHECKING:
    from relaybench.benchmarks.base import Benchmark
    from relaybench.benchmarks.widesearch.judge import Judge
    from relaybench.engines.base import Engine


def make_benchmark(config: BenchmarkConfig) -> Benchmark:
    """The benchmark a config names. Raises UserError where its data is missing."""
    if isinstance(config, LedgerConfig):
        from relaybench.benchmarks.ledger import Ledger

        return Ledger(config)
    from relaybench.benchmarks.datasets import data_dir

    folder = data_dir(config.name)
    if isinstance(config, ALFWorldConfig):
        from relaybench.benchmarks.alfworld import ALFWorld

        return ALFWorld(config, folder)
    if isinstance(config, WebShopConfig):
        from relaybench.benchmarks.webshop import WebShop

        return WebShop(config, folder)
    if isinstance(config, TravelPlannerConfig):
        from relaybench.benchmarks.travelplanner import TravelPlanner

        return TravelPlanner(config, folder)
    if isinstance(config, WideSearchConfig):
        from relaybench.benchmarks.widesearch import WideSearch

        return WideSearch(config, folder, make_judge(config.judge_model, config.judge_url))
    from relaybench.benchmarks.workbench import WorkBench

    return WorkBench(config, folder)


def make_judge(model: str | None, url: str) -> Judge:
    """WideSearch's judge: a model behind an OpenAI-compatible server, or the exact one where none is named."""
    from relaybench.benchmarks.widesearch.judge import ExactJudge
    from relaybench.benchmarks.widesearch.model_judge import ModelJudge
    from relaybench.engines.model import Model

    if model is None:
        return ExactJudge()
    return ModelJudge(Model(make_engine(OpenAIConfig(kind="openai", model=model, base_url=url))))


def make_engine(config: AnyEngineConfig) -> Engine:
    """The engine a config names; nothing is loaded or connected before its `start`."""
    if isinstance(config, TransformersConfig):
        from relaybench.engines.transformers import TransformersEngine

        return TransformersEngine(config)
    if isinstance(config, OpenAIConfig):
        from relaybench.engines.openai import OpenAIEngine

        return OpenAIEngine(config)
    if isinstance(config, RecordedConfig):
        from relaybench.engines.recorded import RecordedEngine

        return RecordedEngine(config)
    from relaybench.engines.vllm import VLLMEngine

    return VLLMEngine(config)
