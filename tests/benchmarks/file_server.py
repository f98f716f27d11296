"""A local web server whose answers, good and bad, a test sets path by path."""

from __future__ import annotations

from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType


class FileServer:
    """Serves `files`; a path in `failures` first answers with those codes, one in `cut` is broken off half-way."""

    def __init__(self, files: dict[str, bytes]):
        self.files = files
        self.failures: dict[str, list[int]] = {}
        self.cut: set[str] = set()
        self.asked: Counter[str] = Counter()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner.answer(self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        self.asked[request.path] += 1
        codes = self.failures.get(request.path, [])
        if codes or request.path not in self.files:
            request.send_error(codes.pop(0) if codes else 404)
            return
        content = self.files[request.path]
        request.send_response(200)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content[: len(content) // 2] if request.path in self.cut else content)

    def __enter__(self) -> FileServer:
        self.thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
