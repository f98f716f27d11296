"""Every bad line gets one sentence that names file, line and mend."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from relaybench.benchmarks.rows import error_text, lines, texts, write
from relaybench.benchmarks.workbench.data import task_id
from relaybench.errors import UserError

BAD = {
    "not json": "line 2 is not JSON",
    '["a list"]': "line 2 is a JSON list",
    '{"Id": "x", "predicted": []}': 'line 2 has no field "id"',
    '{"id": 7, "predicted": []}': '"id" is 7; it must be a string',
    '{"id": "x", "predict": []}': "did you mean 'predict'",
    '{"id": "x", "predicted": "a"}': '"predicted" must be a list of strings',
    '{"id": "x", "predicted": [1]}': '"predicted" must be a list of strings',
    '{"id": "x", "predicted": [], "error": 3}': '"error" is 3; it must be a string',
}


def read(path: Path) -> None:
    for where, row in lines(path):
        task_id(where, row)
        texts(where, row, "predicted")
        error_text(where, row)


@pytest.mark.parametrize(("line", "message"), BAD.items())
def test_a_bad_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"id": "a", "predicted": []}}\n{line}\n', encoding="utf-8")
    with pytest.raises(UserError) as caught:
        read(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_blank_lines_are_passed_over_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('\n{"id": "a", "predicted": []}\n\nbad\n', encoding="utf-8")
    with pytest.raises(UserError, match="line 4"):
        read(path)


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(b'{"id": "a"}\n' * 100)[:-9])
    (tmp_path / "plain.jsonl.gz").write_text("{}", encoding="utf-8")
    (tmp_path / "latin.jsonl").write_bytes(b'{"id": "\xe9"}\n')
    for name, message in {
        "none.jsonl": "cannot read",
        "": "cannot read",
        "cut.jsonl.gz": "no whole gzip file",
        "plain.jsonl.gz": "no whole gzip file",
        "latin.jsonl": "not UTF-8",
    }.items():
        with pytest.raises(UserError, match=message):
            list(lines(tmp_path / name))


def test_writing_into_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a folder that exists"):
        write(tmp_path / "no" / "out.jsonl", [])
