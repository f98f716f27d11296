"""Servers: the OpenAI-compatible endpoints of one model, and which of them answers a call.

A task keeps to one server (its prefix is cached there); a server that does not answer rests for a while and the
task's next one takes over. Keys come from the environment and, like a password in a URL, are in no text that leaves
this module: `Server.name` is the bare URL and `Server.scrub` takes them out of whatever a server echoes.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from base64 import b64encode
from collections.abc import Sequence
from hashlib import blake2b
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from openai import APIConnectionError, APIStatusError, AsyncOpenAI, DefaultAioHttpClient, Timeout

from relaybench.errors import UserError, nearest

REST = 30.0
"""Seconds before a server that did not answer is asked again while others are there."""
CONNECT = 10.0
"""Seconds a server may take to accept a connection."""
GREETING = 30.0
"""Seconds a server may take to say, at the start, which models it has."""


class Server:
    """One endpoint with its client. Raises UserError for an address that is none."""

    def __init__(self, url: str, key_env: str, call_timeout: float) -> None:
        self.name, userinfo = _split(url)
        self.key_env = key_env
        key = os.environ.get(key_env) or None
        self.has_key = key is not None
        self._secrets = _spellings(key, userinfo)
        self.models: list[str] = []
        """Models it says it has; empty where it does not say."""
        self.context_limit: int | None = None
        self.resting_until = 0.0
        headers = {"Authorization": f"Basic {b64encode(userinfo.encode()).decode()}"} if userinfo else None
        self.client = AsyncOpenAI(
            base_url=self.name,
            api_key=key or "none",
            max_retries=0,  # attempts.py tries again, so that each attempt is accounted for
            timeout=Timeout(call_timeout, connect=min(CONNECT, call_timeout)),
            default_headers=headers,
            http_client=DefaultAioHttpClient(),  # a shared httpx pool costs more a call the more calls are in flight
        )

    def scrub(self, text: str) -> str:
        """`text` without key and password, on one line, cut to a readable length."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return " ".join(text.split())[:400]

    def rest(self) -> None:
        """Send calls elsewhere for a while."""
        self.resting_until = time.monotonic() + REST

    async def greet(self) -> str | None:
        """Learn its models. Returns why it is of no use now, or None. Raises UserError where it refuses the key."""
        try:
            async with asyncio.timeout(GREETING):
                listing = await self.client.models.list()
        except (APIConnectionError, TimeoutError):
            return "does not answer"
        except APIStatusError as error:
            if error.status_code in (401, 403):
                raise self.refusal(error.status_code) from None
            return f"answers {error.status_code}" if error.status_code >= 500 or error.status_code == 429 else None
        found = [model for model in getattr(listing, "data", None) or [] if getattr(model, "id", None)]
        self.models = [model.id for model in found]
        limits = [(model.model_extra or {}).get("max_model_len") for model in found]
        self.context_limit = next((limit for limit in limits if isinstance(limit, int)), None)
        return None

    def refusal(self, status: int) -> UserError:
        """What to tell the user about a 401 or 403."""
        if self.has_key:
            return UserError(f"{self.name} refuses the key in {self.key_env} ({status}); put a valid one there")
        return UserError(f"{self.name} asks for a key ({status}); put it into the environment variable {self.key_env}")

    def without(self, model: str) -> UserError:
        """What to tell the user about a model that is not here."""
        shown = ", ".join(self.models[:12]) + (", ..." if len(self.models) > 12 else "")
        hint = nearest(model, self.models) or (f"; it serves {shown}" if shown else "; check 'model' and 'base_url'")
        return UserError(f"{self.name} does not serve '{model}'{hint}")


class Servers:
    """All endpoints of one model."""

    def __init__(self, servers: Sequence[Server]) -> None:
        self.all = tuple(servers)

    def choose(self, affinity: str) -> Server:
        """The server that calls of `affinity` go to now: always the same one while it is up."""
        order = sorted(self.all, key=lambda server: _weight(affinity, server.name))
        now = time.monotonic()
        awake = [server for server in order if server.resting_until <= now]
        return awake[0] if awake else min(order, key=lambda server: server.resting_until)

    @property
    def context_limit(self) -> int | None:
        limits = [server.context_limit for server in self.all if server.context_limit is not None]
        return min(limits) if limits else None

    async def connect(self, models: Sequence[str]) -> None:
        """Greet all servers. Raises UserError where none answers, or one lacks one of `models`."""
        troubles = await asyncio.gather(*(server.greet() for server in self.all))
        silent = [(server, trouble) for server, trouble in zip(self.all, troubles, strict=True) if trouble]
        if len(silent) == len(self.all):
            said = "; ".join(f"{server.name} {trouble}" for server, trouble in silent)
            mend = "start one with `relaybench serve MODEL` and wait until it says that it is up (a minute or two)"
            raise UserError(f"{said}; {mend}, or set the engine's 'base_url'")
        for server, trouble in silent:
            print(f"relaybench: {server.name} {trouble}; going on with the other servers", file=sys.stderr)
            server.rest()
        for server in self.all:
            for model in models:
                if server.models and model not in server.models:
                    raise server.without(model)

    async def close(self) -> None:
        await asyncio.gather(*(server.client.close() for server in self.all))


def _split(url: str) -> tuple[str, str]:
    """The bare URL, and user:password."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        raise UserError("a 'base_url' of the engine is not a URL; write for example http://127.0.0.1:8000/v1") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
        raise UserError("'base_url' must read like http://HOST:PORT/v1, without a query")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    bare = urlunsplit((parts.scheme, f"{host}:{port}" if port else host, parts.path.rstrip("/"), "", ""))
    userinfo = ":".join(unquote(part) for part in (parts.username, parts.password) if part is not None)
    return bare, userinfo


def _spellings(key: str | None, userinfo: str) -> list[str]:
    """Every way in which a server might echo the key or the password, longest first."""
    password = userinfo.partition(":")[2]
    plain = [secret for secret in (key, userinfo, password) if secret]
    spelled = {*plain, *map(quote, plain), *(b64encode(secret.encode()).decode() for secret in plain)}
    return sorted(spelled, key=len, reverse=True)


def _weight(affinity: str, name: str) -> bytes:
    """Rendezvous hashing: a dead server's tasks spread over all others, and nobody else's move."""
    return blake2b(f"{affinity}\x1f{name}".encode(), digest_size=8).digest()
