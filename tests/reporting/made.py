"""Episodes with known figures, for the tests of reporting."""

from __future__ import annotations

from typing import Any

import msgspec

from relaybench.records import (
    Decoding,
    Episode,
    FailedCall,
    Failure,
    Message,
    Relay,
    Score,
    Step,
    Usage,
    WorkerRecord,
)

READING = Usage(prompt_tokens=100, cached_tokens=20, generated_tokens=30, calls=2, seconds=1.0)
WRITING = Usage(prompt_tokens=10, cached_tokens=130, generated_tokens=8, calls=1, seconds=0.5)
ANSWERING = Usage(prompt_tokens=60, generated_tokens=12, calls=1, seconds=0.25)


def reader(task: str) -> WorkerRecord:
    """An upstream rollout of two steps, one of them no action."""
    replies = (Message("assistant", "Action: open"), Message("assistant", "hm", finish="length"))
    steps = (Step(0, "open"), Step(1, None, "ill_formed"))
    return WorkerRecord("reader", "reader", (Message("user", task), *replies), steps, "finished", usage=READING)


def writer() -> WorkerRecord:
    """A downstream rollout of one step."""
    reply = Message("assistant", "Action: submit", finish="stop")
    return WorkerRecord("writer", "writer", (reply,), (Step(0, "submit"),), "done", usage=ANSWERING)


def relay(encoder: str, *, well_formed: bool = True, written: bool = True) -> Relay:
    usage = WRITING if written else Usage()
    return Relay(
        "due: today", ("reader",), "writer", encoder, 8, well_formed=well_formed, encode_usage=usage, missing=0.5
    )


def episode(task: str, system: str, success: bool, seed: int = 0, **changes: Any) -> Episode:
    """One episode whose key says what it is."""
    made = Episode(
        key=f"{system}/{task}/{seed}",
        benchmark="workbench",
        revision="r1",
        task=task,
        system=system,
        prototype=system.split()[0],
        engine="tiny",
        model="org/tiny",
        seed=seed,
        score=Score(success, reward=float(success), values={"has_action": float(task != "t0")}),
        order=("reader", "writer"),
        workers=(writer(),),
        shared=(f"up/{task}/{seed}",),
        decoding=Decoding(max_tokens=64),
        prompts="roles@1",
        seconds=2.0,
    )
    return msgspec.structs.replace(made, **changes)


def failure(task: str, system: str, seed: int = 0) -> Failure:
    call = FailedCall("503", 1.0, Usage(prompt_tokens=50))
    return Failure(f"{system}/{task}/{seed}", task, system, "tiny", seed, "engine", "503", failed_calls=(call,))
