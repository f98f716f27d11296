"""A process that plays games: JSON lines in, JSON lines out, one answer a question, in order.

Questions: {"id", "do": "open", "session", "game"} (the packed game file in base64), {"id", "do": "step", "session",
"action"}, {"id", "do": "close", "session"}. Answers: {"id"} with `observation`, and of a step `reward` and `won`; or
{"id", "error"}. Several sessions live side by side. It ends when its input does, so it never outlives who started it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from base64 import b64decode
from typing import IO, Any

from relaybench.benchmarks.alfworld.games import unpacked
from relaybench.benchmarks.alfworld.session import Session


def main() -> None:
    """Serve standard input until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; who started us decides
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Fast Downward prints
    serve(sys.stdin.buffer, answers)


def serve(questions: IO[bytes], answers: IO[str]) -> None:
    """Answer every line of `questions`."""
    sessions: dict[int, Session] = {}
    for line in questions:
        question = json.loads(line)
        try:
            answer = _answer(question, sessions)
        except Exception as error:  # noqa: BLE001  whatever a game raises, the asker is told
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps({"id": question["id"]} | answer) + "\n")
        answers.flush()


def _answer(question: dict[str, Any], sessions: dict[int, Session]) -> dict[str, Any]:
    name = question["session"]
    if question["do"] == "open":
        sessions[name] = Session(unpacked(b64decode(question["game"])))
        return {"observation": sessions[name].first}
    if question["do"] == "step":
        seen = sessions[name].step(question["action"])
        return {"observation": seen.observation, "reward": seen.reward, "won": seen.won}
    if (session := sessions.pop(name, None)) is not None:
        session.close()
    return {}


if __name__ == "__main__":
    main()
