"""The command `replay`: actions carried out in a benchmark's environment, and everything it answers."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TypeAlias

from relaybench.cli_score import add_construction_seed, add_data
from relaybench.parser import Parser, add_command

_Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def add_replay(commands: _Commands) -> None:
    replay = add_command(
        commands,
        "replay",
        "replay actions in a benchmark's environment: everything it answers",
        """
relaybench replay workbench --actions actions.jsonl.gz --out traces.jsonl
relaybench replay webshop --actions episodes.jsonl --out transcripts.jsonl
relaybench replay webshop --queries queries.jsonl --out found.jsonl
relaybench replay alfworld --actions walkthroughs.jsonl --out transcripts.jsonl
""",
    )
    benchmarks = replay.add_subparsers(dest="benchmark", required=True, metavar="BENCHMARK", parser_class=Parser)
    _add_replay_workbench(benchmarks)
    _add_replay_webshop(benchmarks)
    _add_replay_alfworld(benchmarks)


def _add_replay_workbench(benchmarks: _Commands) -> None:
    workbench = add_command(
        benchmarks,
        "workbench",
        "every return value or exception of the tools, and the final state",
        """
relaybench replay workbench --actions actions.jsonl.gz --out traces.jsonl
  one line in: {"id": "email-003", "actions": ["email.delete_email.func(email_id=\\"00000479\\")"]}
""",
    )
    workbench.add_argument("--actions", type=Path, required=True, help="JSONL, plain or gzipped: id, actions")
    workbench.add_argument("--out", type=Path, required=True)
    add_data(workbench)
    workbench.set_defaults(handler=_replay_workbench)


def _add_replay_webshop(benchmarks: _Commands) -> None:
    webshop = add_command(
        benchmarks,
        "webshop",
        "every page of the shop after each action, or what queries find",
        """
relaybench replay webshop --actions episodes.jsonl.gz --out transcripts.jsonl
  one line in: {"id": 1, "human_goals": 0, "steps": [{"op": "reset", "session": 7}, {"op": "step", "action": "..."}]}
  one line out: the same, each step with text, rich, avail, url, reward, done, error
relaybench replay webshop --queries queries.jsonl --out found.jsonl
  one line in: {"id": 1, "query": "console table"}
  one line out: id, asins (the best 50, best first), or error
""",
    )
    what = webshop.add_mutually_exclusive_group(required=True)
    what.add_argument("--actions", type=Path, help="JSONL, plain or gzipped: id, human_goals, steps")
    what.add_argument("--queries", type=Path, help="JSONL, plain or gzipped: id, query, seed (for <r>)")
    webshop.add_argument("--out", type=Path, required=True)
    add_data(webshop)
    add_construction_seed(webshop)
    webshop.set_defaults(handler=_replay_webshop)


def _add_replay_alfworld(benchmarks: _Commands) -> None:
    alfworld = add_command(
        benchmarks,
        "alfworld",
        "every observation of a game, action by action",
        """
relaybench replay alfworld --actions walkthroughs.jsonl --out transcripts.jsonl
  one line in: {"game": "valid_unseen/.../trial_.../game.tw-pddl", "actions": ["go to desk 2", "look"]}
  one line out: game, observations (the first included), rewards, won
""",
    )
    alfworld.add_argument("--actions", type=Path, required=True, help="JSONL, plain or gzipped: game, actions")
    alfworld.add_argument("--out", type=Path, required=True)
    add_data(alfworld)
    alfworld.set_defaults(handler=_replay_alfworld)


def _replay_workbench(args: argparse.Namespace) -> None:
    from relaybench.benchmarks.datasets import data_dir
    from relaybench.benchmarks.workbench.replay import replay_actions

    print(replay_actions(args.actions, args.data or data_dir("workbench"), args.out))


def _replay_webshop(args: argparse.Namespace) -> None:
    from relaybench.benchmarks.datasets import data_dir
    from relaybench.benchmarks.webshop.replay import replay_actions, replay_queries

    data = args.data or data_dir("webshop")
    if args.queries is not None:
        print(replay_queries(args.queries, data, args.out))
    else:
        print(replay_actions(args.actions, data, args.out, args.construction_seed))


def _replay_alfworld(args: argparse.Namespace) -> None:
    from relaybench.benchmarks.alfworld.replay import replay_actions
    from relaybench.benchmarks.datasets import data_dir

    print(replay_actions(args.actions, args.data or data_dir("alfworld"), args.out))
