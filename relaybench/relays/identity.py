"""The identity relay: all of the upstream context. MAS with it on every pair is SAS-contextflow (Prop. 3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaybench.records import Context, Relay

if TYPE_CHECKING:
    from relaybench.rollout.plan import Subtask


class Identity:
    """Send everything. The next worker's prompt extends the upstream token list; nothing is tokenised again."""

    name = "identity@1"
    sees_next_subtask = False
    knows_target = False

    async def encode(self, context: Context, next_subtask: Subtask, budget: int | None = None) -> Relay:
        """The whole context; its rate is the context's tokens. Raises ValueError for a budget: it has none."""
        if budget is not None:
            raise ValueError("the identity relay takes no token budget")
        ids = context.token_ids
        return Relay(
            text=context.text(),
            sources=(context.worker,),
            to=next_subtask.id,
            encoder=self.name,
            rate_tokens=None if ids is None else len(ids),
        )
