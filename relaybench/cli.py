"""The command line: `relaybench COMMAND --help` shows examples for each.

Bad input ends in one line on stderr that names cause and mend, and exit code 2; a run that stopped early or left
failures ends in code 1; an interrupted one in 130.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from relaybench import __version__
from relaybench.cli_decompose import add_decompose
from relaybench.cli_measure import add_advise, add_measure
from relaybench.cli_replay import add_replay
from relaybench.cli_score import add_score
from relaybench.errors import UserError
from relaybench.parser import Parser, add_command


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit code."""
    try:
        args = _parser().parse_args(argv)
        return int(args.handler(args) or 0)
    except UserError as error:
        print(f"relaybench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0


def _parser() -> Parser:
    parser = Parser(prog="relaybench", description="Relays between LLM workers as information bottlenecks.")
    parser.add_argument("--version", action="version", version=f"relaybench {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    _add_run(commands)
    _add_report(commands)
    add_measure(commands)
    add_advise(commands)
    add_score(commands)
    add_replay(commands)
    add_decompose(commands)
    _add_data(commands)
    _add_serve(commands)
    return parser


def _add_run(commands: argparse._SubParsersAction[Parser]) -> None:
    run = add_command(
        commands,
        "run",
        "run the grid of a config: tasks x systems x engines x seeds",
        """
relaybench run configs/run/ledger.yaml
relaybench run configs/run/ledger.yaml limit=10 benchmark.records=8 --out runs/eight
relaybench run configs/run/workbench.yaml engine.model=Qwen/Qwen2.5-7B-Instruct --dry-run
relaybench run configs/run/workbench.yaml --shard 1/4 --out runs/wb-1     then: relaybench merge runs/wb runs/wb-*
""",
    )
    run.add_argument("config", type=Path, help="YAML file; see configs/run/")
    run.add_argument("overrides", nargs="*", metavar="key=value", help="any key of the config, dotted")
    run.add_argument("--out", help="run folder; the same folder again resumes (default: the config's `out`)")
    run.add_argument("--limit", help="only the first N tasks")
    run.add_argument("--shard", metavar="i/n", help="only every n-th task from the i-th on (i from 1 to n)")
    run.add_argument(
        "--dry-run", action="store_true", help="print the grid, its calls and an estimate of tokens; run nothing"
    )
    run.add_argument("--quiet", action="store_true", help="no progress")
    run.set_defaults(handler=_run)
    merge = add_command(
        commands, "merge", "join the run folders of shards into one", "relaybench merge runs/wb runs/wb-1 runs/wb-2"
    )
    merge.add_argument("out", type=Path, help="the joint run folder")
    merge.add_argument("runs", type=Path, nargs="+", help="run folders")
    merge.set_defaults(handler=_merge)


def _add_report(commands: argparse._SubParsersAction[Parser]) -> None:
    report = add_command(
        commands,
        "report",
        "print the table of one or several runs",
        """
relaybench report runs/ledger
relaybench report runs/ledger runs/workbench --format md > table.md
""",
    )
    report.add_argument("runs", type=Path, nargs="+", help="run folders")
    report.add_argument("--format", choices=["table", "csv", "json", "md"], default="table")
    report.set_defaults(handler=_report)
    diff = add_command(
        commands, "diff", "compare two runs, system by system, on the tasks both have", "relaybench diff runs/a runs/b"
    )
    diff.add_argument("a", type=Path)
    diff.add_argument("b", type=Path)
    diff.add_argument("--format", choices=["table", "csv", "json", "md"], default="table")
    diff.set_defaults(handler=_diff)


def _add_data(commands: argparse._SubParsersAction[Parser]) -> None:
    data = add_command(
        commands,
        "data",
        "list, fetch, import and verify benchmark data",
        """
relaybench data list
relaybench data fetch workbench
relaybench data import workbench /data/workbench
relaybench data verify workbench
""",
    )
    verbs = data.add_subparsers(dest="verb", required=True, metavar="VERB", parser_class=Parser)
    verbs.add_parser("list", help="what there is, and what is here")
    for verb, words in (("fetch", "download from the official source"), ("verify", "check what is here")):
        verbs.add_parser(verb, help=words).add_argument("name")
    import_ = verbs.add_parser("import", help="take a folder you already have")
    import_.add_argument("name")
    import_.add_argument("dir", type=Path)
    data.set_defaults(handler=_data)


def _add_serve(commands: argparse._SubParsersAction[Parser]) -> None:
    serve = add_command(
        commands,
        "serve",
        "start a vLLM server with what the engines here need",
        """
relaybench serve Qwen/Qwen2.5-7B-Instruct
relaybench serve Qwen/Qwen2.5-7B-Instruct --adapter relay-v1=runs/adapters/relay-v1 -- --max-model-len 8192
relaybench serve smollm2-135m --port 8011
""",
    )
    serve.add_argument("model", help="hub name, folder, or smollm2-135m")
    serve.add_argument(
        "--adapter", action="append", default=[], metavar="NAME=DIR", help="LoRA folder under a versioned name"
    )
    serve.add_argument("--host", default="127.0.0.1")
    serve.add_argument("--port", type=int, default=8000)
    serve.add_argument("extra", nargs="*", help="after `--`: arguments for vLLM itself")
    serve.set_defaults(handler=_serve)


def _run(args: argparse.Namespace) -> int:
    from relaybench.configfile import load_config
    from relaybench.rollout.launch import launch

    overrides = list(args.overrides)
    overrides += [f"limit={args.limit}"] if args.limit else []
    overrides += [f"out={args.out}"] if args.out else []
    config = load_config(args.config, overrides)
    return asyncio.run(launch(config, shard=args.shard, dry_run=args.dry_run, quiet=args.quiet))


def _merge(args: argparse.Namespace) -> None:
    from relaybench.rollout.merge import merge

    print(merge(args.out, args.runs))


def _report(args: argparse.Namespace) -> None:
    from relaybench.reporting import report

    print(report(args.runs, args.format))


def _diff(args: argparse.Namespace) -> None:
    from relaybench.reporting import diff

    print(diff(args.a, args.b, args.format))


def _data(args: argparse.Namespace) -> None:
    from relaybench.benchmarks import datasets

    if args.verb == "list":
        print("\n".join(str(entry) for entry in datasets.list_datasets()))
    elif args.verb == "fetch":
        print(datasets.fetch(args.name, say=lambda line: print(line, file=sys.stderr)))
    elif args.verb == "import":
        print(datasets.import_folder(args.name, args.dir))
    else:
        print(datasets.verify(args.name))


def _serve(args: argparse.Namespace) -> int:
    from relaybench.engines.serve import serve

    adapters: dict[str, Path] = {}
    for item in args.adapter:
        name, equals, folder = item.partition("=")
        if not equals or not name or not folder:
            raise UserError(
                f"--adapter {item} is not NAME=DIR; write for example --adapter relay-v1=runs/adapters/relay-v1"
            )
        adapters[name] = Path(folder)
    return serve(args.model, adapters, host=args.host, port=args.port, extra=args.extra)


if __name__ == "__main__":
    sys.exit(main())
