"""The command `decompose`: let a model share out the rows of a benchmark's tasks, once, for all runs."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TypeAlias

from relaybench.cli_score import add_data
from relaybench.parser import Parser, add_command

_Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def add_decompose(commands: _Commands) -> None:
    decompose = add_command(
        commands,
        "decompose",
        "let a model share out the work of each task",
        """
relaybench decompose widesearch --model gpt-4.1 --url https://api.openai.com/v1 --out shares.jsonl
relaybench run configs/run/widesearch.yaml benchmark.decompositions=shares.jsonl
""",
    )
    benchmarks = decompose.add_subparsers(dest="benchmark", required=True, metavar="BENCHMARK", parser_class=Parser)
    widesearch = add_command(
        benchmarks,
        "widesearch",
        "three groups of units for each query",
        """
relaybench decompose widesearch --model qwen2.5-7b --out shares.jsonl
  one line out: {"instance_id": "ws_en_001", "author": "qwen2.5-7b", "date": "2026-12-03", "axis": "year",
                 "units": [["2019"], ["2020"], ["2021"]]}
  tasks that the file already holds are left out, so the same command goes on where it stopped
""",
    )
    widesearch.add_argument("--model", required=True, help="its name at the server; the author of what it writes")
    widesearch.add_argument("--url", default="http://127.0.0.1:8000/v1", help="an OpenAI-compatible server")
    widesearch.add_argument("--out", type=Path, required=True, help="JSONL, appended to")
    widesearch.add_argument("--language", choices=["en", "zh", "all"], default="all")
    add_data(widesearch)
    widesearch.set_defaults(handler=_decompose_widesearch)


def _decompose_widesearch(args: argparse.Namespace) -> int:
    from relaybench.benchmarks.datasets import data_dir
    from relaybench.benchmarks.widesearch.decomposition import decompose_file
    from relaybench.benchmarks.widesearch.questions import load_questions
    from relaybench.build import make_engine
    from relaybench.config import OpenAIConfig

    questions = load_questions(args.data or data_dir("widesearch")).values()
    chosen = [question for question in questions if args.language in (question.language, "all")]
    engine = make_engine(OpenAIConfig(kind="openai", model=args.model, base_url=args.url))
    summary = asyncio.run(decompose_file(chosen, engine, args.out))
    print(summary)
    return 1 if summary.failed else 0
