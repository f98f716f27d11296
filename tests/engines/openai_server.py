"""A local OpenAI-compatible server for tests: it answers as it is told and remembers what it was asked."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

GENERATED = [7, 8, 2]
MODELS = ("tiny", "tiny-chat", "relay-v1")


@dataclass
class Says:
    """One answer that is not the ordinary one."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    hang: bool = False


def error(status: int, message: str, code: str | None = None, headers: dict[str, str] | None = None) -> Says:
    return Says(status, {"error": {"message": message, "code": code, "type": "error"}}, headers or {})


class FakeServer:
    """Use as `async with FakeServer() as server:`."""

    def __init__(self, *, token_ids: bool = True, changes_prompt: bool = False, token_endpoint: bool = True) -> None:
        self.script: list[Says] = []
        """Answers to the next calls; the ordinary one after that."""
        self.always: Says | None = None
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.cached = 0
        self.token_ids, self.changes_prompt, self.token_endpoint = token_ids, changes_prompt, token_endpoint
        app = web.Application()
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/v1/completions", self._completions)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/inference/v1/generate", self._generate)
        self._server = TestServer(app)
        self._ended = asyncio.Event()

    async def __aenter__(self) -> FakeServer:
        await self._server.start_server()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._ended.set()
        await self._server.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.port}/v1"

    async def _models(self, request: web.Request) -> web.Response:
        if self.always is not None:
            return await self._say(self.always)
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "me", "max_model_len": 64} for name in MODELS]
        return web.json_response({"object": "list", "data": data})

    async def _say(self, says: Says) -> web.Response:
        if says.hang:
            await self._ended.wait()
        if isinstance(says.body, str):
            return web.Response(text=says.body, status=says.status, headers=says.headers, content_type="text/html")
        return web.json_response(says.body, status=says.status, headers=says.headers)

    async def _asked(self, request: web.Request) -> tuple[dict[str, Any], web.Response | None]:
        body = await request.json()
        self.asked.append(body)
        self.headers.append(dict(request.headers))
        says = self.script.pop(0) if self.script else self.always
        return body, None if says is None else await self._say(says)

    def _usage(self, prompt: int) -> dict[str, Any]:
        details = {"cached_tokens": self.cached}
        return {
            "prompt_tokens": prompt,
            "completion_tokens": len(GENERATED),
            "total_tokens": prompt + len(GENERATED),
            "prompt_tokens_details": details,
        }

    async def _completions(self, request: web.Request) -> web.Response:
        body, said = await self._asked(request)
        if said is not None:
            return said
        prompt = body["prompt"]
        choice: dict[str, Any] = {"index": 0, "text": "hello there", "finish_reason": "stop", "logprobs": None}
        if self.token_ids and body.get("return_token_ids"):
            choice |= {"token_ids": GENERATED, "prompt_token_ids": [1, *prompt] if self.changes_prompt else prompt}
        if body.get("logprobs") is not None:
            choice["logprobs"] = {"token_logprobs": [-0.5, -0.25, -0.125], "tokens": ["a", "b", "c"]}
        if self.token_ids and body.get("prompt_logprobs") is not None:
            choice["prompt_logprobs"] = _rows(prompt, 0)
        answer = {"id": "1", "object": "text_completion", "created": 0, "model": body["model"], "choices": [choice]}
        return web.json_response(answer | {"usage": self._usage(len(prompt))})

    async def _chat(self, request: web.Request) -> web.Response:
        body, said = await self._asked(request)
        if said is not None:
            return said
        message = {"role": "assistant", "content": "hello"}
        choice = {"index": 0, "message": message, "finish_reason": "length", "logprobs": None}
        answer = {"id": "1", "object": "chat.completion", "created": 0, "model": body["model"], "choices": [choice]}
        return web.json_response(answer | {"usage": self._usage(11)})

    async def _generate(self, request: web.Request) -> web.Response:
        """vLLM's token endpoint: rows of the cached part are garbage."""
        if not self.token_endpoint:
            return web.json_response({"error": {"message": "Scale-out endpoints are disabled."}}, status=403)
        body, said = await self._asked(request)
        if said is not None:
            return said
        cached = 0 if body["sampling_params"]["skip_reading_prefix_cache"] else self.cached
        usage = {"prompt_tokens": len(body["token_ids"]), "prompt_tokens_details": {"cached_tokens": cached}}
        return web.json_response({"prompt_logprobs": _rows(body["token_ids"], cached), "usage": usage})


def logprob(token: int, position: int) -> float:
    """What the fake server gives token at position: any function that tells places apart."""
    return -math.log(2 + token) - position / 100


def _rows(prompt: list[int], cached: int) -> list[Any]:
    rows: list[Any] = [None]
    for position, token in enumerate(prompt[1:], 1):
        garbage = position <= cached
        rows.append({str(10**12 if garbage else token): {"logprob": 3.0 if garbage else logprob(token, position)}})
    return rows
