"""One trip as a world: six searches that change nothing, and one plan to submit, which ends the task.

Actions are answered by themselves alone, so that workers side by side see what one would see. No action raises: what
cannot be done is said in the observation. A plan that cannot be read is not submitted and costs its step.
"""

from __future__ import annotations

from relaybench.benchmarks.base import StepResult
from relaybench.benchmarks.travelplanner.actions import SUBMIT, read
from relaybench.benchmarks.travelplanner.metrics import score_of
from relaybench.benchmarks.travelplanner.plans import LONGEST, Plan, parse_plan
from relaybench.benchmarks.travelplanner.queries import Query
from relaybench.benchmarks.travelplanner.scoring import Rules, judge
from relaybench.benchmarks.travelplanner.tools import Tools
from relaybench.records import Score


class TravelPlannerEnvironment:
    """The world of one query. `rules` decide what counts as success."""

    def __init__(self, query: Query, tools: Tools, rules: Rules) -> None:
        self._query = query
        self._tools = tools
        self._rules = rules
        self._plan: Plan | None = None

    @property
    def plan(self) -> Plan | None:
        """What was submitted, in the official form."""
        return self._plan

    async def reset(self) -> str:
        """Nothing is seen before the first search."""
        self._plan = None
        return ""

    async def step(self, action: str) -> StepResult:
        """Search, or submit; there is no reward before the score."""
        request = read(action)
        if request.tool == SUBMIT:
            return self._submit(request.plan)
        return StepResult(self._tools.call(request))

    async def score(self) -> Score:
        """The verdict on the submitted plan; without one, nothing was delivered."""
        return score_of(self._query, judge(self._query, self._plan, self._tools.places, "hardened"), self._rules)

    async def close(self) -> None:
        """Nothing is held."""

    def _submit(self, text: str) -> StepResult:
        if self._plan is not None:
            return StepResult("A plan was submitted already; it stands.", done=True)
        if len(text) > LONGEST:
            return StepResult(f"Not submitted: {len(text):,} characters are too many; {LONGEST:,} are taken.")
        plan = parse_plan(text, self._tools.places)
        if plan is None:
            return StepResult(
                "Not submitted: no day can be read. Write each day as 'Day 1:' and below it 'Current City: ...', "
                "'Transportation: ...' and so on, each on a line of its own."
            )
        self._plan = plan
        days = sum(bool(day) for day in plan)
        return StepResult(f"Submitted: a plan of {days} day{'s' * (days != 1)}.", done=True)
