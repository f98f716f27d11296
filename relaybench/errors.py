"""Errors meant for people: one line that names the cause and the mend."""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """Bad input. The CLI prints it as one line, without a traceback, and exits with code 2."""


def nearest(word: str, known: Iterable[str]) -> str:
    """ "; did you mean 'x'?" with the known name nearest to `word`, or "" where none is near."""
    found = get_close_matches(word, list(known), n=1)
    return f"; did you mean '{found[0]}'?" if found else ""
