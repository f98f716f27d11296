"""The table: blocks written for a terminal (at most 120 columns) or as Markdown.

Each block has a header that says what the numbers belong to, a table of outcomes, the benchmark's other metrics and
success by task type where there are any, one of what episodes took, one of what went wrong (columns where nothing
happened are named below instead), and footnotes that say how to read it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import StringIO
from itertools import accumulate
from textwrap import fill

from rich.console import Console
from rich.table import Table

from relaybench.reporting import words
from relaybench.reporting.statistics import Estimate
from relaybench.reporting.summary import Block, Row

WIDTH = 120
GAP = 2
NAME_WIDTH = 26
"""A system's name gets this much room before it wraps."""
MARK = "†"
MOST_TYPES = 8
"""Task types up to which success is broken down in the table (csv and json have all)."""

EMPTY = ("0", words.NOTHING)

Column = tuple[str, Callable[[Row], str]]
Grid = list[list[str]]
"""Rows of cells, the first one the heading."""


def as_text(blocks: Sequence[Block]) -> str:
    """All blocks for a terminal."""
    return "\n\n".join(_text(block) for block in blocks)


def as_markdown(blocks: Sequence[Block]) -> str:
    """All blocks as Markdown."""
    return "\n\n".join(_markdown(block) for block in blocks)


def heading(block: Block) -> str:
    """What the numbers belong to: "workbench email (v1), 90 tasks (80 with an action), MODEL, greedy, seed 0"."""
    setting = block.setting
    acting = "" if block.tasks_with_action is None else f" ({block.tasks_with_action:,} with an action)"
    model = setting.engine if setting.adapter is None else f"{setting.engine} + {setting.adapter}"
    parts = (f"{block.tasks:,} tasks{acting}", model, words.decoding(setting.decoding), words.seeds(block.seeds))
    return f"{block.label}, {', '.join(parts)}"


def render(grid: Grid) -> str:
    """A grid for a terminal: names to the left, figures to the right; what does not fit beside goes below.

    Only names and headings wrap, figures never do.
    """
    widths = _narrowest(grid)
    fitting = max(2, sum(end - GAP <= WIDTH for end in accumulate(width + GAP for width in widths)))
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False)
    for i, name in enumerate(grid[0][:fitting]):
        table.add_column(name, justify="left" if i == 0 else "right", overflow="fold", min_width=widths[i])
    for row in grid[1:]:
        table.add_row(*row[:fitting])
    rest = [[row[0], *row[fitting:]] for row in grid]
    return draw(table) if fitting == len(widths) else f"{draw(table)}\n\n{render(rest)}"


def _narrowest(grid: Grid) -> list[int]:
    """The least width of each column: figures whole, headings broken at blanks, names within NAME_WIDTH."""
    longest = [max(map(len, cells), default=0) for cells in zip(*grid[1:], strict=True)]
    words_of_heading = [max(map(len, name.split())) for name in grid[0]]
    return [min(longest[0], NAME_WIDTH), *map(max, longest[1:], words_of_heading[1:])]


def draw(table: Table) -> str:
    """A rich table as plain text without trailing blanks."""
    page = StringIO()
    Console(file=page, width=WIDTH, color_system=None, force_terminal=False, emoji=False, markup=False).print(table)
    return "\n".join(line.rstrip() for line in page.getvalue().rstrip().splitlines())


def markdown(grid: Grid) -> str:
    """A grid as a Markdown table."""
    rules = ["---"] + ["---:"] * (len(grid[0]) - 1)
    lines = (grid[0], rules, *grid[1:])
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def outcomes(block: Block) -> Grid:
    """Success, and what the relays cost it."""
    columns: list[Column] = [("system", _name), ("n", lambda r: f"{r.tasks:,}")]
    if any(r.episodes != r.tasks for r in block.rows):
        columns.append(("episodes", lambda r: f"{r.episodes:,}"))
    columns.append(("success", lambda r: words.share(r.success)))
    if block.tasks_with_action not in (None, block.tasks):
        columns.append(("with an action", lambda r: words.share(r.success_with_action)))
    most = max((k for r in block.rows for k in r.pass_at), default=0)
    if most:
        columns.append((f"pass@{most}", lambda r: words.share(r.pass_at.get(most))))
    columns += [
        ("vs contextflow", lambda r: words.difference(r.difference, r.tasks)),
        ("p", lambda r: words.p_value(r.difference)),
        ("tokens per episode", lambda r: words.amount(r.means["tokens"])),
        ("relay", lambda r: _with_unit(r.means.get("relay_tokens"))),
    ]
    return _grid(columns, block.rows)


def costs(block: Block) -> Grid:
    """What an episode took."""
    return _grid(
        [
            ("per episode", _name),
            ("steps", _mean("steps")),
            ("prompt", _mean("prompt_tokens")),
            ("cached", _mean("cached_tokens")),
            ("generated", _mean("generated_tokens")),
            ("encoder", _mean("encoder_tokens")),
            ("failed attempts", _mean("failed_tokens")),
            ("seconds", _mean("seconds")),
            (f"cost {block.currency or ''}".strip(), _mean("cost")),
            ("partial score", _mean("reward")),
        ],
        block.rows,
    )


def official(block: Block) -> Grid:
    """The benchmark's other metrics, means over tasks."""
    names = dict.fromkeys(name for row in block.rows for name in row.means if name.startswith("value."))
    shown = [name for name in names if name != "value.has_action"]
    return _grid(
        [
            ("official metrics", _name),
            *((name.removeprefix("value.").replace("_", " "), _mean(name)) for name in shown),
        ],
        block.rows,
    )


def types(block: Block) -> Grid:
    """Success by task type, where there are few enough for a line."""
    names = sorted({name for row in block.rows for name in row.by_type})
    columns: list[Column] = [("success by type", _name)]
    if len(names) <= MOST_TYPES:
        columns += [(name.replace("_", " "), _typed(name)) for name in names]
    return _grid(columns, block.rows)


def mishaps(block: Block) -> Grid:
    """What went wrong: totals over a row's episodes."""
    return _grid(
        [
            ("mishaps, all episodes", _name),
            ("missing values", lambda r: words.share(r.means.get("missing"))),
            ("ill-formed relays", lambda r: _share_of(r.ill_formed_relays)),
            ("cut relays", _count("truncated_relays")),
            ("loss not applied", _count("passed_through")),
            ("ill-formed actions", _count("ill_formed_actions")),
            ("forbidden actions", _count("forbidden_actions")),
            ("cut replies", _count("truncated_replies")),
            ("context full", _count("context_full")),
            ("branches", _count("branches")),
            ("failed calls", _count("failed_calls")),
            ("failures", lambda r: f"{r.failures:,}"),
        ],
        block.rows,
    )


def without_empty(grid: Grid) -> tuple[Grid, list[str]]:
    """The grid without the columns in which nothing happened, and their headings."""
    kept = [i for i in range(len(grid[0])) if i == 0 or any(row[i] not in EMPTY for row in grid[1:])]
    absent = [name for i, name in enumerate(grid[0]) if i not in kept]
    return [[row[i] for i in kept] for row in grid], absent


def footnotes(block: Block) -> list[str]:
    """How to read the block."""
    setting = block.setting
    several = any(row.episodes > row.tasks for row in block.rows)
    spread = "bootstrap over tasks, trials of a task averaged first (Avg@N)" if several else "Wilson over tasks"
    return [
        f"revision {setting.revision}, prompts {setting.prompts or 'unnamed'}, at most {setting.decoding.max_tokens} "
        f"tokens a turn, {setting.decoding.report_tokens} a written relay; {', '.join(block.versions)}",
        f"95% intervals: {spread}; differences: paired over tasks, bootstrap; {_tests(block)}",
        *_target_note(block),
        _bill(block),
        *block.notes,
    ]


def _tests(block: Block) -> str:
    found = [row.difference for row in block.rows if row.difference]
    if not found:
        return "none here, for want of sas-contextflow or of another system"
    names = {"mcnemar": "exact McNemar", "sign-flip": "sign-flip permutation over task means"}
    used = " or ".join(names[test] for test in sorted({difference.test for difference in found}))
    return f"p: {used}, not corrected for {len(found)} comparison{'s' if len(found) > 1 else ''}"


def _target_note(block: Block) -> list[str]:
    marked = any(row.knows_target for row in block.rows)
    return [f"{MARK} knows the target: its relay comes from the task's record, no contender"] if marked else []


def _bill(block: Block) -> str:
    cost = "" if block.incurred_cost is None else f", {block.incurred_cost:.4g} {block.currency}"
    return (
        f"tokens: {block.logical_tokens:,} as if every episode ran alone, {block.incurred_tokens:,} incurred{cost} "
        "(what episodes share once, failed attempts included)"
    )


def _text(block: Block) -> str:
    grids, absent = _grids(block)
    notes = [fill(note, WIDTH, initial_indent="  ", subsequent_indent="    ") for note in _notes(block, absent)]
    return "\n".join((heading(block), "\n\n".join(map(render, grids)), "", *notes))


def _markdown(block: Block) -> str:
    grids, absent = _grids(block)
    notes = "\n".join(f"- {note}" for note in _notes(block, absent))
    return "\n\n".join((f"**{heading(block)}**", *map(markdown, grids), notes))


def _grids(block: Block) -> tuple[list[Grid], list[str]]:
    """The tables worth showing, and what was left out of them."""
    shown, absent = [outcomes(block)], []
    for grid in (official(block), types(block), costs(block), mishaps(block)):
        kept, missing = without_empty(grid)
        shown += [kept] if len(kept[0]) > 1 else []
        absent += missing
    return shown, absent


def _notes(block: Block, absent: Sequence[str]) -> list[str]:
    left_out = [f"zero or unknown in every row: {', '.join(absent)}"] if absent else []
    return [*footnotes(block), *left_out, "the interval and n of every mean: --format csv or json"]


def _grid(columns: Sequence[Column], rows: Sequence[Row]) -> Grid:
    return [[name for name, _ in columns], *([write(row) for _, write in columns] for row in rows)]


def _name(row: Row) -> str:
    return f"{row.system} {MARK}" if row.knows_target else row.system


def _mean(name: str) -> Callable[[Row], str]:
    return lambda row: words.amount(row.means.get(name))


def _typed(name: str) -> Callable[[Row], str]:
    def write(row: Row) -> str:
        found = row.by_type.get(name)
        return words.NOTHING if found is None else f"{found.value:.2f} of {found.n}"

    return write


def _count(name: str) -> Callable[[Row], str]:
    return lambda row: f"{row.counts[name]:,}"


def _share_of(estimate: Estimate | None) -> str:
    return words.NOTHING if estimate is None else f"{estimate.value:.0%} of {estimate.n:,}"


def _with_unit(estimate: Estimate | None) -> str:
    return words.NOTHING if estimate is None else f"{words.number(estimate.value)} tok"
