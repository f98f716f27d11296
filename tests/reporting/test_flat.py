"""CSV and JSON hold every figure with its interval and n."""

from __future__ import annotations

import csv
import json
from io import StringIO

from relaybench.reporting import report


def test_csv_has_a_line_a_system_and_every_figure_with_its_n(make_run, grid):
    rows = list(csv.DictReader(StringIO(report([make_run("a", grid)], "csv"))))
    assert [row["system"] for row in rows] == ["sas-contextflow", "mas report"]
    told = rows[1]
    assert (told["success"], told["success_n"], told["vs_contextflow_n"]) == ("0.6", "10", "10")
    assert (told["benchmark"], told["revision"], told["model"], told["seeds"]) == (
        "workbench multi_domain (v2)",
        "r1",
        "org/tiny",
        "0",
    )
    for name in ("tokens", "encoder_tokens", "relay_tokens", "missing", "cost", "value.has_action"):
        assert {f"{name}{end}" for end in ("", "_low", "_high", "_n")} <= told.keys()
    assert (told["count_ill_formed_relays"], rows[0]["vs_contextflow"]) == ("1", "")


def test_json_is_nested_and_complete(make_run, grid):
    [block] = json.loads(report([make_run("a", grid)], "json"))
    assert (block["tasks"], block["setting"]["decoding"]["max_tokens"]) == (10, 64)
    told = block["rows"][1]
    assert told["difference"]["test"] == "mcnemar"
    assert set(told["means"]["tokens"]) == {"value", "low", "high", "n"}
