"""Text and truth come from one file, and v2 exists for the multi-domain split alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from relaybench.benchmarks.workbench.data import load_queries, normal_id, revision_of
from relaybench.errors import UserError


def test_v1_has_all_splits_and_v2_its_own_text_and_truth(data: Path) -> None:
    v1, v2 = load_queries(data, "v1"), load_queries(data, "v2")
    assert len(v1) == 12
    assert list(v2) == ["multi_domain-000", "multi_domain-001"]
    assert v1["multi_domain-000"].text == "multi_domain 0"
    assert v2["multi_domain-000"].text == "new text 0"
    assert v2["multi_domain-000"].truth == ('email.delete_email.func(email_id="00000001")',)


def test_the_label_crm_is_spelt_out(data: Path) -> None:
    assert load_queries(data, "v1")["email-000"].domains == ("customer_relationship_manager", "email")


def test_v2_of_another_split_and_unknown_splits_are_refused(data: Path) -> None:
    with pytest.raises(UserError, match="multi_domain only"):
        load_queries(data, "v2", "email")
    with pytest.raises(UserError, match="did you mean 'email'"):
        load_queries(data, "v1", "emial")


def test_ids_are_accepted_without_padding() -> None:
    assert normal_id("multi_domain-7") == "multi_domain-007"
    assert normal_id("email-010") == "email-010"
    assert normal_id("something else") == "something else"


def test_missing_and_foreign_files_are_named(data: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="relaybench data"):
        load_queries(tmp_path, "v1")
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "email_queries_and_answers.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(UserError, match="email_queries_and_answers.csv is not a WorkBench task file"):
        load_queries(tmp_path, "v1", "email")


def test_the_revision_follows_the_tasks(data: Path) -> None:
    v1, v2 = load_queries(data, "v1", "multi_domain"), load_queries(data, "v2")
    assert revision_of(data, v1.values()) == revision_of(data, v1.values())
    assert revision_of(data, v1.values()) != revision_of(data, v2.values())


def test_the_real_data_has_690_tasks_and_169_of_210_call_for_action(shared: Path) -> None:
    folder = shared / "data" / "workbench"
    v1, v2 = load_queries(folder, "v1"), load_queries(folder, "v2")
    assert len(v1) == 690
    assert len(v2) == 210
    assert sum(bool(query.truth) for query in v2.values()) == 169
    assert len({query.template for query in v2.values()}) == 21
    changed = [i for i in v2 if v1[i].truth != v2[i].truth]
    assert changed == [f"multi_domain-{row:03d}" for row in range(10, 20)]
