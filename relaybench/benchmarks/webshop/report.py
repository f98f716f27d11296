"""The searcher's report: candidates with name, ASIN, price and options, the best one first (paper, appendix D.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping

FIELDS = ("name", "asin", "price", "options")


class CandidatesReport:
    """One candidate a block, `name: ...` first; fields of the second one on are "2.name" and so on."""

    name = "webshop-candidates@1"
    request = (
        "Your part ends here. Write down for the buyer, who sees nothing of this, the products worth buying, the best "
        "match first, at most three, in this form and with nothing around it; options are the values to choose:\n"
        "name: ...\nasin: B012345678\nprice: 12.99\noptions: size: large; color: blue"
    )
    _line = re.compile(r"[-*\d.)\s]*(name|asin|price|options)\s*:\s*(.*)", re.IGNORECASE)

    def parse(self, text: str) -> dict[str, str] | None:
        """Values by field; None for a line in another form, or for a candidate without a name."""
        fields: dict[str, str] = {}
        number = 0
        for line in filter(str.strip, text.splitlines()):
            found = self._line.fullmatch(line.rstrip())
            if found is None:
                return None
            name = found.group(1).lower()
            number += name == "name"
            key = name if number <= 1 else f"{number}.{name}"
            if number == 0 or key in fields:
                return None
            fields[key] = found.group(2).strip()
        return fields

    def render(self, fields: Mapping[str, str]) -> str:
        """The blocks, a field a line, in the order of `fields`."""
        return "\n".join(f"{key.rpartition('.')[2]}: {value}" for key, value in fields.items())
