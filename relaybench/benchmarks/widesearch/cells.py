"""Cells: how one cell is made comparable, and when two cells agree, as the official evaluation has it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from urllib.parse import urlparse

from relaybench.errors import UserError

_NUMBER = re.compile(r"[-+]?\d*\.\d+%?|[-+]?\d+\.?\d*%?")
_URL = re.compile(r"http[s]?://(?:[a-zA-Z]|[0-9]|[$-_@.&+]|[!*\\(\\),]|(?:%[0-9a-fA-F][0-9a-fA-F]))+")
DAYS_NEAR = 31


def norm_str(text: str) -> str:
    """Lower case, without spaces and asterisks."""
    return text.lower().strip().replace(" ", "").replace("*", "")


def extract_number(text: str) -> str:
    """The first number (a percent sign stays with it), "NULL" where there is none; commas do not count."""
    found = _NUMBER.search(text.replace(",", ""))
    return found.group() if found else "NULL"


def norm_date(text: str) -> str:
    """YYYY-MM-DD, the first of a month where no day is named; the text itself where it is no date."""
    date = _date(text)
    return text if date is None else date.strftime("%Y-%m-%d")


PREPROCESS: dict[str, Callable[[str], str]] = {
    "norm_str": norm_str,
    "extract_number": extract_number,
    "norm_date": norm_date,
}


def agree(metric: str, response: str, target: str, criterion: str | float | None) -> bool:
    """Whether two preprocessed cells agree by a metric that needs no judge. Raises ValueError for another one."""
    if metric == "exact_match":
        return response.lower() == target.lower()
    if metric == "url_match":
        return _hosts(response) == _hosts(target)
    if metric == "in_match":
        return response in target
    if metric == "number_near":
        return _near(response, target, criterion)
    if metric == "date_near":
        return _same_month(response, target)
    raise ValueError(f"unknown metric {metric!r}")


def _hosts(text: str) -> set[str]:
    return {urlparse(url).netloc for url in _URL.findall(text)}


def _near(response: str, target: str, criterion: str | float | None) -> bool:
    """Within `criterion` times the target; two equal texts that are no numbers are near too."""
    ours, gold = _number(response), _number(target)
    if ours is None or gold is None:
        return ours is None and gold is None and response == target
    return abs(ours - gold) <= abs(gold) * float(criterion)  # type: ignore[arg-type]


def _number(text: str) -> float | None:
    try:
        return float(text.replace("%", "")) / 100 if "%" in text else float(text)
    except ValueError:
        return None


def _same_month(response: str, target: str) -> bool:
    """At most 31 days apart; two texts that are no dates agree."""
    ours, gold = _date_or_none(response), _date_or_none(target)
    if ours is None or gold is None:
        return ours is None and gold is None
    return abs((ours - gold).days) <= DAYS_NEAR


def _date_or_none(text: str) -> datetime | None:
    try:
        return _date(text)
    except UserError:
        raise
    except Exception:  # noqa: BLE001  as officially: what the parser cannot bear is no date
        return None


@lru_cache(maxsize=1 << 16)  # the parser tries many languages, and tables name the same dates again and again
def _date(text: str) -> datetime | None:
    try:
        import dateparser
    except ImportError as error:
        raise UserError("dates in WideSearch tables need dateparser; run `scripts/install benchmarks`") from error
    parsed: datetime | None = dateparser.parse(text, settings={"PREFER_DAY_OF_MONTH": "first"})
    return parsed
