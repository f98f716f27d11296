"""A stored run as records and as frames; the example of docs/api.md runs."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

import relaybench
from relaybench.errors import UserError
from relaybench.reporting.measures import Measures
from tests.reporting.made import ANSWERING, READING, WRITING, failure

API = Path(__file__).parents[2] / "docs" / "api.md"


@pytest.fixture
def run(make_run, grid):
    return relaybench.load(make_run("a", grid, [failure("t1", "mas report")]))


def test_episodes_are_whole(run):
    assert len(run.episodes) == 20
    assert [worker.subtask for worker in run.episodes[0].workers] == ["reader", "writer"]
    assert len(run.failures) == 1
    assert repr(run).endswith("workbench multi_domain (v2), 20 of 20 episodes)")


def test_the_frame_has_one_row_an_episode(run):
    pytest.importorskip("pandas")
    frame = run.to_frame()
    assert len(frame) == 20
    assert set(Measures.__struct_fields__) <= set(frame.columns)
    assert frame.groupby("system")["success"].mean().to_dict() == {"sas-contextflow": 0.8, "mas report": 0.6}
    whole = frame[frame["system"] == "sas-contextflow"]
    assert set(whole["tokens"]) == {READING.total_tokens + ANSWERING.total_tokens}
    failed = frame[frame["key"] == "mas report/t1/0"]
    assert failed["failed_tokens"].item() == 50
    assert frame["value.has_action"].sum() == 18


def test_the_relays_frame_has_one_row_a_relay(run):
    pytest.importorskip("pandas")
    relays = run.relays_frame()
    assert len(relays) == 20
    told = relays[relays["encoder"] == "report@1"]
    assert set(told["encoder_tokens"]) == {WRITING.total_tokens}
    assert told["well_formed"].sum() == 9


def test_every_column_is_documented(run):
    pytest.importorskip("pandas")
    words = set(re.findall(r"`([a-z_.A-Z]+)`", API.read_text()))
    columns = [*run.to_frame().columns, *run.relays_frame().columns]
    assert [name for name in columns if name not in words and not name.startswith("value.")] == []


def test_no_pandas_names_the_extra(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UserError, match=r"relaybench\[report\]"):
        run.to_frame()


def test_the_documented_example_runs(make_run, grid, monkeypatch, capsys):
    pytest.importorskip("pandas")
    example = re.findall(r"```python\n(.*?)```", API.read_text(), re.DOTALL)[0]
    folder = make_run("ledger", grid)
    monkeypatch.chdir(folder.parent)
    script = folder.parent / "example.py"
    script.write_text(example.replace("runs/ledger", "ledger"))
    runpy.run_path(str(script))
    assert "mas report" in capsys.readouterr().out
