"""The offline corpus: pages made from the gold tables, and pages that only look like them.

A table's columns are dealt out over two kinds of pages, listings (tables and lists of rows in order, half of the
columns) and notes (prose about a few rows in another order, the other half), so that a row takes several pages and a
table many searches. Every cell stands somewhere word for word (line breaks become spaces). Distractors are earlier
editions of listings, whose cells are moved to wrong rows, which say so in their last line alone, and pages that talk
about the subject without a fact. All of it is a function of the questions: no clock, no global random state.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from random import Random

from relaybench.benchmarks.widesearch.questions import Question
from relaybench.benchmarks.widesearch.subjects import keywords
from relaybench.benchmarks.widesearch.web import Page
from relaybench.errors import UserError

VERSION = "offline@1"
"""Raise it with any change of what the pages say."""
LISTED, NOTED = 8, 4
"""Rows on a listing and in a note."""
SITES = ("almanac.example", "registry.example", "gazette.example", "notes.example")
"""Where pages lie: `.example` names no one on the web."""
SUPERSEDED = {
    "en": "Earlier edition. It was withdrawn: many of its entries stood in the wrong rows.",
    "zh": "旧版页面，已被撤回：许多条目曾错列在其他行。",
}
_FACTS = {
    "en": ("Its {0} is {1}.", "{0}: {1}.", "For {0}, the record gives {1}.", "Listed under {0}: {1}."),
    "zh": ("其{0}为{1}。", "{0}：{1}。", "关于{0}，记录为{1}。", "{0}一栏写着{1}。"),
}
_TALK = {
    "en": (
        "Readers often ask where {0} can be looked up for this subject. The figures stand in several listings and "
        "notes of this collection; this page has none of them. Earlier editions exist and should not be relied on."
    ),
    "zh": "常有读者问起在哪里可以查到{0}。相关内容分布在本站多份列表和笔记中，本页没有任何数据。旧版页面不可作为依据。",
}


@dataclass(frozen=True, slots=True)
class Sheet:
    """A gold table as pages are made from it."""

    question: Question
    header: list[str]
    keys: list[int]
    """Columns of `header` that say which row is which."""
    rows: list[list[str]]

    @property
    def language(self) -> str:
        return "zh" if self.question.language == "zh" else "en"


def corpus(questions: Iterable[Question]) -> list[Page]:
    """All pages for `questions`, addresses all different. Raises UserError for a gold table that is not there."""
    return [page for question in questions for page in _pages(read_sheet(question))]


def read_sheet(question: Question) -> Sheet:
    """The columns that are asked for, with their names as the table writes them. Raises UserError."""
    mend = "fetch or import the widesearch data again"
    try:
        lines = list(csv.reader(question.gold.read_text(encoding="utf-8-sig").splitlines(keepends=True)))
    except (OSError, csv.Error, UnicodeDecodeError) as error:
        raise UserError(f"cannot read the gold table {question.gold} ({error}); {mend}") from error
    names = [name.strip().lower().replace(" ", "") for name in lines[0]] if lines else []
    required = question.evaluation.required
    if absent := [name for name in required if name not in names]:
        raise UserError(f"{question.gold} has no column {absent[0]!r}; {mend}")
    places = [names.index(name) for name in required]
    full = [row for row in lines[1:] if len(row) == len(names)]
    return Sheet(
        question,
        header=[" ".join(lines[0][place].split()) for place in places],
        keys=[i for i, name in enumerate(required) if name in question.evaluation.unique_columns],
        rows=[[" ".join(row[place].split()) for place in places] for row in full],
    )


def _pages(sheet: Sheet) -> Iterator[Page]:
    random = Random(f"{VERSION}/{sheet.question.instance_id}")
    rest = [i for i in range(len(sheet.header)) if i not in sheet.keys]
    listed, noted = rest[::2], rest[1::2]
    subject = keywords(sheet.question.query)
    about = " ".join(subject)
    order = list(range(len(sheet.rows)))
    for number, rows in enumerate(_chunks(order, LISTED)):
        cells = [sheet.rows[i] for i in rows]
        title = f"{' '.join(subject[:10])}: {_range(sheet, cells)}"
        text = _listing(sheet, cells, [*sheet.keys, *listed], random)
        yield _page(sheet, "listing", number, title, f"{about}\n\n{text}")
        if number % 3 == 0 and len(sheet.rows) > 1:
            text = _listing(sheet, _misplaced(sheet, rows), [*sheet.keys, *listed], random)
            yield _page(sheet, "earlier", number, title, f"{about}\n\n{text}\n\n{SUPERSEDED[sheet.language]}")
    random.shuffle(order)
    for number, rows in enumerate(_chunks(order, NOTED) if noted else ()):
        cells = [sheet.rows[i] for i in rows]
        title = f"{' '.join(subject[:4])}: {'; '.join(_name(sheet, row) for row in cells)}"
        text = "\n\n".join(_note(sheet, row, noted, random) for row in cells)
        yield _page(sheet, "note", number, title, f"{about}\n\n{text}")
    for number, chosen in enumerate((listed or sheet.keys, noted or sheet.keys)):
        names = ", ".join(sheet.header[i] for i in chosen)
        yield _page(sheet, "talk", number, " ".join(subject[:10]), f"{about}\n\n{_TALK[sheet.language].format(names)}")


def _listing(sheet: Sheet, rows: Sequence[Sequence[str]], columns: Sequence[int], random: Random) -> str:
    """A table, or one line a row."""
    names = [sheet.header[i] for i in columns]
    if random.random() < 0.5:
        lines = [names, ["---"] * len(names), *([row[i] for i in columns] for row in rows)]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return "\n".join("- " + "; ".join(f"{sheet.header[i]}: {row[i]}" for i in columns) for row in rows)


def _note(sheet: Sheet, row: Sequence[str], columns: Sequence[int], random: Random) -> str:
    """Prose about one row: what it is, then its facts in any order."""
    forms = _FACTS[sheet.language]
    facts = [random.choice(forms).format(sheet.header[i], row[i]) for i in random.sample(columns, len(columns))]
    head = ", ".join(f"{sheet.header[i]} {row[i]}" for i in sheet.keys)
    return f"{head}. " + (" " if sheet.language == "en" else "").join(facts)


def _misplaced(sheet: Sheet, rows: Sequence[int]) -> list[list[str]]:
    """`rows` with the other cells of the row three places on: a real value each, and seldom the right one."""
    kept: list[list[str]] = []
    for i in rows:
        other = sheet.rows[(i + 3) % len(sheet.rows)]
        kept.append([own if j in sheet.keys else other[j] for j, own in enumerate(sheet.rows[i])])
    return kept


def _range(sheet: Sheet, rows: Sequence[Sequence[str]]) -> str:
    first, last = _name(sheet, rows[0]), _name(sheet, rows[-1])
    return first if first == last else f"{first} ... {last}"


def _name(sheet: Sheet, row: Sequence[str]) -> str:
    return ", ".join(row[i] for i in sheet.keys)[:80]


def _page(sheet: Sheet, kind: str, number: int, title: str, text: str) -> Page:
    digest = sha256(f"{VERSION}/{sheet.question.instance_id}/{kind}/{number}".encode()).hexdigest()
    return Page(title, f"https://{SITES[int(digest[:8], 16) % len(SITES)]}/{digest[8:18]}", text)


def _chunks(items: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
