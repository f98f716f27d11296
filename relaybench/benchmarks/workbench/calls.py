"""Calls: the text of one action, read and carried out, never evaluated.

An action is `domain.function(name="value", ...)` with literal arguments. Official predictions write
`domain.function.func(...)`; without `.func` the official code raises, so the strict form wants it and the loose
form (agents, 2026 rules) does not. New lines inside an action count as backslash-n, as in the official scorer.
"""

from __future__ import annotations

import ast
import builtins
import warnings
from dataclasses import dataclass

from relaybench.benchmarks.workbench.sandbox import DIRECTORY, DOMAINS, TOOLS, Sandbox

SUFFIX = "func"
_MODULES = frozenset({*DOMAINS, DIRECTORY})


@dataclass(frozen=True, slots=True)
class Call:
    """A parsed call: the dotted name and its arguments, still as syntax."""

    path: tuple[str, ...]
    args: tuple[ast.expr, ...]
    keywords: tuple[ast.keyword, ...]

    def values(self) -> tuple[list[object], dict[str, object]]:
        """The arguments' values. NameError for a bare name, ValueError for anything else that is no literal."""
        args: list[object] = []
        for node in self.args:
            args.extend(_sequence(node.value) if isinstance(node, ast.Starred) else [_literal(node)])
        kwargs: dict[str, object] = {}
        for keyword in self.keywords:
            kwargs.update(_mapping(keyword.value) if keyword.arg is None else {keyword.arg: _literal(keyword.value)})
        return args, kwargs

    def tool(self, strict: bool) -> str:
        """The tool's name. NameError, AttributeError or TypeError where the official code finds none to call."""
        path = self.path
        if not strict and len(path) > 1 and path[-1] == SUFFIX:
            path = path[:-1]
        if path[0] not in _MODULES:
            if hasattr(builtins, path[0]) and len(path) > 1:
                raise AttributeError(f"{path[0]!r} has no attribute {path[1]!r}")
            raise NameError(f"name {path[0]!r} is not defined")
        name = ".".join(path[:2])
        if name not in TOOLS or (path[2:] not in ((), (SUFFIX,)) if strict else len(path) > 2):
            raise AttributeError(f"there is no tool {'.'.join(path)!r}")
        if strict and len(path) == 2:
            raise TypeError(f"{name} is called without .{SUFFIX}")
        return name


def clean(action: str) -> str:
    """The action as it is scored: a new line becomes backslash-n."""
    return action.replace("\n", "\\n")


def written_name(action: str) -> str:
    """The first two dotted parts before the bracket: how official traces and exact_match name a call."""
    return ".".join(action.split("(")[0].split(".")[:2])


def parse(action: str) -> Call:
    """The call an action asks for. SyntaxError if it is no Python expression, ValueError if that is no call."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a stray backslash in a text is no concern of ours
            tree = ast.parse(clean(action).lstrip(" \t"), mode="eval")
    except (ValueError, MemoryError, RecursionError) as error:  # null bytes; absurdly deep brackets
        raise SyntaxError(str(error)) from error
    node = tree.body
    if not isinstance(node, ast.Call):
        raise ValueError("that is not a call")
    names = [keyword.arg for keyword in node.keywords if keyword.arg]
    if len(set(names)) < len(names):
        raise SyntaxError("keyword argument repeated")
    return Call(_path(node.func), tuple(node.args), tuple(node.keywords))


def execute(box: Sandbox, action: str, strict: bool = True) -> object:
    """Carry out one action; returns the tool's value, raises what reading or running it raises."""
    call = parse(action)
    tool = call.tool(strict)
    args, kwargs = call.values()
    return box.call(tool, *args, **kwargs)


def _path(node: ast.expr) -> tuple[str, ...]:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        raise ValueError("a call needs a dotted name")
    return (node.id, *reversed(parts))


def _literal(node: ast.expr) -> object:
    if isinstance(node, ast.Name):
        raise NameError(f"name {node.id!r} is not defined")
    try:
        return ast.literal_eval(node)
    except RecursionError as error:
        raise SyntaxError(str(error)) from error


def _sequence(node: ast.expr) -> list[object]:
    value = _literal(node)
    if not isinstance(value, list | tuple | str | set):
        raise TypeError("the value after * must be an iterable")
    return list(value)


def _mapping(node: ast.expr) -> dict[str, object]:
    value = _literal(node)
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise TypeError("the value after ** must be a mapping with strings for keys")
    return value
