"""Scoring many relays after one prompt, against one full forward pass a pair: how much faster, and is it the same?

    python scripts/bench_scoring.py                                   SmolLM2-135M: a minute or two on two cores
    python scripts/bench_scoring.py --model qwen2.5-0.5b --relays 16

A prompt of `--prompt` tokens, then each of `--relays` relays of 64 tokens, then each relay's target of 24 tokens: what
`relaybench measure` asks of an engine. `Engine.score` prefills the prompt once and makes logits for target positions
only; the baseline runs every pair through the model from the start, also with logits for target positions only. Both
run in this process, one after the other, in float32. One JSON line: seconds, their ratio, and the largest difference in
nats a token. The baseline is timed on `--baseline` pairs and scaled up, since all of them would take minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections.abc import Sequence

import torch

from relaybench.config import TransformersConfig
from relaybench.engines.base import ScoreRequest
from relaybench.engines.transformers import TransformersEngine
from relaybench.engines.weights import resolve_model

RELAY, TARGET = 64, 24
WORDS = ("ledger", "badge", "office", "parcel", "invoice", "meeting", "Thursday", "number", "street", "river", "green")


def requests(engine: TransformersEngine, prompt: int, relays: int) -> list[ScoreRequest]:
    """Seeded word salad: what is scored does not matter to the time it takes."""
    draw = random.Random(0)
    assert engine.chat is not None

    def tokens(count: int) -> tuple[int, ...]:
        assert engine.chat is not None
        return engine.chat.encode(" ".join(draw.choices(WORDS, k=2 * count)))[:count]

    shared = tokens(prompt)
    return [ScoreRequest((*shared, *tokens(RELAY)), tokens(TARGET)) for _ in range(relays)]


def one_by_one(model: torch.nn.Module, pairs: Sequence[ScoreRequest]) -> list[list[float]]:
    """A whole forward pass a pair."""
    found = []
    for pair in pairs:
        ids = torch.tensor([[*pair.context, *pair.target]])
        with torch.inference_mode():
            logits = model(input_ids=ids, logits_to_keep=len(pair.target) + 1).logits[0, :-1].float()
        rows = logits.log_softmax(-1)
        found.append(rows.gather(1, torch.tensor(pair.target)[:, None])[:, 0].tolist())
    return found


async def bench(model: str, prompt: int, relays: int, baseline: int) -> dict[str, float | int | str]:
    from transformers import AutoModelForCausalLM

    engine = TransformersEngine(TransformersConfig(kind="transformers", model=model, dtype="float32", device="cpu"))
    await engine.start()
    asked = requests(engine, prompt, relays)
    await engine.score(requests(engine, 32, 2))  # what a first call loads
    began = time.perf_counter()
    ours = await engine.score(asked)
    seconds = time.perf_counter() - began
    await engine.close()
    plain = AutoModelForCausalLM.from_pretrained(resolve_model(model), dtype=torch.float32).eval()
    one_by_one(plain, asked[:1])
    began = time.perf_counter()
    theirs = one_by_one(plain, asked[:baseline])
    each = (time.perf_counter() - began) / baseline
    gap = max(abs(a - b) for one, other in zip(ours, theirs, strict=False) for a, b in zip(one, other, strict=True))
    return {
        "model": model,
        "prompt_tokens": prompt,
        "relays": relays,
        "score_s": round(seconds, 2),
        "one_by_one_s": round(each * relays, 2),
        "one_by_one_timed": baseline,
        "ratio": round(each * relays / seconds, 1),
        "largest_gap_nats_per_token": float(f"{gap:.1e}"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--prompt", type=int, default=2000, help="tokens before the relay")
    parser.add_argument("--relays", type=int, default=64)
    parser.add_argument("--baseline", type=int, default=8, help="pairs of the baseline that are timed")
    args = parser.parse_args()
    print(json.dumps(asyncio.run(bench(args.model, args.prompt, args.relays, args.baseline))))


if __name__ == "__main__":
    main()
