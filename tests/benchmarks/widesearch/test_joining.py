"""Tables of several workers become one."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from relaybench.benchmarks.widesearch.joining import join, rows_of, written

REQUIRED = ("town", "people")
ONE = "```markdown\n| Town | People |\n| --- | --- |\n| Ash | 1 |\n```"
OTHER = "| People | Town |\n|---|---|\n| 2 | Birch |\n| 3 | Cedar |"
RENAMED = "```markdown\nPlace | Inhabitants\n--- | ---\nDeal | 4\n```"


def test_a_single_table_goes_on_as_written() -> None:
    assert join([ONE], REQUIRED) == ONE
    assert join([], REQUIRED) is None


def test_cells_are_put_under_the_columns_of_the_task_whatever_the_order() -> None:
    joined = {join(order, REQUIRED) for order in permutations([ONE, OTHER, RENAMED])}
    assert len(joined) == 1
    rows = rows_of(joined.pop() or "")
    assert rows[0] == ["Town", "People"]
    assert sorted(rows[1:]) == [["Ash", "1"], ["Birch", "2"], ["Cedar", "3"], ["Deal", "4"]]


def test_short_rows_and_unknown_columns_leave_gaps() -> None:
    odd = "| Town | Mayor |\n| --- | --- |\n| Elm | Eve |\n| Fir |"
    assert rows_of(join([ONE, odd], REQUIRED) or "")[1:] == [["Ash", "1"], ["Elm", ""], ["Fir", ""]]


def test_rows_read_back_as_they_were_written() -> None:
    assert rows_of(written(["a", "b"], [["1", "x y"], ["2", ""]])) == [["a", "b"], ["1", "x y"], ["2", ""]]


@given(st.lists(st.text() | st.text(alphabet="|-a\n `"), max_size=4))
def test_no_submissions_raise(tables: list[str]) -> None:
    assert join(tables, REQUIRED) == join(tables[::-1], REQUIRED) or len(tables) == 1
