"""Stores in tests are not synced: a busy disk takes seconds for each, and no test cuts the power."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def quick_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relaybench.rollout.journal.os.fsync", lambda handle: None)
