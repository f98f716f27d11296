"""What makes TextWorld's PDDL games quick, set when a process first plays; no installed file is changed.

Texts are as before (tests/parity/test_alfworld.py). A step re-parses the same few templates for every admissible
command and copies deeply what nobody changes: the two parsers are memoised, and contexts copied one level deep. The
translation of a problem, most of the time of loading, is memoised per game (a bounded number of them), and the second
one, for a planner that is never asked, left out. Fast Downward's library, of which every live game has its own copy,
is copied without its debugging symbols: 1 MB and not 34.

Not thread-safe, as TextWorld is not: one process, one thread.
"""

from __future__ import annotations

import atexit
import struct
import tempfile
from collections.abc import Callable
from copy import deepcopy
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

GAMES = 64
"""Translated problems kept in a process: some 3 MB each."""


@cache
def quicken() -> None:
    """Set it all up, once a process."""
    import fast_downward
    from textworld.envs.pddl import textgen
    from textworld.logic import Rule

    parse = textgen._parse_and_convert
    parsed = lru_cache(4096)(lambda text, rule_name: parse(text, rule_name=rule_name))
    textgen._parse_and_convert = lambda text, rule_name, trace=False: deepcopy(parsed(text, rule_name))
    textgen.copy_context = _copied
    Rule.parse_conjunctive_query = lru_cache(4096)(Rule.parse_conjunctive_query)
    fast_downward.pddl2sas = _once_a_game(fast_downward.pddl2sas)
    fast_downward.load_lib = _without_planner(fast_downward.load_lib)
    _slim(fast_downward.interface)


def _copied(context: dict[str, Any]) -> dict[str, Any]:
    return context | {"variables": dict(context["variables"]), "mapping": dict(context["mapping"])}


def _once_a_game(translate: Callable[..., Any]) -> Callable[..., Any]:
    translated = lru_cache(GAMES)(lambda domain, problem: translate(domain, problem))

    def pddl2sas(domain: str, problem: str, verbose: bool = False, optimize: bool = False) -> Any:
        return (None, "") if optimize else translated(domain, problem)

    return pddl2sas


def _without_planner(load: Callable[[], Any]) -> Callable[[], Any]:
    def load_lib() -> Any:
        library = load()
        library.load_sas_replan = lambda problem: None
        return library

    return load_lib


def _slim(interface: Any) -> None:
    """Let copies be made of a copy that ends with the last loadable segment (64-bit little-endian ELF only)."""
    data = Path(interface.DOWNWARD_LIB_PATH).read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        return
    (start,), (size, count) = struct.unpack_from("<Q", data, 0x20), struct.unpack_from("<HH", data, 0x36)
    segments = [struct.unpack_from("<IIQQQQQQ", data, start + i * size) for i in range(count)]
    end = max(offset + length for _, _, offset, _, _, length, _, _ in segments)
    header = bytearray(data[:0x40])
    struct.pack_into("<Q", header, 0x28, 0)  # no section headers
    struct.pack_into("<HH", header, 0x3C, 0, 0)
    folder = tempfile.TemporaryDirectory(prefix="relaybench-")
    atexit.register(folder.cleanup)
    slim = Path(folder.name) / "libdownward.so"
    slim.write_bytes(bytes(header) + data[0x40:end])
    interface.DOWNWARD_LIB_PATH = str(slim)
