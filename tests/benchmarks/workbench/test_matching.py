"""Search texts are patterns in 2024 and plain text in 2026, and mean the same on every Python."""

from __future__ import annotations

import re

import pytest

from relaybench.benchmarks.workbench.matching import choose, contains


def test_a_2024_search_text_is_a_pattern_that_ignores_case() -> None:
    assert contains("s.nc")("Weekly SYNC")
    assert not contains("c++", literal=True)("cc")
    assert contains("C++", literal=True)("a c++ course")


@pytest.mark.parametrize("text", ["(", "[", "*a", "a**", "C++", "a{2}+", "x?+", "(?>a)", "\\"])
def test_what_python_3_10_refuses_is_refused(text: str) -> None:
    with pytest.raises(re.error):
        contains(text)


@pytest.mark.parametrize("text", ["[+]+", r"a\++", "[*+]x", "a{,2}"])
def test_a_plus_that_is_no_second_quantifier_is_fine(text: str) -> None:
    contains(text)


def test_a_column_with_a_missing_cell_cannot_be_searched() -> None:
    test = contains("a")
    assert choose([test("a"), test("b")]) == [0]
    with pytest.raises(ValueError, match="NaN"):
        choose([test("a"), test(None)])
