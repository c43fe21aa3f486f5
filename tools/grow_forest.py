"""Grow ``src/suyuan/pages/forest.json``, the forest that judges the blocks of a page, on public benchmark pages.

It must be grown again whenever ``features.py`` or ``block_reader.py`` change: the trees name features by their place in the row.
Only sets whose licence allows it are used (CC BY, MIT, Apache). ``--check`` prints what the forest reaches on pages of hosts that it
has not seen, by set and by kind of page, beside the other extractors that are installed.
LightGBM is needed here only (``pip install lightgbm``) and is no dependency of the project. Run it in the project's folder:
``PYTHONPATH=. python tools/grow_forest.py``.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
from collections import Counter
from collections.abc import Sequence
from hashlib import md5
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from benchmarks.extract import BENCH, Page, contenders, score, sets
from selectolax.lexbor import LexborHTMLParser

from suyuan.pages.block import Block
from suyuan.pages.block_reader import read_blocks
from suyuan.pages.bounded import bounded
from suyuan.pages.decode import decode
from suyuan.pages.features import features
from suyuan.pages.main_content import chosen
from suyuan.pages.metadata import read_metadata

FOREST = Path(__file__).resolve().parents[1] / "src" / "suyuan" / "pages" / "forest.json"
SETS = ("wcxb", "aeb", "zhwce", "webmainbench")
FOLDS, TREES = 5, 80
# Pages that are no articles are few, and differ from each other.
RARE = 1.5
_SHAPE = {"learning_rate": 0.14, "num_leaves": 16, "max_depth": 6, "min_data_in_leaf": 60, "lambda_l2": 5}
_CHANCE = {"feature_fraction": 0.5, "bagging_fraction": 0.8, "bagging_freq": 1, "seed": 0}
SETTINGS = {"objective": "cross_entropy", "num_threads": 1, "verbosity": -1, **_SHAPE, **_CHANCE}
_TOKEN = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]|[^\W\u3040-\u9fff\uac00-\ud7af]+")
_SIGNS = re.compile(r"[\W_]+")


class Case(NamedTuple):
    """A page as the forest sees it: its blocks, their features, and how far each belongs to the main content."""

    page: Page
    fold: int
    blocks: list[Block]
    rows: list[list[float]]
    labels: list[float]
    is_product: bool


def main() -> None:
    """Grow the forest and write it, or only print how good it is."""
    parser = argparse.ArgumentParser(description="Grow the forest that judges the blocks of a page.")
    parser.add_argument("--check", action="store_true", help="write nothing, print the cross-validated F1 of every set")
    parser.add_argument(
        "--out", metavar="FILE", type=Path, default=FOREST, help="where to write (default: the forest of the project)"
    )
    arguments = parser.parse_args()
    if not BENCH.is_dir():
        parser.error(f"there are no benchmark sets in {BENCH}")
    try:
        lightgbm, numpy = import_module("lightgbm"), import_module("numpy")
    except ImportError as error:
        raise SystemExit(f"{error}: the forest is grown with LightGBM, pip install lightgbm") from error
    logging.disable(logging.CRITICAL)
    cases = {name: [_case(page, f"{name}:{number}") for number, page in enumerate(sets()[name])] for name in SETS}
    if arguments.check:
        _check(lightgbm, numpy, cases)
        return
    trees = _grow(lightgbm, numpy, [case for group in cases.values() for case in group]).dump_model()["tree_info"]
    lines = [json.dumps(_tree(tree["tree_structure"]), separators=(",", ":")) for tree in trees]
    size = arguments.out.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    print(f"{len(lines)} trees, {size} bytes: {arguments.out}")


def _case(page: Page, name: str) -> Case:
    """A page as the project reads it; pages of one host, or the page itself where none is known, are of one fold."""
    tree = LexborHTMLParser(bounded(decode(page.body)).html)
    blocks, found = read_blocks(tree), read_metadata(tree, page.url)
    rows = list(features(blocks, found.title, found.description)) if blocks else []
    host = urlsplit(page.url).hostname or ""
    group = name if host in ("", "example.com", "example.cn") else host
    fold = int(md5(group.encode(), usedforsecurity=False).hexdigest(), 16) % FOLDS
    return Case(page, fold, blocks, rows, _labels([block.text for block in blocks], page.gold), found.is_product)


def _labels(texts: list[str], gold: str) -> list[float]:
    """The share of each text's runs of words that stand in ``gold``; a text too short for runs is looked up as a line."""
    gold = gold.lower()
    runs, whole, lines = (
        _runs(_TOKEN.findall(gold), 3),
        _SIGNS.sub("", gold),
        {_SIGNS.sub("", line) for line in gold.splitlines()},
    )
    labels = []
    for text in map(str.lower, texts):
        own, short = _runs(_TOKEN.findall(text), 3), _SIGNS.sub("", text)
        if own.total() > 1:
            labels.append((own & runs).total() / own.total())
        elif short and short in whole:
            labels.append(1.0 if short in lines else 0.6 if len(short) > 8 else 0.3)
        else:
            labels.append(0.0)
    return labels


def _runs(units: Sequence[str], length: int) -> Counter[tuple[str, ...]]:
    """Every run of so many words or characters."""
    return Counter(zip(*(units[start:] for start in range(length)), strict=False))


def _grow(lightgbm: Any, numpy: Any, cases: list[Case]) -> Any:
    """A model of ``cases``."""
    rows = numpy.array([row for case in cases for row in case.rows], dtype=numpy.float32)
    labels = numpy.array([label for case in cases for label in case.labels])
    weights = numpy.array([weight for case in cases for weight in _weights(case)])
    return lightgbm.train(SETTINGS, lightgbm.Dataset(rows, labels, weight=weights), TREES)


def _weights(case: Case) -> list[float]:
    """Long blocks weigh more, and the main content of every page weighs the same unless it is a very small part of it."""
    sizes = [len(block.text) ** 0.8 + 3 for block in case.blocks]
    inside = max(sum(size * label for size, label in zip(sizes, case.labels, strict=True)), sum(sizes) * 0.08)
    share = (1.0 if case.page.kind in ("", "article") else RARE) / (inside or 1.0)
    return [size * share for size in sizes]


def _tree(node: dict[str, Any]) -> Any:
    """A tree as ``forest.py`` reads it: feature, threshold, left, right; a leaf is a number."""
    if "leaf_value" in node:
        return round(node["leaf_value"], 4)
    threshold = float(f"{node['threshold']:.5g}") if abs(node["threshold"]) > 1e-9 else 0
    return [node["split_feature"], threshold, _tree(node["left_child"]), _tree(node["right_child"])]


def _check(lightgbm: Any, numpy: Any, cases: dict[str, list[Case]]) -> None:
    """Print the F1 of every set and kind, each page judged by a forest that has not seen its host."""
    everything = [case for group in cases.values() for case in group]
    models = [_grow(lightgbm, numpy, [case for case in everything if case.fold != fold]) for fold in range(FOLDS)]
    readers = contenders()
    readers["suyuan"] = lambda html, url: ""
    print(f"{'':<28}", *(f"{name:>11}" for name in readers))
    for name, group in cases.items():
        texts = {reader: [_text(read, case.page) for case in group] for reader, read in readers.items()}
        texts["suyuan"] = [_main_text(numpy, models[case.fold], case) for case in group]
        kinds = sorted({case.page.kind for case in group} - {""})
        for kind in ("", *kinds):
            places = [place for place, case in enumerate(group) if kind in ("", case.page.kind)]
            golds = [group[place].page.gold for place in places]
            reached = (score(name, golds, [texts[reader][place] for place in places]) for reader in readers)
            print(f"{name} {kind:<14} {len(places):>4} pages".ljust(28), *(f"{each:>11.3f}" for each in reached))


def _text(read: Any, page: Page) -> str:
    try:
        return str(read(decode(page.body), page.url))
    except Exception:  # noqa: BLE001 - a peer's failure is a result of the comparison
        return ""


def _main_text(numpy: Any, model: Any, case: Case) -> str:
    """What is kept of the page where ``model`` judges its blocks."""
    rows = numpy.array(case.rows, dtype=numpy.float32)
    scores = model.predict(rows, raw_score=True).tolist() if case.rows else []
    kept = chosen(case.blocks, scores, is_product=case.is_product)
    return "\n".join(case.blocks[place].text for place in kept)


if __name__ == "__main__":
    main()
