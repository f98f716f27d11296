"""The commands `measure` and `advise`: what each relay of a run removed and lost, and what to do about it."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TypeAlias

from relaybench.errors import UserError
from relaybench.parser import Parser, add_command

_Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def add_measure(commands: _Commands) -> None:
    measure = add_command(
        commands,
        "measure",
        "measure what each relay of a run removed and lost, in nats",
        """
relaybench measure runs/ledger
relaybench measure runs/ledger --readers smollm2-135m,Qwen/Qwen2.5-1.5B-Instruct
relaybench measure runs/workbench --reference qwen2.5-0.5b --sample 32 --format md
relaybench measure traces.jsonl --map configs/measure/messages.yaml --readers smollm2-135m
  the run needs MAS systems with relays, and sas-contextflow to compare them with
  what is scored is kept in the run's folder (measures.jsonl): the same command goes on where it stopped
  --map measures the traces of another system: the mapping says which message is the relay (configs/measure/)
""",
    )
    measure.add_argument("run", type=Path, help="run folder; with --map, a file of traces")
    measure.add_argument("--map", type=Path, metavar="FILE", help="where context, relay and target are in the traces")
    measure.add_argument("--out", type=Path, metavar="DIR", help="with --map: where scores are kept (NAME.measures)")
    measure.add_argument(
        "--readers",
        default="",
        metavar="A,B",
        help="engines of the run by their label, or models for transformers (default: the run's own engines)",
    )
    measure.add_argument(
        "--reference", metavar="NAME", help="whose code lengths H(M|m) and u are in (default: the first reader)"
    )
    measure.add_argument(
        "--sample", type=int, default=16, metavar="N", help="tasks a relay whose direct code length is computed, for u"
    )
    measure.add_argument("--format", choices=["table", "csv", "json", "md"], default="table")
    measure.add_argument("--quiet", action="store_true", help="no progress")
    measure.set_defaults(handler=_measure)


def add_advise(commands: _Commands) -> None:
    advise = add_command(
        commands,
        "advise",
        "say from a few tasks whether a model should get relays or share the context",
        """
relaybench advise runs/ledger
relaybench advise runs/ledger --reader Qwen/Qwen2.5-1.5B-Instruct --tasks 16
  nothing is generated: contexts and relays are those of the run, the reader scores what it should do next
""",
    )
    advise.add_argument("run", type=Path, help="run folder")
    advise.add_argument("--reader", metavar="NAME", help="an engine of the run, or a model for transformers")
    advise.add_argument("--tasks", type=int, default=8, metavar="N", help="tasks to look at")
    advise.add_argument("--quiet", action="store_true", help="no progress")
    advise.set_defaults(handler=_advise)


def _measure(args: argparse.Namespace) -> None:
    from relaybench.configfile import load_settings
    from relaybench.information.mapping import Mapping
    from relaybench.information.measuring import measure, measure_traces

    readers = [name for name in args.readers.split(",") if name]
    how = {"readers": readers, "reference": args.reference, "sample": args.sample}
    say = _silent if args.quiet else _progress
    if args.map is None:
        if args.out is not None:
            raise UserError("--out is for traces (--map); the scores of a run are kept in its folder")
        found = asyncio.run(measure(args.run, **how, say=say))
    else:
        mapping = load_settings(args.map, Mapping)
        found = asyncio.run(measure_traces(args.run, mapping, **how, out=args.out, say=say))
    print(found.show(args.format))


def _advise(args: argparse.Namespace) -> None:
    from relaybench.information.measuring import advise

    say = _silent if args.quiet else _progress
    for advice in asyncio.run(advise(args.run, reader=args.reader, tasks=args.tasks, say=say)):
        print(advice)


def _progress(what: str, done: int, of: int) -> None:
    print(f"relaybench: {what}: {done:,} of {of:,}", file=sys.stderr)


def _silent(what: str, done: int, of: int) -> None:
    pass
