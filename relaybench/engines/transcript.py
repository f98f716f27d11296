"""A transcript: what the model of a stored run was asked and said, found by the messages that came before.

Read from the run folder's JSON lines (records.Episode and records.Shared); torn or foreign lines are passed over.
A worker's usage and failed attempts are stored as sums, so they come with its first call and the others bring none:
the sums of a replay are those of the record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from relaybench.engines.base import Generation
from relaybench.engines.chat import Extension
from relaybench.engines.model import call_seed
from relaybench.errors import UserError, nearest
from relaybench.records import Decoding, Episode, Message, Relay, Shared, Usage, WorkerRecord

Digest = bytes
START: Digest = b""
Line = TypeVar("Line", Episode, Shared)


class Answer(Struct, frozen=True):
    """A stored reply, and the settings it was made under."""

    message: Message
    """`template` and `token_ids` as stored; a relay's text and ids have no template before them."""
    generation: Generation
    """With the prefill, if there was one, still at the head of its text."""
    seed: int
    decoding: Decoding
    adapter: str | None
    is_relay: bool


class Transcript:
    """The answers and extensions of one model of a run folder. `model` picks one where the run has several.

    Raises UserError where `folder` is no run, holds nothing, or does not know `model`.
    """

    def __init__(self, folder: Path, model: str | None = None) -> None:
        self.answers: dict[Digest, list[Answer]] = {}
        self.extensions: dict[Digest, Extension] = {}
        """By the digest of the messages up to and with the one that was added."""
        self.full: set[Digest] = set()
        """Prompts that did not fit."""
        self.relays: list[Relay] = []
        shared = {record.key: record for record in reversed(list(_lines(folder / "shared.jsonl", Shared)))}
        episodes = _of_one_model(list(_lines(folder / "episodes.jsonl", Episode)), folder, model)
        self._written = {_bill(r.relay): r.relay for r in shared.values() if r.relay is not None}
        self.relays.extend(self._written.values())
        self._ends: dict[tuple[object, ...], tuple[Digest, int]] = {}
        """The digest and length of finished contexts."""
        self._workers = {(e.task, e.seed, w.subtask): w for e in reversed(episodes) for w in _workers(e, shared)}
        self.has_ids = any(m.token_ids is not None for w in self._workers.values() for m in w.messages)
        for episode in episodes:
            self._read(episode, shared)
        sent = [(relay, episode) for episode in episodes for relay in episode.relays]
        self.relays.extend(relay for relay, _ in sent)
        for relay, episode in sorted(sent, key=lambda pair: _is_lossy(pair[0])):
            if relay.asked is not None:
                self._request(relay, relay.asked, episode)

    def generation_prompt(self) -> tuple[int, ...]:
        """What stands before every reply: the leading ids that all of them share (shared prefills included)."""
        heads = {m.token_ids[: m.template] for w in self._workers.values() for m in _replies(w) if m.token_ids}
        if not heads:
            return ()
        low, high = min(heads), max(heads)
        shared = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
        return low[:shared]

    def _read(self, episode: Episode, shared: dict[str, Shared]) -> None:
        workers = {worker.subtask: worker for worker in _workers(episode, shared)}
        for name in episode.order:
            before = [m for other in workers[name].inherits for m in workers[other].messages]
            end = self._walk(workers[name], before, episode)
            self._ends[episode.key, name] = end
            self._ends.setdefault((episode.task, episode.seed, name), end)  # where foreign relays come from

    def _walk(self, worker: WorkerRecord, before: Sequence[Message], episode: Episode) -> tuple[Digest, int]:
        digest, place = START, 0
        for message in before:
            digest, place = after(digest, message), place + 1
        first = True
        for message in worker.messages:
            if message.finish is not None:
                seed = call_seed(episode.seed, episode.task, worker.subtask, place)
                said = _said(message, worker, first)
                self._add(digest, Answer(message, said, seed, episode.decoding, episode.adapter, is_relay=False))
                first = False
            digest, place = after(digest, message), place + 1
            if message.finish is None and message.token_ids is not None:
                self.extensions.setdefault(digest, Extension(message.token_ids, message.restart))
        if worker.stop == "context_full":
            self.full.add(digest)
        return digest, place

    def _request(self, relay: Relay, asked: Message, episode: Episode) -> None:
        """Index a written relay under its context and request; a lossy one through the relay it was made from."""
        source, task = relay.sources[0], relay.foreign_task or episode.task
        place = (episode.key, source) if relay.foreign_task is None else (task, episode.seed, source)
        if place not in self._ends:
            return
        end, length = self._ends[place]
        digest, seed = after(end, asked), call_seed(episode.seed, task, source, length + 1)
        if asked.token_ids is not None:
            self.extensions.setdefault(digest, Extension(asked.token_ids, asked.restart))
        if relay.encode_usage.calls == 0:
            self.full.add(digest)
            return
        answered = any(answer.seed == seed for answer in self.answers.get(digest, ()))
        if not _is_lossy(relay):
            self._add_relay(relay, digest, seed, episode)
        elif not answered and (whole := self._written.get(_bill(relay))) is not None:
            self._add_relay(whole, digest, seed, episode)

    def _add_relay(self, relay: Relay, digest: Digest, seed: int, episode: Episode) -> None:
        finish = "length" if relay.truncated else "stop"
        message = Message("assistant", relay.text, token_ids=relay.token_ids, finish=finish)
        said = Generation(
            relay.text, finish, relay.encode_usage, token_ids=relay.token_ids, failed_calls=relay.failed_calls
        )
        self._add(digest, Answer(message, said, seed, episode.decoding, episode.adapter, is_relay=True))

    def _add(self, digest: Digest, answer: Answer) -> None:
        known = self.answers.setdefault(digest, [])
        if not any(a.seed == answer.seed and a.message == answer.message for a in known):
            known.append(answer)


def after(digest: Digest, message: Message) -> Digest:
    """The digest of a conversation once `message` is added to it."""
    text = f"{message.role}\x1f{message.content}".encode()
    return blake2b(digest + len(text).to_bytes(8, "big") + text, digest_size=16).digest()


def _said(message: Message, worker: WorkerRecord, first: bool) -> Generation:
    ids = None if message.token_ids is None else message.token_ids[message.template :]
    return Generation(
        text=message.content,
        finish=message.finish or "stop",
        usage=worker.usage if first else Usage(),
        token_ids=ids,
        logprobs=message.logprobs,
        failed_calls=worker.failed_calls if first else (),
    )


def _bill(relay: Relay) -> tuple[object, ...]:
    """What a relay and the lossy ones made from it share: its request, and what writing it cost (seconds tell tasks
    apart)."""
    asked = relay.asked.content if relay.asked is not None else None
    return relay.sources, relay.to, asked, msgspec.structs.astuple(relay.encode_usage)


def _is_lossy(relay: Relay) -> bool:
    """Whether its text is not what was written: encoder names tell ("report@1-drop(due_date)")."""
    return "-" in relay.encoder and not relay.passed_through and relay.foreign_task is None


def _workers(episode: Episode, shared: dict[str, Shared]) -> Iterator[WorkerRecord]:
    lent = (shared[key].worker for key in episode.shared if key in shared)
    yield from (worker for worker in (*lent, *episode.workers) if worker is not None)


def _replies(worker: WorkerRecord) -> Iterator[Message]:
    """Assistant messages after another speaker's: their ids begin with the generation prompt."""
    speaker = ""
    for message in worker.messages:
        if message.role == "assistant" and speaker not in ("", "assistant"):
            yield message
        speaker = message.role


def _of_one_model(episodes: list[Episode], folder: Path, model: str | None) -> list[Episode]:
    names = sorted({name for e in episodes for name in (e.model, e.engine)})
    if model is not None:
        chosen = [e for e in episodes if model in (e.model, e.engine)]
        if not chosen:
            raise UserError(
                f"{folder} has no episodes of '{model}'{nearest(model, names) or '; it has: ' + ', '.join(names)}"
            )
        return chosen
    if len({(e.model, e.engine) for e in episodes}) > 1:
        raise UserError(f"{folder} holds several models ({', '.join(names)}); name one with 'model'")
    if not episodes:
        raise UserError(f"{folder} holds no finished episodes; replay a run that has some")
    return episodes


def _lines(path: Path, kind: type[Line]) -> Iterator[Line]:
    if not path.is_file():
        if not path.parent.is_dir():
            raise UserError(f"no run folder {path.parent}; name the folder that `relaybench run` wrote")
        return
    decoder = msgspec.json.Decoder(kind)
    with path.open("rb") as file:
        for line in file:
            try:
                yield decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue  # torn or damaged: what it held has no answer here
