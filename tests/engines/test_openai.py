"""The `openai` engine against a local server that answers as it is told."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from relaybench.config import OpenAIConfig
from relaybench.engines import attempts, servers
from relaybench.engines.base import ContextFull, EngineError, Request, ScoreRequest
from relaybench.engines.openai import OpenAIEngine
from relaybench.errors import UserError
from relaybench.records import Decoding, Message

from . import tiny
from .openai_server import GENERATED, FakeServer, Says, error, logprob

KEY = "sk-very-secret-0123456789"
PROMPT = [1, 5, 6, 9]
MESSAGES = [Message("system", "be brief"), Message("user", "hi")]


@pytest.fixture(autouse=True)
def _quick_and_keyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(servers, "GREETING", 600.0)  # a busy test machine is no dead server
    monkeypatch.setattr(servers, "CONNECT", 600.0)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with a small tokenizer and a chat template."""
    pytest.importorskip("transformers", reason="no transformers: run `scripts/install cpu`")
    folder = tmp_path_factory.mktemp("tokenizer")
    tiny.tokenizer().save_pretrained(folder)
    return str(folder)


@asynccontextmanager
async def started(*servers: FakeServer | str, **settings: Any) -> AsyncIterator[OpenAIEngine]:
    urls = [server if isinstance(server, str) else server.url for server in servers]
    engine = OpenAIEngine(OpenAIConfig(kind="openai", base_url=urls, **{"model": "tiny", **settings}))
    try:
        await engine.start()
        yield engine
    finally:
        await engine.close()


def ask(ids: list[int] | None = None, affinity: str = "", **decoding: Any) -> Request:
    return Request(MESSAGES, ids, Decoding(**decoding), max_tokens=16, seed=3, affinity=affinity)


async def test_token_ids_go_in_and_come_back_unchanged(tokenizer: str) -> None:
    async with FakeServer() as server, started(server, tokenizer=tokenizer) as engine:
        server.cached = 3
        reply = await engine.generate(ask(PROMPT, logprobs=True))
    assert server.asked[0]["prompt"] == PROMPT
    assert reply.token_ids == tuple(GENERATED)
    assert reply.logprobs == (-0.5, -0.25, -0.125)
    assert (reply.text, reply.finish, reply.failed_calls) == ("hello there", "stop", ())


async def test_usage_is_in_disjoint_parts(tokenizer: str) -> None:
    async with FakeServer() as server, started(server, tokenizer=tokenizer) as engine:
        server.cached = 3
        usage = (await engine.generate(ask(PROMPT))).usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.generated_tokens, usage.calls) == (1, 3, 3, 1)
    assert usage.seconds > 0


async def test_everything_about_decoding_is_said(tokenizer: str) -> None:
    async with FakeServer() as server, started(server, tokenizer=tokenizer) as engine:
        await engine.generate(ask(PROMPT, temperature=0.7, top_p=0.9, stop=("END",)))
        assert engine.chat is not None
        end = [engine.chat.end_of_turn]
    said = server.asked[0]
    explicit = {"temperature": 0.7, "top_p": 0.9, "max_tokens": 16, "seed": 3, "stop": ["END"], "stop_token_ids": end}
    neutral = {"repetition_penalty": 1.0, "top_k": -1, "min_p": 0.0, "ignore_eos": False, "min_tokens": 0}
    assert explicit.items() <= said.items()
    assert neutral.items() <= said.items()


async def test_an_adapter_is_asked_for_by_its_name(tokenizer: str) -> None:
    async with FakeServer() as server, started(server, tokenizer=tokenizer, adapter="relay-v1") as engine:
        await engine.generate(Request(MESSAGES, PROMPT, Decoding(), 16, adapter="relay-v1"))
    assert server.asked[0]["model"] == "relay-v1"


async def test_the_context_limit_is_the_servers_or_a_smaller_one(tokenizer: str) -> None:
    async with FakeServer() as server:
        async with started(server) as engine:
            assert engine.context_limit == 64
        async with started(server, max_context=32, tokenizer=tokenizer) as engine:
            assert engine.context_limit == 32
            with pytest.raises(ContextFull):
                await engine.generate(ask(list(range(20))))
    assert server.asked == []


async def test_without_a_tokenizer_messages_go_and_no_ids_come() -> None:
    async with FakeServer() as server, started(server) as engine:
        reply = await engine.generate(ask())
    assert engine.chat is None
    assert server.asked[0]["messages"] == [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}]
    assert "top_k" not in server.asked[0]  # closed APIs refuse what they do not know
    assert (reply.text, reply.finish, reply.token_ids) == ("hello", "length", None)
    assert reply.usage.prompt_tokens == 11


async def test_429_is_tried_again_and_kept_on_record() -> None:
    async with FakeServer() as server, started(server) as engine:
        server.script = [error(429, "slow down", headers={"Retry-After": "0.01"})]
        reply = await engine.generate(ask())
    assert reply.text == "hello"
    assert [call.error.split()[0] for call in reply.failed_calls] == ["429"]
    assert reply.usage.calls == 1


async def test_500s_forever_end_as_an_engine_error_with_every_attempt() -> None:
    async with FakeServer() as server, started(server, max_retries=2) as engine:
        server.always = error(500, "out of order")
        with pytest.raises(EngineError) as caught:
            await engine.generate(ask())
    assert len(server.asked) == 3
    assert [call.error.split()[0] for call in caught.value.failed_calls] == ["500"] * 3


async def test_a_server_that_hangs_is_a_time_out() -> None:
    async with FakeServer() as server, started(server, max_retries=0, call_timeout=0.2) as engine:
        server.always = Says(hang=True)
        with pytest.raises(EngineError) as caught:
            await engine.generate(ask())
    (call,) = caught.value.failed_calls
    assert call.error.startswith("timeout")
    assert call.seconds >= 0.2


async def test_a_page_instead_of_a_completion_is_tried_again() -> None:
    async with FakeServer() as server, started(server) as engine:
        server.script = [Says(body="<html>busy</html>"), Says(body={"object": "nothing"})]
        reply = await engine.generate(ask())
    assert reply.text == "hello"
    assert len(reply.failed_calls) == 2


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_named_by_its_variable_and_never_shown(status: int) -> None:
    async with FakeServer() as server, started(server) as engine:
        server.always = error(status, f"Incorrect API key provided: {KEY}")
        with pytest.raises(UserError, match="OPENAI_API_KEY") as caught:
            await engine.generate(ask())
        assert KEY not in str(caught.value) + repr(engine) + repr(engine.config)
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


async def test_a_key_echoed_in_a_failure_is_struck_out() -> None:
    async with FakeServer() as server, started(server, max_retries=0) as engine:
        server.always = error(500, f"cannot bill {KEY}")
        with pytest.raises(EngineError) as caught:
            await engine.generate(ask())
    record = str(caught.value) + repr(caught.value.failed_calls)
    assert KEY not in record
    assert "***" in record


async def test_a_password_in_the_url_is_used_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeServer() as server:
        url = server.url.replace("http://", "http://me:p%40ss-word@")
        async with started(url, max_retries=0) as engine:
            await engine.generate(ask())
            sent = base64.b64encode(b"me:p@ss-word").decode()
            assert server.headers[0]["Authorization"] == f"Basic {sent}"
            server.always = error(500, f"no: me:p@ss-word {sent}")
            with pytest.raises(EngineError) as caught:
                await engine.generate(ask())
    said = str(caught.value) + repr(caught.value.failed_calls)
    assert not any(secret in said for secret in ("p@ss-word", "p%40ss-word", sent))


async def test_an_unknown_model_is_said_at_the_start_with_the_nearest_one() -> None:
    async with FakeServer() as server:
        with pytest.raises(UserError, match="did you mean 'tiny-chat'"):
            async with started(server, model="tiny-chap"):
                pass
        with pytest.raises(UserError, match="serves tiny, tiny-chat, relay-v1"):
            async with started(server, model="gpt"):
                pass


async def test_a_model_that_vanishes_is_a_user_error() -> None:
    async with FakeServer() as server, started(server) as engine:
        server.always = error(404, "The model `tiny` does not exist.")
        with pytest.raises(UserError, match="does not serve"):
            await engine.generate(ask())


async def test_a_wrong_address_is_said_to_be_one() -> None:
    async with FakeServer() as server, started(server.url.removesuffix("/v1")) as engine:
        with pytest.raises(UserError, match="base_url"):
            await engine.generate(ask())


async def test_no_server_is_said_at_the_start() -> None:
    with pytest.raises(UserError, match=r"does not answer.*relaybench serve"):
        async with started("http://127.0.0.1:9/v1"):
            pass


async def test_a_prompt_that_is_too_long_is_context_full() -> None:
    async with FakeServer() as server, started(server) as engine:
        server.always = error(400, "This model's maximum context length is 64 tokens. However, you asked for 70.")
        with pytest.raises(ContextFull):
            await engine.generate(ask())


async def test_any_other_refusal_ends_the_call_at_once() -> None:
    async with FakeServer() as server, started(server, max_retries=3) as engine:
        server.always = error(400, "unsupported value")
        with pytest.raises(EngineError) as caught:
            await engine.generate(ask())
    assert len(server.asked) == 1
    assert len(caught.value.failed_calls) == 1


async def test_a_task_keeps_to_one_server_and_tasks_use_all() -> None:
    async with FakeServer() as one, FakeServer() as two, started(one, two) as engine:
        for _ in range(2):
            for task in range(16):
                await engine.generate(ask(affinity=f"task-{task}"))
    assert len(one.asked) + len(two.asked) == 32
    assert len(one.asked) % 2 == len(two.asked) % 2 == 0
    assert one.asked
    assert two.asked


async def test_a_server_that_dies_is_replaced_without_costing_a_retry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "REST", 1e9)
    async with FakeServer() as survivor, FakeServer() as doomed, started(survivor, doomed, max_retries=0) as engine:
        await doomed.__aexit__()
        replies = [await engine.generate(ask(affinity=f"task-{i}")) for i in range(12)]
    failed = [call.error for reply in replies for call in reply.failed_calls]
    assert all(reply.text == "hello" for reply in replies)
    assert len(failed) == 1  # after that it rests
    assert failed[0].startswith("connection")


async def test_a_server_dead_from_the_start_is_said_and_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    async with FakeServer() as server, started("http://127.0.0.1:9/v1", server) as engine:
        reply = await engine.generate(ask())
    assert reply.failed_calls == ()
    assert "127.0.0.1:9/v1 does not answer" in capsys.readouterr().err


async def test_a_server_without_token_ids_cannot_be_given_a_tokenizer(tokenizer: str) -> None:
    async with FakeServer(token_ids=False) as server, started(server, tokenizer=tokenizer) as engine:
        with pytest.raises(UserError, match="no token ids"):
            await engine.generate(ask(PROMPT))


async def test_a_server_that_changes_the_prompt_is_caught(tokenizer: str) -> None:
    async with FakeServer(changes_prompt=True) as server, started(server, tokenizer=tokenizer) as engine:
        with pytest.raises(UserError, match="other token ids"):
            await engine.generate(ask(PROMPT))


def expected(context: list[int], target: list[int]) -> tuple[float, ...]:
    return tuple(logprob(token, len(context) + i) for i, token in enumerate(target))


@pytest.mark.parametrize("token_endpoint", [True, False])
async def test_scores_are_those_of_the_targets_tokens(tokenizer: str, token_endpoint: bool) -> None:
    contexts, targets = [[1, 2, 3, 4], [1, 2, 3, 5], [6, 7]], [[3, 4], [8], [9, 9]]
    requests = [ScoreRequest(context, target) for context, target in zip(contexts, targets, strict=True)]
    async with FakeServer(token_endpoint=token_endpoint) as server, started(server, tokenizer=tokenizer) as engine:
        server.cached = 2 if token_endpoint else 0
        scores = await engine.score([*requests, requests[0]])
    wanted = [expected(context, target) for context, target in zip(contexts, targets, strict=True)]
    assert scores == [pytest.approx(row) for row in [*wanted, wanted[0]]]


async def test_a_target_that_is_cached_itself_is_scored_again_without_the_cache(tokenizer: str) -> None:
    async with FakeServer() as server, started(server, tokenizer=tokenizer) as engine:
        server.cached = 5
        scores = await engine.score([ScoreRequest([1, 2, 3, 4], [3, 4, 5])])
    assert scores == [pytest.approx(expected([1, 2, 3, 4], [3, 4, 5]))]
    assert [asked["sampling_params"]["skip_reading_prefix_cache"] for asked in server.asked] == [False, True]


@pytest.mark.parametrize("status", [400, 500])
async def test_rows_that_are_no_json_are_asked_for_without_the_cache(tokenizer: str, status: int) -> None:
    async with FakeServer() as server, started(server, tokenizer=tokenizer) as engine:
        server.script = [error(status, "Out of range float values are not JSON compliant")]
        scores = await engine.score([ScoreRequest([1, 2, 3, 4], [3, 4])])
    assert scores == [pytest.approx(expected([1, 2, 3, 4], [3, 4]))]
    assert [asked["sampling_params"]["skip_reading_prefix_cache"] for asked in server.asked] == [False, True]


async def test_scoring_says_where_it_cannot(tokenizer: str) -> None:
    request = ScoreRequest([1, 2], [3])
    async with FakeServer() as server, started(server) as engine:
        with pytest.raises(UserError, match="tokenizer"):
            await engine.score([request])
    bare = FakeServer(token_ids=False, token_endpoint=False)
    async with bare as server, started(server, tokenizer=tokenizer) as engine:
        with pytest.raises(UserError, match="log-probabilities"):
            await engine.score([request])


async def test_an_engine_says_that_it_is_not_started() -> None:
    engine = OpenAIEngine(OpenAIConfig(kind="openai", model="tiny"))
    with pytest.raises(RuntimeError, match="not started"):
        await engine.generate(ask())
    await engine.close()


def test_an_address_that_is_none_is_said() -> None:
    for url in ("localhost:8000", "ftp://host/v1", "http:///v1", "http://host:port/v1"):
        with pytest.raises(UserError, match="base_url"):
            OpenAIEngine(OpenAIConfig(kind="openai", model="tiny", base_url=url))._open()
