"""The command `score`: what any system produced, judged as the benchmark's authors do.

Each benchmark has a subcommand with the options that its scoring knows.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TypeAlias

from relaybench.parser import Parser, add_command

_Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def add_score(commands: _Commands) -> None:
    score = add_command(
        commands,
        "score",
        "score what any system produced, as the benchmark's authors do",
        """
relaybench score workbench --answers predictions.jsonl.gz --rules v1 --out verdicts.jsonl
relaybench score travelplanner --answers plans.jsonl --split validation
relaybench score widesearch --answers tables.jsonl --judge exact
relaybench score webshop --answers purchases.jsonl
relaybench score workbench --help     the form of the rows
""",
    )
    benchmarks = score.add_subparsers(dest="benchmark", required=True, metavar="BENCHMARK", parser_class=Parser)
    _add_score_workbench(benchmarks)
    _add_score_travelplanner(benchmarks)
    _add_score_widesearch(benchmarks)
    _add_score_webshop(benchmarks)


def _add_score_workbench(benchmarks: _Commands) -> None:
    workbench = add_command(
        benchmarks,
        "workbench",
        "outcome match and unwanted side effects of tool calls",
        """
relaybench score workbench --answers predictions.jsonl.gz --rules v1 --out verdicts.jsonl
  one line in: {"id": "email-003", "predicted": ["email.delete_email.func(email_id=\\"00000479\\")"], "error": ""}
  one line out: the same with correct, unwanted_side_effects, exact_match
""",
    )
    _add_files(workbench, "id, predicted, error")
    workbench.add_argument(
        "--rules", choices=["v1", "v2"], required=True, help="v1: 2024 truth and rules; v2: 2026, multi_domain only"
    )
    workbench.set_defaults(handler=_score_workbench)


def _add_score_travelplanner(benchmarks: _Commands) -> None:
    travelplanner = add_command(
        benchmarks,
        "travelplanner",
        "the constraints that plans satisfy, and the six official aggregates",
        """
relaybench score travelplanner --answers plans.jsonl.gz --split validation --out verdicts.jsonl
relaybench score travelplanner --answers plans.jsonl --split validation --rules hardened
  one line in: {"idx": 7, "plan": [{"days": 1, "current_city": "from A to B", "transportation": ...}, ...]}
  one line out: idx, delivered, commonsense {name: true | false}, hard {name: true | false | null}, final, error
""",
    )
    _add_files(travelplanner, "idx, plan (null: nothing was delivered)")
    travelplanner.add_argument("--split", choices=["train", "validation"], required=True)
    travelplanner.add_argument(
        "--rules",
        choices=["official", "hardened"],
        default="official",
        help="hardened: a plan that is final by the official rules must also be free of the faults these cannot see",
    )
    travelplanner.set_defaults(handler=_score_travelplanner)


def _add_score_widesearch(benchmarks: _Commands) -> None:
    widesearch = add_command(
        benchmarks,
        "widesearch",
        "precision, recall and F1 of tables over rows and cells",
        """
relaybench score widesearch --answers tables.jsonl.gz --judge exact --out verdicts.jsonl
relaybench score widesearch --answers tables.jsonl --judge llm --judge-model gpt-4.1 --judge-url https://api.openai.com/v1
  one line in: {"instance_id": "ws_en_001", "response": "```markdown\\n| subject | ...\\n```"}
  one line out: instance_id, score, precision_by_row, recall_by_row, f1_by_row, ..._by_item, error
  several lines of one instance_id are its trials
""",
    )
    _add_files(widesearch, "instance_id, response (null: no answer)")
    widesearch.add_argument(
        "--judge",
        choices=["exact", "llm"],
        required=True,
        help="exact: strings are compared, no model is asked; llm: a model aligns names and judges cells",
    )
    widesearch.add_argument("--judge-model", metavar="MODEL", help="llm: its name at the server")
    widesearch.add_argument(
        "--judge-url",
        default="http://127.0.0.1:8000/v1",
        metavar="URL",
        help="llm: an OpenAI-compatible server; its key is read from $OPENAI_API_KEY",
    )
    widesearch.set_defaults(handler=_score_widesearch)


def _add_score_webshop(benchmarks: _Commands) -> None:
    webshop = add_command(
        benchmarks,
        "webshop",
        "rewards of purchases",
        """
relaybench score webshop --answers purchases.jsonl.gz --out rewards.jsonl
  one line in: {"id": 7, "human_goals": 0, "goal_index": 12, "bought_asin": "B0743JKHBV", "bought_price": 14.95,
                "chosen_options": {"size": "28\\" x 28\\""}}
  one line out: id, reward, r_type, r_att, r_option (null: the goal has none), r_price
""",
    )
    _add_files(webshop, "id, human_goals (0 or 1), goal_index, bought_asin, bought_price, chosen_options")
    add_construction_seed(webshop)
    webshop.set_defaults(handler=_score_webshop)


def _add_files(parser: Parser, form: str) -> None:
    parser.add_argument("--answers", type=Path, required=True, help=f"JSONL, plain or gzipped: {form}")
    parser.add_argument("--out", type=Path, help="write a verdict a row")
    add_data(parser)


def add_data(parser: Parser) -> None:
    parser.add_argument("--data", type=Path, help="data folder (default: what `relaybench data` fetched)")


def add_construction_seed(webshop: Parser) -> None:
    webshop.add_argument(
        "--construction-seed",
        type=int,
        default=20240607,
        metavar="SEED",
        help="seed of the shop's construction: it fixes prices drawn from ranges and the goals' upper prices",
    )


def _score_workbench(args: argparse.Namespace) -> None:
    from relaybench.benchmarks.datasets import data_dir
    from relaybench.benchmarks.workbench.scoring import score_answers

    print(score_answers(args.answers, args.rules, args.data or data_dir("workbench"), args.out))


def _score_travelplanner(args: argparse.Namespace) -> None:
    from relaybench.benchmarks.datasets import data_dir
    from relaybench.benchmarks.travelplanner.scoring import score_answers

    print(score_answers(args.answers, args.split, args.data or data_dir("travelplanner"), args.out, args.rules))


def _score_widesearch(args: argparse.Namespace) -> None:
    from relaybench.benchmarks.datasets import data_dir
    from relaybench.benchmarks.widesearch.scoring import score_answers
    from relaybench.build import make_judge
    from relaybench.errors import UserError

    if (args.judge == "llm") != (args.judge_model is not None):
        raise UserError("--judge llm and --judge-model MODEL go together; name both, or --judge exact alone")
    judge = make_judge(args.judge_model, args.judge_url)
    print(score_answers(args.answers, judge, args.data or data_dir("widesearch"), args.out))


def _score_webshop(args: argparse.Namespace) -> None:
    from relaybench.benchmarks.datasets import data_dir
    from relaybench.benchmarks.webshop.scoring import score_answers

    print(score_answers(args.answers, args.data or data_dir("webshop"), args.out, args.construction_seed))
