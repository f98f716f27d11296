"""Pages: what each page of the shop holds, and how the two text modes show it.

`text` joins what is visible with " [SEP] "; `text_rich` marks what can be clicked and what was. The order of texts and
the blanks in them are those of the official templates.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from json import dumps
from typing import Literal

from msgspec import Struct

from relaybench.benchmarks.webshop.catalogue import Product

BACK, PREV, NEXT, BUY = "Back to Search", "< Prev", "Next >", "Buy Now"
SUB_PAGES = ("Description", "Features", "Reviews")
ON_PAGE = 10
"""Products on a page of results."""


class Piece(Struct, frozen=True):
    """One visible text. A label is an option's value, a link a product's asin."""

    text: str
    kind: Literal["plain", "button", "label", "link"] = "plain"
    option: str = ""
    """Labels: the option's name."""


class Page(Struct, frozen=True):
    """One page as a browser holds it."""

    pieces: tuple[Piece, ...]
    search_bar: bool = False

    @property
    def clickables(self) -> list[str]:
        """What can be clicked, in lower case: buttons, then products, then options."""
        kinds = ("button", "link", "label")
        return list(dict.fromkeys(p.text.lower() for kind in kinds for p in self.pieces if p.kind == kind))

    def option(self, value: str) -> str | None:
        """The name of the option that a click on `value` sets: the last that has it."""
        names = [p.option for p in self.pieces if p.kind == "label" and p.text == value]
        return names[-1] if names else None

    def links(self, name: str) -> bool:
        """Whether a product's asin is what `name` (in lower case) stands for."""
        return any(p.kind == "link" and p.text.lower() == name for p in self.pieces)

    def text(self) -> str:
        """The plain mode."""
        return " [SEP] ".join(piece.text.strip() for piece in self._visible())

    def rich(self, url: str, visited: Collection[str]) -> str:
        """The rich mode. An option counts as clicked where the address holds it in double quotes."""
        clicked = [p.text for p in self._visible() if p.kind == "label" and f'"{p.text}"' in url]
        said = "".join(f"You have clicked {text}.\n" for text in reversed(clicked))
        return said + "".join(f"{_marked(piece, url, visited)}\n" for piece in self._visible())

    def _visible(self) -> Iterator[Piece]:
        return (piece for piece in self.pieces if piece.text not in ("", "\n"))


def start(instruction: str) -> Page:
    """The page with the search bar."""
    pieces = (Piece("WebShop"), Piece("Instruction: "), Piece(instruction), Piece("Search", "button"))
    return Page(pieces, search_bar=True)


def results(instruction: str, products: Sequence[Product], number: int, total: int) -> Page:
    """Page `number` of what a search found; `products` are those on it."""
    turns = [Piece(PREV, "button")] if number > 1 else []
    found = [piece for p in products for piece in (Piece(p.asin, "link"), Piece(p.title), Piece(p.price_tag))]
    head = Piece(f"Page {number} (Total results: {total})")
    return _page(instruction, Piece(BACK, "button"), head, *turns, Piece(NEXT, "button"), *found)


def item(instruction: str, product: Product) -> Page:
    """A product's own page."""
    options = [
        piece
        for name, values in product.options.items()
        for piece in (Piece(name), *(Piece(value, "label", name) for value in values))
    ]
    about = (Piece(product.title), Piece(f"Price: {product.price_tag}"), Piece("Rating: N.A."))
    buttons = [Piece(name, "button") for name in (*SUB_PAGES, BUY)]
    return _page(instruction, Piece(BACK, "button"), Piece(PREV, "button"), *options, *about, *buttons)


def sub_page(instruction: str, product: Product, name: str) -> Page:
    """Description, Features or Reviews (there are none) of a product."""
    texts = {"Description": [product.description], "Features": [f" {bullet}" for bullet in product.bullets]}
    shown = [Piece(text) for text in texts.get(name, [])]
    return _page(instruction, Piece(BACK, "button"), Piece(PREV, "button"), *shown)


def done(asin: str, options: Mapping[str, str], reward: float) -> Page:
    """The page after a purchase: the official form, with nothing but these three filled in."""
    chosen = dumps(dict(sorted(options.items())))
    for mark in "<>&'":
        chosen = chosen.replace(mark, f"\\u{ord(mark):04x}")
    before = ("Thank you for shopping with us!", "Your code: ", "None", " (Paste it in your MTurk interface.)")
    bought = ("Purchased", "asin", asin, "options", chosen, "attrs", "None", "category", "None", "query", "None")
    target = ("Target", "asin", "options", "attrs", "price upper", "instuction text", "category", "product category")
    score = ("Reward", "Your score (min 0.0, max 1.0)", str(reward), "Reward Details ", "None")
    texts = (*before, *bought, "product category", "None", *target, "query", "Goal ", "None", *score)
    return Page(tuple(map(Piece, texts)))


def _page(instruction: str, *pieces: Piece) -> Page:
    return Page((Piece("Instruction:"), Piece(instruction), *pieces))


def _marked(piece: Piece, url: str, visited: Collection[str]) -> str:
    text = piece.text
    if piece.kind == "button":
        return f"[button] {text} [button_]"
    if piece.kind == "label":
        return f"  [clicked button] {text} [clicked button_]" if f'"{text}"' in url else f"  [button] {text} [button_]"
    if piece.kind == "link":
        return f"\n[clicked button] {text} [clicked button_]" if text in visited else f"\n[button] {text} [button_]"
    return text
