"""The settings of each benchmark: the `benchmark` part of a run config."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from relaybench.settings import Settings


class LedgerConfig(Settings):
    """The generated benchmark with dials and exact answers (docs/ledger.md)."""

    name: Literal["ledger"]
    tasks: int = Field(40, ge=1)
    """How many tasks."""
    records: int = Field(4, ge=1, le=500)
    """K: records to look through."""
    fields: int = Field(1, ge=1, le=8)
    """F: fields of each record."""
    digits: int = Field(4, ge=1, le=12)
    """A value is a number of this many digits: V = 9 x 10^(digits-1) values."""
    noise: int = Field(0, ge=0)
    """N: noise lines among the records."""
    page_size: int = Field(4, ge=1)
    """Lines on a page that the reader opens; a record has one line a field."""
    asked: int = Field(1, ge=1)
    """How many fields of one record the question asks for."""
    question: Literal["upstream", "blind"] = "upstream"
    """Whether the reader knows the question (query-aware relays) or only the answering worker does."""
    key_noise: float = Field(0.0, ge=0.0, lt=1.0)
    """Probability that the answer key holds another value than the record (the h of theory 1.2 E)."""
    alias: bool = False
    """The question names its record by office; near-duplicate names, former heads and superseded values are about."""
    skew: float = Field(0.0, ge=0.0)
    """How unevenly fields are asked: field i with weight (i+1)^-skew; above 0, noise lines look like records."""
    copies: int = Field(1, ge=1, le=8)
    """Lines that say the same of each register: a relay may drop all but one of them for nothing."""
    target: Literal["values", "remainder"] = "values"
    """The answer: the asked values, or the remainder of their sum divided by V, which takes all of them."""
    reader: Literal["scripted", "model"] = "scripted"
    """Who opens the pages: a declared script (small models cannot be relied on) or the model."""
    seed: int = 0
    """Seed of the task generator (not of decoding)."""

    @model_validator(mode="after")
    def _asks_what_there_is(self) -> LedgerConfig:
        if self.asked > self.fields:
            raise ValueError(
                f"asked is {self.asked}, but a record has {self.fields} fields; lower asked or raise fields"
            )
        if self.target == "remainder" and self.asked < 2:
            raise ValueError("a remainder is that of a sum: set asked to 2 or more")
        return self


class WorkBenchConfig(Settings):
    """WorkBench (Styles et al. 2024), scored as its authors do."""

    name: Literal["workbench"]
    split: Literal[
        "multi_domain", "analytics", "calendar", "customer_relationship_manager", "email", "project_management", "all"
    ] = "multi_domain"
    rules: Literal["v1", "v2"] = "v2"
    """v2: the 2026 tasks, truth and rules (multi_domain only); v1: the 2024 ones, which the oracle files follow."""
    toolset: Literal["all", "domains"] = "all"
    """Offer all tools, or those of the task's domains and the directory."""


class ALFWorldConfig(Settings):
    """ALFWorld (Shridhar et al. 2021): household tasks in text."""

    name: Literal["alfworld"]
    split: Literal["valid_unseen", "valid_seen", "valid_train", "train"] = "valid_unseen"
    examples: int = Field(0, ge=0, le=4)
    """Few-shot: this many solved episodes of the same type from the train split stand before the task."""
    processes: int = Field(2, ge=1, le=64)
    """Worker processes that run the games."""

    @model_validator(mode="after")
    def _examples_are_other_games(self) -> ALFWorldConfig:
        if self.examples and self.split == "train":
            raise ValueError("examples are taken from the train split; evaluate another split or set examples: 0")
        return self


class WebShopConfig(Settings):
    """WebShop (Yao et al. 2022): buy what an instruction describes."""

    name: Literal["webshop"]
    goals: Literal["synthetic", "human"] = "synthetic"
    tasks: int = Field(100, ge=1)
    """How many goals are drawn."""
    draw_seed: int = 0
    """Seed of that draw: the same goals for everyone."""
    construction_seed: int = 20240607
    """Seed of the shop's construction: prices drawn from ranges, and the goals' price limits."""
    observation: Literal["text", "text_rich"] = "text"
    """How a page is shown; text_rich marks buttons and what was clicked."""


class TravelPlannerConfig(Settings):
    """TravelPlanner (Xie et al. 2024): a trip under many constraints."""

    name: Literal["travelplanner"]
    split: Literal["validation", "train"] = "validation"
    levels: list[Literal["easy", "medium", "hard"]] = Field(["medium", "hard"], min_length=1)
    """Which queries; 51 easy ones of validation have no flights here (docs/travelplanner.md)."""
    rules: Literal["official", "hardened"] = "official"
    """What counts as success; the other verdict is reported beside it."""


class WideSearchConfig(Settings):
    """WideSearch (Wong et al. 2025): fill a wide table from many pages."""

    name: Literal["widesearch"]
    language: Literal["en", "zh", "all"] = "en"
    backend: Literal["offline", "live"] = "offline"
    """offline: pages generated from the gold tables, and distractors, under BM25; live: DuckDuckGo and the web."""
    judge: Literal["exact", "llm"] = "exact"
    """exact: cells that a model would judge are compared as strings; llm: `judge_model` judges them."""
    judge_model: str | None = None
    """llm: its name at the server `judge_url`."""
    judge_url: str = "http://127.0.0.1:8000/v1"
    """llm: an OpenAI-compatible server; its key is read from $OPENAI_API_KEY."""
    decompositions: Path | None = None
    """Another file of shares, as `relaybench decompose widesearch` writes it."""
    cache: Path = Path("runs/widesearch-web")
    """live: folder that keeps what was found and opened, so that all systems and resumed runs see the same web."""

    @model_validator(mode="after")
    def _judge_is_named(self) -> WideSearchConfig:
        if (self.judge == "llm") != (self.judge_model is not None):
            raise ValueError(
                "judge llm needs judge_model, e.g. judge_model: gpt-4.1"
                if self.judge == "llm"
                else "judge_model means nothing for judge exact; set judge: llm or remove it"
            )
        return self


BenchmarkConfig = Annotated[
    LedgerConfig | WorkBenchConfig | ALFWorldConfig | WebShopConfig | TravelPlannerConfig | WideSearchConfig,
    Field(discriminator="name"),
]
