"""Search in a generated catalogue: start-up, memory, and time a query.

    python scripts/bench_webshop.py --products 100000 --queries QUERIES.jsonl.xz
    python scripts/bench_webshop.py --products 1000 10000 100000

Products are made of the official 1,000: each takes the lengths of a real one, and its words from all of them, with new
made-up words among them as in a larger shop (seeded). Queries are those of a file with a "query" a line, or the
instructions of the goals. One JSON line a size: seconds to make the index, resident MB it holds, median and 95th
percentile of a query in ms, n.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from relaybench.benchmarks.datasets import data_dir
from relaybench.benchmarks.webshop.catalogue import Product, load_products
from relaybench.benchmarks.webshop.goals import Shop
from relaybench.benchmarks.webshop.search import Index, TooManyWords

NEW_WORDS = 0.1
"""Share of words that are made up, of a stock that grows with the catalogue."""


def generate(real: tuple[Product, ...], count: int) -> Iterator[Product]:
    """`count` products of made-up titles, descriptions and first bullets, with the options of real ones."""
    draw = random.Random(0)
    words = [word for product in real for word in f"{product.title} {product.description}".split()]
    stock = [f"{draw.choice(words).lower()}{draw.randrange(10_000)}" for _ in range(max(1000, count // 10))]

    def text(like: str) -> str:
        length = len(like.split())
        mixed = draw.choices(words, k=length)
        return " ".join(draw.choice(stock) if draw.random() < NEW_WORDS else word for word in mixed)

    for number in range(count):
        like = real[draw.randrange(len(real))]
        bullets = (text(like.bullets[0]),) if like.bullets else ()
        yield msgspec.structs.replace(
            like, asin=f"G{number:09d}", title=text(like.title), description=text(like.description), bullets=bullets
        )


def measure(count: int, queries: list[str], real: tuple[Product, ...]) -> dict[str, float | int]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    began = time.process_time()
    products = list(generate(real, count))
    made, generated = time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    began = time.process_time()
    index = Index(products)
    built = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    took = []
    for query in queries:
        began = time.process_time()
        try:
            index.search(query)
        except TooManyWords:
            continue
        took.append((time.process_time() - began) * 1000)
    return {
        "products": count,
        "generate_cpu_s": round(made, 1),
        "index_cpu_s": round(built, 1),
        "products_mb": round(generated - before),
        "index_peak_mb": round(peak - generated),
        "index_mb": round(sum(a.nbytes for a in vars(index).values() if isinstance(a, np.ndarray)) / 1e6),
        "search_median_cpu_ms": round(float(np.median(took)), 3),
        "search_p95_cpu_ms": round(float(np.percentile(took, 95)), 3),
        "queries": len(took),
    }


def read_queries(path: Path | None, folder: Path) -> list[str]:
    if path is None:
        return [goal.instruction for goal in Shop(folder).goals[:500]]
    raw = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    return [row["query"] for row in map(json.loads, raw.splitlines()) if "query" in row]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--products", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--queries", type=Path, help="JSONL (.xz): query; by default 500 goals' instructions")
    parser.add_argument("--data", type=Path, help="folder of the official data (default: what `relaybench data` has)")
    args = parser.parse_args()
    folder = args.data or data_dir("webshop")
    if len(args.products) > 1:  # a process each, so that one's memory is not the next one's
        for count in args.products:
            rest = [f"--{name}={value}" for name, value in (("queries", args.queries), ("data", folder)) if value]
            subprocess.run([sys.executable, __file__, "--products", str(count), *rest], check=True)
        return
    queries = read_queries(args.queries, folder)
    print(json.dumps(measure(args.products[0], queries, load_products(folder))), flush=True)


if __name__ == "__main__":
    main()
