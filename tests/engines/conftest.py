"""A tiny model folder, made once."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder with random weights (tiny.py)."""
    pytest.importorskip("transformers", reason="no transformers: run `scripts/install cpu`")
    from . import tiny

    return tiny.save_model(tmp_path_factory.mktemp("tiny"))
