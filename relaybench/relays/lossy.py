"""Lossy relays: another encoder's relay with something taken away on purpose, to see what the loss costs.

Drop, mask and shuffle act on the fields of a well-formed report and write what is left in the receiving format; a relay
without fields (ill-formed or free text), or with none of the named ones, goes on unchanged and is marked
`passed_through`. Cut works on any text, and foreign sends what another task's worker wrote. A field is named by its key
or by the end of it after a dot ("phone" names "Ada.phone"), in any case. What the base encoder cost stays on the bill.
A report that its writer wrote well stays well formed after a loss of fields: they were taken on purpose.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING

from msgspec import structs

from relaybench.records import Context, Relay
from relaybench.relays.base import Materials, RelayEncoder, render_fields
from relaybench.relays.truncate import cut

if TYPE_CHECKING:
    from relaybench.config import RelayConfig
    from relaybench.rollout.plan import Subtask

HIDDEN = "[hidden]"
"""Stands where a masked value was."""


class FieldLoss(ABC):
    """A loss of named fields. `fields` are the names it acts on."""

    verb: str

    def __init__(self, base: RelayEncoder, fields: Sequence[str], materials: Materials) -> None:
        self.name = f"{base.name}-{self.verb}({','.join(fields)})"
        self.sees_next_subtask = base.sees_next_subtask
        self.knows_target = base.knows_target
        self.base = base
        self.fields = tuple(fields)
        self.materials = materials

    async def encode(self, context: Context, next_subtask: Subtask, budget: int | None = None) -> Relay:
        """The base encoder's relay without what this loss takes; a `budget` holds for both."""
        relay = await self.base.encode(context, next_subtask, budget)
        report_format = next_subtask.receives.get(context.worker)
        left = None if relay.fields is None or not relay.well_formed else self.lose(relay.fields)
        if left is None:
            return structs.replace(relay, encoder=self.name, passed_through=True)
        lost = self._rewritten(relay, left, render_fields(left, report_format))
        return lost if budget is None else cut(lost, self.materials.model, budget, report_format)

    @abstractmethod
    def lose(self, fields: Mapping[str, str]) -> dict[str, str] | None:
        """What is left of `fields`, or None where there was nothing to lose."""

    def _rewritten(self, relay: Relay, fields: dict[str, str], text: str) -> Relay:
        rate = self.materials.model.count(text)
        return structs.replace(relay, text=text, token_ids=None, encoder=self.name, rate_tokens=rate, fields=fields)


class Drop(FieldLoss):
    """Leave the named fields out."""

    verb = "drop"

    def lose(self, fields: Mapping[str, str]) -> dict[str, str] | None:
        named = _named(fields, self.fields)
        return {key: value for key, value in fields.items() if key not in named} if named else None


class DropShare(FieldLoss):
    """Leave out a share of the fields, the nearest number of them: the rungs of a ladder.

    The task's id decides which go first, so what a lower share drops a higher one drops as well.
    """

    verb = "drop"

    def __init__(self, base: RelayEncoder, share: float, materials: Materials) -> None:
        super().__init__(base, [f"{share:.0%}"], materials)
        self.share = share

    def lose(self, fields: Mapping[str, str]) -> dict[str, str] | None:
        order = Random(self.materials.task).sample(sorted(fields), len(fields))
        gone = set(order[: int(self.share * len(fields) + 0.5)])
        return {key: value for key, value in fields.items() if key not in gone} if fields else None


class Mask(FieldLoss):
    """Keep the names of the named fields, hide their values."""

    verb = "mask"

    def lose(self, fields: Mapping[str, str]) -> dict[str, str] | None:
        named = _named(fields, self.fields)
        return {key: HIDDEN if key in named else value for key, value in fields.items()} if named else None


class Shuffle(FieldLoss):
    """Let the values of the named fields (of all, if none is named) change places among the records of the report.

    Each field is shuffled on its own ("Ada.phone" with "Bo.phone", never with "Ada.room"), by a permutation that the
    task's id decides, and that leaves as few values in place as any permutation can.
    """

    verb = "shuffle"

    def lose(self, fields: Mapping[str, str]) -> dict[str, str] | None:
        named = _named(fields, self.fields) if self.fields else set(fields)
        columns: dict[str, list[str]] = {}
        for key in fields:
            if key in named:
                columns.setdefault(_field(key), []).append(key)
        moved = dict(fields)
        for column, keys in columns.items():
            random = Random(f"{self.materials.task}/{column}")
            moved.update(zip(keys, _displaced([fields[key] for key in keys], random), strict=True))
        return moved if moved != fields else None


class Cut:
    """Keep the first `tokens` tokens of the relay's text, whatever it is."""

    def __init__(self, base: RelayEncoder, tokens: int, materials: Materials) -> None:
        self.name = f"{base.name}-cut({tokens})"
        self.sees_next_subtask = base.sees_next_subtask
        self.knows_target = base.knows_target
        self.base = base
        self.tokens = tokens
        self.materials = materials

    async def encode(self, context: Context, next_subtask: Subtask, budget: int | None = None) -> Relay:
        """The start of the base encoder's relay; one that is no longer than that is sent whole, unmarked."""
        relay = await self.base.encode(context, next_subtask, budget)
        report_format = next_subtask.receives.get(context.worker)
        return structs.replace(cut(relay, self.materials.model, self.tokens, report_format), encoder=self.name)


class Foreign:
    """Send, word for word, the relay that the base encoder made on the same edge of another task: misinformation."""

    def __init__(self, base: RelayEncoder, config: RelayConfig, materials: Materials) -> None:
        self.name = f"{base.name}-foreign"
        self.sees_next_subtask = base.sees_next_subtask
        self.knows_target = base.knows_target
        self.config = config
        self.materials = materials

    async def encode(self, context: Context, next_subtask: Subtask, budget: int | None = None) -> Relay:
        """The other task's relay, put on this edge. Raises UserError where there is no other task."""
        task, relay = await self.materials.foreign(self.config, context.worker, next_subtask)
        here = structs.replace(
            relay, sources=(context.worker,), to=next_subtask.id, encoder=self.name, foreign_task=task
        )
        if budget is None:
            return here
        return cut(here, self.materials.model, budget, next_subtask.receives.get(context.worker))


def _field(key: str) -> str:
    """The field a key names within its record: "phone" of "Ada.phone"."""
    return key.rpartition(".")[2].casefold()


def _named(keys: Mapping[str, str], names: Sequence[str]) -> set[str]:
    wanted = [name.casefold() for name in names]
    return {key for key in keys if any(key.casefold() == n or key.casefold().endswith("." + n) for n in wanted)}


def _displaced(values: Sequence[str], random: Random) -> list[str]:
    """A permutation of `values` in which as few places as possible keep their value.

    Equal values are put side by side, in random order, and all move on by the size of the largest such block: no block
    then meets itself, unless it fills more than half of the places.
    """
    places: dict[str, list[int]] = {}
    for place, value in enumerate(values):
        places.setdefault(value, []).append(place)
    blocks = [random.sample(block, len(block)) for block in random.sample(list(places.values()), len(places))]
    order = [place for block in blocks for place in block]
    shift = max(Counter(values).values(), default=0)
    result = list(values)
    for position, place in enumerate(order):
        result[place] = values[order[position - shift]]
    return result
