"""The tokenizer of a model that runs elsewhere: a server's, or vLLM's own process."""

from __future__ import annotations

from pathlib import Path

from relaybench.engines.chat import ChatTemplate
from relaybench.engines.weights import resolve_model
from relaybench.errors import UserError


def load_template(name: str, extra: str) -> ChatTemplate:
    """The chat template of the tokenizer `name` (hub name or folder).

    Raises UserError where there is none, or transformers is missing (`extra` is what to install).
    """
    try:
        from transformers import AutoTokenizer
    except ImportError:
        raise UserError(f"a tokenizer needs transformers; install it with `scripts/install {extra}`") from None
    folder = name if Path(name).expanduser().is_dir() else resolve_model(name)
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder)
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise UserError(f"no tokenizer at '{name}' ({reason}); name a model on the hub or its folder") from None
    return ChatTemplate(tokenizer)
