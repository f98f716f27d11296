"""The catalogue: products with their options, prices and attributes, loaded as the official shop loads them.

Prices that the catalogue gives as a range are drawn at construction, so they depend on the construction seed (and so
do the goals' upper prices, goals.py, which go on with the same generator).
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from msgspec import Struct

from relaybench.errors import UserError

CONSTRUCTION_SEED = 20240607
"""That of the verdicts which agreement is tested with."""
NO_PRICE = 100.0
"""Dollars, for products without one."""
NO_ATTRIBUTE = "DUMMY_ATTR"
PRODUCTS, ATTRIBUTES = "items_shuffle_1000.json.xz", "items_ins_v2_1000.json"
HUMAN, NOUNS = "items_human_ins_1000subset.json", "title_nouns_en_core_web_sm_3.8.json"


class Product(Struct, frozen=True):
    """One product, as pages and rewards need it."""

    asin: str
    title: str
    description: str
    bullets: tuple[str, ...]
    """Feature lines."""
    category: str
    query: str
    """The search that found it, lower-cased."""
    product_category: str
    """Names with " › " between them."""
    prices: tuple[float, ...]
    """None, one, or the two ends of a range, in dollars."""
    price_tag: str
    """As pages show it."""
    options: dict[str, tuple[str, ...]]
    """Values by option name, both in lower case, in the order of the page."""
    attributes: tuple[str, ...]
    nouns: tuple[str, ...]
    """Nouns of the title, with repeats, as the official tagger finds them."""
    instruction: str | None
    """Of the synthetic goals; None for products without one."""
    instruction_attributes: tuple[str, ...]
    human: tuple[dict[str, Any], ...]
    """Instructions that people wrote for it."""


class Catalogue:
    """The products of a data folder, in order, and the generator as construction leaves it after the prices.

    Raises UserError where a file is missing or another one.
    """

    def __init__(self, data_dir: Path, seed: int = CONSTRUCTION_SEED) -> None:
        self.products = load_products(data_dir)
        self.by_asin = {product.asin: product for product in self.products}
        self.random = Random(seed)
        self.prices = {product.asin: self._price(product) for product in self.products}
        """Dollars, by asin."""

    def _price(self, product: Product) -> float:
        if not product.prices:
            return NO_PRICE
        return product.prices[0] if len(product.prices) == 1 else self.random.uniform(*product.prices)


@cache
def load_products(data_dir: Path) -> tuple[Product, ...]:
    """The products of a folder, read once a process."""
    rows, attributes = _read(data_dir / PRODUCTS), _read(data_dir / ATTRIBUTES)
    human, nouns = _read(data_dir / HUMAN), _read(data_dir / NOUNS)
    products: dict[str, Product] = {}
    try:
        for row in rows:
            asin = row["asin"]
            if asin != "nan" and len(asin) <= 10 and asin not in products:
                products[asin] = _product(row, attributes.get(asin, {}), human.get(asin, ()), nouns["nouns"][asin])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"the webshop files in {data_dir} do not fit together ({error!r}); {_MEND}") from error
    return tuple(products.values())


_MEND = "get them with `relaybench data fetch webshop` or `relaybench data import webshop DIR`"


def _read(path: Path) -> Any:
    try:
        data = path.read_bytes()
        return json.loads(lzma.decompress(data) if path.suffix == ".xz" else data)
    except OSError as error:
        raise UserError(f"no webshop file {path} ({error.strerror}); {_MEND}") from error
    except (lzma.LZMAError, ValueError) as error:
        raise UserError(f"{path} is damaged ({error}); {_MEND}") from error


def _product(
    row: Mapping[str, Any], attributes: Mapping[str, Any], human: list[dict[str, Any]], nouns: list[str]
) -> Product:
    bullets = row["small_description"]
    prices = _prices(row.get("pricing"))
    return Product(
        asin=row["asin"],
        title=row["name"],
        description=row["full_description"],
        bullets=tuple(bullets) if isinstance(bullets, list) else (bullets,),
        category=row["category"],
        query=row["query"].lower().strip(),
        product_category=row["product_category"],
        prices=prices,
        price_tag=" to ".join(f"${price}" for price in prices or (NO_PRICE,)),
        options=_options(row["customization_options"] or {}),
        attributes=tuple(attributes.get("attributes", (NO_ATTRIBUTE,))),
        nouns=tuple(nouns),
        instruction=attributes.get("instruction"),
        instruction_attributes=tuple(attributes.get("instruction_attributes") or ()),
        human=tuple(human),
    )


def _prices(text: str | None) -> tuple[float, ...]:
    """The one or two prices of "$a" or "$a$b"."""
    return tuple(float(re.sub(r"[^\d.]", "", price)) for price in (text or "").split("$")[1:])[:2]


def _options(given: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {
        name.lower(): tuple(content["value"].strip().replace("/", " | ").lower() for content in contents)
        for name, contents in given.items()
        if contents is not None
    }
