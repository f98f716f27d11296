"""Benchmarks whose files are pinned by SHA-256 in pins.json: ALFWorld, WebShop, TravelPlanner, WideSearch.

Some of their files are byte copies that an official address serves; the others were made from official files (games
without what all share, a catalogue out of its search index, queries with fields filled in) and are imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

import msgspec

from relaybench.benchmarks.pins import Sha256
from relaybench.benchmarks.sources.base import Source, SourceFile

_RAW = "https://raw.githubusercontent.com"
_TRAVELPLANNER = f"{_RAW}/OSU-NLP-Group/TravelPlanner/958f30d7e7629d18f33d79183dedf9b2830ff88c/database"
_WEBSHOP = f"{_RAW}/WillDreamer/webshop-minimal/e6c869d6d9d64ff2a75d3c23df9257f28ed56ea6"

_PINS: dict[str, dict[str, tuple[int, str]]] = msgspec.json.decode(
    files("relaybench.benchmarks.sources").joinpath("pins.json").read_bytes(),
    type=dict[str, dict[str, tuple[int, str]]],
)


def _files(name: str, addresses: Mapping[str, str]) -> tuple[SourceFile, ...]:
    """All files of a benchmark; `addresses` by the start of their path."""
    found = []
    for path, (size, digest) in _PINS[name].items():
        start = next((start for start in addresses if path.startswith(start)), None)
        url = None if start is None else addresses[start] + path.removeprefix(start)
        found.append(SourceFile(path, url, size, Sha256(digest)))
    return tuple(found)


ALFWORLD = Source(
    "alfworld",
    "ALFWorld (Shridhar et al. 2021): 4,027 text games in compact form",
    "MIT; from ALFRED (MIT) and AI2-THOR (Apache-2.0)",
    _files("alfworld", {}),
    "They hold the games of ALFWorld's release archive json_2.1.2_tw-pddl.zip without what all games share "
    "(docs/data.md says how).",
)
WEBSHOP = Source(
    "webshop",
    "WebShop (Yao et al. 2022): the 1,000-product catalogue",
    "MIT; product texts scraped by its authors",
    _files("webshop", {"items_ins_v2_1000.json": f"{_WEBSHOP}/items_ins_v2_1000.json"}),
    "WebShop's setup.sh downloads the catalogue and the human instructions; docs/data.md says what is made of them.",
)
TRAVELPLANNER = Source(
    "travelplanner",
    "TravelPlanner (Xie et al. 2024): sandbox, 45 train and 180 validation queries; flights incomplete",
    "MIT (code and sandbox), CC-BY-4.0 (queries)",
    _files(
        "travelplanner",
        {
            f"sandbox/{part}/": f"{_TRAVELPLANNER}/{part}/"
            for part in ("accommodations", "attractions", "background", "googleDistanceMatrix", "restaurants")
        },
    ),
    "Queries are from the dataset osunlp/TravelPlanner; flights and their coverage were put together from published "
    "reference information (docs/data.md).",
)
WIDESEARCH = Source(
    "widesearch",
    "WideSearch (Wong et al. 2025): 70 English and 65 Chinese tasks with gold tables",
    "MIT",
    _files("widesearch", {}),
    "They are from AIDC-AI/Marco-DeepWideSearch-Agent, which holds WideSearch's tasks under other names "
    "(docs/data.md).",
)
