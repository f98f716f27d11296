"""The benchmark as a whole: all prototypes on one question, without a real model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from relaybench.benchmarks.widesearch import WideSearch
from relaybench.benchmarks.widesearch.decomposition import digest, load
from relaybench.benchmarks.widesearch.roles import STEPS, roles
from relaybench.config import RunConfig
from relaybench.config_benchmarks import WideSearchConfig
from relaybench.configfile import load_config
from relaybench.engines.base import Request
from relaybench.engines.fake import FakeEngine
from relaybench.records import Episode
from relaybench.rollout.grid import Grid
from relaybench.rollout.progress import Progress
from relaybench.rollout.runner import Runner
from relaybench.rollout.store import open_store, read_run
from tests.benchmarks.widesearch.conftest import RESPONSE

for package in ("pandas", "dateparser", "bm25s"):
    pytest.importorskip(package, reason=f"no {package}: run `scripts/install benchmarks`")
ROOT = Path(__file__).parents[3]
HEADER, RULE, *ROWS = RESPONSE.splitlines()[2:6]


@pytest.fixture
def benchmark(data: Path, shares: Path) -> WideSearch:
    return WideSearch(WideSearchConfig(name="widesearch", decompositions=shares), data)


def play(request: Request) -> str:
    """Searches, opens the first result, submits the rows of its share."""
    mine = [m.content for m in request.messages if "This share" in m.content or "Find all rows" in m.content]
    last = request.messages[-1].content
    if last == mine[-1]:
        return "Thought: look\nAction: search[towns mayor people]"
    if last.startswith("Found in"):
        return f"Action: open[{re.findall(r'https://[^ ]+', last)[0].strip()}]"
    told = mine[-1].rpartition("This share, by town: ")[2] if "This share" in mine[-1] else "Ash Birch"
    if "Work through these parts" in mine[-1]:
        told = "Ash Birch"
    chosen = [row for row, town in zip(ROWS, ("Ash", "Birch"), strict=True) if town in told]
    return "Thought: done\nAction: submit\n```markdown\n" + "\n".join([HEADER, RULE, *chosen]) + "\n```"


async def test_all_prototypes_fill_the_table(benchmark: WideSearch, tmp_path: Path) -> None:
    config = RunConfig.model_validate(
        {
            "benchmark": {"name": "widesearch"},
            "engines": [{"kind": "openai", "model": "fake"}],
            "systems": [
                {"prototype": "sas"}, {"prototype": "sas-plan"}, {"prototype": "sas-contextflow"},
                {"prototype": "mas", "relay": {"encoder": "none"}},
            ],
            "decoding": {"max_tokens": 2000},
            "out": tmp_path / "run",
        }
    )  # fmt: skip
    grid = Grid(config, benchmark, None)
    store = open_store(config, benchmark, [job.key for job in grid.jobs], None)
    summary = await Runner(config, benchmark, {"fake": FakeEngine(play)}, store, Progress(), grid=grid).run()
    store.close()
    assert (summary.done, summary.failed) == (4, 0)
    run = read_run(tmp_path / "run")
    episodes = {episode.system: episode for episode in run.episodes}
    assert {name: episode.score.success for name, episode in episodes.items()} == dict.fromkeys(episodes, True)
    assert {name: episode.score.values["tables"] for name, episode in episodes.items()} == {
        "sas": 1.0, "sas-plan": 1.0, "sas-contextflow": 3.0, "mas none": 3.0,
    }  # fmt: skip
    assert _inherits(episodes["mas none"]) == {"searcher1": (), "searcher2": (), "searcher3": ()}
    assert _inherits(episodes["sas-contextflow"])["searcher3"] == ("searcher1", "searcher2")
    assert not episodes["mas none"].relays


def _inherits(episode: Episode) -> dict[str, tuple[str, ...]]:
    return {worker.subtask: worker.inherits for worker in episode.workers}


def test_results_say_which_web_and_which_judge(benchmark: WideSearch, data: Path, shares: Path) -> None:
    assert benchmark.label == "widesearch en (offline corpus, judge exact)"
    assert benchmark.revision.startswith("official@1-offline@1-exact-")
    live = WideSearch(WideSearchConfig(name="widesearch", decompositions=shares, backend="live"), data)
    assert live.label == "widesearch en (live web, judge exact)"
    assert live.revision.startswith("official@1-live@1-exact-")


def test_every_prototype_has_fifty_steps(benchmark: WideSearch, shares: Path) -> None:
    split = benchmark.roles(benchmark.tasks()[0])
    assert [part.max_steps for part in split.parts] == list(STEPS)
    assert split.whole.max_steps == split.joined().max_steps == sum(STEPS) == 50
    assert split.pairs == ()
    assert split.joined().instruction.count("submit") == 1  # a submission ends the work: it comes after all shares
    assert split.version == roles(load(shares)[benchmark.tasks()[0].id], digest(load(shares))).version
    assert split.version != roles(load()["ws_en_001"], digest(load())).version
    assert len({benchmark.roles(task).version for task in benchmark.tasks()}) == 1  # else no two tasks could be pooled
    assert benchmark.needed(benchmark.tasks()[0]) == {}
    assert not any(part.reads_only for part in split.parts)


def test_the_shipped_config_is_read() -> None:
    config = load_config(ROOT / "configs" / "run" / "widesearch.yaml", [])
    assert isinstance(config.benchmark, WideSearchConfig)
    assert config.benchmark.backend == "offline"


def test_a_judge_is_named_or_it_is_the_exact_one() -> None:
    with pytest.raises(ValueError, match="judge llm needs judge_model"):
        WideSearchConfig(name="widesearch", judge="llm")
    with pytest.raises(ValueError, match="means nothing for judge exact"):
        WideSearchConfig(name="widesearch", judge_model="gpt-4.1")
