"""Goals: what is to be bought, made from the catalogue as the official shop makes them.

Synthetic goals take every combination of a product's options (one product makes 558 of 6,910); human ones are
instructions that people wrote. Upper prices go on with the catalogue's generator; the order is always the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product as combinations
from pathlib import Path
from random import Random

from msgspec import Struct

from relaybench.benchmarks.webshop.catalogue import CONSTRUCTION_SEED, Catalogue, Product

ORDER_SEED = 233
_STEPS = [10.0 * i for i in range(1, 100)]
ANY_PRICE = 1000000


class Goal(Struct, frozen=True):
    """One thing to buy."""

    product: Product
    """The one it was made from; others may satisfy it too."""
    instruction: str
    attributes: tuple[str, ...]
    options: dict[str, str] | list[str]
    """By name (synthetic) or values alone (human)."""
    price_upper: float
    weight: float
    """How often a session without a number draws it, up to a factor."""


class Shop:
    """A catalogue with its goals, from one construction seed."""

    def __init__(self, data_dir: Path, *, human: bool = False, seed: int = CONSTRUCTION_SEED) -> None:
        self.catalogue = Catalogue(data_dir, seed)
        make = _human if human else _synthetic
        self.goals = list(make(self.catalogue))
        self.random = Random(ORDER_SEED)
        """Orders the goals, then draws for sessions."""
        self.random.shuffle(self.goals)


def _synthetic(catalogue: Catalogue) -> Iterator[Goal]:
    asked = [product for product in catalogue.products if product.instruction is not None]
    bounds = {product.asin: _upper(catalogue, product) for product in asked}
    chosen = [(product, options) for product in asked for options in _choices(product)]
    counts = Counter(name for product, _ in chosen for name in product.instruction_attributes)
    for product, options in chosen:
        upper, bound = bounds[product.asin]
        wish = ", and ".join(f"{name}: {value}" for name, value in options.items())
        names = product.instruction_attributes
        yield Goal(
            product=product,
            instruction=f"{product.instruction}{' with ' + wish if wish else ''}{bound}",
            attributes=names,
            options=options,
            price_upper=upper,
            weight=sum(1 / counts[name] for name in names) / len(names),
        )


def _choices(product: Product) -> Iterator[dict[str, str]]:
    names = sorted(product.options)
    for values in combinations(*(product.options[name] for name in names)):
        yield dict(zip(names, values, strict=True))


def _human(catalogue: Catalogue) -> Iterator[Goal]:
    for product in catalogue.products:
        for written in product.human:
            names = tuple(written["instruction_attributes"])
            if names:
                upper, bound = _upper(catalogue, product)
                instruction = written["instruction"].strip(".") + bound
                yield Goal(product, instruction, names, list(written["instruction_options"]), upper, 1)


def _upper(catalogue: Catalogue, product: Product) -> tuple[float, str]:
    """The larger of two of the next four $10 steps above the price, and the words for it."""
    price = catalogue.prices[product.asin]
    steps = [step for step in _STEPS if step > price][:4]
    if len(steps) < 2:
        return ANY_PRICE, ""
    upper = max(catalogue.random.sample(steps, 2))
    return upper, f", and price lower than {upper:.2f} dollars"
