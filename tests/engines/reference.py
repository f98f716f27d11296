"""An independent reference for the vLLM tests: transformers in float32, and a LoRA written and applied by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

RANK = 4
SCALE = 2.0


def model_folder() -> Path:
    """A small model on this machine; skips the test where there is none."""
    from relaybench.engines.weights import models_dir

    for name in ("smollm2-135m", "qwen2.5-0.5b"):
        if (models_dir() / name / "config.json").is_file():
            return models_dir() / name
    pytest.skip(f"no smollm2-135m or qwen2.5-0.5b in {models_dir()}")


def load(folder: Path) -> Any:
    import torch
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()


def logprobs(model: Any, context: Sequence[int], target: Sequence[int]) -> list[float]:
    """One whole forward pass, no cache."""
    import torch

    with torch.no_grad():
        logits = model(torch.tensor([[*context, *target]])).logits[0].float()
    rows = torch.log_softmax(logits[len(context) - 1 : -1], dim=-1)
    return [float(row[token]) for row, token in zip(rows, target, strict=True)]


def write_lora(model: Any, folder: Path) -> Path:
    """A LoRA on every query projection, in PEFT's layout."""
    import torch
    from safetensors.torch import save_file

    torch.manual_seed(0)
    tensors = {}
    for i, layer in enumerate(model.model.layers):
        out, into = layer.self_attn.q_proj.weight.shape
        name = f"base_model.model.model.layers.{i}.self_attn.q_proj"
        tensors[f"{name}.lora_A.weight"] = torch.randn(RANK, into) * 0.05
        tensors[f"{name}.lora_B.weight"] = torch.randn(out, RANK) * 0.05
    folder.mkdir(exist_ok=True)
    save_file(tensors, folder / "adapter_model.safetensors")
    settings = {"peft_type": "LORA", "r": RANK, "lora_alpha": SCALE * RANK, "target_modules": ["q_proj"]}
    (folder / "adapter_config.json").write_text(json.dumps(settings))
    return folder


def merge_lora(model: Any, folder: Path) -> Any:
    """`model` with the LoRA added to its weights."""
    import torch
    from safetensors.torch import load_file

    tensors = load_file(folder / "adapter_model.safetensors")
    with torch.no_grad():
        for i, layer in enumerate(model.model.layers):
            name = f"base_model.model.model.layers.{i}.self_attn.q_proj"
            layer.self_attn.q_proj.weight += SCALE * tensors[f"{name}.lora_B.weight"] @ tensors[f"{name}.lora_A.weight"]
    return model
