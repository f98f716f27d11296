"""The company directory: names to email addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaybench.benchmarks.workbench.matching import choose, contains

if TYPE_CHECKING:
    from relaybench.benchmarks.workbench.sandbox import Sandbox


class Addresses(tuple[str, ...]):
    """Matching addresses; the official tool gives a numpy array, so this is shown and traced as one."""

    __slots__ = ()


def find_email_address(box: Sandbox, /, name: str = "") -> Addresses | str:
    if name == "":
        return "Name not provided."
    addresses = box.base.addresses
    test = contains(name.lower(), literal=box.literal, ignore_case=False)
    return Addresses(addresses[i] for i in choose([test(address) for address in addresses]))


READS = (find_email_address,)
WRITES = ()
