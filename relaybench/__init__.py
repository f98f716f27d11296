"""relaybench: every relay between LLM workers is an information bottleneck. See README.md."""

__version__ = "0.1.0"
