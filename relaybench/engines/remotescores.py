"""Remote scores: log-probabilities of given tokens from a vLLM server.

A server started by `relaybench serve` has vLLM's token endpoint (/inference/v1/generate), which takes sampling
settings whole and so can score with the prefix cache in use. Any other vLLM server can only give `prompt_logprobs`
through /v1/completions, which computes every context anew: the same numbers, many times slower.
"""

from __future__ import annotations

from typing import Any

from openai import APIStatusError

from relaybench.engines.base import ScoreRequest
from relaybench.engines.faults import BadAnswer
from relaybench.engines.promptscores import Scores, target_logprobs
from relaybench.engines.servers import Server
from relaybench.errors import UserError


async def ask_scores(server: Server, model: str, request: ScoreRequest, cache: bool) -> Scores | None:
    """The scores of one request; None where the prefix cache got in the way (ask again without it)."""
    sampling = {
        "max_tokens": 1,
        "temperature": 0.0,
        "prompt_logprobs": 0,
        "detokenize": False,
        "skip_reading_prefix_cache": not cache,
    }
    body = {"model": model, "token_ids": [*request.context, *request.target], "sampling_params": sampling}
    root = server.name.removesuffix("/v1")
    try:
        answer: Any = await server.client.post(f"{root}/inference/v1/generate", cast_to=object, body=body)
    except APIStatusError as error:
        if error.status_code in (403, 404, 405) and "model" not in str(error.body).lower():
            return await _ask_completions(server, model, request)
        if cache and (error.status_code == 500 or "not JSON compliant" in str(error.body)):
            return None  # uninitialised rows may hold NaN, which does not become JSON (a 400 in later versions)
        raise
    if not isinstance(answer, dict) or answer.get("prompt_logprobs") is None:
        raise BadAnswer("no prompt_logprobs")
    details = (answer.get("usage") or {}).get("prompt_tokens_details") or {}
    return target_logprobs(answer["prompt_logprobs"], request, details.get("cached_tokens"))


async def _ask_completions(server: Server, model: str, request: ScoreRequest) -> Scores | None:
    completion = await server.client.completions.create(
        model=model,
        prompt=[*request.context, *request.target],
        max_tokens=1,
        temperature=0.0,
        extra_body={"prompt_logprobs": 0, "add_special_tokens": False},
    )
    choices = getattr(completion, "choices", None)
    rows = (choices[0].model_extra or {}).get("prompt_logprobs") if choices else None
    if rows is None:
        raise UserError(f"{server.name} gives no log-probabilities of given tokens; score on a vLLM server")
    return target_logprobs(rows, request, None)
