"""`relaybench serve`: the command it runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from relaybench.engines import serve as serving
from relaybench.engines.serve import serve, server_command, server_environment
from relaybench.engines.vllm import LORA_MODULES, lora_settings
from relaybench.errors import UserError


@pytest.fixture
def model(tmp_path: Path) -> str:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    return str(folder)


def adapter(folder: Path, rank: int, **settings: list[str]) -> Path:
    folder.mkdir()
    (folder / "adapter_config.json").write_text(json.dumps({"r": rank, **settings}))
    return folder


def command(model: str, cpu: bool = False, extra: tuple[str, ...] = (), **adapters: Path) -> str:
    return " ".join(server_command(model, adapters, host="127.0.0.1", port=8123, extra=extra, cpu=cpu))


def test_the_server_has_what_the_engines_need(model: str) -> None:
    line = command(model)
    for needed in (
        f"-m vllm.entrypoints.openai.api_server --model {model} --served-model-name {model}",
        "--host 127.0.0.1 --port 8123",
        "--generation-config vllm",
        "--enable-prefix-caching",
        "--enable-prompt-tokens-details",
        "--enable-scale-out",
    ):
        assert needed in line
    assert "--enable-lora" not in line
    assert "--dtype" not in line


def test_adapters_are_served_by_name_at_a_rank_that_vllm_knows(model: str, tmp_path: Path) -> None:
    folders = {"relay-v1": adapter(tmp_path / "one", 4), "relay-v2": adapter(tmp_path / "two", 24)}
    line = " ".join(server_command(model, folders, host="h", port=1, extra=(), cpu=False))
    assert "--enable-lora --max-lora-rank 32 --max-loras 2" in line
    assert f"--lora-target-modules {' '.join(sorted(LORA_MODULES))} --lora-modules" in line
    assert f"--lora-modules relay-v1={folders['relay-v1']} relay-v2={folders['relay-v2']}" in line


def test_the_output_layer_is_left_alone(tmp_path: Path) -> None:
    """With LoRA on it vLLM scores prompts wrong; on a CPU two prompts at once end its process."""
    usual = lora_settings([adapter(tmp_path / "usual", 4, target_modules=["q_proj", "model.layers.0.mixer.in_proj"])])
    assert {"q_proj", "down_proj", "in_proj"} <= set(usual["lora_target_modules"])
    for changed in ({"target_modules": ["lm_head"]}, {"modules_to_save": ["lm_head"]}):
        with pytest.raises(UserError, match="lm_head"):
            lora_settings([adapter(tmp_path / next(iter(changed)), 4, **changed)])


def test_what_the_user_adds_comes_last(model: str) -> None:
    line = command(model, cpu=True, extra=("--dtype", "bfloat16"))
    assert line.endswith("--dtype float32 --enforce-eager --block-size 32 --dtype bfloat16")


def test_the_environment_is_set_only_where_the_user_did_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_CPU_KVCACHE_SPACE", raising=False)
    monkeypatch.delenv("VLLM_ALLOW_RUNTIME_LORA_UPDATING", raising=False)
    assert server_environment(cpu=False, lora=False) == {}
    monkeypatch.setattr(serving.os, "cpu_count", lambda: 8)
    set_here = server_environment(cpu=True, lora=True)
    assert set(set_here) == {"VLLM_ALLOW_RUNTIME_LORA_UPDATING", "VLLM_CPU_KVCACHE_SPACE"}
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "8")
    assert server_environment(cpu=True, lora=False) == {}
    monkeypatch.setattr(serving.os, "cpu_count", lambda: 2)
    assert server_environment(cpu=True, lora=False) == {"VLLM_CPU_NUM_OF_RESERVED_CPU": "0"}


def test_a_folder_that_is_no_adapter_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"adapter_config\.json"):
        lora_settings([tmp_path])
    with pytest.raises(UserError, match="too large"):
        lora_settings([adapter(tmp_path / "huge", 4096)])


def test_without_vllm_the_mend_is_named(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="scripts/install vllm"):
        serve(model, {}, host="127.0.0.1", port=8123, extra=[])


def test_it_becomes_the_server_and_prints_the_command_first(
    model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    platforms = ModuleType("vllm.platforms")
    platforms.current_platform = SimpleNamespace(is_cpu=lambda: True)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vllm", ModuleType("vllm"))
    monkeypatch.setitem(sys.modules, "vllm.platforms", platforms)
    monkeypatch.setattr(serving, "find_spec", lambda name: object())
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "8")
    became: list[tuple[str, list[str], dict[str, str]]] = []
    monkeypatch.setattr(serving.os, "execve", lambda *args: became.append(args))
    serve(model, {}, host="127.0.0.1", port=8123, extra=["--max-model-len", "512"])
    ((program, line, environment),) = became
    assert program == line[0] == sys.executable
    assert " ".join(line) in capsys.readouterr().out
    assert environment["VLLM_CPU_KVCACHE_SPACE"] == "8"
    assert line[-2:] == ["--max-model-len", "512"]


def test_importing_it_loads_neither_vllm_nor_torch() -> None:
    code = "import sys, relaybench.engines.serve; print('vllm' in sys.modules, 'torch' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.split() == ["False", "False"]
