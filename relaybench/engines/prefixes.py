"""The prefix cache: keys and values of sequences seen before, found by their token ids.

What a causal model computed for a prefix holds for every prompt that starts with it, so the next turn of a
conversation, or another relay after the same task, computes its new tokens only. Bounded in tokens; what was used
longest ago goes first. Prefixes are kept apart by adapter.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_Key = tuple[str | None, tuple[int, ...]]
_Ids = NDArray[np.int64]


class Prefix(NamedTuple):
    """Token ids, and the keys and values that stand for them."""

    token_ids: tuple[int, ...]
    layers: list[tuple[Any, Any]]
    """Per layer two tensors of shape (tokens, heads, head size)."""


class PrefixCache:
    """At most `max_tokens` tokens of stored prefixes."""

    def __init__(self, max_tokens: int) -> None:
        self.max_tokens = max_tokens
        self.tokens = 0
        self._stored: OrderedDict[_Key, tuple[_Ids, Prefix]] = OrderedDict()

    def find(self, token_ids: Sequence[int], adapter: str | None = None) -> tuple[Prefix | None, int]:
        """The stored prefix that shares most leading tokens with `token_ids`, and how many it shares."""
        wanted = np.asarray(token_ids, dtype=np.int64)
        shared = {key: common(wanted, ids) for key, (ids, _) in self._stored.items() if key[0] == adapter}
        if not shared:
            return None, 0
        best = max(shared, key=lambda key: shared[key])
        if shared[best] == 0:
            return None, 0
        self._stored.move_to_end(best)
        return self._stored[best][1], shared[best]

    def put(self, prefix: Prefix, adapter: str | None = None) -> None:
        """Keep `prefix`; stored ones that it extends are dropped, and one that extends it makes it needless."""
        new = np.asarray(prefix.token_ids, dtype=np.int64)
        for key, (ids, _) in list(self._stored.items()):
            shared = common(new, ids) if key[0] == adapter else -1
            if shared == len(new):
                self._stored.move_to_end(key)
                return
            if shared == len(ids):
                self._forget(key)
        if len(new) > self.max_tokens:
            return
        self._stored[adapter, prefix.token_ids] = (new, prefix)
        self.tokens += len(new)
        while self.tokens > self.max_tokens:
            self._forget(next(iter(self._stored)))

    def _forget(self, key: _Key) -> None:
        ids, _ = self._stored.pop(key)
        self.tokens -= len(ids)


def common(a: _Ids, b: _Ids) -> int:
    """How many leading ids two sequences share."""
    length = min(len(a), len(b))
    differ = np.flatnonzero(a[:length] != b[:length])
    return int(differ[0]) if len(differ) else length
