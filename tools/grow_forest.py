"""Grow ``src/suyuan/pages/forest.json``, the forest that judges the blocks of a page, on public benchmark pages.

It must be grown again whenever ``features.py`` or ``block_reader.py`` change: the trees name features by their place in the row.
By cross-validation (``--check``, five folds by host) the forest had F1 wcxb .840, aeb .958, daniel zh .949, daniel en .944,
zhwce .940, webmainbench .852. LightGBM is needed here only (``pip install lightgbm``) and is no dependency of the project.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import md5
from importlib import import_module
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from suyuan.pages.block_reader import read_blocks
from suyuan.pages.decode import decode
from suyuan.pages.features import features
from suyuan.pages.main_content import threshold
from suyuan.pages.metadata import read_metadata

FOREST = Path(__file__).resolve().parents[1] / "src" / "suyuan" / "pages" / "forest.json"
FOLDERS = ("extract-wcxb", "extract-aeb", "extract-daniel", "extract-zhwce", "extract-webmainbench-sample")
FOLDS, TREES = 5, 80
_SHAPE = {"learning_rate": 0.14, "num_leaves": 16, "max_depth": 6, "min_data_in_leaf": 60, "lambda_l2": 5}
_CHANCE = {"feature_fraction": 0.5, "bagging_fraction": 0.8, "bagging_freq": 1, "seed": 0}
SETTINGS = {"objective": "cross_entropy", "num_threads": 1, "verbosity": -1, **_SHAPE, **_CHANCE}
_TOKEN = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]|[^\W\u3040-\u9fff\uac00-\ud7af]+")
_SIGNS = re.compile(r"[\W_]+")


class Page(NamedTuple):
    """A page as the forest sees it: its blocks, their features, and how far each belongs to the main content."""

    fold: int
    gold: str
    texts: list[str]
    rows: list[list[float]]
    labels: list[float]


def main() -> None:
    """Grow the forest and write it, or only print how good it is."""
    parser = argparse.ArgumentParser(description="Grow the forest that judges the blocks of a page.")
    parser.add_argument("bench", metavar="BENCH_FOLDER", type=Path, help=f"the folder that holds {', '.join(FOLDERS)}")
    parser.add_argument("--check", action="store_true", help="write nothing, print the cross-validated F1 of every set")
    parser.add_argument(
        "--out", metavar="FILE", type=Path, default=FOREST, help="where to write (default: the forest of the project)"
    )
    arguments = parser.parse_args()
    if missing := [name for name in FOLDERS if not (arguments.bench / name).is_dir()]:
        parser.error(f"{arguments.bench} does not hold {', '.join(missing)}")
    try:
        lightgbm, numpy = import_module("lightgbm"), import_module("numpy")
    except ImportError as error:
        raise SystemExit(f"{error}: the forest is grown with LightGBM, pip install lightgbm") from error
    pages = {name: list(group) for name, group in _sets(arguments.bench).items()}
    if arguments.check:
        _check(lightgbm, numpy, pages)
        return
    trees = _grow(lightgbm, numpy, [page for group in pages.values() for page in group]).dump_model()["tree_info"]
    lines = [json.dumps(_tree(tree["tree_structure"]), separators=(",", ":")) for tree in trees]
    size = arguments.out.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    print(f"{len(lines)} trees, {size} bytes: {arguments.out}")


def _page(group: str, body: bytes, url: str, gold: str) -> Page:
    """A page as the project reads it; pages of one ``group`` (a host, or the page where none is known) are of one fold."""
    tree = LexborHTMLParser(decode(body))
    blocks, found = read_blocks(tree), read_metadata(tree, url)
    texts = [block.text for block in blocks]
    fold = int(md5(group.encode(), usedforsecurity=False).hexdigest(), 16) % FOLDS
    return Page(fold, gold, texts, features(blocks, found.title, found.description), _labels(texts, gold))


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


def _grow(lightgbm: Any, numpy: Any, pages: list[Page]) -> Any:
    """A model of ``pages``."""
    rows = numpy.array([row for page in pages for row in page.rows], dtype=numpy.float32)
    labels = numpy.array([label for page in pages for label in page.labels])
    weights = numpy.array([weight for page in pages for weight in _weights(page)])
    return lightgbm.train(SETTINGS, lightgbm.Dataset(rows, labels, weight=weights), TREES)


def _weights(page: Page) -> list[float]:
    """Long blocks weigh more, and the main content of every page weighs the same unless it is a very small part of it."""
    sizes = [len(text) ** 0.8 + 3 for text in page.texts]
    inside = max(sum(size * label for size, label in zip(sizes, page.labels, strict=True)), sum(sizes) * 0.08)
    return [size / inside for size in sizes]


def _tree(node: dict[str, Any]) -> Any:
    """A tree as ``forest.py`` reads it: feature, threshold, left, right; a leaf is a number."""
    if "leaf_value" in node:
        return round(node["leaf_value"], 4)
    threshold = float(f"{node['threshold']:.5g}") if abs(node["threshold"]) > 1e-9 else 0
    return [node["split_feature"], threshold, _tree(node["left_child"]), _tree(node["right_child"])]


def _check(lightgbm: Any, numpy: Any, pages: dict[str, list[Page]]) -> None:
    """Print the F1 of every set, each page judged by a forest that has not seen its host."""
    everything = [page for group in pages.values() for page in group]
    models = [_grow(lightgbm, numpy, [page for page in everything if page.fold != fold]) for fold in range(FOLDS)]
    for name, group in pages.items():
        pairs = [(_main_text(numpy, models[page.fold], page), page.gold) for page in group]
        print(f"{name:<13} {len(group):>4} pages  F1 {_score(name, pairs):.4f}")


def _main_text(numpy: Any, model: Any, page: Page) -> str:
    """What is kept of the page where ``model`` judges its blocks."""
    if not page.rows:
        return ""
    probabilities = model.predict(numpy.array(page.rows, dtype=numpy.float32)).tolist()
    limit = threshold([len(text) + 1 for text in page.texts], probabilities)
    return "\n".join(text for text, chance in zip(page.texts, probabilities, strict=True) if chance >= limit)


def _score(name: str, pairs: list[tuple[str, str]]) -> float:
    """F1 as the sets ask: the mean over pages, for aeb that of the mean precision and the mean recall."""
    rates = [_rates(_bag(name, text), _bag(name, gold)) for text, gold in pairs]
    if name == "aeb":
        rates = [(fmean(precision for precision, _ in rates), fmean(recall for _, recall in rates))]
    return fmean(2 * precision * recall / (precision + recall or 1) for precision, recall in rates)


def _rates(found: Counter[tuple[str, ...]], gold: Counter[tuple[str, ...]]) -> tuple[float, float]:
    """Precision and recall."""
    common = (found & gold).total()
    return (common / (found.total() or 1), common / gold.total()) if gold else (float(not found), 1.0)


def _bag(name: str, text: str) -> Counter[tuple[str, ...]]:
    """What the sets count: runs of four words for aeb, words for the English ones, pairs of characters for the others."""
    if name == "aeb":
        return _runs(re.findall(r"\w+", text), 4)
    return (
        _runs(re.findall(r"\w+", text.lower()), 1) if name in ("wcxb", "daniel en") else _runs("".join(text.split()), 2)
    )


def _sets(bench: Path) -> dict[str, Iterator[Page]]:
    """The benchmark sets by name; their order is that of growing."""
    wcxb, aeb, daniel, zhwce, webmainbench = (bench / name for name in FOLDERS)
    return {
        "wcxb": _wcxb(wcxb / "dev"),
        "aeb": _aeb(aeb),
        "daniel zh": _daniel(daniel, "Chinese"),
        "daniel en": _daniel(daniel, "English"),
        "zhwce": _zhwce(zhwce),
        "webmainbench": _webmainbench(webmainbench),
    }


def _wcxb(folder: Path) -> Iterator[Page]:
    for path in sorted((folder / "ground-truth").glob("*.json")):
        case = json.loads(path.read_text("utf-8"))
        if "main_content" in case["ground_truth"]:
            url = case.get("url") or "http://example.com/"
            body = gzip.decompress((folder / "html" / f"{path.stem}.html.gz").read_bytes())
            yield _page(urlsplit(url).hostname or path.stem, body, url, case["ground_truth"]["main_content"])


def _aeb(folder: Path) -> Iterator[Page]:
    for name, case in sorted(json.loads((folder / "ground-truth.json").read_text("utf-8")).items()):
        if (path := folder / "html" / f"{name}.html.gz").exists():
            yield _page(
                urlsplit(case["url"]).hostname or name,
                gzip.decompress(path.read_bytes()),
                case["url"],
                case["articleBody"],
            )


def _daniel(folder: Path, language: str) -> Iterator[Page]:
    languages = json.loads((folder / "doc_lg.json").read_text("utf-8"))
    for path in sorted((folder / "html").iterdir()):
        if languages.get(path.name) == language:
            host = path.name.split("_")[1]
            gold = (folder / "reference" / path.name).read_text("utf-8", "replace")
            yield _page(host.lower(), path.read_bytes(), f"http://{host}/", re.sub("</?p>", "\n", gold))


def _zhwce(folder: Path) -> Iterator[Page]:
    for path in sorted((folder / "original").iterdir()):
        if (gold := folder / "cleaned" / f"{path.stem}.txt").exists():
            yield _page(path.stem, path.read_bytes(), "http://example.cn/", gold.read_text("utf-8", "replace"))


def _webmainbench(folder: Path) -> Iterator[Page]:
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_text("utf-8").splitlines()):
            case = json.loads(line)
            gold = case.get("groundtruth_llm_webkit_md") or case["groundtruth_content"]
            yield _page(f"{path.name}:{number}", case["html"].encode(), case.get("url") or "http://example.com/", gold)


if __name__ == "__main__":
    main()
