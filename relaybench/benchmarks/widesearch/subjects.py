"""Subjects: which words of a query say what it is about, and which words a text is found by."""

from __future__ import annotations

import re

MOST = 40
"""Keywords of a query."""
_WORD = re.compile(r"[a-z0-9]+(?:[.'’-][a-z0-9]+)*|[\u4e00-\u9fff]+", re.IGNORECASE)
_CJK = re.compile(r"[\u4e00-\u9fff]")
_LAYOUT = re.compile(
    r"markdown|column names|column headers|don't ask|表格|列名|单元格|输出|格式|省略|不要问|例如|其中", re.IGNORECASE
)
_CLAUSE = re.compile(r"[\n。！？；，、]|[.;!?](?:\s|$)")
_POLITE = re.compile(
    "请|帮我|给我|麻烦|我想|想要|看看|一下|一份|整理|梳理|统计|汇总|搜集|收集|列出来?|罗列|做成表|包括|包含|需要|"
    "以及|信息"
)
_STOP_WORDS = """
a about above accurate all also am an and any are as at be been before between both but by can cannot collect compile
complete could curious data do does each etc every find following for from get give given had has have he he’s help her
his how i i'm i’m if im in include included includes including inclusive inclusively information interested into is it
it's its just know like list me more my need no not of on one only or order organize other our output please present
presented provide query record related she should show so some sort still such table tabular than that the their them
then there these they this those through to under up us using want was way we well were what when where which who will
with would you your
"""
_STOP = frozenset(_STOP_WORDS.split())


def keywords(query: str) -> list[str]:
    """The words that say what is asked for, in their order; clauses about the table's layout are left out."""
    clauses = [clause for clause in _CLAUSE.split(query) if not _LAYOUT.search(clause)]
    found = [word for clause in clauses for word in _WORD.findall(_POLITE.sub(" ", clause))]
    return list(dict.fromkeys(word for word in found if word.lower() not in _STOP))[:MOST]


def tokens(text: str) -> list[str]:
    """What a text is found by: words in lower case without stop words, pairs of neighbouring Chinese characters."""
    found: list[str] = []
    for word in _WORD.findall(text.lower()):
        if _CJK.match(word):
            found += [word[i : i + 2] for i in range(len(word) - 1)] or [word]
        elif word not in _STOP:
            found.append(word)
    return found
