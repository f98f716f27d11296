"""A table is never wider than a terminal, and never shows a number without what it belongs to."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from relaybench.records import Score
from relaybench.reporting import report, table, words
from relaybench.reporting.statistics import Difference, Estimate
from tests.reporting.made import episode, failure, relay


def test_the_table_reads_as_it_should(make_run, grid):
    text = report([make_run("a", grid)])
    lines = text.splitlines()
    assert lines[0] == "workbench multi_domain (v2), 10 tasks (9 with an action), tiny, greedy, seed 0"
    told = next(line for line in lines if line.startswith("mas report"))
    assert told.split()[2:7] == ["10", "0.600", "[.31,.83]", "0.556", "[.27,.81]"]
    assert "-0.200" in told
    assert ".62" in told
    assert "8 tok" in told
    assert "10% of 10" in text
    assert "p: exact McNemar, not corrected for 1 comparison" in " ".join(text.split())
    assert "revision r1, prompts roles@1" in text


def test_no_line_is_wider_than_the_terminal(make_run):
    long = "mas truncate(last 128) mask(due_date,assigned_to_email) and then some more of a name"
    knowing = replace(relay("oracle@1"), knows_target=True)
    episodes = [
        episode(f"t{i}", system, i % 3 == seed, seed, relays=(knowing,))
        for system in ("sas-contextflow", long)
        for i in range(4)
        for seed in range(4)
    ]
    text = report([make_run("a", episodes, [failure("t9", long)])])
    assert max(map(len, text.splitlines())) <= table.WIDTH
    assert "pass@4" in text
    assert "8 tok" in text, "what does not fit goes below, and is not cut off"
    assert "Avg@N" in text
    assert "sign-flip" in text


def test_the_oracle_has_a_mark_and_a_footnote(make_run):
    knowing = replace(relay("oracle@1"), knows_target=True)
    text = report([make_run("a", [episode("t0", "mas oracle", True, relays=(knowing,))])])
    assert "mas oracle †" in text
    assert "† knows the target" in text


def test_columns_where_nothing_happened_are_named_not_shown(make_run, grid):
    text = report([make_run("a", grid)])
    note = " ".join(text.partition("zero or unknown in every row:")[2].split())
    for name in ("context full", "branches", "forbidden actions", "failures", "loss not applied"):
        assert name in note
        assert name not in text.partition("zero or unknown")[0]


def test_official_metrics_and_task_types_have_tables_of_their_own(make_run):
    def made(i: int, system: str):
        score = Score(i % 2 == 0, values={"has_action": 1.0, "hard_macro": 0.25, "never": 0.0})
        return episode(f"t{i}", system, True, score=score, template="pick" if i < 3 else "look_at")

    text = report([make_run("a", [made(i, s) for s in ("sas-contextflow", "mas report") for i in range(4)])])
    lines = text.splitlines()
    metrics = next(i for i, line in enumerate(lines) if line.startswith("official metrics"))
    assert lines[metrics].split() == ["official", "metrics", "hard", "macro"]
    assert lines[metrics + 1].split() == ["sas-contextflow", "0.25"]
    kinds = next(i for i, line in enumerate(lines) if line.startswith("success by type"))
    assert lines[kinds].split()[3:] == ["look", "at", "pick"]
    assert lines[kinds + 1].split() == ["sas-contextflow", "0.00", "of", "1", "0.67", "of", "3"]


def test_blocks_stand_apart(make_run, grid):
    other = [replace(e, revision="r2", key=e.key + "/r2") for e in grid]
    text = report([make_run("a", grid), make_run("b", other, revision="r2")])
    assert text.count("workbench multi_domain (v2), 10 tasks") == 2
    assert "revision r2" in text
    assert "not pooled with" in text


def test_markdown_is_a_table_with_as_many_cells_in_each_line(make_run, grid):
    text = report([make_run("a", grid)], "md")
    tables = [part.splitlines() for part in text.split("\n\n") if part.startswith("|")]
    assert len(tables) == 3
    for lines in tables:
        assert len({line.count("|") for line in lines}) == 1
    assert "**workbench multi_domain (v2), 10 tasks" in text


@pytest.mark.parametrize(
    ("p", "text"), [(0.0002, "<.001"), (0.0421, ".042"), (0.214, ".21"), (0.999, "1"), (1.0, "1"), (0.05, ".050")]
)
def test_p_values(p, text):
    assert words.p_value(Difference(0.1, 0.0, 0.2, 10, p, "mcnemar", 1, 2)) == text


def test_figures_carry_their_interval():
    assert words.share(Estimate(0.2143, 0.164, 0.2749, 210)) == "0.214 [.16,.27]"
    assert words.share(Estimate(1.0, 0.912, 1.0, 40)) == "1.000 [.91,1]"
    assert words.range_(Estimate(5912.4, 5790.0, 6040.0, 210)) == "5,912 [5,790..6,040]"
    found = Difference(-0.029, -0.071, 0.012, 30, 0.2, "mcnemar", 1, 2)
    assert words.difference(found, 30) == "-0.029 [-.07,+.01]"
    assert words.difference(found, 40) == "-0.029 [-.07,+.01] n=30"
    assert words.share(Estimate(1.0, None, None, 1)) == "1.000 [?]"


def test_seeds_and_decoding():
    assert words.seeds([0]) == "seed 0"
    assert words.seeds([0, 1, 2]) == "seeds 0-2"
    assert words.seeds([0, 7]) == "seeds 0, 7"
