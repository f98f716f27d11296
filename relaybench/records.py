"""Records: what a run stores. Frozen, typed, versioned, plain JSON on disk.

A `Context` (M in the paper) is append-only: every message keeps the token ids it was read or generated with,
so a prompt is the concatenation of what is stored and is never tokenised a second time. A `Relay` (m) is what
crossed one edge. An `Episode` is one task run once by one system; `Shared` is a rollout or a relay that several
episodes use, stored once. Token counts are in the reader's tokenizer; times are in seconds.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Literal

from msgspec import Struct, field

SCHEMA = 1
"""Version of the stored form. Readers accept every older one (see rollout/store.py)."""

Speaker = Literal["system", "user", "assistant"]
Stop = Literal["finished", "done", "budget", "context_full"]
Outcome = Literal["ok", "ill_formed", "forbidden", "finish"]


class Message(Struct, frozen=True, omit_defaults=True):
    """One message of a context, with the token ids that stand for it in the prompt."""

    role: Speaker
    content: str
    token_ids: tuple[int, ...] | None = None
    """Ids added to the prompt by this message, in order; None where the server tells no ids."""
    template: int = 0
    """How many leading ids the chat template wrote (of an assistant message: its generation prompt)."""
    logprobs: tuple[float, ...] | None = None
    """Log-probabilities (nats) of `token_ids[template:]` under the sampled model, if asked for."""
    finish: str | None = None
    """Assistant messages: why generation ended ("stop", "length")."""
    restart: bool = False
    """The chat template rewrote history: `token_ids` is the whole prompt again (a new branch)."""


class Usage(Struct, frozen=True, omit_defaults=True):
    """What calls cost, in disjoint parts: prompt tokens computed, prompt tokens from a cache, generated."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0
    calls: int = 0
    seconds: float = 0.0
    """Wall time of the calls, summed."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.cached_tokens + other.cached_tokens,
            self.generated_tokens + other.generated_tokens,
            self.calls + other.calls,
            self.seconds + other.seconds,
        )

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.cached_tokens + self.generated_tokens


def total(usages: Iterable[Usage]) -> Usage:
    """The sum of many usages."""
    result = Usage()
    for usage in usages:
        result = result + usage
    return result


class FailedCall(Struct, frozen=True, omit_defaults=True):
    """An attempt at an engine call that failed for an outside reason and was tried again or given up."""

    error: str
    seconds: float = 0.0
    usage: Usage = Usage()


class Step(Struct, frozen=True, omit_defaults=True):
    """One turn of a worker: what it did, and how the environment took it."""

    message: int
    """Index of the assistant message within the worker's own messages."""
    action: str | None = None
    outcome: Outcome = "ok"
    reward: float = 0.0


class WorkerRecord(Struct, frozen=True, omit_defaults=True):
    """A worker's rollout: its own messages; `inherits` names the workers whose messages stand before them."""

    subtask: str
    role: str
    messages: tuple[Message, ...]
    steps: tuple[Step, ...]
    stop: Stop
    inherits: tuple[str, ...] = ()
    usage: Usage = Usage()
    failed_calls: tuple[FailedCall, ...] = ()
    branches: int = 0
    seconds: float = 0.0


class Relay(Struct, frozen=True, omit_defaults=True):
    """What crossed one edge of the graph (m_i in the paper)."""

    text: str
    sources: tuple[str, ...]
    """Workers whose context it was made from."""
    to: str
    """The subtask it goes to."""
    encoder: str
    """Name and version, losses included, e.g. "report@1-drop(due_date)"."""
    rate_tokens: int | None
    """What the next worker pays to read it, in its tokenizer; None where that is not known."""
    token_ids: tuple[int, ...] | None = None
    rate_nats: float | None = None
    """-log r(m | X) under the prior that does not see M; None until measured."""
    well_formed: bool = True
    """Follows the receiving subtask's report format (free-form encoders always do)."""
    fields: dict[str, str] | None = None
    """The parsed report, where there is one."""
    encode_usage: Usage = Usage()
    failed_calls: tuple[FailedCall, ...] = ()
    asked: Message | None = None
    """The request that a written relay answered, as appended to its context."""
    truncated: bool = False
    """Its writer ran into the token limit, or a budget cut it."""
    passed_through: bool = False
    """A loss could not be applied (ill-formed or without that field), so the relay went on unchanged."""
    knows_target: bool = False
    """Made from the task's record (the `oracle`): never comparable with encoders that do not see Y."""
    foreign_task: str | None = None
    """The task this relay really belongs to, where it is misinformation on purpose."""
    missing: float | None = None
    """Achieved loss: share of the needed values that its text does not contain; None where none are known."""


class Score(Struct, frozen=True, omit_defaults=True):
    """The benchmark's own verdict."""

    success: bool
    reward: float = 0.0
    values: dict[str, float] = field(default_factory=dict)
    """Further official metrics by name."""


class Decoding(Struct, frozen=True, omit_defaults=True):
    """Everything about sampling. `temperature` 0 is greedy; nothing is taken from a model's generation_config."""

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 256
    """New tokens a turn."""
    report_tokens: int = 256
    """New tokens of a written relay."""
    stop: tuple[str, ...] = ()
    logprobs: bool = False


class Episode(Struct, frozen=True, omit_defaults=True):
    """One task run once by one system."""

    key: str
    benchmark: str
    revision: str
    """Of the data and its rules; results of different revisions are never pooled."""
    task: str
    system: str
    """Label of the system, e.g. "mas report -due_date"."""
    prototype: str
    engine: str
    model: str
    seed: int
    score: Score
    order: tuple[str, ...]
    """Subtasks in the order they ended."""
    workers: tuple[WorkerRecord, ...] = ()
    """Rollouts that belong to this episode alone."""
    shared: tuple[str, ...] = ()
    """Keys of `Shared` rollouts that it used; `relaybench.load` puts them back in."""
    relays: tuple[Relay, ...] = ()
    decoding: Decoding = Decoding()
    adapter: str | None = None
    template: str | None = None
    """Task template or type: the unit of train/test splits and of breakdowns."""
    prompts: str = ""
    """Version of the prompts and roles."""
    started: str = ""
    seconds: float = 0.0
    schema: int = SCHEMA


class Shared(Struct, frozen=True, omit_defaults=True):
    """An upstream rollout, or a relay made from one, that several episodes use: stored once, found by key."""

    key: str
    worker: WorkerRecord | None = None
    relay: Relay | None = None
    schema: int = SCHEMA


class Failure(Struct, frozen=True, omit_defaults=True):
    """An episode that ended for an outside reason; it is run again on resume."""

    key: str
    task: str
    system: str
    engine: str
    seed: int
    kind: str
    """"engine", "deadline", "environment" or "internal"."""
    error: str
    failed_calls: tuple[FailedCall, ...] = ()
    when: str = ""
    seconds: float = 0.0
    schema: int = SCHEMA


class Segment:
    """The messages one worker added to a context, in order."""

    __slots__ = ("messages", "worker")

    def __init__(self, worker: str, messages: Iterable[Message] = ()) -> None:
        self.worker = worker
        self.messages: list[Message] = list(messages)


class Context:
    """M: the append-only messages a worker has seen, as segments of the workers that wrote them.

    The last segment is the worker's own and grows; those before it are inherited over identity relays.
    `token_ids` is the prompt so far, or None once a message without ids was appended.
    """

    __slots__ = ("_ids", "_messages", "branches", "segments")

    def __init__(self, worker: str, inherited: Sequence[Segment] = ()) -> None:
        self.segments: list[Segment] = [*inherited, Segment(worker)]
        self.branches = 0
        self._ids: list[int] | None = []
        self._messages: list[Message] = []  # of all segments: every turn hands them to the engine
        for segment in self.segments:
            for message in segment.messages:
                self._take(message)

    @property
    def worker(self) -> str:
        return self.segments[-1].worker

    @property
    def own(self) -> list[Message]:
        """The messages of the last segment."""
        return self.segments[-1].messages

    @property
    def token_ids(self) -> list[int] | None:
        return self._ids

    @property
    def last(self) -> Message | None:
        """The latest message, whoever wrote it."""
        return self._messages[-1] if self._messages else None

    def messages(self) -> Iterator[Message]:
        """All of them in order, inherited ones first."""
        return iter(self._messages)

    def append(self, message: Message) -> None:
        self.segments[-1].messages.append(message)
        self._take(message)
        self.branches += message.restart

    def text(self) -> str:
        """The context as a reader would see it, message by message."""
        return "\n\n".join(f"{message.role}: {message.content}" for message in self.messages())

    def digest(self) -> str:
        """Names the content: equal for contexts with the same messages, whatever worker read them."""
        text = "\x1e".join(f"{message.role}\x1f{message.content}" for message in self.messages())
        return sha256(text.encode()).hexdigest()[:16]

    def _take(self, message: Message) -> None:
        self._messages.append(message)
        if message.restart:
            self._ids = []
        if message.token_ids is None or self._ids is None:
            self._ids = None
        else:
            self._ids.extend(message.token_ids)


def join(contexts: Sequence[Context]) -> list[Segment]:
    """Segments of several contexts in their order, shared ancestors once (a worker has one segment everywhere)."""
    seen: dict[str, Segment] = {}
    for context in contexts:
        for segment in context.segments:
            seen.setdefault(segment.worker, segment)
    return list(seen.values())
