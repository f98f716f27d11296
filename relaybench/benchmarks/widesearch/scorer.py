"""The scoring process: answers in, verdicts out, one JSON object a line (`background.py` holds the other end).

`python -m relaybench.benchmarks.widesearch.scorer DATA here|there`: where cells are judged that are no matter of
rules, by the exact judge here, or by the judge there, which is asked. It ends with its input.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from relaybench.benchmarks.widesearch.judge import ExactJudge, Judge
from relaybench.benchmarks.widesearch.questions import load_questions
from relaybench.benchmarks.widesearch.scoring import evaluate
from relaybench.errors import UserError


def main(data_dir: Path, where: str) -> None:
    """Serve until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the run, which then closes this input
    judge: Judge = ExactJudge() if where == "here" else _Elsewhere()
    for line in iter(sys.stdin.buffer.readline, b""):
        request = msgspec.json.decode(line)
        try:
            question = load_questions(data_dir)[request["instance_id"]]
            verdict = asyncio.run(evaluate(question, request["response"], judge))
        except UserError as error:
            _say({"error": str(error)})
        else:
            _say({"verdict": verdict})


class _Elsewhere:
    """The judge at the other end."""

    name = "elsewhere"

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def align(self, values: Sequence[str], references: Sequence[str]) -> dict[str, str]:
        return dict(_ask("align", values, references))

    async def judge(self, responses: Sequence[str], targets: Sequence[str], criterion: str) -> list[bool]:
        return list(_ask("judge", responses, targets, criterion))


def _ask(what: str, values: Sequence[str], references: Sequence[str], criterion: str = "") -> Any:
    _say({"ask": what, "values": list(values), "references": list(references), "criterion": criterion})
    line = sys.stdin.buffer.readline()
    if not line:
        raise SystemExit(1)  # no Exception, which would be taken for the table's fault
    return msgspec.json.decode(line)["answer"]


def _say(message: dict[str, Any]) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
