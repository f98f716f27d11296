"""The independent loop that SAS-contextflow must equal: one growing token list, no Plan, no Relay, no Context."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from relaybench.benchmarks.base import FINISH, Benchmark, Task
from relaybench.rollout.worker import ILL_FORMED

Complete = Callable[[list[int], int], Awaitable[list[int]]]


class Turn(NamedTuple):
    prompt: list[int]
    action: list[int]


async def plain_loop(
    benchmark: Benchmark, task: Task, tokenizer: Any, complete: Complete, max_tokens: int
) -> list[Turn]:
    """Roll the roles out one after another in one token list (ChatML), greedy."""

    def say(role: str, text: str) -> list[int]:
        return list(tokenizer.encode(f"<|im_start|>{role}\n{text}<|im_end|>\n", add_special_tokens=False))

    end, newline = tokenizer.convert_tokens_to_ids("<|im_end|>"), tokenizer.encode("\n", add_special_tokens=False)
    opening = tokenizer.encode("<|im_start|>assistant\n", add_special_tokens=False)
    environment = benchmark.environment(task)
    seen = await environment.reset()
    ids: list[int] = []
    turns: list[Turn] = []
    for number, part in enumerate(benchmark.roles(task).parts):
        words = [part.system, part.instruction] if number else [task.instruction, part.instruction, seen]
        ids += [] if number else say("system", part.system)
        ids += say("user", "\n\n".join(word for word in words if word))
        for _ in range(part.max_steps):
            ids += opening
            turns.append(Turn(list(ids), await complete(ids, max_tokens)))
            ids += turns[-1].action
            ids += ([] if ids[-1] == end else [end]) + newline
            action = benchmark.parse_action(tokenizer.decode(turns[-1].action, skip_special_tokens=True))
            if action is not None and action.tool == FINISH:
                break
            done, observation = False, ILL_FORMED
            if action is not None and part.tools is not None and action.tool not in part.tools:
                mine = ", ".join(sorted(part.tools))
                observation = f"The tool {action.tool} is not available in your role. Your tools: {mine}."
            elif action is not None:
                observation, _, done = (lambda r: (r.observation, r.reward, r.done))(
                    await environment.step(action.text)
                )
            ids += say("user", observation)
            if done:
                return turns
    return turns
