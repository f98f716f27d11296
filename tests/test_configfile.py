"""Configs: what is wrong is said in one line, with the nearest known name."""

import copy
from pathlib import Path
from typing import Any

import pytest

from relaybench.configfile import check, load_config
from relaybench.errors import UserError

GOOD: dict[str, Any] = {
    "benchmark": {"name": "ledger"},
    "engines": [{"kind": "transformers", "model": "smollm2-135m"}],
    "systems": [{"prototype": "sas"}, {"prototype": "mas", "relay": {"encoder": "report"}}],
}


def wrong(**changes: Any) -> str:
    data = copy.deepcopy(GOOD)
    data.update(changes)
    with pytest.raises(UserError) as caught:
        check(data, "c.yaml")
    message = str(caught.value)
    assert message.startswith("c.yaml: ")
    assert "\n" not in message
    return message


def test_a_good_config_has_labels_for_its_systems() -> None:
    assert [s.label for s in check(GOOD, "c.yaml").systems] == ["sas", "mas report"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"engins": []}, "unknown key 'engins'; did you mean 'engines'?"),
        ({"benchmark": {"name": "legder"}}, "unknown name 'legder' under benchmark; did you mean 'ledger'?"),
        ({"benchmark": {"name": "ledger", "taks": 3}}, "unknown key 'taks' under benchmark; did you mean 'tasks'?"),
        ({"benchmark": {"tasks": 3}}, "'name' is missing under benchmark"),
        (
            {"engines": [{"kind": "opnai", "model": "x"}]},
            "unknown kind 'opnai' under engines[0]; did you mean 'openai'?",
        ),
        ({"engines": [{"kind": "openai"}]}, "'model' is missing under engines[0]"),
        ({"engines": [{"kind": "openai", "model": "x", "base_ulr": "y"}]}, "did you mean 'base_url'?"),
        ({"systems": [{"protoype": "sas"}]}, "unknown key 'protoype' under systems[0]; did you mean 'prototype'?"),
        (
            {"systems": [{"prototype": "sass"}]},
            "unknown value 'sass' for 'prototype' under systems[0]; did you mean 'sas'?",
        ),
        ({"systems": [{"prototype": "mas"}]}, "'mas' needs relay; add relay"),
        ({"systems": [{"prototype": "sas", "relay": {"encoder": "report"}}]}, "takes no relay"),
        ({"systems": [{"prototype": "mas", "relay": {"encoder": "truncate"}}]}, "truncate needs 'tokens'"),
        ({"systems": [{"prototype": "mas", "relay": {"encoder": "reprot"}}]}, "did you mean 'report'?"),
        (
            {"systems": [{"prototype": "mas", "relay": {"encoder": "report", "loss": {"drop": ["a"], "cut": 3}}}]},
            "name exactly one loss",
        ),
        ({"systems": [{"prototype": "sas"}, {"prototype": "sas"}]}, "two systems are called 'sas'"),
        ({"limit": 0}, "limit: Input should be greater than or equal to 1 (got 0)"),
        ({"seeds": [0, 1]}, "several seeds at temperature 0"),
        ({"decoding": {"temperature": -1}}, "decoding.temperature"),
    ],
)
def test_what_is_wrong_is_said(changes: dict[str, Any], words: str) -> None:
    assert words in wrong(**changes)


def test_overrides_reach_any_key(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(
        "benchmark: {name: ledger}\nengines: [{kind: transformers, model: a}]\nsystems: [{prototype: sas}]\n"
    )
    config = load_config(path, ["engine.model=b", "benchmark.records=9", "decoding.temperature=0.5", "seeds=[1,2]"])
    assert config.engines[0].model == "b"
    assert config.benchmark.name == "ledger"
    assert config.benchmark.records == 9
    assert config.seeds == [1, 2]
    for bad in ("engines.7.model=b", "limit", "engines.x.model=b", "limit.x=3"):
        with pytest.raises(UserError):
            load_config(path, ["limit=1", bad])


def test_files_that_are_not_configs_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no config file"):
        load_config(tmp_path / "none.yaml")
    (tmp_path / "ledger.yaml").write_text("a: [1\nb: }")
    with pytest.raises(UserError, match="line 2 is not valid YAML"):
        load_config(tmp_path / "ledger.yaml")
    with pytest.raises(UserError, match=r"did you mean 'ledger.yaml'"):
        load_config(tmp_path / "leger.yaml")
