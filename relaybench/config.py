"""The typed form of every run config: each setting with its meaning and its default. configfile.py reads them.

Nothing secret is ever in a config: keys are read from the environment variable that `api_key_env` names.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from relaybench.config_benchmarks import BenchmarkConfig
from relaybench.settings import Settings


class Price(Settings):
    """Prices per million tokens, for the cost column."""

    prompt: float = 0.0
    cached: float = 0.0
    generated: float = 0.0
    currency: str = "USD"


class EngineConfig(Settings):
    """What all engines share."""

    model: str
    """Hub name, folder, or a name the server knows."""
    name: str | None = None
    """How tables call it; the model's name by default."""
    adapter: str | None = None
    """LoRA by versioned name, e.g. "relay-v3"."""
    max_context: int | None = Field(None, ge=16)
    """Tokens of prompt and answer together; the engine's own limit by default."""
    call_timeout: float = Field(300.0, gt=0)
    """Seconds one call may take."""
    price: Price | None = None

    @property
    def label(self) -> str:
        return self.name or self.model.rstrip("/").rsplit("/", 1)[-1]


class TransformersConfig(EngineConfig):
    """Hugging Face transformers on this machine, CPU or GPU, batched."""

    kind: Literal["transformers"]
    device: str | None = None
    """"cpu", "cuda", ...: the best there is by default."""
    dtype: Literal["float32", "bfloat16", "float16"] | None = None
    """float32 on CPU and bfloat16 on GPU by default."""
    batch_size: int = Field(8, ge=1)
    """Prompts in one forward pass."""
    adapter_dir: Path | None = None
    """PEFT folder loaded under `adapter`."""


class OpenAIConfig(EngineConfig):
    """Any OpenAI-compatible server: vLLM, or a closed API."""

    kind: Literal["openai"]
    base_url: str | list[str] = "http://127.0.0.1:8000/v1"
    """One or several servers of the same model; a task keeps to one, for its prefix cache."""
    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key; servers without keys need none."""
    tokenizer: str | None = None
    """Hub name or folder of the model's tokenizer: prompts are then sent as token ids through /v1/completions.
    Without it, messages go through /v1/chat/completions and token ids are unknown."""
    max_retries: int = Field(5, ge=0)
    """Further attempts after 429, 5xx and time-outs, with back-off."""


class VLLMConfig(EngineConfig):
    """vLLM in this process."""

    kind: Literal["vllm"]
    dtype: Literal["float32", "bfloat16", "float16", "auto"] = "auto"
    enforce_eager: bool = False
    """Needed by the CPU build."""
    gpu_memory_utilization: float = Field(0.9, gt=0, le=1)
    tensor_parallel_size: int = Field(1, ge=1)
    adapter_dir: Path | None = None
    """PEFT folder loaded under `adapter`."""


class RecordedConfig(EngineConfig):
    """Replays the generations of a stored run; asks for nothing new."""

    kind: Literal["recorded"]
    run: Path
    """The run folder."""
    model: str = "recorded"


AnyEngineConfig = Annotated[
    TransformersConfig | OpenAIConfig | VLLMConfig | RecordedConfig, Field(discriminator="kind")
]


class LossConfig(Settings):
    """What a lossy relay loses: exactly one of these."""

    drop: list[str] | None = Field(None, min_length=1)
    """Fields to leave out."""
    drop_share: float | None = Field(None, gt=0.0, le=1.0)
    """Share of the fields to leave out, the nearest number of them; a higher share drops what a lower one does, and
    more."""
    mask: list[str] | None = Field(None, min_length=1)
    """Fields whose value is replaced by a mask."""
    shuffle: list[str] | None = None
    """Fields whose values change places among the records; [] for all fields."""
    cut: int | None = Field(None, ge=0)
    """Keep this many tokens."""
    foreign: bool = False
    """Send the same relay of another task instead: misinformation."""

    @model_validator(mode="after")
    def _one(self) -> LossConfig:
        set_ = [name for name in ("drop", "drop_share", "mask", "shuffle", "cut") if getattr(self, name) is not None]
        if len(set_) + self.foreign != 1:
            raise ValueError("name exactly one loss: drop, drop_share, mask, shuffle, cut or foreign")
        return self

    def suffix(self) -> str:
        """How labels write it, e.g. "-due_date"."""
        if self.drop is not None:
            return "-" + ",".join(self.drop)
        if self.drop_share is not None:
            return f"-{self.drop_share:.0%}"
        if self.mask is not None:
            return "mask(" + ",".join(self.mask) + ")"
        if self.shuffle is not None:
            return "shuffle(" + ",".join(self.shuffle) + ")"
        return "foreign" if self.foreign else f"cut({self.cut})"


class RelayConfig(Settings):
    """Which relay encoder, with which loss."""

    encoder: Literal["report", "truncate", "none", "oracle"]
    keep: Literal["first", "last"] = "last"
    """truncate: which end of the context."""
    tokens: int | None = Field(None, ge=1)
    """truncate: how many tokens; report: at most this many."""
    loss: LossConfig | None = None
    pad: int | None = Field(None, ge=1)
    """oracle: send so many lines of the context along that hold nothing needed (a control: noise kept in the relay)."""

    @model_validator(mode="after")
    def _fits(self) -> RelayConfig:
        if self.pad is not None and self.encoder != "oracle":
            raise ValueError("'pad' is for encoder 'oracle': it has to know which lines are noise; remove it")
        if self.encoder == "truncate" and self.tokens is None:
            raise ValueError("truncate needs 'tokens', e.g. {encoder: truncate, tokens: 128}")
        if self.encoder in ("none", "oracle") and self.tokens is not None:
            raise ValueError(f"'tokens' means nothing for encoder {self.encoder!r}; remove it")
        if self.encoder == "none" and self.loss is not None:
            raise ValueError("encoder 'none' sends nothing, so it cannot lose anything; remove 'loss'")
        return self

    def label(self) -> str:
        head = f"truncate({self.keep} {self.tokens})" if self.encoder == "truncate" else self.encoder
        lost = f"{head} {self.loss.suffix()}" if self.loss else head
        return f"{lost} +{self.pad}" if self.pad else lost


class SystemConfig(Settings):
    """One row of the table: a prototype, and for MAS its relay."""

    prototype: Literal["sas", "sas-plan", "sas-contextflow", "mas"]
    relay: RelayConfig | None = None
    name: str | None = None
    """How tables call it; prototype and relay by default."""

    @model_validator(mode="after")
    def _relay_is_mas(self) -> SystemConfig:
        if (self.prototype == "mas") != (self.relay is not None):
            hint = (
                "add relay: {encoder: report}" if self.prototype == "mas" else "remove 'relay', or use prototype: mas"
            )
            raise ValueError(
                f"prototype {self.prototype!r} {'needs' if self.prototype == 'mas' else 'takes no'} relay; {hint}"
            )
        return self

    @property
    def label(self) -> str:
        return self.name or (f"{self.prototype} {self.relay.label()}" if self.relay else self.prototype)


class DecodingConfig(Settings):
    """Everything about sampling; a model's own generation_config is never used."""

    temperature: float = Field(0.0, ge=0.0)
    """0 is greedy."""
    top_p: float = Field(1.0, gt=0.0, le=1.0)
    max_tokens: int = Field(256, ge=1)
    """New tokens a turn."""
    report_tokens: int = Field(256, ge=1)
    """New tokens of a written relay."""
    stop: list[str] = Field([])
    """Strings that end a turn."""
    logprobs: bool = False
    """Store the log-probability of each generated token."""


class RunConfig(Settings):
    """A grid: tasks x systems x engines x seeds."""

    benchmark: BenchmarkConfig
    engines: list[AnyEngineConfig] = Field(min_length=1)
    systems: list[SystemConfig] = Field(min_length=1)
    seeds: list[int] = Field([0], min_length=1)
    """One trial each: several at temperature > 0 give Avg@N and pass@k."""
    decoding: DecodingConfig = DecodingConfig()
    max_steps: int | None = Field(None, ge=1)
    """Steps of a task in all, shared out over the parts as the benchmark's own number is; that number by default."""
    share_upstream: bool = True
    """One upstream rollout per (task, engine, seed) for all relays: paired and cheap. false: end to end each."""
    out: Path = Path("runs/run")
    """The run folder; run again with the same folder to resume."""
    limit: int | None = Field(None, ge=1)
    """Only the first tasks."""
    concurrency: int = Field(16, ge=1)
    """Most episodes at once; the runner adapts below it."""
    deadline: float = Field(1800.0, gt=0)
    """Seconds one episode may take."""
    error_budget: float = Field(0.05, ge=0.0, le=1.0)
    """Stop when more than this share of episodes fails for outside reasons."""

    @model_validator(mode="after")
    def _distinct(self) -> RunConfig:
        for what, labels in (
            ("systems", [s.label for s in self.systems]),
            ("engines", [e.label for e in self.engines]),
        ):
            twice = sorted({label for label in labels if labels.count(label) > 1})
            if twice:
                raise ValueError(f"two {what} are called {twice[0]!r}; give one of them a 'name'")
        if len(set(self.seeds)) != len(self.seeds):
            raise ValueError("a seed is named twice")
        if len(self.seeds) > 1 and self.decoding.temperature == 0:
            raise ValueError("several seeds at temperature 0 are the same trial; set decoding.temperature or one seed")
        return self
