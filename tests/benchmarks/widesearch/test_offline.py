"""The offline corpus: what it holds, and that it is found."""

from __future__ import annotations

from asyncio import run
from pathlib import Path

import pytest

from relaybench.benchmarks.widesearch.corpus import SUPERSEDED, corpus, read_sheet
from relaybench.benchmarks.widesearch.offline import OfflineWeb
from relaybench.benchmarks.widesearch.questions import Question, load_questions
from relaybench.benchmarks.widesearch.subjects import keywords, tokens
from relaybench.benchmarks.widesearch.web import EXCERPT, HITS, PART, Unreachable, parts
from relaybench.errors import UserError

pytest.importorskip("bm25s", reason="no bm25s: run `scripts/install benchmarks`")
EARLIER = tuple(SUPERSEDED.values())


def test_the_subject_leaves_the_layout_out() -> None:
    assert keywords("Could you list the towns of Kent?\nOutput one Markdown table: Town, Mayor.") == ["towns", "Kent"]
    assert keywords("帮我整理中国的高铁线路。请以Markdown表格的格式输出") == ["中国的高铁线路"]


def test_words_and_pairs_of_characters_are_tokens() -> None:
    assert tokens("The Towns of Kent, 2024") == ["towns", "kent", "2024"]
    assert tokens("高铁线") == ["高铁", "铁线"]


def test_the_corpus_is_the_same_every_time(question: Question) -> None:
    assert corpus([question]) == corpus([question])


def test_a_row_takes_several_pages(question: Question) -> None:
    pages = [page.text for page in corpus([question]) if not page.text.endswith(EARLIER)]
    cells = ("1000", "2001-05-01", "https://ash.example/home", "Ann Ames")
    assert all(any(cell in text for text in pages) for cell in cells)
    assert not any(all(cell in text for cell in cells) for text in pages)


def test_an_earlier_edition_looks_alike_and_has_cells_in_wrong_rows(question: Question) -> None:
    pages = corpus([question])
    earlier = [page for page in pages if page.text.endswith(EARLIER)]
    assert earlier
    assert {page.title for page in earlier} <= {page.title for page in pages if page not in earlier}


def test_search_finds_a_page_and_opens_it(question: Question) -> None:
    async def ask() -> None:
        web = OfflineWeb([question])
        hits = await web.search("towns Ash mayor")
        assert hits
        assert hits == await web.search("towns Ash mayor")
        assert "Ash" in (await web.page(hits[0].url)).text
        assert await web.search("zzz") == []
        assert await web.search("") == []
        with pytest.raises(Unreachable, match="no page at that address"):
            await web.page("https://ash.example/home")
        await web.close()

    run(ask())


def test_gold_tables_that_are_not_there_are_named(question: Question, tmp_path: Path) -> None:
    import msgspec

    with pytest.raises(UserError, match="cannot read the gold table"):
        corpus([msgspec.structs.replace(question, gold=tmp_path / "none.csv")])


def test_long_texts_are_cut_at_line_ends() -> None:
    text = "\n".join(f"line {i} {'x' * 40}" for i in range(200))
    cut = parts(text)
    assert "\n".join(cut) == text
    assert all(len(part) <= PART for part in cut)
    assert parts("y" * (PART + 1)) == ["y" * PART, "y"]
    assert parts("") == [""]


@pytest.fixture(scope="module")
def questions(shared: Path) -> dict[str, Question]:
    return load_questions(shared / "data" / "widesearch")


def test_every_gold_cell_is_in_the_corpus_word_for_word(questions: dict[str, Question]) -> None:
    for question in questions.values():
        text = "\n".join(page.text for page in corpus([question]) if not page.text.endswith(EARLIER))
        sheet = read_sheet(question)
        assert sheet.rows, question.instance_id
        assert all(cell in text for row in sheet.rows for cell in row), question.instance_id


def test_most_rows_are_found_by_their_names_among_all_pages(questions: dict[str, Question]) -> None:
    """Two searches a row: 1,494 of 1,558 sampled rows when this was written; the others are named by a number alone."""

    async def found() -> tuple[int, int]:
        web, good, seen = OfflineWeb(list(questions.values())), 0, 0
        for question in questions.values():
            sheet = read_sheet(question)
            for row in sheet.rows[:: max(1, len(sheet.rows) // 4)]:
                name = " ".join(row[i] for i in sheet.keys)
                subject = " ".join(keywords(question.query)[:10])
                hits = [*await web.search(f"{subject} {name}"), *await web.search(name)]
                assert len(hits) <= 2 * HITS
                assert all(len(hit.excerpt) <= EXCERPT + 4 for hit in hits)
                texts = [(await web.page(hit.url)).text for hit in hits]
                kept = "\n".join(text for text in texts if not text.endswith(EARLIER))
                good, seen = good + all(cell in kept for cell in row), seen + 1
        return good, seen

    good, seen = run(found())
    assert good / seen > 0.9
