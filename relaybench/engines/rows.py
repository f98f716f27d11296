"""Rows: sequences of different lengths in one forward pass, each with its own keys and values.

Row i keeps its keys and values left-aligned in a shared buffer and may join, leave or grow without the others being
moved. There is no padding between a row's tokens, so positions are plain counts, and a mask hides only what lies
beyond a row's own length. A `Prefix` is what one row holds, taken out of it or put into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache, CacheLayerMixin

from relaybench.engines.prefixes import Prefix

_GRAIN = 128  # buffers grow by this many columns


class Rows:
    """Up to `size` sequences that `model` (a causal language model with full attention in each layer) extends."""

    def __init__(self, model: Any, size: int) -> None:
        self._model = model
        self._device = model.device
        self._buffers = [_Buffer(self, size) for _ in range(model.config.get_text_config().num_hidden_layers)]
        self.token_ids: list[list[int]] = []
        """The ids each row's keys and values stand for."""
        self.starts = torch.zeros(0, dtype=torch.long, device=self._device)
        """First new column of each row in the pass under way."""
        self.width = 0
        """Columns in use in the pass under way."""

    def __len__(self) -> int:
        return len(self.token_ids)

    def add(self, prefix: Prefix | None = None, length: int = 0) -> int:
        """A new row that starts with the first `length` tokens of `prefix`; its number."""
        row = len(self)
        self.token_ids.append([] if prefix is None else list(prefix.token_ids[:length]))
        if prefix is not None and length:
            for buffer, (keys, values) in zip(self._buffers, prefix.layers, strict=True):
                buffer.load(row, keys[:length], values[:length])
        return row

    def take(self, row: int, *, copy: bool = True) -> Prefix:
        """What a row holds; without `copy` it shares the buffer, which must not be written to any more."""
        ids = tuple(self.token_ids[row])
        return Prefix(ids, [buffer.slice(row, len(ids), copy) for buffer in self._buffers])

    def drop(self, row: int) -> None:
        """Remove a row; the last row takes its number."""
        last = len(self) - 1
        if row != last:
            for buffer in self._buffers:
                buffer.move(last, row, len(self.token_ids[last]))
            self.token_ids[row] = self.token_ids[last]
        self.token_ids.pop()
        if not self.token_ids:
            for buffer in self._buffers:
                buffer.free()

    def forward(self, new: Sequence[Sequence[int]], keep: int | Tensor = 1) -> Tensor:
        """Extend each row by its new ids (at least one); logits of shape (rows, kept positions, vocabulary).

        `keep`: how many of the last positions of the longest row, or which positions of the new part.
        """
        starts, counts = [len(ids) for ids in self.token_ids], [len(ids) for ids in new]
        longest = max(counts)
        self.starts = torch.tensor(starts, device=self._device)
        self.width = max(starts) + longest
        padded = [[*ids, *[0] * (longest - len(ids))] for ids in new]
        positions = self.starts[:, None] + torch.arange(longest, device=self._device)
        equal = len(set(starts)) == 1 and (longest == 1 or starts[0] == 0)
        with torch.no_grad():
            output = self._model(
                input_ids=torch.tensor(padded, device=self._device),
                attention_mask=None if equal else self._mask(positions),
                position_ids=positions,
                past_key_values=Cache(layers=self._buffers),
                use_cache=True,
                logits_to_keep=keep,
            )
        for ids, more in zip(self.token_ids, new, strict=True):
            ids.extend(more)
        logits: Tensor = output.logits
        return logits

    def _mask(self, positions: Tensor) -> Tensor:
        """True where a query may look: at its own column and those before it. (rows, 1, queries, columns)"""
        columns = torch.arange(self.width, device=self._device)
        return columns <= positions[:, None, :, None]


class _Buffer(CacheLayerMixin):  # type: ignore[misc]
    """The keys and values of one layer: (rows, columns, heads, head size), grown as needed."""

    is_sliding = False
    keys: Any  # a tensor, or None before the first use and after `free`
    values: Any

    def __init__(self, rows: Rows, size: int) -> None:
        super().__init__()
        self._rows, self._size = rows, size
        self.is_initialized = True

    def update(self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Write the new columns of each row; all columns in use, as (rows, heads, columns, head size)."""
        keys, values = key_states.transpose(1, 2), value_states.transpose(1, 2)
        count, new = keys.shape[:2]
        width, starts = self._rows.width, self._rows.starts
        self._reserve(width, keys, values)
        rows = torch.arange(count, device=keys.device)[:, None]
        columns = starts[:, None] + torch.arange(new, device=keys.device)
        self.keys[rows, columns] = keys
        self.values[rows, columns] = values
        return self.keys[:count, :width].transpose(1, 2), self.values[:count, :width].transpose(1, 2)

    def load(self, row: int, keys: Tensor, values: Tensor) -> None:
        length = keys.shape[0]
        self._reserve(length, keys[None], values[None])
        self.keys[row, :length] = keys
        self.values[row, :length] = values

    def slice(self, row: int, length: int, copy: bool) -> tuple[Tensor, Tensor]:
        keys, values = self.keys[row, :length], self.values[row, :length]
        return (keys.clone(), values.clone()) if copy else (keys, values)

    def move(self, source: int, target: int, length: int) -> None:
        self.keys[target, :length] = self.keys[source, :length]
        self.values[target, :length] = self.values[source, :length]

    def free(self) -> None:
        self.keys = self.values = None

    def _reserve(self, width: int, keys: Tensor, values: Tensor) -> None:
        """Make room for `width` columns of tensors like these (rows, columns, heads, head size)."""
        if self.keys is not None and self.keys.shape[1] >= width:
            return
        room = -(-width // _GRAIN) * _GRAIN
        self.keys, self.values = self._grown(self.keys, keys, room), self._grown(self.values, values, room)

    def _grown(self, old: Tensor | None, like: Tensor, room: int) -> Tensor:
        fresh = like.new_zeros((self._size, room, *like.shape[2:]))
        if old is not None:
            fresh[:, : old.shape[1]] = old
        return fresh

    def get_seq_length(self) -> int:
        return max((len(ids) for ids in self._rows.token_ids), default=0)

    def get_mask_sizes(self, query: int | Tensor) -> tuple[int, int]:
        return self._rows.width, 0

    def get_max_length(self) -> int:
        return -1

    def lazy_initialization(self, *_: Any) -> None:
        """Buffers are made on first use."""
