"""Downloads: one file from its official address to a path, whole or not at all.

`Downloader.get` streams to the path it is given and returns only when every byte the server promised is there. What
the bytes should be is for the caller to check. Broken connections and 429/5xx answers are tried again with back-off.
"""

from __future__ import annotations

import os
import ssl
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from relaybench.errors import UserError

MEND = "check the network (proxies: HTTPS_PROXY), name a mirror in RELAYBENCH_DATA_MIRROR, or import a folder"
CHUNK_BYTES = 1 << 20


class Downloader:
    """Gets files over HTTP(S).

    `mirror` (default: $RELAYBENCH_DATA_MIRROR) replaces scheme and host of every address; the path stays as it is.
    The wait before try k is `backoff_s` x 2^(k-1) seconds.
    """

    def __init__(self, mirror: str | None = None, *, attempts: int = 4, backoff_s: float = 1.0):
        self.mirror = os.environ.get("RELAYBENCH_DATA_MIRROR", "") if mirror is None else mirror
        self.attempts = attempts
        self.backoff_s = backoff_s

    def address(self, url: str) -> str:
        """Where `url` is really asked for."""
        return self.mirror.rstrip("/") + urlsplit(url).path if self.mirror else url

    def get(self, url: str, target: Path, say: Callable[[str], None]) -> None:
        """Write what `url` holds to `target`. Raises UserError when it cannot be had; `target` may then be partial."""
        address = self.address(url)
        for attempt in range(1, self.attempts + 1):
            try:
                _stream(address, target)
                return
            except httpx.InvalidURL as error:
                raise UserError(f"'{address}' is no web address ({error}); mend RELAYBENCH_DATA_MIRROR") from error
            except httpx.HTTPError as error:
                if not _passing(error) or attempt == self.attempts:
                    raise UserError(f"cannot download {address}: {_reason(error)}; {MEND}") from error
                wait = self.backoff_s * 2 ** (attempt - 1)
                say(f"{address}: {_reason(error)}; trying again in {wait:g} s")
                time.sleep(wait)


def _stream(address: str, target: Path) -> None:
    # identity: the promised length is then that of the file, and a short answer is an error of the transport
    headers = {"Accept-Encoding": "identity", "User-Agent": "relaybench"}
    with (
        httpx.stream("GET", address, headers=headers, follow_redirects=True, timeout=60.0, verify=_trust()) as response,
        target.open("wb") as out,
    ):
        response.raise_for_status()
        for chunk in response.iter_bytes(CHUNK_BYTES):
            out.write(chunk)


@cache
def _trust() -> ssl.SSLContext:
    """The certificates to trust; reading them takes longer than a small file, so it is done once."""
    return httpx.create_ssl_context()


def _passing(error: httpx.HTTPError) -> bool:
    """Whether the same request may succeed later."""
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code == 429 or error.response.status_code >= 500
    return isinstance(error, httpx.TransportError) and not isinstance(error, httpx.UnsupportedProtocol)


def _reason(error: httpx.HTTPError) -> str:
    if isinstance(error, httpx.HTTPStatusError):
        return f"{error.response.status_code} {error.response.reason_phrase}"
    return str(error) or type(error).__name__
