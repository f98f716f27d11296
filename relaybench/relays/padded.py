"""Padding: lines of the context that nobody needs, sent along with a relay.

A control, not a relay to use: it varies what a relay removes while what it loses stays the same, and so tells the
price of context from the price of loss (the two axes of beta's regression, theory 1.2 D).
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from msgspec import structs

from relaybench.records import Context, Relay
from relaybench.relays.base import Materials, RelayEncoder, achieved_loss
from relaybench.relays.truncate import cut

if TYPE_CHECKING:
    from relaybench.rollout.plan import Subtask


OPENING = 2
"""Messages before what a worker observes: system and user."""


class Padded:
    """Another encoder's relay, then `lines` lines of what was observed, in their order (fewer at the end).

    A line with a needed value is never among them, nor a line twice; which are, the task's id decides, and more lines
    hold those of fewer. To know what is needed it has to know the target, as `oracle` does.
    """

    sees_next_subtask = True
    knows_target = True

    def __init__(self, base: RelayEncoder, lines: int, materials: Materials) -> None:
        self.name = f"{base.name}+pad({lines})"
        self.base = base
        self.lines = lines
        self.materials = materials

    async def encode(self, context: Context, next_subtask: Subtask, budget: int | None = None) -> Relay:
        """The padded relay. It has no fields any more: its text follows no report's format."""
        relay = await self.base.encode(context, next_subtask)
        text = "\n".join(filter(None, [relay.text, *self._noise(context)]))
        model = self.materials.model
        padded = structs.replace(
            relay,
            text=text,
            token_ids=None,
            rate_tokens=model.count(text),
            encoder=self.name,
            fields=None,
            knows_target=True,
        )
        return padded if budget is None else cut(padded, model, budget, next_subtask.receives.get(context.worker))

    def _noise(self, context: Context) -> list[str]:
        observed = [m.content for m in list(context.messages())[OPENING:] if m.role == "user"]
        lines = dict.fromkeys(line for text in observed for line in text.splitlines() if line.strip())
        needed = self.materials.needed.values()
        free = [line for line in lines if not any(achieved_loss(line, {"": value}) == 0.0 for value in needed)]
        chosen = set(Random(self.materials.task).sample(free, len(free))[: self.lines])
        return [line for line in free if line in chosen]
