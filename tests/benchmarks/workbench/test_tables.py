"""Tables keep row labels as the official frames do, and share what was not touched."""

from __future__ import annotations

from pathlib import Path

from relaybench.benchmarks.workbench.tables import Table, digest, same_outcome, same_rows

COLUMNS = ("id", "name", "status")


def table(*rows: tuple[object, ...]) -> Table:
    return Table(COLUMNS, rows)


def test_pandas_marks_of_missing_values_are_missing(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('id,name\n"1","NA"\n2,None\n3,"a,b"\n', encoding="utf-8")
    assert Table.read(tmp_path / "t.csv").rows == [("1", None), ("2", None), ("3", "a,b")]


def test_put_writes_over_the_row_that_holds_the_label() -> None:
    kept = table(("1", "a", "x"), ("2", "b", "x"))
    kept.delete("id", "1")
    kept.put({"id": "3", "name": "c", "status": "y"}, label=1)
    assert kept.rows == [("3", "c", "y")]
    assert kept.labels == [1]


def test_an_unknown_field_becomes_a_column() -> None:
    grown = table(("1", "a", "x"), ("2", "b", "x"))
    grown.update("id", "2", "room", "R1")
    assert grown.columns == (*COLUMNS, "room")
    assert grown.rows == [("1", "a", "x", None), ("2", "b", "x", "R1")]


def test_a_fork_leaves_the_original_alone_and_shares_its_rows() -> None:
    original = table(("1", "a", "x"), ("2", "b", "x"))
    fork = original.fork()
    fork.update("id", "1", "name", "z")
    assert original.rows[0] == ("1", "a", "x")
    assert fork.rows[1] is original.rows[1]
    assert fork != original


def test_2024_outcomes_fold_case_but_not_status_and_mind_order_and_labels() -> None:
    a = table(("1", "Ann", "Won"), ("2", "Bo", "Won"))
    assert same_outcome(a, table(("1", "ann", "Won"), ("2", "BO", "Won")))
    assert not same_outcome(a, table(("1", "Ann", "won"), ("2", "Bo", "Won")))
    assert not same_outcome(a, table(("2", "Bo", "Won"), ("1", "Ann", "Won")))
    assert not same_outcome(a, Table(COLUMNS, a.rows, labels=[0, 0]))


def test_2026_outcomes_mind_neither_order_nor_labels() -> None:
    a = table(("1", "Ann", "Won"), ("2", "Bo", "Won"))
    b = Table(COLUMNS, [("2", "BO", "Won"), ("1", "Ann", "Won")], labels=[5, 6])
    assert same_rows(a, b, fold=True)
    assert not same_rows(a, b, fold=False)
    assert not same_rows(a, table(("1", "Ann", "Won")), fold=True)


def test_a_number_where_text_belongs_is_missing_after_folding() -> None:
    assert not same_outcome(table(("1", "30", "x")), table(("1", 30, "x")))


def test_the_digest_of_an_empty_plot_table_is_the_official_one() -> None:
    assert digest(Table(["file_path"])) == {
        "n": 0,
        "rows": "a58a4aa8b680a30f",
        "rows_sorted": "a58a4aa8b680a30f",
        "index": "4f53cda18c2baa0c",
    }


def test_sorted_digests_do_not_depend_on_row_order() -> None:
    one, other = digest(table(("1", "ä", "x"), ("2", None, "x"))), digest(table(("2", None, "x"), ("1", "ä", "x")))
    assert one["rows"] != other["rows"]
    assert one["rows_sorted"] == other["rows_sorted"]
