"""`relaybench serve`: a vLLM server with what the engines here need.

Explicit decoding (nothing from a model's generation_config), a prefix cache whose hits are reported, token ids in and
out, scoring that reads the cache (vLLM's scale-out endpoints), and LoRA adapters under versioned names that can be
added while it runs. The module is started rather than the `vllm` command, which the CPU build lacks.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from relaybench.engines.vllm import lora_settings
from relaybench.engines.weights import resolve_model
from relaybench.errors import UserError

CPU_BLOCK = 32
"""Tokens of a prefix cache block. The CPU's own 128 leaves long tails of every agent's turn to be computed again: 149
prompt tokens a call on WorkBench, 62 with 32 (docs/log.md)."""
FEW_CORES = 2


def serve(model: str, adapters: Mapping[str, Path], *, host: str, port: int, extra: Sequence[str]) -> int:
    """Become the server: this process is replaced, so that Ctrl-C and signals reach it. The command is printed first.

    Raises UserError where vLLM is not installed or the model or an adapter is not to be had.
    """
    if find_spec("vllm") is None:
        raise UserError("vLLM is not installed; install it with `scripts/install vllm`")
    from vllm.platforms import current_platform

    cpu = bool(current_platform.is_cpu())
    command = server_command(model, adapters, host=host, port=port, extra=extra, cpu=cpu)
    settings = server_environment(cpu=cpu, lora="--enable-lora" in command)
    shown = [*(f"{name}={value}" for name, value in settings.items()), shlex.join(command)]
    print(" ".join(shown), flush=True)
    os.execve(command[0], command, {**os.environ, **settings})


def server_command(
    model: str, adapters: Mapping[str, Path], *, host: str, port: int, extra: Sequence[str], cpu: bool
) -> list[str]:
    """The command line; what the user gives in `extra` comes last and wins."""
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", resolve_model(model)]
    command += ["--served-model-name", model, "--host", host, "--port", str(port)]
    command += ["--generation-config", "vllm", "--enable-prefix-caching", "--enable-prompt-tokens-details"]
    command += ["--enable-scale-out"]
    lora = lora_settings(list(adapters.values()))
    if lora:
        command += ["--enable-lora", "--max-lora-rank", str(lora["max_lora_rank"])]
        command += ["--max-loras", str(lora["max_loras"])]
        command += ["--lora-target-modules", *lora["lora_target_modules"]]
        command += ["--lora-modules", *(f"{name}={folder.resolve()}" for name, folder in adapters.items())]
    if cpu:
        command += ["--dtype", "float32", "--enforce-eager", "--block-size", str(CPU_BLOCK)]
    return [*command, *extra]


def server_environment(*, cpu: bool, lora: bool) -> dict[str, str]:
    """Environment variables the server needs and the user has not set."""
    wanted = {"VLLM_ALLOW_RUNTIME_LORA_UPDATING": "True"} if lora else {}
    if cpu:
        wanted["VLLM_CPU_KVCACHE_SPACE"] = "2"
        if (os.cpu_count() or 1) <= FEW_CORES:
            wanted["VLLM_CPU_NUM_OF_RESERVED_CPU"] = "0"  # else half of such a machine would stand idle
    return {name: value for name, value in wanted.items() if name not in os.environ}
