"""Merging: our order beside reciprocal ranks, Borda and CombMNZ, on MQ2008-agg, and with the texts of RGB (``shared/bench``).

Protocol: three of a query's input rankings are drawn (seeded by the query), each is cut to its first ten judged documents,
and the merged list is scored by nDCG@10 against all judged documents. "any length" draws from all rankings, "full" from
those with ten. Parameters were chosen on the queries whose SHA-256 is even; the figures are those of the odd ones.
RGB has texts: its documents of a question are ranked by three noisy engines that each know 70 % of them.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from suyuan.core.result import SearchResult
from suyuan.search.fusion import fuse

from ._report import Target, table

BENCH = Path(__file__).resolve().parents[2] / "shared" / "bench"
MQ2008, RGB = BENCH / "ir-mq2008-agg", BENCH / "ir-rgb"
_DRAWS = 10
_NOISE = 1.5
Ranked = Sequence[str]
Merge = Callable[[Sequence[Ranked]], Ranked]


def run() -> list[Target]:
    """Print nDCG@10 of each way to merge."""
    if not MQ2008.is_dir():
        print("\nfusion: skipped, the benchmark data is not beside the project")
        return []
    queries = list(_odd(_mq2008()))
    short = {name: _ndcg_of(merge, queries, 1) for name, merge in MERGES.items()}
    full = {name: _ndcg_of(merge, queries, 10) for name, merge in MERGES.items()}
    rows = [(name, f"{short[name]:.4f}", f"{full[name]:.4f}") for name in sorted(short, key=lambda name: -short[name])]
    table(f"fusion: MQ2008-agg, three engines, {len(queries)} queries", ("nDCG@10", "any length", "full"), rows)
    places, texts = _rgb()
    table(
        "fusion: RGB, three noisy engines",
        ("nDCG@10", ""),
        [("places", f"{places:.4f}"), ("and texts", f"{texts:.4f}")],
    )
    return [
        Target(
            "fusion, nDCG@10 above reciprocal ranks (k = 10)", short["suyuan"] - short["RRF 10"], 0.005, at_least=True
        ),
        Target("fusion, nDCG@10 gained by the texts", texts - places, 0.02, at_least=True),
    ]


# --- ways to merge ------------------------------------------------------------------------------------------------
def _suyuan(lists: Sequence[Ranked]) -> Ranked:
    merged = fuse([[SearchResult("", f"https://{page}.example/") for page in ranked] for ranked in lists])
    return [result.url.removeprefix("https://").removesuffix(".example/") for result in merged]


def _summed(points: Callable[[int], float], votes: float = 0.0) -> Merge:
    """Points by place, times the number of lists to the power of ``votes``."""

    def merge(lists: Sequence[Ranked]) -> Ranked:
        scores: defaultdict[str, float] = defaultdict(float)
        count = Counter(page for ranked in lists for page in ranked)
        for ranked in lists:
            for place, page in enumerate(ranked, 1):
                scores[page] += points(place)
        return sorted(scores, key=lambda page: -scores[page] * count[page] ** votes)

    return merge


def _borda(lists: Sequence[Ranked]) -> Ranked:
    """Borda where the pages that a list lacks share the places behind it."""
    pages = list(dict.fromkeys(page for ranked in lists for page in ranked))
    scores = dict.fromkeys(pages, 0.0)
    for ranked in lists:
        place = {page: at for at, page in enumerate(ranked)}
        for page in pages:
            scores[page] += len(pages) - place[page] if page in place else (len(pages) - len(ranked) + 1) / 2
    return sorted(pages, key=lambda page: -scores[page])


def _reciprocal(k: int) -> Merge:
    return _summed(lambda place: 1 / (k + place))


MERGES: dict[str, Merge] = {
    "suyuan": _suyuan,
    "Borda, shared rest": _borda,
    "Borda": _summed(lambda place: 11 - place),
    "CombMNZ": _summed(lambda place: 11 - place, 1.0),
    **{f"RRF {k}": _reciprocal(k) for k in (0, 2, 10, 60)},
}


# --- MQ2008-agg ---------------------------------------------------------------------------------------------------
def _mq2008() -> dict[str, dict[str, tuple[int, list[int | None]]]]:
    """The judged documents of each query: grade, and place in each of 25 rankings."""
    queries: dict[str, dict[str, tuple[int, list[int | None]]]] = {}
    for file in sorted(MQ2008.glob("*/*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            values, _, about = line.partition("#docid = ")
            grade, query, *places = values.split()
            ranks = [None if place.endswith("NULL") else int(place.partition(":")[2]) for place in places]
            page = about.split()[0].lower()
            queries.setdefault(query, {})[page] = (int(grade), ranks)
    return queries


def _odd(
    queries: Mapping[str, dict[str, tuple[int, list[int | None]]]],
) -> Iterator[tuple[str, dict[str, int], list[list[str]]]]:
    """The queries that were not used for choosing: name, grades, and the rankings cut to ten."""
    for name, documents in sorted(queries.items()):
        grades = {page: grade for page, (grade, _) in documents.items()}
        if not _kept(name) or not any(grades.values()):
            continue
        rankings = []
        for engine in range(25):
            known = sorted(
                (ranks[engine] or 0, page) for page, (_, ranks) in documents.items() if ranks[engine] is not None
            )
            rankings.append([page for _, page in known[:10]])
        yield name, grades, rankings


def _ndcg_of(merge: Merge, queries: Sequence[tuple[str, dict[str, int], list[list[str]]]], least: int) -> float:
    found = []
    for name, grades, rankings in queries:
        usable = [ranked for ranked in rankings if len(ranked) >= least]
        draw = random.Random(name)
        found += [_ndcg(merge(draw.sample(usable, 3)), grades) for _ in range(_DRAWS) if len(usable) >= 3]
    return fmean(found)


# --- RGB ----------------------------------------------------------------------------------------------------------
def _rgb() -> tuple[float, float]:
    """nDCG@10 by the places alone, and with the texts."""
    places: list[float] = []
    texts: list[float] = []
    for query, grades in _questions():
        draw = random.Random(query)
        for _ in range(3):
            lists = [_engine(grades, draw) for _ in range(3)]
            known = {text: grades[text] for ranked in lists for text in ranked}
            if any(known.values()):
                named = {f"https://{at}.example/": text for at, text in enumerate(known)}
                urls = {text: url for url, text in named.items()}
                results = [[SearchResult("", urls[text], text[:300]) for text in ranked] for ranked in lists]
                for found, asked in ((places, ""), (texts, query)):
                    found.append(_ndcg([named[result.url] for result in fuse(results, asked)], known))
    return fmean(places), fmean(texts)


def _questions() -> Iterator[tuple[str, dict[str, int]]]:
    for name in ("zh_refine", "zh_int", "zh_fact", "en_fact"):
        for line in (RGB / f"{name}.json").read_text(encoding="utf-8").splitlines():
            data = json.loads(line)
            positive = [text for part in data["positive"] for text in (part if isinstance(part, list) else [part])]
            grades = {**dict.fromkeys(data["negative"], 0), **dict.fromkeys(positive, 1)}
            if _kept(data["query"]) and len(grades) > 5:
                yield data["query"], grades


def _engine(grades: Mapping[str, int], draw: random.Random) -> list[str]:
    """Ten documents in an order that is better than chance, but not much."""
    known = [text for text in grades if draw.random() < 0.7]
    noise = {text: -math.log(-math.log(draw.random())) for text in known}
    return sorted(known, key=lambda text: -(grades[text] + _NOISE * noise[text]))[:10]


def _kept(name: str) -> bool:
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 2 == 1


def _ndcg(order: Ranked, grades: Mapping[str, int]) -> float:
    gains = [2 ** grades[page] - 1 for page in order[:10]]
    best = sorted((2**grade - 1 for grade in grades.values()), reverse=True)[:10]
    ideal = _discounted(best)
    return _discounted(gains) / ideal if ideal else 0.0


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(at + 2) for at, gain in enumerate(gains))
