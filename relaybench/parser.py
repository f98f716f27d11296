"""The command line's parser: errors are one line with a way out, and every command's help ends with examples."""

from __future__ import annotations

import argparse
import re
from typing import NoReturn

from relaybench.errors import UserError, nearest


class Parser(argparse.ArgumentParser):
    """argparse whose errors are one line with a way out, and whose options may stand between the positionals."""

    _mixing = False

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """argparse's own takes `run C a=1 --dry-run b=2` for an error; its intermixed form calls this one again."""
        if self._mixing or self._subparsers is not None:
            return super().parse_known_args(args, namespace)
        self._mixing = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._mixing = False

    def error(self, message: str) -> NoReturn:
        choice = re.match(r"argument .*invalid choice: '(.*?)' \(choose from (.*)\)", message)
        if choice:
            known = [word.strip(" '") for word in choice.group(2).split(",")]
            hint = nearest(choice.group(1), known) or f"; known: {', '.join(known)}"
            raise UserError(f"unknown '{choice.group(1)}'{hint}")
        raise UserError(f"{message}; see `{self.prog} --help`")


def add_command(commands: argparse._SubParsersAction[Parser], name: str, summary: str, examples: str) -> Parser:
    """A command with its summary and examples, one a line."""
    return commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog="examples:\n" + "\n".join(f"  {line}" for line in examples.strip().splitlines()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
