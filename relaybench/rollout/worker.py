"""The worker: the basic agent (thought, action, observation) on one subtask, in one append-only context.

Paper, section 3: M_{t+1} = M_t + (thought, action, observation), until a terminal action or the step budget.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from relaybench.benchmarks.base import FINISH, Action, Environment, StepResult
from relaybench.engines.base import ContextFull, Generation
from relaybench.engines.model import Model
from relaybench.records import Context, Message, Outcome, Step, Stop, WorkerRecord, total
from relaybench.rollout.plan import Subtask

ILL_FORMED = "No action was found in that reply. Write one line that starts with 'Action:' and names one action."


@dataclass(frozen=True, slots=True)
class Worker:
    """A model at work on a subtask; `context` already holds its opening messages."""

    subtask: Subtask
    context: Context
    model: Model
    environment: Environment
    parse_action: Callable[[str], Action | None]

    async def run(self) -> WorkerRecord:
        """Act until the subtask is finished, the task is done, or steps or context run out."""
        began = time.monotonic()
        steps: list[Step] = []
        generations: list[Generation] = []
        stop: Stop = "budget"
        for _ in range(self.subtask.max_steps):
            try:
                reply = await self._reply(generations)
            except ContextFull:
                stop = "context_full"
                break
            self.context.append(reply)
            step, result = await self._act(reply.content)
            steps.append(step)
            if step.outcome == "finish":
                stop = "finished"
                break
            self.context.append(self.model.message(self.context, "user", result.observation))
            if result.done or result.finished:
                stop = "done" if result.done else "finished"
                break
        return self._record(steps, generations, stop, time.monotonic() - began)

    async def _reply(self, generations: list[Generation]) -> Message:
        if self.subtask.script is not None:
            scripted = self.subtask.script(self.context)
            if scripted is not None:
                return self.model.message(self.context, "assistant", scripted)
        message, generation = await self.model.reply(
            self.context, max_tokens=self.model.decoding.max_tokens, prefill=self.subtask.prefill
        )
        generations.append(generation)
        return message

    async def _act(self, reply: str) -> tuple[Step, StepResult]:
        place = len(self.context.own) - 1
        action = self.parse_action(reply)
        if action is None:
            return Step(place, None, "ill_formed"), StepResult(ILL_FORMED)
        if action.tool == FINISH:
            return Step(place, action.text, "finish"), StepResult("")
        allowed = self.subtask.tools
        if allowed is not None and action.tool not in allowed:
            return Step(place, action.text, "forbidden"), StepResult(_refusal(action.tool, allowed))
        result = await self.environment.step(action.text)
        outcome: Outcome = "ok"
        return Step(place, action.text, outcome, result.reward), result

    def _record(self, steps: list[Step], generations: list[Generation], stop: Stop, seconds: float) -> WorkerRecord:
        return WorkerRecord(
            subtask=self.subtask.id,
            role=self.subtask.role,
            messages=tuple(self.context.own),
            steps=tuple(steps),
            stop=stop,
            inherits=tuple(segment.worker for segment in self.context.segments[:-1]),
            usage=total(g.usage for g in generations),
            failed_calls=tuple(call for g in generations for call in g.failed_calls),
            branches=self.context.branches,
            seconds=seconds,
        )


def _refusal(tool: str, allowed: frozenset[str]) -> str:
    return f"The tool {tool} is not available in your role. Your tools: {', '.join(sorted(allowed))}."
