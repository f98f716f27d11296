"""Rewards: how much of a goal a purchase satisfies, as the official shop has it (paper of WebShop, section 3.2).

Quirks are kept: options of synthetic goals are compared as (name, value) pairs written out, so a colour is normalised
in them only where the value is nothing but the colour; a title without common nouns overrides a matching query.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from relaybench.benchmarks.webshop.catalogue import Product
from relaybench.benchmarks.webshop.goals import Goal
from relaybench.errors import UserError

ALIKE = 85
"""token_set_ratio above which two texts are the same."""
_COLOUR_WORDS = """
    alabaster apricot aqua ash asphalt azure banana beige black blue blush bordeaux bronze brown burgundy camel
    camo caramel champagne charcoal cheetah chestnut chocolate christmas coffee cognac copper coral cranberry
    cream crystal dark denim eggplant elephant espresso fuchsia gold granite grape graphite grass gray green
    grey heather indigo ivory ivy khaki lavender lemon leopard light lilac lime magenta maroon mauve merlot
    midnight mint mocha multicolor mushroom mustard natural navy nude olive orange peach pewter pink plum purple
    rainbow red rose royal rust sand sapphire seashell silver skull slate steel stone stonewash sunflower tan
    taupe teal tiger turquoise violet walnut wheat white wine yellow
"""
COLOURS = tuple(_COLOUR_WORDS.split())
"""The official shop's words for colours, in its order."""


class Reward(Struct, frozen=True):
    """The parts are shares of 1."""

    reward: float
    r_type: float
    """1, 0.5, 0.1 or 0: whether it is the right kind of thing."""
    r_att: float
    r_option: float | None
    """None where the goal has no options."""
    r_price: bool


def reward(product: Product, goal: Goal, price: float, chosen: Mapping[str, str]) -> Reward:
    """The reward for buying `product` at `price` with the `chosen` options, by name."""
    attributes = sum(_has(product, name) for name in goal.attributes)
    options = _options_met(goal, chosen)
    affordable = price <= goal.price_upper
    kind = _kind(product, goal)
    total = (attributes + options + affordable) / (len(goal.attributes) + len(goal.options) + 1)
    return Reward(
        reward=total * kind,
        r_type=kind,
        r_att=attributes / len(goal.attributes),
        r_option=options / len(goal.options) if goal.options else None,
        r_price=affordable,
    )


def _kind(product: Product, goal: Goal) -> float:
    """The type reward."""
    wanted = goal.product
    common = len(set(product.nouns) & set(wanted.nouns))
    title = common / len(wanted.nouns) if wanted.nouns else 0.2
    if title == 0:
        return 0.0
    if title < 0.1:
        return 0.1
    shared = _categories(product) & _categories(wanted)
    return 1.0 if product.query == wanted.query or len(shared) >= 2 or title > 0.2 else 0.5


def _categories(product: Product) -> set[str]:
    return {name.strip() for name in product.product_category.split("›")}


def _has(product: Product, attribute: str) -> bool:
    """Whether the product has an attribute, by its list or by its texts."""
    if any(_alike(own, attribute) for own in product.attributes):
        return True
    texts = (product.title, " ".join(product.bullets), product.description)
    return any(attribute in text.lower() for text in texts)


def _options_met(goal: Goal, chosen: Mapping[str, str]) -> int:
    bought = [_colour(value) for value in chosen.values()]
    options = goal.options.items() if isinstance(goal.options, dict) else goal.options
    return sum(any(_alike(value, str(_colour(option))) for value in bought) for option in options)


def _colour(option: str | tuple[str, str]) -> str | tuple[str, str]:
    """The first colour word in a text (or equal to a part of a pair); the option itself where there is none."""
    return next((name for name in COLOURS if name in option), option)


def _alike(a: str | tuple[str, str], b: str) -> bool:
    try:
        from thefuzz import fuzz
    except ImportError as error:
        raise UserError("WebShop rewards need thefuzz; run `scripts/install benchmarks`") from error
    return bool(fuzz.token_set_ratio(a, b) > ALIKE)
