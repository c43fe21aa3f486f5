"""The check of relevance: genuine pages that it would lose, and decoys that it recognises (``shared/serp``, ``shared/bench/ir-rgb``).

Genuine: recorded result pages with their query, and the questions of RGB with their documents as results. Decoys: recorded ones,
and the results of each page under the query of every other page of the same set (RGB: twenty others, seeded). Queries are
split by hash, which shows whether the figures hang on a few of them; both halves were in view when the rules were made. Some
exchanged queries are about the same thing, and are rightly not recognised.
"""

from __future__ import annotations

import hashlib
import json
import random
import runpy
from collections.abc import Iterator, Sequence
from pathlib import Path

from suyuan.core.engine import Engine
from suyuan.core.query import SearchQuery
from suyuan.core.result import SearchResult
from suyuan.core.wire import Response
from suyuan.engines import registry
from suyuan.search.relevance import RELEVANT, relevance

from ._report import Target, table

SHARED = Path(__file__).resolve().parents[2] / "shared"
SERP, RGB = SHARED / "serp", SHARED / "bench" / "ir-rgb"
_OTHERS = 20
Page = tuple[str, Sequence[SearchResult]]


def run() -> list[Target]:
    """Print the shares of genuine pages that are kept and of decoys that are recognised."""
    if not (SERP / "MANIFEST.json").is_file() or not RGB.is_dir():
        print("\nrelevance: skipped, the recorded pages are not beside the project")
        return []
    recorded, decoys = list(_recorded("results")), list(_recorded("decoy"))
    rows, targets = [], []
    for name, pages in (("recorded pages", recorded), ("RGB", list(_rgb()))):
        for half, label in ((0, "even"), (1, "odd")):
            own = [(query, results) for query, results in pages if _half(query) == half]
            genuine = _judged(own)
            others = _judged([(query, page) for query, _ in own for page in _exchanged(query, pages)])
            lost, caught = sum(share < RELEVANT for share in genuine), sum(share < RELEVANT for share in others)
            rows.append(
                (
                    f"{name}, {label}",
                    f"{len(genuine)} of {len(own)}",
                    str(lost),
                    f"{min(genuine):.2f}",
                    f"{caught / len(others):.3f} of {len(others)}",
                )
            )
            targets.append(Target(f"relevance, genuine pages lost ({name}, {label})", lost, 0))
    table("relevance", ("", "judged", "lost", "lowest", "exchanged, recognised"), rows)
    caught = sum(share < RELEVANT for share in _judged(decoys))
    print(f"recorded decoys: {caught} of {len(decoys)} recognised")
    return [*targets, Target("relevance, recorded decoys not recognised", len(decoys) - caught, 0)]


def _judged(pages: Sequence[Page]) -> list[float]:
    shares = (relevance(SearchQuery(query), results) for query, results in pages)
    return [share for share in shares if share is not None]


def _exchanged(query: str, pages: Sequence[Page]) -> list[Sequence[SearchResult]]:
    others = [results for other, results in pages if other != query]
    return others if len(others) < 200 else random.Random(query).sample(others, _OTHERS)


def _recorded(kind: str) -> Iterator[Page]:
    names = runpy.run_path(str(SHARED / "score_serp.py"))["NAMES"]
    for entry in json.loads((SERP / "MANIFEST.json").read_text(encoding="utf-8")):
        name = names.get(entry["engine"])
        if entry["kind"] != kind or not entry.get("query") or name not in registry.names():
            continue
        engine = registry.load(name)(None)
        if isinstance(engine, Engine):
            yield entry["query"], engine.parse(Response(200, (SERP / entry["file"]).read_bytes())).results


def _rgb() -> Iterator[Page]:
    for name in ("zh_refine", "zh_int", "zh_fact", "en_fact"):
        for line in (RGB / f"{name}.json").read_text(encoding="utf-8").splitlines():
            data = json.loads(line)
            positive = [text for part in data["positive"] for text in (part if isinstance(part, list) else [part])]
            texts = [*positive, *data["negative"]][:10]
            yield data["query"], [SearchResult("", f"https://{i}.example/", text[:200]) for i, text in enumerate(texts)]


def _half(query: str) -> int:
    return int(hashlib.sha256(query.encode()).hexdigest(), 16) % 2
