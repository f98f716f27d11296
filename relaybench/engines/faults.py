"""Faults: what an error from a server means. Passing ones are tried again; the rest end the call, or the run.

`judge` returns a `Fault` for what may pass (429, 5xx, time-outs, lost connections, answers that make no sense) and
raises for what will not: ContextFull for a prompt that is too long, UserError for a refused key, an unknown model or
a wrong address, EngineError for any other refusal of this one request.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from openai import APIConnectionError, APIStatusError, APITimeoutError

from relaybench.engines.base import ContextFull, EngineError
from relaybench.engines.servers import Server
from relaybench.errors import UserError

_TOO_LONG = re.compile(
    r"context_length_exceeded|(maximum|max)[ _]?(context|model)[ _]?len|context (length|window|size)", re.IGNORECASE
)


class BadAnswer(Exception):
    """The server answered 200 with something that is no completion."""


class Fault(NamedTuple):
    """A failure that may pass."""

    error: str
    """For the record: starts with the HTTP status, "timeout" or "connection"."""
    retry_after: float | None = None
    """Seconds the server asks for."""
    unreachable: bool = False
    """Another server may answer at once."""


def judge(error: Exception, server: Server, model: str, timeout: float) -> Fault:
    """What `error`, raised by a call for `model`, means. Raises where trying again is of no use."""
    cause = _root(error)
    # the client's aiohttp transport reports a connection lost in the middle as a connect time-out
    lost = isinstance(cause, OSError) and not isinstance(cause, TimeoutError)
    if isinstance(error, APITimeoutError | TimeoutError) and not lost:
        return Fault(f"timeout after {timeout:g} s at {server.name}", unreachable=True)
    if isinstance(error, APIConnectionError):
        return Fault(f"connection to {server.name} failed: {server.scrub(str(cause))}", unreachable=True)
    if isinstance(error, APIStatusError):
        return _status(error, server, model)
    return Fault(f"200 but no completion from {server.name}: {server.scrub(str(error))}")


def _root(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _status(error: APIStatusError, server: Server, model: str) -> Fault:
    status, code = error.status_code, str(getattr(error, "code", None) or "")
    text = f"{status} from {server.name}: {server.scrub(_message(error))}"
    if status in (400, 413, 422) and _TOO_LONG.search(f"{code} {_message(error)}"):
        raise ContextFull(text) from None
    if status in (401, 403):
        raise server.refusal(status) from None
    if code == "insufficient_quota":
        raise UserError(f"{text}; the account behind {server.key_env} has nothing left") from None
    if status == 404:
        if "model" in _message(error).lower() or code == "model_not_found":
            raise server.without(model) from None
        raise UserError(f"{text}; check 'base_url', which mostly ends in /v1") from None
    if status in (408, 409, 425, 429) or status >= 500:
        return Fault(text, retry_after=retry_after(error.response.headers))
    raise EngineError(text) from None


def _message(error: APIStatusError) -> str:
    body = error.body
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        said = inner.get("message") if isinstance(inner, Mapping) else inner
        return str(said or error.message)
    return error.message


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that `Retry-After` (or `retry-after-ms`) asks to wait, None where it says nothing readable."""
    milliseconds, said = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds is not None:
            return max(0.0, float(milliseconds) / 1000)
        return None if said is None else max(0.0, float(said))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(said or "").timestamp() - time.time())
    except ValueError:
        return None
