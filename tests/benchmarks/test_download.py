import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from relaybench.benchmarks.download import Downloader
from relaybench.errors import UserError
from tests.benchmarks.file_server import FileServer

CONTENT = bytes(range(256)) * 9000  # over two chunks
OFFICIAL = "https://example.org/data/file.bin"


@pytest.fixture
def server() -> Iterator[FileServer]:
    with FileServer({"/data/file.bin": CONTENT}) as running:
        yield running


def get(server: FileServer, target: Path) -> list[str]:
    said: list[str] = []
    Downloader(server.url + "/", attempts=3, backoff_s=0.0).get(OFFICIAL, target, said.append)
    return said


def test_a_mirror_answers_in_the_official_hosts_place(server: FileServer, tmp_path: Path) -> None:
    assert get(server, tmp_path / "file") == []
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_the_mirror_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAYBENCH_DATA_MIRROR", "http://mirror.local/x/")
    assert Downloader().address(OFFICIAL) == "http://mirror.local/x/data/file.bin"
    assert Downloader(mirror="").address(OFFICIAL) == OFFICIAL


def test_passing_server_errors_are_tried_again_and_said(server: FileServer, tmp_path: Path) -> None:
    server.failures["/data/file.bin"] = [500, 429]
    said = get(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert ["500" in said[0], "429" in said[1]] == [True, True]


def test_a_missing_file_is_asked_for_once(server: FileServer, tmp_path: Path) -> None:
    server.files.clear()
    with pytest.raises(UserError, match=r"cannot download http.*file\.bin: 404 Not Found; .*RELAYBENCH_DATA_MIRROR"):
        get(server, tmp_path / "file")
    assert server.asked["/data/file.bin"] == 1


def test_an_answer_that_breaks_off_is_an_error_after_every_try(server: FileServer, tmp_path: Path) -> None:
    server.cut.add("/data/file.bin")
    with pytest.raises(UserError, match="cannot download .* without sending complete message body"):
        get(server, tmp_path / "file")
    assert server.asked["/data/file.bin"] == 3


def test_an_unreachable_server_is_named(tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    net = Downloader(f"http://127.0.0.1:{port}", attempts=1)
    with pytest.raises(UserError, match=f"cannot download http://127.0.0.1:{port}/.*; check the network"):
        net.get(OFFICIAL, tmp_path / "file", print)


@pytest.mark.parametrize("mirror", ["mirror.local", "ftp://mirror.local", "http://[broken"])
def test_a_mirror_that_is_no_web_address_is_one_line(mirror: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="RELAYBENCH_DATA_MIRROR") as error:
        Downloader(mirror, attempts=3, backoff_s=0.0).get(OFFICIAL, tmp_path / "file", print)
    assert "\n" not in str(error.value)
