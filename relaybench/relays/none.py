"""The empty relay: the next worker is told nothing. Its loss is the ceiling, I(M; Y | X).

Unlike an edge without an encoder, it leaves a record, so that tables count it like any other relay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaybench.records import Context, Relay

if TYPE_CHECKING:
    from relaybench.rollout.plan import Subtask


class Nothing:
    """Send nothing, at a rate of 0 tokens."""

    name = "none@1"
    sees_next_subtask = False
    knows_target = False

    async def encode(self, context: Context, next_subtask: Subtask, budget: int | None = None) -> Relay:
        """An empty relay, which fits any budget."""
        return Relay(text="", sources=(context.worker,), to=next_subtask.id, encoder=self.name, rate_tokens=0)
