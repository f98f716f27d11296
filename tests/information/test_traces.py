"""Traces of other systems: each format, read by an exact reader, gives the loss that is known beforehand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from relaybench import cli
from relaybench.configfile import load_settings
from relaybench.errors import UserError
from relaybench.information import measuring
from relaybench.information.mapping import Mapping, Pick, find
from relaybench.information.measuring import measure_traces
from relaybench.information.traces import read_traces

from .readers import NUMBER, Copier

ROOT = Path(__file__).parents[2]
TASKS = 6
BADGE, DESK = 4000, 7000


@pytest.fixture(autouse=True)
def exact_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "make_engine", lambda config: Copier())


def badge(i: int, told: int = BADGE) -> str:
    return f"Ada's badge is {told + i}."


def conversation(i: int, kept: bool) -> list[dict[str, Any]]:
    """Two facts are read, one stands in the summary, the one asked for where `kept`."""
    summary = badge(i) if kept else f"Ada's desk is {DESK + i}."
    return [
        {"role": "system", "content": "You keep records."},
        {"role": "user", "content": "What is Ada's badge?"},
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "open", "arguments": "{}"}}]},
        {"role": "tool", "content": [{"type": "text", "text": f"{badge(i)} Ada's desk is {DESK + i}."}]},
        {"role": "user", "name": "compactor", "content": f"Summary so far: {summary}"},
        {"role": "assistant", "content": f"{BADGE + i}"},
    ]


def as_messages(folder: Path) -> Path:
    path = folder / "traces.jsonl"
    rows = [{"id": f"t{i}", "kept": i % 2 == 0, "messages": conversation(i, i % 2 == 0)} for i in range(TASKS)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def as_inspect(folder: Path) -> Path:
    """The parts of a log that are read, as its schema has them."""
    path = folder / "log.json"
    samples = []
    for i in range(TASKS):
        messages = conversation(i, i % 2 == 0)
        messages[2]["tool_calls"] = [{"id": "1", "function": "open", "arguments": {}, "type": "function"}]
        messages[3]["function"] = "open"
        samples.append(
            {"id": i, "epoch": 1, "target": str(BADGE + i), "metadata": {"kept": i % 2 == 0}, "messages": messages}
        )
    path.write_text(json.dumps({"version": 2, "status": "success", "samples": samples}))
    return path


def as_atif(folder: Path) -> Path:
    trajectories = folder / "trajectories"
    trajectories.mkdir()
    for i in range(TASKS):
        said = [m["content"] for m in conversation(i, i % 2 == 0)]
        call = {"tool_call_id": "c", "function_name": "open", "arguments": {}}
        seen = {"results": [{"source_call_id": "c", "content": said[3]}]}
        steps = [
            {"step_id": 1, "source": "system", "message": said[0]},
            {"step_id": 2, "source": "user", "message": said[1]},
            {"step_id": 3, "source": "agent", "message": "", "tool_calls": [call], "observation": seen},
            {"step_id": 4, "source": "user", "message": said[4]},
            {"step_id": 5, "source": "agent", "message": said[5]},
        ]
        data = {"schema_version": "ATIF-v1.6", "session_id": f"s{i}", "steps": steps, "extra": {"kept": i % 2 == 0}}
        (trajectories / f"{i}.json").write_text(json.dumps(data))
    return trajectories


FORMATS = {"messages": as_messages, "inspect": as_inspect, "atif": as_atif}


def mapping(form: str, **changes: Any) -> Mapping:
    data = {"format": form, "relay": {"role": "user", "text": "^Summary so far"}, "group": "kept", **changes}
    return Mapping.model_validate(data)


@pytest.mark.parametrize("form", FORMATS)
async def test_every_format_gives_the_loss_that_is_known(form: str, tmp_path: Path) -> None:
    path = FORMATS[form](tmp_path)
    found = await measure_traces(path, mapping(form), readers=["exact"], out=tmp_path / "scores")
    cells = {cell.system: cell for cell in found.cells}
    assert {name: cell.delta_strong.value for name, cell in cells.items()} == pytest.approx(
        {"True": 0, "False": NUMBER}
    )
    assert cells["True"].task_information.value == pytest.approx(NUMBER)
    assert cells["False"].rate_tokens.value > 5
    table = found.show("table")
    assert "exact" in table
    assert "gain seen over" not in table
    again = await measure_traces(path, mapping(form), readers=["exact"], out=tmp_path / "scores")
    assert (again.cost.target_scores, again.cost.code_scores) == (0, 0)
    assert again.show("csv") == found.show("csv")


async def test_a_field_can_be_the_target_and_the_words_around_a_relay_are_stripped(tmp_path: Path) -> None:
    made = mapping("inspect", target="target", strip="^Summary so far: ", group=None, relay_name="compactor")
    found = find(read_traces(as_inspect(tmp_path), "inspect"), made)
    assert [item.target for item in found] == [str(BADGE + i) for i in range(TASKS)]
    assert found[0].stage.message == badge(0)
    assert found[0].stage.system == "compactor"
    assert "open({})" in found[0].stage.context


def test_messages_are_picked_by_role_name_words_and_place(tmp_path: Path) -> None:
    said = read_traces(as_messages(tmp_path), "messages")[0].messages
    assert Pick(role="user").places(said) == [1, 4]
    assert Pick(role="user", name="compactor").places(said) == [4]
    assert Pick(text="badge is").places(said) == [3, 4]
    assert Pick(place=-1).places(said) == [5]


@pytest.mark.parametrize(
    ("yaml", "said"),
    [
        ("relay: {rolle: user}", "unknown key 'rolle'.*did you mean 'role'"),
        ("format: inspekt\nrelay: {role: user}", "did you mean 'inspect'"),
        ("relay: {text: '('}", "not a regular expression"),
        ("task: {role: user}", "'relay' is missing"),
        ("relay: {name: nobody}", "no trace holds what the mapping names; t0: no message is picked as relay"),
        ("relay: {place: 1}", "no message is picked as|nothing before the relay is its context"),
        ("relay: {place: -1}", "the assistant says nothing after the relay"),
        ("relay: {name: compactor}\ntarget: truth", "no field 'truth'"),
        ("format: inspect\nrelay: {name: compactor}", "traces.jsonl is not a JSON file"),
        ("format: atif\nrelay: {name: compactor}", "traces.jsonl is not a JSON file"),
    ],
)
def test_a_wrong_mapping_is_one_line(yaml: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, where = as_messages(tmp_path), tmp_path / "map.yaml"
    where.write_text(yaml)
    assert cli.main(["measure", str(path), "--map", str(where), "--readers", "exact"]) == 2
    told = capsys.readouterr().err.strip()
    assert "\n" not in told
    with pytest.raises(UserError, match=said):
        raise UserError(told)


def test_bad_traces_are_one_line(tmp_path: Path) -> None:
    path = as_messages(tmp_path)
    torn = tmp_path / "torn.jsonl"
    torn.write_text(path.read_text()[:-20])
    for broken, form, said in (
        (torn, "messages", f"line {TASKS} is not JSON"),
        (tmp_path / "none.jsonl", "messages", "no traces at"),
        (as_inspect(tmp_path), "atif", "not a log of format 'atif'"),
        (tmp_path / "log.json", "inspect", ""),
    ):
        if said:
            with pytest.raises(UserError, match=said):
                read_traces(broken, form)


async def test_traces_need_a_reader(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="add --readers"):
        await measure_traces(as_messages(tmp_path), mapping("messages"), readers=[])


@pytest.mark.parametrize("path", sorted((ROOT / "configs" / "measure").glob("*.yaml")), ids=lambda path: path.stem)
def test_the_examples_are_valid_and_headed_by_their_launch_line(path: Path) -> None:
    assert load_settings(path, Mapping).format in path.stem
    assert path.read_text().startswith("# relaybench measure ")
