"""Sessions: the shop as one visitor walks through it, action by action, with the official shop's addresses and quirks.

What an address says matters: which page is open is a substring test on it, so a query that spells a page's name
confuses `< Prev`, and rich texts take an option for clicked where its value stands in the address in quotes.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from json import dumps
from string import ascii_lowercase

from relaybench.benchmarks.webshop import pages
from relaybench.benchmarks.webshop.catalogue import Product
from relaybench.benchmarks.webshop.goals import Goal, Shop
from relaybench.benchmarks.webshop.pages import BACK, BUY, NEXT, ON_PAGE, PREV, SUB_PAGES, Page
from relaybench.benchmarks.webshop.rewards import Reward, reward
from relaybench.benchmarks.webshop.search import RESULTS, Index

_ACTION = re.compile(r"(.+)\[(.+)\]")
_ADDRESS = "http://127.0.0.1:3000"
_PAGES = ("search_results", "item_page", "item_sub_page", "done")


@dataclass(slots=True)
class Visit:
    """What the shop remembers of a visitor."""

    goal: Goal
    keywords: list[str] | None = None
    page: int | None = None
    asin: str | None = None
    seen: set[str] = field(default_factory=set)
    """Asins of item pages opened since the start page."""
    options: dict[str, str] = field(default_factory=dict)


class Server:
    """The shop with its search and the visitors it knows by name; drawing goes on with the shop's generator."""

    def __init__(self, shop: Shop, index: Index) -> None:
        self.shop = shop
        self.index = index
        self.visits: dict[str, Visit] = {}
        self._weights = [0.0, *accumulate(goal.weight for goal in shop.goals)]

    def visit(self, name: str, number: int | None) -> Visit:
        """The visitor of that name; a new one gets goal `number`, or one drawn by weight. Raises IndexError."""
        if name not in self.visits:
            self.visits[name] = Visit(self.shop.goals[self._draw() if number is None else number])
        return self.visits[name]

    def find(self, keywords: Sequence[str]) -> list[Product]:
        """What a search finds, the official commands <r>, <a>, <c> and <q> included. Raises what they raise."""
        products = self.shop.catalogue.products
        if keywords[0] == "<r>":
            return self.shop.random.sample(products, k=RESULTS)
        if keywords[0] == "<a>":
            raise TypeError("'NoneType' object is not subscriptable")
        if keywords[0] == "<c>":
            category = keywords[1].strip()
            return [product for product in products if product.category == category]
        if keywords[0] == "<q>":
            query = " ".join(keywords[1:]).strip()
            return [product for product in products if product.query == query]
        return [self.shop.catalogue.by_asin[asin] for asin in self.index.search(" ".join(keywords))]

    def _draw(self) -> int:
        at = self.shop.random.uniform(0, self._weights[-1])
        return min(bisect(self._weights, at), len(self._weights) - 2)


class Session:
    """A browser in the shop; usable after `reset`."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._name = ""
        self.url = ""
        self.page = Page(())
        self.visit: Visit
        self.bought: Reward | None = None
        """The last purchase."""

    def reset(self, session: int | str | None = None) -> None:
        """To the start page: as goal number `session`, as a named visitor, or as a new one. Raises IndexError."""
        drawn = "".join(self._server.shop.random.choices(ascii_lowercase, k=10)) if session is None else session
        self._name = str(drawn)
        self.visit = self._server.visit(self._name, session if isinstance(session, int) else None)
        self._start()

    def step(self, action: str) -> tuple[float, bool]:
        """Reward and whether a purchase was made. What is no action does nothing; official crashes raise."""
        found = _ACTION.match(action)
        name, argument = (found[1], found[2].lower()) if found else (action, None)
        if name == "search" and argument is not None:
            self._search(argument.split(" "), 1)
        elif name == "click" and argument in self.page.clickables and argument != "search":
            return self._click(argument)
        else:
            return 0, False
        return 0.0, False

    def draw_from(self, seed: int) -> None:
        """Seed what the shop draws with."""
        self._server.shop.random.seed(seed)

    def find(self, query: str) -> list[str]:
        """The asins that a search for `query` finds, best first."""
        return [product.asin for product in self._server.find(query.lower().split(" "))]

    @property
    def text(self) -> str:
        return self.page.text()

    @property
    def rich(self) -> str:
        return self.page.rich(self.url, self.visit.seen)

    def _click(self, name: str) -> tuple[float, bool]:
        where = next((page for page in _PAGES if page in self.url), "")
        if name == BUY.lower():
            return self._buy(), True
        if name == BACK.lower():
            self._start()
        elif name in (NEXT.lower(), PREV.lower()) and where == "search_results":
            self._search(self._keywords, self._number + (1 if name == NEXT.lower() else -1))
        elif name == PREV.lower() and where == "item_page":
            self._search(self._keywords, self._number)
        elif name in map(str.lower, SUB_PAGES):
            self._open_sub_page(name.capitalize())
        else:
            self._open_item(name)
        return 0.0, False

    def _start(self) -> None:
        goal = self.visit.goal
        self._server.visits[self._name] = self.visit = Visit(goal)
        self.page, self.url = pages.start(goal.instruction), f"{_ADDRESS}/{self._name}"

    def _search(self, keywords: list[str], number: int) -> None:
        visit = self.visit
        visit.page, visit.keywords, visit.asin, visit.options = number, keywords, None, {}
        found = self._server.find(keywords)
        shown = found[(number - 1) * ON_PAGE : number * ON_PAGE]
        self.page = pages.results(visit.goal.instruction, shown, number, len(found))
        self.url = f"{_ADDRESS}/search_results/{self._name}/{'+'.join(keywords)}/{number}"

    def _open_item(self, name: str) -> None:
        visit = self.visit
        option = self.page.option(name)
        if option is not None:
            visit.options[option] = name
        elif self.page.links(name):
            visit.asin = name.upper()
            visit.seen.add(visit.asin)
        self.page = pages.item(visit.goal.instruction, self._product)
        place = f"{self._name}/{visit.asin}/{'+'.join(self._keywords)}/{visit.page}"
        self.url = f"{_ADDRESS}/item_page/{place}/{dumps(visit.options)}"

    def _open_sub_page(self, name: str) -> None:
        visit = self.visit
        self.page = pages.sub_page(visit.goal.instruction, self._product, name)
        place = f"{self._name}/{visit.asin}/{'+'.join(self._keywords)}/{visit.page}"
        self.url = f"{_ADDRESS}/item_sub_page/{place}/{name}/{visit.options}"

    def _buy(self) -> float:
        visit, product = self.visit, self._product
        price = self._server.shop.catalogue.prices[product.asin]
        self.bought = reward(product, visit.goal, price, visit.options)
        self.page = pages.done(product.asin, visit.options, self.bought.reward)
        self.url = f"{_ADDRESS}/done/{self._name}/{product.asin}/{visit.options}"
        return self.bought.reward

    @property
    def _product(self) -> Product:
        """The open product. KeyError where a search that raised left none."""
        return self._server.shop.catalogue.by_asin[self.visit.asin]  # type: ignore[index]

    @property
    def _keywords(self) -> list[str]:
        return self.visit.keywords or []

    @property
    def _number(self) -> int:
        return self.visit.page or 0
