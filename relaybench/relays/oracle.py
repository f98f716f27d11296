"""The oracle: exactly the values that the next subtask needs, taken from the task's record.

It is the sufficient relay that others are compared with, and the one declared exception to "no encoder sees Y":
`knows_target` is set on the encoder and on every relay, and its name says so wherever it is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaybench.records import Context, Relay
from relaybench.relays.base import Materials, render_fields
from relaybench.relays.truncate import cut

if TYPE_CHECKING:
    from relaybench.rollout.plan import Subtask


class Oracle:
    """Send the needed fields. A task that needs none gets an empty report."""

    name = "oracle@1"
    sees_next_subtask = True
    knows_target = True

    def __init__(self, materials: Materials) -> None:
        self.materials = materials

    async def encode(self, context: Context, next_subtask: Subtask, budget: int | None = None) -> Relay:
        """The needed fields in the receiving format, or as "name: value" lines where it has none."""
        model = self.materials.model
        fields = dict(self.materials.needed)
        report_format = next_subtask.receives.get(context.worker)
        text = render_fields(fields, report_format)
        relay = Relay(
            text=text,
            sources=(context.worker,),
            to=next_subtask.id,
            encoder=self.name,
            rate_tokens=model.count(text),
            fields=fields,
            knows_target=True,
        )
        return relay if budget is None else cut(relay, model, budget, report_format)
