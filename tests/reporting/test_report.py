"""What the command line calls: errors with a way out, and a light import."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from relaybench.errors import UserError
from relaybench.reporting import diff, report
from tests.reporting.made import failure


def test_no_folder_is_an_error_with_a_mend(tmp_path):
    with pytest.raises(UserError, match="no run folder.*relaybench run"):
        report([tmp_path / "nothing"])


def test_a_run_without_episodes_says_why(make_run):
    with pytest.raises(UserError, match="nothing has ended there yet"):
        report([make_run("a", [])])
    empty = make_run("b", [], [failure("t0", "sas")])
    with pytest.raises(UserError, match="all 1 attempts failed"):
        diff(empty, empty)


def test_an_unknown_format_names_the_nearest(make_run, grid):
    with pytest.raises(UserError, match="did you mean 'json'"):
        report([make_run("a", grid)], "jsn")


def test_a_folder_named_twice_counts_once(make_run, grid):
    folder = make_run("a", grid)
    assert report([folder, folder]) == report([folder])


def test_importing_the_library_loads_nothing_heavy():
    heavy = ("torch", "numpy", "scipy", "pandas", "pydantic", "msgspec", "rich", "openai", "transformers")
    code = f"import relaybench, sys, json; print(json.dumps([m for m in {heavy} if m in sys.modules]))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout) == []


def test_load_is_found_without_a_further_import():
    code = "import relaybench; assert callable(relaybench.load); assert relaybench.Run.__name__ == 'Run'"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_name_is_an_attribute_error():
    import relaybench

    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        relaybench.lode  # noqa: B018
