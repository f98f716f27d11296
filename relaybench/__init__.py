"""relaybench: every relay between LLM workers is an information bottleneck. See README.md and docs/api.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relaybench.reporting.frame import Run as Run
    from relaybench.reporting.frame import load as load

__version__ = "0.1.0"
__all__ = ["Run", "__version__", "load"]


def __getattr__(name: str) -> object:
    """`load` and `Run` are imported when first asked for, so that `import relaybench` stays light."""
    if name in ("Run", "load"):
        from relaybench.reporting import frame

        return getattr(frame, name)
    raise AttributeError(f"module 'relaybench' has no attribute {name!r}")
