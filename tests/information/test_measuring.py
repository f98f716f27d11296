"""Measuring a whole ledger run with an exact reader: every figure is known beforehand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from relaybench import cli
from relaybench.benchmarks.ledger import Ledger
from relaybench.config import RunConfig
from relaybench.engines.base import ContextFull, EngineError, ScoreRequest
from relaybench.engines.fake import FakeEngine
from relaybench.errors import UserError
from relaybench.information import measuring
from relaybench.information.cells import Cell
from relaybench.information.measuring import advise, measure
from relaybench.information.scorebook import MEASURES
from relaybench.rollout.grid import Grid
from relaybench.rollout.progress import Progress
from relaybench.rollout.runner import Runner
from relaybench.rollout.store import open_store

from .readers import DIGITS, NUMBER, Copier, exact

TASKS, RECORDS = 12, 4
SYSTEMS: list[dict[str, Any]] = [
    {"prototype": "sas-contextflow"},
    {"prototype": "mas", "relay": {"encoder": "report"}},
    {"prototype": "mas", "relay": {"encoder": "report", "loss": {"drop": ["badge"]}}},
    {"prototype": "mas", "relay": {"encoder": "oracle"}},
    {"prototype": "mas", "relay": {"encoder": "none"}},
    {"prototype": "mas", "relay": {"encoder": "oracle", "loss": {"foreign": True}}},
]


def config(out: Path, **changes: Any) -> RunConfig:
    data: dict[str, Any] = {
        "benchmark": {"name": "ledger", "tasks": TASKS, "records": RECORDS, "digits": DIGITS},
        "engines": [{"kind": "openai", "model": "fake"}],
        "systems": SYSTEMS,
        "out": out,
    }
    return RunConfig.model_validate({**data, **changes})


@pytest.fixture
async def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A finished ledger run, and readers that need no server."""
    monkeypatch.setattr(measuring, "make_engine", lambda config: Copier(0.1 if config.model == "distracted" else 0.0))
    return await finished(config(tmp_path / "run"))


async def finished(made: RunConfig) -> Path:
    assert made.benchmark.name == "ledger"
    benchmark = Ledger(made.benchmark)
    grid = Grid(made, benchmark)
    store = open_store(made, benchmark, [job.key for job in grid.jobs])
    try:
        summary = await Runner(made, benchmark, {"fake": FakeEngine(exact)}, store, Progress(), grid=grid).run()
    finally:
        store.close()
    assert summary.done == TASKS * len(SYSTEMS)
    return made.out


def by_system(cells: Sequence[Cell]) -> dict[str, Cell]:
    return {cell.system.removeprefix("mas "): cell for cell in cells}


async def test_every_figure_is_the_closed_form(run: Path) -> None:
    found = by_system((await measure(run)).cells)
    assert set(found) == {"report", "report -badge", "oracle", "none", "oracle foreign"}
    numbers = {"report": RECORDS, "report -badge": 0, "oracle": 1, "none": 0}
    losses = {"report": 0.0, "report -badge": NUMBER, "oracle": 0.0, "none": NUMBER}
    for name, told in numbers.items():
        cell = found[name]
        assert cell.tasks == TASKS
        assert cell.task_information.value == pytest.approx(NUMBER)
        assert cell.delta_strong.value == pytest.approx(losses[name])
        assert cell.gain.value == pytest.approx(-losses[name])
        assert cell.answer_loss.value == pytest.approx(losses[name])
        assert cell.rate.value == pytest.approx(told * NUMBER)
        assert cell.reduction.value == pytest.approx((RECORDS - told) * NUMBER)
        assert cell.share is not None
        assert cell.share.value == pytest.approx(1 - told / RECORDS)
        assert cell.share.adequate
        assert cell.relief.value == pytest.approx(0)
        assert cell.seen.value == pytest.approx(-1.0 if losses[name] else 0.0)
        assert not cell.leak.suspected
    assert found["oracle foreign"].seen.value == -1.0


async def test_a_distracted_reader_gains_by_what_it_is_relieved_of(run: Path) -> None:
    found = by_system((await measure(run, readers=["distracted", "fake"], reference="fake")).cells)
    cell = found["oracle"]
    assert cell.delta_strong.value == pytest.approx(0)  # the strong reader loses nothing
    assert cell.gain.value == pytest.approx(0)  # the run's own reader is "fake"
    alone = by_system((await measure(run, readers=["distracted"], reference="fake")).cells)["oracle"]
    assert alone.gain.value == pytest.approx(0.1 * (RECORDS - 1))
    assert alone.delta_strong.value == pytest.approx(-alone.gain.value)
    assert alone.predicted == 1


async def test_a_second_measurement_scores_nothing_and_a_torn_one_goes_on(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await measure(run)
    assert first.cost.target_scores > 0
    again = await measure(run)
    assert (again.cost.target_scores, again.cost.code_scores) == (0, 0)
    assert again.cells == first.cells
    book = run / MEASURES
    lines = book.read_bytes().splitlines(keepends=True)
    book.write_bytes(b"".join(lines[:-3]) + b"{corrupt}\n" + lines[-1][:20])
    mended = await measure(run)
    assert mended.cost.target_scores + mended.cost.code_scores == 3
    assert mended.cells == first.cells


async def test_systems_share_the_scores_of_what_they_share(run: Path) -> None:
    found = await measure(run)
    mas = len(SYSTEMS) - 1
    # full and none once a task, the relays of `none` are the prompt without any
    assert found.cost.target_scores < TASKS * mas * 3
    assert found.cost.target_scores <= TASKS * (2 + mas - 1)


async def test_a_relay_that_saw_the_answer_is_flagged(run: Path, tmp_path: Path) -> None:
    """With a key that no page holds, a relay that has it knows it from elsewhere."""
    noisy = config(tmp_path / "noisy", benchmark={"name": "ledger", "tasks": TASKS, "key_noise": 0.999})
    folder = await finished(noisy)
    assert noisy.benchmark.name == "ledger"
    keys = {task.id: task.data["answer"][0] for task in Ledger(noisy.benchmark).tasks()}
    told = [msgspec.json.decode(line) for line in (folder / "episodes.jsonl").read_bytes().splitlines()]
    for episode in told:
        if episode["system"] == "mas report":
            _tell(episode, f"The key is {keys[episode['task']]}.")
    (folder / "episodes.jsonl").write_bytes(b"".join(msgspec.json.encode(episode) + b"\n" for episode in told))
    found = by_system((await measure(folder)).cells)
    assert found["report"].delta_strong.value == pytest.approx(-NUMBER)
    assert found["report"].leak.suspected
    assert len(found["report"].leak.unsourced) == TASKS
    assert not found["report -badge"].leak.suspected
    assert "(leak?)" in (await measure(folder)).show("table")


def _tell(episode: dict[str, Any], text: str) -> None:
    """Put another relay into a stored episode, and into the prompt that it stood in."""
    (relay,) = episode["relays"]
    (worker,) = episode["workers"]
    opening = worker["messages"][1]
    opening["content"] = opening["content"].replace(f"From reader:\n{relay['text']}", f"From reader:\n{text}")
    relay["text"] = text


async def test_advice_leaves_out_what_nobody_could_send_and_scores_few_tasks(run: Path) -> None:
    (found,) = await advise(run, tasks=5)
    assert (found.engine, found.worker, found.tasks) == ("fake", "answerer", 5)
    assert found.relay == "mas report"  # neither the oracle nor another task's relay
    assert not found.relays  # an exact reader gains nothing
    assert len((run / MEASURES).read_bytes().splitlines()) <= 5 * len(SYSTEMS)
    (distracted,) = await advise(run, reader="distracted", tasks=5)
    assert distracted.engine == "distracted"


async def test_what_cannot_be_measured_is_said(run: Path, tmp_path: Path) -> None:
    lines = (run / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    (run / "episodes.jsonl").write_bytes(b"".join(line for line in lines if b'"sas-contextflow"' not in line))
    with pytest.raises(UserError, match="holds nothing to measure.*SAS-contextflow"):
        await measure(run)
    with pytest.raises(UserError, match="nowhere"):
        await measure(tmp_path / "nowhere")


async def test_every_form_of_the_table(run: Path) -> None:
    found = await measure(run)
    assert "fake, relays into answerer (nats)" in found.show("table")
    assert "G_NLL and gain seen over 5 cells: r =" in found.show("table")
    assert found.show("md").count("| mas ") == 5
    assert found.show("csv").splitlines()[0].startswith("engine,worker,system,tasks,rate_tokens")
    assert len(msgspec.json.decode(found.show("json"))["cells"]) == 5


def test_the_command_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["measure", str(tmp_path / "nowhere")]) == 2
    assert "nowhere" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (EngineError("503 from http://gpu1:8000/v1"), "stopped: 503.*the same command goes on"),
        (ContextFull("9000 tokens exceed 8192"), "cannot hold a prompt.*9000 tokens exceed 8192.*max_context"),
    ],
)
async def test_a_reader_that_fails_is_one_line_and_nothing_scored_is_lost(
    run: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    class Failing(Copier):
        async def score(self, requests: Sequence[ScoreRequest]) -> list[tuple[float, ...]]:
            if self.scored:
                raise error
            return await super().score(requests)

    monkeypatch.setattr(measuring, "make_engine", lambda config: Failing())
    with pytest.raises(UserError, match=said):
        await measure(run)
    kept = len((run / MEASURES).read_bytes().splitlines())
    assert kept > 0
    monkeypatch.setattr(measuring, "make_engine", lambda config: Copier())
    found = await measure(run)
    assert found.cost.target_scores + found.cost.code_scores + kept == len((run / MEASURES).read_bytes().splitlines())


def test_the_documented_example_names_what_there_is() -> None:
    text = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
    (example,) = [code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "measure(" in code]
    compile(example, "docs/api.md", "exec")
    table = text[text.index("## Measuring") :]
    named = {*re.findall(r"cell\.(\w+)", example), *re.findall(r"^\| `(\w+)`", table, re.MULTILINE)}
    assert len(named) >= 10
    assert named <= {*Cell.__struct_fields__, "predicted"}
