import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import pytest

from relaybench.benchmarks import datasets
from relaybench.benchmarks.download import Downloader
from relaybench.benchmarks.pins import FirstSeen, Rows, Sha256, row_digest
from relaybench.benchmarks.sources import SOURCES, Source, SourceFile
from relaybench.errors import UserError
from tests.benchmarks.file_server import FileServer

NAMES = b"name,number\nAnna,1\n"
ROWS = b'task,outcome,note\n"a, b",1,x\nc,2,y\n'
LICENCE = b"Do as you like.\n"
TOY = Source(
    "toy",
    "A toy",
    "MIT",
    (
        SourceFile("in/names.csv", "https://e.org/r/names.csv", len(NAMES), Sha256(hashlib.sha256(NAMES).hexdigest())),
        SourceFile(
            "rows.csv",
            "https://e.org/r/rows.csv",
            len(ROWS),
            Rows(("task", "outcome"), (row_digest(["a, b", "1"]), row_digest(["c", "2"]))),
        ),
        SourceFile("LICENSE.toy", "https://e.org/LICENSE", len(LICENCE), FirstSeen()),
    ),
)
Fetch = Callable[[], datasets.Dataset]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an empty store that knows the toy data."""
    monkeypatch.setenv("RELAYBENCH_DATA", str(tmp_path / "store"))
    monkeypatch.setattr(datasets, "SOURCES", {"toy": TOY})
    return tmp_path / "store" / "toy"


@pytest.fixture
def server(store: Path) -> Iterator[FileServer]:
    with FileServer({"/r/names.csv": NAMES, "/r/rows.csv": ROWS, "/LICENSE": LICENCE}) as running:
        yield running


@pytest.fixture
def fetch(server: FileServer) -> Fetch:
    return lambda: datasets.fetch("toy", downloader=Downloader(server.url, attempts=2, backoff_s=0.0))


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_fetched_data_is_whole_checked_and_said_how(store: Path, fetch: Fetch) -> None:
    dataset = fetch()
    assert datasets.data_dir("toy") == store
    assert files_in(store) == ["LICENSE.toy", "in/names.csv", "manifest.json", "rows.csv"]
    assert [file.checked for file in dataset.files] == [Sha256.kind, Rows.kind, FirstSeen.kind]
    assert "1 pinned by SHA-256, 1 checked row by row, 1 unpinned (first seen)" in str(dataset)
    assert datasets.verify("toy") == dataset
    assert datasets.data_revision("toy") == dataset.revision
    assert (
        json.loads((store / "manifest.json").read_text())["files"][2]["sha256"] == hashlib.sha256(LICENCE).hexdigest()
    )


def test_a_second_fetch_asks_for_nothing(fetch: Fetch, server: FileServer) -> None:
    first = fetch()
    server.asked.clear()
    assert fetch() == first
    assert server.asked.total() == 0


def test_each_step_is_said_with_its_size(server: FileServer) -> None:
    said: list[str] = []
    datasets.fetch("toy", downloader=Downloader(server.url), say=said.append)
    assert said[0] == "toy: 3 files, 0.0 MB, MIT"
    assert said[1] == f"in/names.csv ({len(NAMES)} bytes) from {server.url}/r/names.csv"


def test_a_corrupt_file_never_becomes_data_and_the_next_fetch_goes_on(
    store: Path, fetch: Fetch, server: FileServer
) -> None:
    server.files["/r/rows.csv"] = ROWS.replace(b"c,2", b"c,3")
    with pytest.raises(UserError, match="rows.csv is not the file it must be: 1 of 2 rows differ, the first is row 1;"):
        fetch()
    assert files_in(store) == ["in/names.csv"]
    with pytest.raises(UserError, match=r"^no data for 'toy'; get it with `relaybench data fetch toy` or"):
        datasets.data_dir("toy")
    server.files["/r/rows.csv"] = ROWS
    fetch()
    assert server.asked == {"/r/names.csv": 1, "/r/rows.csv": 2, "/LICENSE": 1}


@pytest.mark.parametrize("content", [b"", NAMES[:-3], NAMES + b"\n", b"<html>log in first</html>"])
def test_a_byte_copy_must_be_one(content: bytes, store: Path, fetch: Fetch, server: FileServer) -> None:
    server.files["/r/names.csv"] = content
    with pytest.raises(UserError, match=f"names.csv is not the file it must be: {len(content)} bytes with SHA-256"):
        fetch()
    assert files_in(store) == []


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (ROWS[:-6], "1 rows, expected 2"),
        (b"\xff\xfe", "not a CSV file in UTF-8"),
        (b"<html>log in first</html>", "0 rows, expected 2"),
        (b"other,columns\n1,2\n", "not a CSV file in UTF-8 with columns task, outcome"),
    ],
)
def test_a_file_known_by_its_rows_must_have_them(content: bytes, wrong: str, fetch: Fetch, server: FileServer) -> None:
    server.files["/r/rows.csv"] = content
    with pytest.raises(UserError, match=wrong):
        fetch()


def test_a_truncated_download_never_becomes_data(store: Path, fetch: Fetch, server: FileServer) -> None:
    server.cut.add("/r/names.csv")
    with pytest.raises(UserError, match="cannot download"):
        fetch()
    assert files_in(store) == []


def test_quoting_and_line_ends_do_not_change_the_revision(store: Path, fetch: Fetch, server: FileServer) -> None:
    revision = fetch().revision
    (store / "rows.csv").unlink()
    server.files["/r/rows.csv"] = b'"task","outcome","note"\r\n"a, b","1","z"\r\n"c","2","z"\r\n'
    again = fetch()
    assert again.revision == revision
    assert again.files[1].size != len(ROWS)


def test_an_unpinned_file_is_held_to_its_first_copy(store: Path, fetch: Fetch, server: FileServer) -> None:
    fetch()
    (store / "LICENSE.toy").unlink()
    server.files["/LICENSE"] = b"Something else."
    with pytest.raises(UserError, match=r"LICENSE\.toy is not the file it must be: .* its first copy had"):
        fetch()


def test_a_cut_file_is_noticed_listed_and_mended_alone(store: Path, fetch: Fetch, server: FileServer) -> None:
    assert [entry.state for entry in datasets.list_datasets()] == ["absent"]
    fetch()
    assert [entry.state for entry in datasets.list_datasets()] == ["ready"]
    os.truncate(store / "in/names.csv", 3)
    assert [entry.state for entry in datasets.list_datasets()] == ["damaged"]
    with pytest.raises(UserError, match=r"data for 'toy' is damaged: in/names.csv has 3 bytes, not 19; mend it with"):
        datasets.data_dir("toy")
    server.asked.clear()
    fetch()
    assert server.asked == {"/r/names.csv": 1}
    assert datasets.data_dir("toy") == store


def test_verify_reads_what_a_glance_cannot_see(store: Path, fetch: Fetch) -> None:
    fetch()
    (store / "in/names.csv").write_bytes(NAMES.replace(b"1", b"2"))
    assert datasets.data_dir("toy") == store
    with pytest.raises(UserError, match=r"names\.csv is not the file it must be: .*`relaybench data fetch toy`"):
        datasets.verify("toy")


def test_an_imported_folder_equals_a_fetched_one(store: Path, fetch: Fetch, tmp_path: Path) -> None:
    fetched = fetch()
    imported = datasets.import_folder("toy", store, root=tmp_path / "other")
    assert imported.revision == fetched.revision
    assert datasets.data_dir("toy", root=tmp_path / "other") == tmp_path / "other" / "toy"
    assert imported.origin == str(store)


def test_what_an_import_lacks_is_named(store: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no folder .*nowhere; name the one that holds in/names.csv"):
        datasets.import_folder("toy", tmp_path / "nowhere")
    (tmp_path / "LICENSE.toy").write_bytes(LICENCE)
    with pytest.raises(UserError, match=r"has no in/names\.csv and 1 more; name the folder that holds the toy data"):
        datasets.import_folder("toy", tmp_path)


def test_a_file_that_no_address_serves_can_only_be_imported(
    store: Path, server: FileServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = SourceFile("made.csv", None, len(NAMES), Sha256(hashlib.sha256(NAMES).hexdigest()))
    source = Source("toy", "A toy", "MIT", (*TOY.files, made), origin="It is made of names.csv.")
    monkeypatch.setattr(datasets, "SOURCES", {"toy": source})
    downloader = Downloader(server.url, attempts=1)
    with pytest.raises(
        UserError, match=r"no address serves toy's made\.csv.*data import toy DIR`. It is made of names"
    ):
        datasets.fetch("toy", downloader=downloader)
    folder = tmp_path / "mine"
    for path, content in (("in/names.csv", NAMES), ("rows.csv", ROWS), ("LICENSE.toy", LICENCE), ("made.csv", NAMES)):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    imported = datasets.import_folder("toy", folder)
    (store / "rows.csv").unlink()
    assert datasets.fetch("toy", downloader=downloader).revision == imported.revision  # the rest can be mended


@pytest.mark.parametrize("call", [datasets.fetch, datasets.verify, datasets.data_dir])
def test_a_misspelt_name_gets_the_nearest_one(call: Callable[[str], object], store: Path) -> None:
    with pytest.raises(UserError, match="no benchmark 'tyo' with data to get; did you mean 'toy'?"):
        call("tyo")


def test_an_unwritable_store_is_named(store: Path, fetch: Fetch) -> None:
    store.parent.write_text("a file where the store should be")
    with pytest.raises(UserError, match="cannot fill .*; set RELAYBENCH_DATA to a folder with room"):
        fetch()


def test_every_source_is_well_formed() -> None:
    for source in SOURCES.values():
        paths = [PurePosixPath(file.path) for file in source.files]
        assert len(set(paths)) == len(paths)
        assert not any(path.is_absolute() or ".." in path.parts for path in paths)
        assert all(file.url for file in source.files) or source.origin, "where is what cannot be fetched from?"
        for file in source.files:
            assert file.url is None or file.url.startswith("https://")
            assert file.url is None or re.search(r"/[0-9a-f]{40}/", file.url), "an address that can change"
            if isinstance(file.pin, Sha256):
                assert re.fullmatch("[0-9a-f]{64}", file.pin.digest)


def test_workbench_reference_data_is_what_the_pins_say(shared: Path, tmp_path: Path) -> None:
    dataset = datasets.import_folder("workbench", shared / "data" / "workbench", root=tmp_path)
    kinds = [file.checked for file in dataset.files]
    assert (len(kinds), kinds.count(Sha256.kind), kinds.count(Rows.kind)) == (14, 12, 1)
    assert datasets.verify("workbench", root=tmp_path) == dataset
    sums = (shared / "data/workbench/SHA256SUMS").read_text().split()
    assert {file.sha256 for file in dataset.files if file.checked == Sha256.kind} == set(sums[::2])
    assert all(
        file.size == expected.size for file, expected in zip(dataset.files, SOURCES["workbench"].files, strict=True)
    )


@pytest.mark.parametrize("name", [name for name in SOURCES if name != "workbench"])
def test_the_reference_data_of_the_others_is_what_the_pins_say(name: str, shared: Path, tmp_path: Path) -> None:
    dataset = datasets.import_folder(name, shared / "data" / name, root=tmp_path)
    assert {file.checked for file in dataset.files} == {Sha256.kind}
    assert datasets.verify(name, root=tmp_path) == dataset
