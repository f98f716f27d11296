"""The live back end against a local search and local pages: nothing here leaves the machine."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest

from relaybench.benchmarks.widesearch import fetch, live
from relaybench.benchmarks.widesearch.fetch import Fetcher, check_public, readable
from relaybench.benchmarks.widesearch.live import LiveWeb, duckduckgo
from relaybench.benchmarks.widesearch.web import Hit, Page, Unreachable

pytest.importorskip("trafilatura", reason="no trafilatura: run `scripts/install benchmarks`")
ROWS = "".join(f"<tr><td>Town {i}</td><td>{1000 + i}</td></tr>" for i in range(30))
TOWNS = f"""<html><head><title>Towns</title></head><body><nav>Home</nav><h1>Towns</h1><p>All towns of the county.</p>
<table><tr><th>Town</th><th>People</th></tr>{ROWS}</table></body></html>"""


class Pages(BaseHTTPRequestHandler):
    visits: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.visits.append(self.path)
        if self.path == "/slow":
            time.sleep(1.0)
        kinds = {"/towns": "text/html; charset=utf-8", "/text": "text/plain", "/slow": "text/plain"}
        status = {"/moved": 302, "/loop": 302, "/inside": 302, "/gone": 404}.get(self.path, 200)
        self.send_response(status)
        target = {"/moved": "/towns", "/loop": "/loop", "/inside": "file:///etc/passwd"}.get(self.path)
        if target:
            self.send_header("Location", target)
        self.send_header("Content-Type", kinds.get(self.path, "application/pdf"))
        self.end_headers()
        body = {"/towns": TOWNS.encode(), "/text": b"plain \xff text", "/slow": b"late"}.get(self.path, b"")
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    async def anywhere(url: str) -> None:
        if not url.startswith("http://127.0.0.1"):
            raise Unreachable("not the test's")

    monkeypatch.setattr(fetch, "check_public", anywhere)
    Pages.visits.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def finder(seen: list[str]) -> Callable[[str], list[Hit]]:
    def find(query: str) -> list[Hit]:
        seen.append(query)
        return [Hit(f"About {query}", "https://a.example", "an excerpt")]

    return find


def kept(folder: Path) -> list[Path]:
    return list(folder.rglob("*.json"))


async def test_a_page_is_read_with_its_table(site: str, tmp_path: Path) -> None:
    web = LiveWeb(tmp_path)
    page = await web.page(f"{site}/moved")
    assert (page.title, page.url) == ("Towns", f"{site}/towns")
    assert "| Town 29 | 1029 |" in page.text
    assert (await web.page(f"{site}/text")).text == "plain � text"
    await web.close()


async def test_what_was_seen_is_seen_again_without_the_network(site: str, tmp_path: Path) -> None:
    seen: list[str] = []
    web = LiveWeb(tmp_path / "cache", find=finder(seen))
    first = await asyncio.gather(
        *(web.page(f"{site}/towns") for _ in range(5)), *(web.search("towns") for _ in range(5))
    )
    await web.close()
    again = LiveWeb(tmp_path / "cache", find=finder(seen))
    assert [await again.page(f"{site}/towns"), await again.search("towns")] == [first[0], first[-1]]
    assert (seen, Pages.visits) == (["towns"], ["/towns"])


@pytest.mark.parametrize(
    ("path", "reason"),
    [("/gone", "status 404"), ("/paper.pdf", "no text but application/pdf"), ("/loop", "redirects more than 5 times")],
)
async def test_why_a_page_cannot_be_read_is_said(site: str, path: str, reason: str, tmp_path: Path) -> None:
    web = LiveWeb(tmp_path)
    with pytest.raises(Unreachable, match=reason):
        await web.page(site + path)
    await web.close()


async def test_a_redirect_is_checked_like_any_address(site: str, tmp_path: Path) -> None:
    web = LiveWeb(tmp_path)
    with pytest.raises(Unreachable):
        await web.page(f"{site}/inside")
    await web.close()


async def test_time_runs_out_and_is_not_kept(site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "SECONDS", 0.2)
    monkeypatch.setattr(live, "SECONDS", 0.2)
    web = LiveWeb(tmp_path, find=lambda query: time.sleep(0.5) or [])  # type: ignore[func-returns-value]
    with pytest.raises(Unreachable, match="longer than"):
        await web.page(f"{site}/slow")
    with pytest.raises(Unreachable, match="longer than"):
        await web.search("towns")
    assert kept(tmp_path) == []
    await web.close()


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://localhost:8000/", "http://[::1]/", "http://10.0.0.1/", "http://169.254.169.254/latest",
        "file:///etc/passwd", "ftp://a.example/", "a.example", "", "http://", "http://0x7f.1/", "http://[fe80::1]/",
    ],
)  # fmt: skip
async def test_only_the_public_internet_is_opened(url: str, tmp_path: Path) -> None:
    web = LiveWeb(tmp_path)
    with pytest.raises(Unreachable):
        await web.page(url)
    await web.close()


async def test_a_public_address_passes() -> None:
    await check_public("https://93.184.215.14/page")


async def test_large_pages_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = httpx.Response(200, headers={"content-type": "text/plain"}, content=b"x" * (fetch.BYTES + 10))
    web = LiveWeb(tmp_path, fetcher=Fetcher(httpx.MockTransport(lambda request: answer)))
    page = await web.page("https://93.184.215.14/large")
    assert page == Page("", "https://93.184.215.14/large", "x" * fetch.CHARACTERS)
    await web.close()


async def test_a_damaged_cache_file_is_made_again(tmp_path: Path) -> None:
    seen: list[str] = []
    web = LiveWeb(tmp_path, find=finder(seen))
    await web.search("towns")
    (file,) = kept(tmp_path)
    assert json.loads(file.read_text())["request"] == "search towns"
    file.write_text("{")
    await web.search("towns")
    assert seen == ["towns", "towns"]


def test_what_is_no_page_has_no_text() -> None:
    assert readable(b"", "text/html") == ("", "")
    assert readable(b"<html>" + b"<div>" * 5000, "text/html")[1].strip() == ""


def test_duckduckgo_through_its_client(monkeypatch: pytest.MonkeyPatch) -> None:
    ddgs = pytest.importorskip("ddgs", reason="no ddgs: run `scripts/install benchmarks`")
    exceptions = pytest.importorskip("ddgs.exceptions")
    answers: list[Any] = [
        [{"title": "T", "href": "https://a.example", "body": "b" * 999}, {"title": "no address"}],
        exceptions.DDGSException("No results found."),
        exceptions.RatelimitException("202"),
    ]

    class Client:
        def __init__(self, timeout: int) -> None: ...

        def text(self, query: str, *, max_results: int, backend: str) -> list[dict[str, str]]:
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return list(answer)

    monkeypatch.setattr(ddgs, "DDGS", Client)
    assert [(hit.title, len(hit.excerpt)) for hit in duckduckgo("q")] == [("T", 204)]
    assert duckduckgo("q") == []
    with pytest.raises(Unreachable, match="RatelimitException"):
        duckduckgo("q")
