"""Measures: what one episode took, as plain numbers; every table, frame and file is made from these.

Token counts are logical: what the episode would cost if it ran alone, upstream rollouts and relays that it shares
with other episodes included. They are disjoint parts, so they add up to `tokens`. What sharing saved is told by
`incurred`, which counts each stored rollout and relay once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from relaybench.records import Episode, FailedCall, Failure, Relay, Shared, Usage, WorkerRecord, total


class Price(Struct, frozen=True):
    """What a million tokens cost (the stored form of a config's `price`)."""

    prompt: float = 0.0
    cached: float = 0.0
    generated: float = 0.0
    currency: str = "USD"

    def of(self, usage: Usage) -> float:
        """The cost of a usage, in `currency`."""
        prompts = usage.prompt_tokens * self.prompt + usage.cached_tokens * self.cached
        return (prompts + usage.generated_tokens * self.generated) / 1e6


class Measures(Struct, frozen=True):
    """One episode in numbers."""

    steps: int
    """Turns of all workers, scripted ones included."""
    tokens: int
    """prompt + cached + generated + encoder + failed."""
    prompt_tokens: int
    """Prompt tokens the workers' calls computed."""
    cached_tokens: int
    """Prompt tokens the workers' calls took from a cache."""
    generated_tokens: int
    """Tokens the workers wrote."""
    encoder_tokens: int
    """All tokens of writing relays."""
    failed_tokens: int
    """All tokens of attempts that failed for an outside reason."""
    relay_tokens: int | None
    """Rate: tokens that crossed the edges, summed; None without relays or where the server tells no counts."""
    relays: int
    ill_formed_relays: int
    truncated_relays: int
    passed_through: int
    """Relays whose loss could not be applied."""
    missing: float | None
    """Achieved loss: mean share of needed values absent from its relays."""
    truncated_replies: int
    """Replies that ran into the token limit."""
    context_full: int
    """Workers stopped because their context no longer fitted."""
    branches: int
    """Times a chat template rewrote history."""
    ill_formed_actions: int
    forbidden_actions: int
    failed_calls: int
    seconds: float
    cost: float | None
    """In the currency of the configured price; None without one."""


def measure(episode: Episode, failures: Iterable[Failure] = (), price: Price | None = None) -> Measures:
    """The numbers of one episode; `failures` are its own earlier attempts, whose tokens were paid for too."""
    workers, relays = episode.workers, episode.relays
    work, encoding = total(w.usage for w in workers), total(r.encode_usage for r in relays)
    lost = [*failed_calls(workers, relays), *(call for failure in failures for call in failure.failed_calls)]
    failed = total(call.usage for call in lost)
    outcomes = [step.outcome for worker in workers for step in worker.steps]
    return Measures(
        steps=len(outcomes),
        tokens=work.total_tokens + encoding.total_tokens + failed.total_tokens,
        prompt_tokens=work.prompt_tokens,
        cached_tokens=work.cached_tokens,
        generated_tokens=work.generated_tokens,
        encoder_tokens=encoding.total_tokens,
        failed_tokens=failed.total_tokens,
        relay_tokens=_rate(relays),
        relays=len(relays),
        ill_formed_relays=sum(not relay.well_formed for relay in relays),
        truncated_relays=sum(relay.truncated for relay in relays),
        passed_through=sum(relay.passed_through for relay in relays),
        missing=_missing(relays),
        truncated_replies=sum(m.finish == "length" for worker in workers for m in worker.messages),
        context_full=sum(worker.stop == "context_full" for worker in workers),
        branches=sum(worker.branches for worker in workers),
        ill_formed_actions=outcomes.count("ill_formed"),
        forbidden_actions=outcomes.count("forbidden"),
        failed_calls=len(lost),
        seconds=episode.seconds,
        cost=price.of(work + encoding + failed) if price else None,
    )


def failed_calls(workers: Iterable[WorkerRecord], relays: Iterable[Relay]) -> list[FailedCall]:
    """Every attempt that failed within these rollouts and relays."""
    records: list[WorkerRecord | Relay] = [*workers, *relays]
    return [call for record in records for call in record.failed_calls]


def incurred(episodes: Sequence[Episode], shared: Mapping[str, Shared], failures: Iterable[Failure] = ()) -> Usage:
    """What these episodes of one run really took: each rollout and relay stored apart counts once, used or not.

    `episodes` have their shared workers back in `workers`; `shared` holds what was stored apart, by its key.
    """
    written = {_mark(entry.relay) for entry in shared.values() if entry.relay is not None}
    parts = [_paid(entry.worker) for entry in shared.values() if entry.worker is not None]
    parts += [_paid(entry.relay) for entry in shared.values() if entry.relay is not None]
    for episode in episodes:
        apart = {entry.worker.subtask for key in episode.shared if (entry := shared[key]).worker is not None}
        parts += [_paid(worker) for worker in episode.workers if worker.subtask not in apart]
        parts += [_paid(relay) for relay in episode.relays if _mark(relay) not in written]
    return total(parts) + total(call.usage for failure in failures for call in failure.failed_calls)


def used(episodes: Sequence[Episode], shared: Mapping[str, Shared]) -> dict[str, Shared]:
    """What of `shared` these episodes use."""
    keys = {key for episode in episodes for key in episode.shared}
    marks = {_mark(relay) for episode in episodes for relay in episode.relays}
    return {key: s for key, s in shared.items() if key in keys or (s.relay is not None and _mark(s.relay) in marks)}


def _paid(part: WorkerRecord | Relay) -> Usage:
    usage = part.usage if isinstance(part, WorkerRecord) else part.encode_usage
    return usage + total(call.usage for call in part.failed_calls)


def _mark(relay: Relay) -> Hashable:
    """The same for all relays made from one written relay: a loss changes the text, not what writing it took."""
    return relay.sources, relay.to, relay.encode_usage, relay.failed_calls


def _rate(relays: Iterable[Relay]) -> int | None:
    rates = [relay.rate_tokens for relay in relays]
    known = [rate for rate in rates if rate is not None]
    return sum(known) if rates and len(known) == len(rates) else None


def _missing(relays: Iterable[Relay]) -> float | None:
    known = [relay.missing for relay in relays if relay.missing is not None]
    return sum(known) / len(known) if known else None


def price_of(config: Mapping[str, Any], engine: str) -> Price | None:
    """The configured price of an engine, found by its label in the resolved config of a run."""
    for entry in config.get("engines", []):
        label = entry.get("name") or str(entry.get("model", "")).rstrip("/").rsplit("/", 1)[-1]
        price = entry.get("price")
        if label == engine and price:
            return Price(**price)
    return None
