"""The two roles of a WebShop task: a searcher looks for candidates, a buyer checks and buys (paper, appendix D.1).

The paper calls the second one the verifier. Both may search and click; only the verifier may buy. Every prototype has
60 steps: 30 to look and 30 to buy, or all of them in one worker.
"""

from __future__ import annotations

from relaybench.benchmarks.base import FINISH
from relaybench.benchmarks.webshop.actions import BUYING, CLICK, SEARCH
from relaybench.benchmarks.webshop.report import CandidatesReport
from relaybench.rollout.plan import Roles, Subtask

VERSION = "webshop-roles@1"
"""Raise it with any change of wording or split."""

SEARCHER, VERIFIER = "searcher", "verifier"
STEPS = 30
"""Of each role; 60 in all."""

LOOK = frozenset({SEARCH, CLICK, FINISH})
ALL = frozenset({SEARCH, CLICK, BUYING, FINISH})

_SEARCHING = (
    f"{SEARCH}[words]: looks for products; from the start page only, click [Back to Search] to get there",
    f"{CLICK}[what the page offers]: a product by its code, an option's value, Next >, < Prev, Description, Features, "
    "Back to Search",
)
_BUYING = f"{CLICK}[Buy Now]: buys the product of the open page with the options clicked there; this ends the task"


def roles() -> Roles:
    """Searcher and verifier, and the whole that SAS does alone."""
    return Roles(
        version=VERSION,
        whole=Subtask(
            id="whole",
            role="whole",
            system=_system("You shop for someone: you find the product that fits the instruction and buy it.", True),
            instruction=(
                "Find the product that has all that is asked for at a price below the limit, click every option that "
                "is asked for on its page, then buy it. Actions are few: buy the closest match before they run out."
            ),
            max_steps=2 * STEPS,
            tools=ALL,
        ),
        parts=(_searcher(), _verifier()),
        pairs=((SEARCHER, VERIFIER),),
    )


def _searcher() -> Subtask:
    return Subtask(
        id=SEARCHER,
        role=SEARCHER,
        system=_system("You are the searcher of a shopping team: you look for products, and a buyer buys one.", False),
        instruction=(
            "Look for products that fit, open the pages of the promising ones and note their code, price and options. "
            "Buy nothing."
        ),
        max_steps=STEPS,
        tools=LOOK,
    )


def _verifier() -> Subtask:
    return Subtask(
        id=VERIFIER,
        role=VERIFIER,
        system=_system(
            "You are the buyer of a shopping team: a searcher has looked for products, and you buy one.", True
        ),
        instruction=(
            "Choose the product that fits the instruction best among those that were found. Get to its page (go back "
            "to search and search for its name), check it, click every option that is asked for, then buy it. Actions "
            "are few: buy before they run out."
        ),
        max_steps=STEPS,
        tools=ALL,
        receives={SEARCHER: CandidatesReport()},
    )


def _system(who: str, buys: bool) -> str:
    return "\n".join(
        [
            who,
            "Reply with two lines, a short thought and one action, and wait for the page:",
            "Thought: what to do next",
            f"Action: {SEARCH}[red running shoes]",
            "Actions:",
            *_SEARCHING,
            *([_BUYING] if buys else []),
            f"When your part is done: Action: {FINISH}",
        ]
    )
