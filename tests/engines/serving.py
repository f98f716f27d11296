"""A vLLM server for a test: `relaybench serve` on a free port, waited for, and stopped at the end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

PATIENCE = 600
"""Seconds a server may take to come up."""


@contextmanager
def serving(folder: Path, log: Path, options: Sequence[str] = (), vllm_options: Sequence[str] = ()) -> Iterator[str]:
    """The base URL of a server of the model in `folder`; what it prints goes to `log`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "relaybench.cli", "serve", str(folder), "--port", str(port), *options]
    with log.open("w") as out:
        server = subprocess.Popen([*command, "--", *vllm_options], stdout=out, stderr=out, start_new_session=True)
        try:
            _wait_for(port, server, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(60)


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(1)
    pytest.fail(f"the server did not come up:\n{log.read_text()[-3000:]}")
