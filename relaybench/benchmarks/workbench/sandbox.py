"""The sandbox: five tables, 27 tools, and the state that scoring compares.

A pure-Python port of the official tools (2024: `rules="v1"`; pandas 2.1.4 behaviour, quirks included, checked call
by call against official traces). `rules="v2"` follows the three places where the 2026 tools changed what happens:
a sent email is always appended (never written over another one), search texts are literal, and mails sent now sort
beside older ones. A fresh sandbox shares its rows with the parsed base, so making one is cheap.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from relaybench.benchmarks.workbench import (
    tools_analytics,
    tools_calendar,
    tools_customers,
    tools_directory,
    tools_email,
    tools_projects,
)
from relaybench.benchmarks.workbench.tables import Table, digest
from relaybench.errors import UserError

Rules = Literal["v1", "v2"]
State = dict[str, Table]

DOMAINS = ("calendar", "email", "analytics", "project_management", "customer_relationship_manager")
"""The domains with a state, in the order official digests list them; analytics' state is its table of plots."""
DIRECTORY = "company_directory"

_FILES = {
    "calendar": "calendar_events.csv",
    "email": "emails.csv",
    "project_management": "project_tasks.csv",
    "customer_relationship_manager": "customer_relationship_manager_data.csv",
}


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: its full name, the function (sandbox first, then optional arguments), and whether it writes."""

    name: str
    run: Callable[..., object]
    writes: bool

    @property
    def domain(self) -> str:
        return self.name.partition(".")[0]

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the arguments, in positional order."""
        code = self.run.__code__
        return code.co_varnames[1 : code.co_argcount]


_MODULES = {
    "email": tools_email,
    "calendar": tools_calendar,
    "analytics": tools_analytics,
    "project_management": tools_projects,
    "customer_relationship_manager": tools_customers,
    DIRECTORY: tools_directory,
}

TOOLS: dict[str, Tool] = {
    f"{domain}.{function.__name__}": Tool(f"{domain}.{function.__name__}", function, function in module.WRITES)
    for domain, module in _MODULES.items()
    for function in (*module.READS, *module.WRITES)
}


class Base:
    """The parsed databases of one data folder. Read once, shared, never written."""

    def __init__(self, data_dir: Path):
        folder = data_dir / "sandbox"
        try:
            self.state: State = {domain: Table.read(folder / name) for domain, name in _FILES.items()}
            self.visits = Table.read(folder / "analytics_data.csv")
            addresses = (data_dir / "raw" / "email_addresses.csv").read_text(encoding="utf-8")
        except FileNotFoundError as error:
            raise UserError(
                f"no WorkBench data in {data_dir} ({error.filename} is missing); "
                "get it with `relaybench data fetch workbench` or `relaybench data import workbench DIR`"
            ) from error
        self.state["analytics"] = Table(["file_path"])
        self.addresses = tuple(line for line in addresses.splitlines() if line)

    @cached_property
    def digests(self) -> dict[str, dict[str, object]]:
        return {domain: digest(self.state[domain]) for domain in DOMAINS}


class Sandbox:
    """One task's world. `call` runs a tool; `state` is what scoring looks at.

    Not safe to share between tasks; make one per episode. Tools raise what the official ones raise, by type name.
    """

    def __init__(self, base: Base, rules: Rules = "v1"):
        self.base = base
        self.rules: Rules = rules
        self.state: State = {domain: base.state[domain].fork() for domain in DOMAINS}

    @property
    def literal(self) -> bool:
        """Whether search texts are taken literally instead of as regular expressions."""
        return self.rules == "v2"

    def call(self, tool: str, *args: object, **kwargs: object) -> object:
        """The tool's return value. KeyError for an unknown tool; otherwise whatever the tool raises."""
        return TOOLS[tool].run(self, *args, **kwargs)

    def digests(self) -> dict[str, dict[str, object]]:
        """The digests of the five tables, untouched ones from the base."""
        same = {domain: self.state[domain] == self.base.state[domain] for domain in DOMAINS}
        return {domain: self.base.digests[domain] if same[domain] else digest(self.state[domain]) for domain in DOMAINS}


def exception_name(error: BaseException) -> str:
    """The type name as official traces have it (Python 3.13 renamed `re.error`)."""
    return "error" if isinstance(error, re.error) else type(error).__name__
