"""One WebShop goal as a world: a visitor of the shop, alone with it, until the first purchase.

Pages are the official ones in either text mode, cut where a model would drown in them. What the official shop would do
nothing about, or crash at, is answered with the page and a line that says so.
"""

from __future__ import annotations

import copy
from random import Random
from typing import Literal

from relaybench.benchmarks.base import StepResult
from relaybench.benchmarks.webshop.goals import Shop
from relaybench.benchmarks.webshop.search import Index
from relaybench.benchmarks.webshop.session import Server, Session
from relaybench.records import Score

LONGEST = 6000
"""Characters of a page that are shown."""
BOUGHT = "The purchase is made; nothing more can be done."

Mode = Literal["text", "text_rich"]


class WebShopEnvironment:
    """A visitor with goal `number`. The shop and its index are shared with others and never changed."""

    def __init__(self, shop: Shop, index: Index, number: int, mode: Mode) -> None:
        self._shop = copy.copy(shop)
        self._index = index
        self._number = number
        self._mode = mode
        self._enter()

    async def reset(self) -> str:
        """The start page with the instruction."""
        self._enter()
        return self._shown()

    async def step(self, action: str) -> StepResult:
        """The next page; with the purchase, its reward, and the end."""
        if self._session.bought is not None:
            return StepResult(BOUGHT, done=True)
        before = self._session.page
        try:
            reward, done = self._session.step(action)
        except Exception as error:  # noqa: BLE001  the official shop crashes at some searches: the worker is told
            return StepResult(f"The shop cannot do that ({type(error).__name__}).\n{self._shown()}")
        if done:
            return StepResult(self._shown(), float(reward), done=True)
        if self._session.page is before:
            return StepResult(f"Nothing happens: this page offers no such thing.\n{self._shown()}")
        return StepResult(self._shown())

    async def score(self) -> Score:
        """Success is a reward of 1; without a purchase all is 0."""
        bought = self._session.bought
        values = {
            "bought": float(bought is not None),
            "reward": 0.0 if bought is None else bought.reward,
            "type": 0.0 if bought is None else bought.r_type,
            "attributes": 0.0 if bought is None else bought.r_att,
            "price": 0.0 if bought is None else float(bought.r_price),
        }
        if bought is not None and bought.r_option is not None:
            values["options"] = bought.r_option
        return Score(values["reward"] == 1.0, values["reward"], values)

    async def close(self) -> None:
        """Nothing is held: the shop does not know of its visitors."""

    def _enter(self) -> None:
        self._shop.random = Random(self._number)  # for <r>: its own draws, whatever others do
        self._session = Session(Server(self._shop, self._index))
        self._session.reset(self._number)

    def _shown(self) -> str:
        page = self._session.text if self._mode == "text" else self._session.rich
        if len(page) <= LONGEST:
            return page
        return f"{page[:LONGEST]} ... (cut: the page has {len(page):,} characters)"
