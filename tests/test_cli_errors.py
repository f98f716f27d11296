"""Bad input: one line that names cause and mend, exit code 2, no traceback. Each row is one mistake."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from relaybench.cli import _parser, main

CONFIG = """
benchmark: {name: ledger, tasks: 2}
engines: [{kind: transformers, model: smollm2-135m}]
systems: [{prototype: sas}]
"""


def config(folder: Path, old: str = "", new: str = "") -> str:
    path = folder / "c.yaml"
    path.write_text(CONFIG.replace(old, new) if old else CONFIG)
    return str(path)


def lines(folder: Path, *rows: object) -> str:
    path = folder / "rows.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return str(path)


def torn_gzip(folder: Path) -> str:
    path = folder / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"id": "email-000"}\n' * 50)[:-20])
    return str(path)


def run_folder(folder: Path, episodes: str | None = None) -> str:
    run = folder / "run"
    run.mkdir()
    if episodes is not None:
        (run / "episodes.jsonl").write_text(episodes)
    return str(run)


def score(rows: str, rules: str = "v1") -> list[str]:
    return ["score", "workbench", "--answers", rows, "--rules", rules]


Row = tuple[str, Callable[[Path], list[str]], str]

ROWS: list[Row] = [
    ("command", lambda t: ["rnu"], "did you mean 'run'?"),
    ("no command", lambda t: [], "COMMAND"),
    ("option", lambda t: ["run", config(t), "--shrad", "1/2"], "--shrad"),
    ("config missing", lambda t: ["run", str(t / "no.yaml")], "no config file"),
    ("config is a folder", lambda t: ["run", str(t)], "not a text file"),
    ("config is not YAML", lambda t: ["run", config(t, "name: ledger", "name: [ledger")], "not valid YAML"),
    ("config is a list", lambda t: ["run", config(t, CONFIG, "- a")], "is a mapping"),
    ("key", lambda t: ["run", config(t, "engines", "engins")], "did you mean 'engines'?"),
    ("key deep", lambda t: ["run", config(t, "prototype", "protoype")], "did you mean 'prototype'?"),
    ("prototype", lambda t: ["run", config(t, "sas", "sass")], "did you mean 'sas'?"),
    ("benchmark", lambda t: ["run", config(t, "name: ledger", "name: legder")], "did you mean 'ledger'?"),
    (
        "benchmark known elsewhere",
        lambda t: ["run", config(t, "name: ledger", "name: zork")],
        "known: ledger, workbench",
    ),
    ("engine kind", lambda t: ["run", config(t, "transformers", "transfomers")], "did you mean 'transformers'?"),
    ("model", lambda t: ["run", config(t, "smollm2-135m", "smolm2-135m"), "--out", str(t / "o")], "smollm2-135m"),
    ("model folder", lambda t: ["run", config(t, "smollm2-135m", f"{t}/none"), "--out", str(t / "o")], "none"),
    ("override", lambda t: ["run", config(t), "limit"], "is not key=value"),
    ("override key", lambda t: ["run", config(t), "limt=3"], "did you mean 'limit'?"),
    ("override item", lambda t: ["run", config(t), "engines.4.model=x"], "item number from 0 to 0"),
    ("limit", lambda t: ["run", config(t), "--limit", "0"], "greater than or equal to 1"),
    ("limit text", lambda t: ["run", config(t), "--limit", "many"], "integer"),
    ("shard", lambda t: ["run", config(t), "--shard", "3/2", "--out", str(t / "o")], "3/2"),
    ("shard text", lambda t: ["run", config(t), "--shard", "half", "--out", str(t / "o")], "half"),
    ("secret in config", lambda t: ["run", config(t, "model:", "api_key: sk-1, model:")], "unknown key 'api_key'"),
    (
        "server not there",
        lambda t: [
            "run",
            config(t, "kind: transformers", "kind: openai, max_retries: 0, base_url: 'http://127.0.0.1:9/v1'"),
            "--out",
            str(t / "o"),
        ],
        "127.0.0.1:9",
    ),
    ("run folder missing", lambda t: ["report", str(t / "none")], "none"),
    ("run folder empty", lambda t: ["report", run_folder(t)], "run"),
    ("run folder without meta", lambda t: ["report", run_folder(t, "{}\n")], "run"),
    ("report format", lambda t: ["report", str(t), "--format", "xml"], "known: table, csv, json, md"),
    ("diff of nothing", lambda t: ["diff", str(t / "a"), str(t / "b")], "a"),
    ("merge of nothing", lambda t: ["merge", str(t / "out"), str(t / "a")], "a"),
    (
        "score benchmark",
        lambda t: ["score", "workbnch", "--answers", "x", "--rules", "v1"],
        "did you mean 'workbench'?",
    ),
    ("score rules", lambda t: score(lines(t), "v3"), "v1"),
    ("score file", lambda t: score(str(t / "none.jsonl")), "none.jsonl"),
    ("score not JSON", lambda t: score(lines(t, '{"id": ')), "line 1 is not JSON"),
    ("score not an object", lambda t: score(lines(t, [1])), "line 1 is a JSON list"),
    ("score no id", lambda t: score(lines(t, {"predicted": [], "error": ""})), "id"),
    ("score unknown id", lambda t: score(lines(t, {"id": "emial-000", "predicted": [], "error": ""})), "emial-000"),
    (
        "score predicted type",
        lambda t: score(lines(t, {"id": "email-000", "predicted": "x", "error": ""})),
        "predicted",
    ),
    ("score twice", lambda t: score(lines(t, *[{"id": "email-000", "predicted": [], "error": ""}] * 2)), "email-000"),
    ("score v2 elsewhere", lambda t: score(lines(t, {"id": "email-000", "predicted": [], "error": ""}), "v2"), "v2"),
    ("score torn gzip", lambda t: score(torn_gzip(t)), "rows.jsonl.gz"),
    (
        "replay file",
        lambda t: ["replay", "workbench", "--actions", str(t / "no.jsonl"), "--out", str(t / "o")],
        "no.jsonl",
    ),
    (
        "replay row",
        lambda t: ["replay", "workbench", "--actions", lines(t, {"id": "email-000"}), "--out", str(t / "o")],
        "actions",
    ),
    ("data verb", lambda t: ["data", "fetsh", "workbench"], "did you mean 'fetch'?"),
    ("data name", lambda t: ["data", "verify", "workbnch"], "did you mean 'workbench'?"),
    ("data import folder", lambda t: ["data", "import", "workbench", str(t / "none")], "none"),
    ("data import other folder", lambda t: ["data", "import", "workbench", str(t)], "workbench"),
    ("serve adapter", lambda t: ["serve", "smollm2-135m", "--adapter", "relay-v1"], "NAME=DIR"),
]


@pytest.mark.parametrize(("name", "argv", "words"), ROWS, ids=[row[0] for row in ROWS])
def test_a_mistake_gets_one_line(
    name: str, argv: Callable[[Path], list[str]], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest,
) -> None:  # fmt: skip
    if name in ("model", "model folder"):
        pytest.importorskip("transformers", reason="no transformers: run `scripts/install cpu`")
    monkeypatch.setenv("RELAYBENCH_DATA", str(tmp_path / "data"))
    args = argv(tmp_path)
    needs_data = args[:2] in (["score", "workbench"], ["replay", "workbench"])
    data = ["--data", str(request.getfixturevalue("shared") / "data" / "workbench")] if needs_data else []
    code = main([*args, *data])
    error = capsys.readouterr().err
    assert code == 2, error
    assert error.startswith("relaybench: ")
    assert error.count("\n") == 1, error
    assert words in error
    assert "Traceback" not in error


def test_the_installed_command_prints_no_traceback() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "relaybench.cli", "report", "no-such-run"],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("relaybench: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (["run", "c.yaml", "limit=4", "--dry-run", "out=x"], {"overrides": ["limit=4", "out=x"], "dry_run": True}),
        (
            ["serve", "m", "--port", "8011", "--", "--max-model-len", "64"],
            {"port": 8011, "extra": ["--max-model-len", "64"]},
        ),
    ],
)
def test_options_may_stand_between_the_words(words: list[str], seen: dict[str, object]) -> None:
    parsed = vars(_parser().parse_args(words))
    assert {key: parsed[key] for key in seen} == seen
