"""A shop of three products, in our layout."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from relaybench.benchmarks.webshop.catalogue import ATTRIBUTES, HUMAN, NOUNS, PRODUCTS
from relaybench.benchmarks.webshop.replay import make_session
from relaybench.benchmarks.webshop.session import Session


def product(asin: str, name: str, **other: Any) -> dict[str, Any]:
    return {
        "asin": asin,
        "name": name,
        "full_description": f"All about {name}.",
        "small_description": ["Washable ", "Soft "],
        "pricing": "$12.50",
        "category": "garden",
        "query": "Cushions ",
        "product_category": "Home › Bedding › Cushions",
        "customization_options": "",
        **other,
    }


ITEMS = [
    product(
        "B000000001",
        "Red Wool Cushion",
        customization_options={"Color": [{"value": "Wine/Red "}, {"value": "Teal"}], "Size": [{"value": "Small"}]},
        pricing="$10.00$20.00",
    ),
    product("B000000002", "Blue Cotton Cushion"),
    product("B000000003", "Garden Chair", query="chairs", product_category="Patio › Chairs", pricing=None),
]
KNOWN = {
    "B000000001": {
        "attributes": ["machine washable", "wool"],
        "instruction": "Find me machine washable cushions",
        "instruction_attributes": ["machine washable"],
    },
    "B000000002": {"attributes": ["machine washable"]},
}
WRITTEN = {
    "B000000002": [
        {
            "instruction": "i need a blue cushion.",
            "instruction_attributes": ["cotton"],
            "instruction_options": ["blue"],
        },
        {"instruction": "anything", "instruction_attributes": [], "instruction_options": []},
    ]
}
TITLES = {item["asin"]: item["name"].lower().split() for item in ITEMS}


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("webshop")
    (folder / PRODUCTS).write_bytes(lzma.compress(json.dumps(ITEMS).encode()))
    for name, content in ((ATTRIBUTES, KNOWN), (HUMAN, WRITTEN), (NOUNS, {"nouns": TITLES})):
        (folder / name).write_text(json.dumps(content))
    return folder


@pytest.fixture
def session(data: Path) -> Session:
    for package in ("thefuzz", "nltk", "regex"):
        pytest.importorskip(package, reason=f"no {package}: run `scripts/install benchmarks`")
    return make_session(data)
