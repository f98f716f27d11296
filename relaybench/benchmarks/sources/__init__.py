"""Where each benchmark's data comes from, and what its files must be.

Adding a benchmark's data is one more `Source` in SOURCES. A file is pinned in the strongest way known for it (pins.py).
"""

from __future__ import annotations

from relaybench.benchmarks.sources.base import Source, SourceFile
from relaybench.benchmarks.sources.copies import ALFWORLD, TRAVELPLANNER, WEBSHOP, WIDESEARCH
from relaybench.benchmarks.sources.workbench import WORKBENCH

__all__ = ["SOURCES", "Source", "SourceFile"]

SOURCES: dict[str, Source] = {
    source.name: source for source in (WORKBENCH, ALFWORLD, WEBSHOP, TRAVELPLANNER, WIDESEARCH)
}
