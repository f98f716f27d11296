"""Fetching: the text of one page on the public internet, bounded in bytes, time and redirects.

The address comes from a model, so it is treated as a stranger's: http and https only, and no host whose name leads to
a private, local or otherwise special address, redirects included. Text is taken out of HTML by trafilatura.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import Any

import httpx

from relaybench.benchmarks.widesearch.web import Page, Unreachable, shorten
from relaybench.errors import UserError

SECONDS = 20.0
"""What one page may take, redirects included."""
BYTES = 3_000_000
"""What is read of a page; the rest is left."""
CHARACTERS = 100_000
"""What is kept of a page's text."""
REDIRECTS = 5
AT_ONCE = 8
TEXTUAL = ("text/", "application/xhtml+xml", "application/json", "application/xml")
HEADERS = {"User-Agent": "Mozilla/5.0 (compatible; relaybench)", "Accept": "text/html,text/plain;q=0.9,*/*;q=0.5"}


class Fetcher:
    """Opens pages. `transport` replaces the network in tests."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._transport = transport
        self._client: httpx.AsyncClient | None = None
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def page(self, url: str) -> Page:
        """Raises Unreachable for anything that keeps the text from being read, UserError without trafilatura."""
        async with self._slots:
            try:
                async with asyncio.timeout(SECONDS):
                    final, kind, body = await self._follow(url)
            except TimeoutError as error:
                raise Unreachable(f"the page took longer than {SECONDS:.0f} seconds") from error
            except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
                raise Unreachable(f"the page could not be opened ({type(error).__name__})") from error
            title, text = await asyncio.to_thread(readable, body, kind)
        if not text.strip():
            raise Unreachable("the page has no text that can be read")
        return Page(shorten(title, 200), final, text[:CHARACTERS])

    async def close(self) -> None:
        """Let go of connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _follow(self, url: str) -> tuple[str, str, bytes]:
        """The last address, its content type and the first BYTES of its body."""
        for _ in range(REDIRECTS + 1):
            await check_public(url)
            async with self._connected().stream("GET", url) as response:
                if response.next_request is None:
                    return url, *await _body(response)
                url = str(response.next_request.url)
        raise Unreachable(f"the page redirects more than {REDIRECTS} times")

    def _connected(self) -> httpx.AsyncClient:
        if self._client is None:
            self._client = httpx.AsyncClient(headers=HEADERS, timeout=SECONDS, transport=self._transport)
        return self._client


async def check_public(url: str) -> None:
    """Raises Unreachable for an address that is not http(s) on a public host."""
    parsed = httpx.URL(url)
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise Unreachable("only addresses that start with http:// or https:// can be opened")
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(parsed.host, parsed.port or 443, type=socket.SOCK_STREAM)
    if not all(ipaddress.ip_address(entry[4][0]).is_global for entry in found):
        raise Unreachable("that address is not on the public internet")


def readable(body: bytes, kind: str) -> tuple[str, str]:
    """(title, text) of a document; tables stay tables. Raises UserError without trafilatura."""
    if "html" not in kind:
        return "", body.decode("utf-8", errors="replace")
    trafilatura = _trafilatura()
    try:
        text = trafilatura.extract(body, favor_recall=True, include_tables=True, include_comments=False)
        about = trafilatura.extract_metadata(body)
    except Exception:  # noqa: BLE001  whatever a parser makes of a stranger's page, it is no text
        return "", ""
    return str(getattr(about, "title", None) or ""), text or ""


async def _body(response: httpx.Response) -> tuple[str, bytes]:
    kind = response.headers.get("content-type", "text/html").lower()
    if response.status_code >= 400:
        raise Unreachable(f"the page answers with status {response.status_code}")
    if not kind.startswith(TEXTUAL):
        raise Unreachable(f"the page is no text but {shorten(kind, 60)}")
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) >= BYTES:
            break
    return kind, bytes(body[:BYTES])


def _trafilatura() -> Any:
    try:
        import trafilatura
    except ImportError as error:
        raise UserError("live pages need trafilatura; run `scripts/install benchmarks`") from error
    return trafilatura
