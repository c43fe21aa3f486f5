"""Reading pages: our extraction beside trafilatura, resiliparse and readability on the sets of ``shared/bench``, interleaved.

The shipped forest was grown on these very pages, except daniel, so the F1 printed here flatters it. By cross-validation (five folds
by host, ``tools/grow_forest.py --check``) it reaches wcxb .871, aeb .957, zhwce .929, webmainbench .935.
"""

from __future__ import annotations

import gzip
import json
import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from importlib import import_module
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import Any, NamedTuple

from suyuan.pages.decode import decode
from suyuan.pages.extract import extract

from ._report import Target, table

BENCH = Path(__file__).resolve().parents[2] / "shared" / "bench"
_TIMED = ("wcxb", "aeb")
"""The sets whose CPU time has a target."""
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\([^()\s]*\)")
_SIGNS = re.compile(r"^[|\s:-]+$|^\s*(?:#{1,6} |[-*] |\d+\. |> ?|: )|`{3,}\w*|[|`]|\*\*", re.M)


class Page(NamedTuple):
    """A page, where it stands, what its main content is, and the kind of page where the set tells it."""

    body: bytes
    url: str
    gold: str
    kind: str = ""


def run() -> list[Target]:
    """Print quality and CPU time per set, and the leaks of hidden text."""
    if not BENCH.exists():
        print("\nextract: skipped, the benchmark data is not beside the project")
        return []
    logging.disable(logging.CRITICAL)
    readers = contenders()
    quality, cost, targets = [], [], []
    for name, pages in sets().items():
        texts, times = measured(pages, readers)
        # Only ours are Markdown; the words are what is compared.
        texts["suyuan"] = [plain(text) for text in texts["suyuan"]]
        golds = [page.gold for page in pages]
        quality.append((f"{name} ({len(pages)})", *(f"{score(name, golds, texts[reader]):.3f}" for reader in readers)))
        cost.append((name, *(_spread(times[reader]) for reader in readers)))
        if name in _TIMED and "trafilatura" in readers:
            share = fmean(times["suyuan"]) / fmean(times["trafilatura"])
            targets.append(Target(f"CPU a page of {name}, mean, against trafilatura", share, 1.0))
    table("F1", ("set", *readers), quality)
    table("CPU ms a page: median / mean / p95", ("set", *readers), cost)
    through = leaks()
    print(f"\nhidden text that got through: {through} of 200 pages")
    return [*targets, Target("hidden texts of the public set that get through", through, 0)]


def contenders() -> dict[str, Callable[[str, str], str]]:
    """Ours and every peer that is installed, as functions of page and address."""
    found: dict[str, Callable[[str, str], str]] = {"suyuan": lambda html, url: extract(html, url).text}
    for name, module, reader in (
        ("trafilatura", "trafilatura", _trafilatura),
        ("resiliparse", "resiliparse.extract.html2text", _resiliparse),
        ("readability", "readability", _readability),
    ):
        try:
            found[name] = reader(import_module(module))
        except ImportError:
            print(f"{name} is not installed")
    return found


def _trafilatura(module: Any) -> Callable[[str, str], str]:
    return lambda html, url: module.extract(html) or ""


def _resiliparse(module: Any) -> Callable[[str, str], str]:
    return lambda html, url: str(module.extract_plain_text(html, main_content=True, preserve_formatting=False))


def _readability(module: Any) -> Callable[[str, str], str]:
    lxml_html = import_module("lxml.html")
    return lambda html, url: str(lxml_html.fromstring(module.Document(html).summary(html_partial=True)).text_content())


def measured(
    pages: list[Page], readers: dict[str, Callable[[str, str], str]]
) -> tuple[dict[str, list[str]], dict[str, list[float]]]:
    """Every reader on every page, in turn on the same page; what a reader cannot read is an empty text."""
    texts: dict[str, list[str]] = {name: [] for name in readers}
    times: dict[str, list[float]] = {name: [] for name in readers}
    for page in pages:
        html = decode(page.body)
        for name, read in readers.items():
            started = time.process_time()
            try:
                text = read(html, page.url)
            except Exception:  # noqa: BLE001 - a peer's failure is a result of the comparison
                text = ""
            times[name].append((time.process_time() - started) * 1000)
            texts[name].append(text)
    return texts, times


def plain(markdown: str) -> str:
    """The words of a Markdown text, without addresses and signs."""
    return _SIGNS.sub("", _LINK.sub(r"\1", markdown).replace("\\|", "|"))


def sets() -> dict[str, list[Page]]:
    """The sets by name."""
    return {
        "wcxb": list(_wcxb()),
        "aeb": list(_aeb()),
        "daniel zh": list(_daniel("zh", "chinese")),
        "daniel en": list(_daniel("en", "english")),
        "zhwce": list(_zhwce()),
        "webmainbench": list(_webmainbench()),
    }


def score(name: str, golds: list[str], texts: list[str]) -> float:
    """F1 as the set's README asks: 4-gram shingles for aeb, words for English sets, character bigrams for the others."""
    pairs = list(zip(golds, texts, strict=True))
    if name == "aeb":
        rates = [_rates(_shingles(text), _shingles(gold)) for gold, text in pairs]
        return _harmonic(fmean(p for p, _ in rates), fmean(r for _, r in rates))
    bag = _words if name in ("wcxb", "daniel en") else _bigrams
    return fmean(_harmonic(*_rates(bag(text), bag(gold))) for gold, text in pairs)


def leaks() -> int:
    """How many of the pages with hidden text let it through."""
    with gzip.open(BENCH / "sec-prompt-injection" / "hidden-cases.jsonl.gz", "rt", encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    return sum(case["injected"] in extract(case["html"], "https://example.org/").text for case in cases)


def _rates(found: Counter[Hashable], gold: Counter[Hashable]) -> tuple[float, float]:
    common = (found & gold).total()
    if not gold:
        return float(not found), 1.0
    return common / (found.total() or 1), common / gold.total()


def _harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _words(text: str) -> Counter[Hashable]:
    return Counter(re.findall(r"\w+", text.lower()))


def _bigrams(text: str) -> Counter[Hashable]:
    text = "".join(text.split())
    return Counter(zip(text, text[1:], strict=False))


def _shingles(text: str) -> Counter[Hashable]:
    words = re.findall(r"\w+", text)
    return Counter(tuple(words[start : start + 4]) for start in range(max(1, len(words) - 3))) if words else Counter()


def _spread(times: list[float]) -> str:
    return f"{median(times):.1f} / {fmean(times):.1f} / {quantiles(times, n=20)[-1]:.0f}"


def _wcxb() -> Iterator[Page]:
    for path in sorted((BENCH / "extract-wcxb" / "dev" / "ground-truth").glob("*.json")):
        case: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if "main_content" in case["ground_truth"]:
            body = gzip.decompress((path.parents[1] / "html" / f"{path.stem}.html.gz").read_bytes())
            kind = case["_internal"]["page_type"]["primary"]
            yield Page(body, case.get("url", ""), case["ground_truth"]["main_content"], kind)


def _aeb() -> Iterator[Page]:
    folder = BENCH / "extract-aeb"
    for name, case in json.loads((folder / "ground-truth.json").read_text("utf-8")).items():
        if (path := folder / "html" / f"{name}.html.gz").exists():
            yield Page(gzip.decompress(path.read_bytes()), case["url"], case["articleBody"])


def _daniel(*names: str) -> Iterator[Page]:
    folder = BENCH / "extract-daniel"
    languages = json.loads((folder / "doc_lg.json").read_text("utf-8"))
    for path in sorted((folder / "html").iterdir()):
        if languages.get(path.name, "").lower() in names:
            gold = (folder / "reference" / path.name).read_text("utf-8", "replace")
            yield Page(path.read_bytes(), f"http://{path.name.split('_')[1]}/", re.sub("</?p>", "\n", gold))


def _zhwce() -> Iterator[Page]:
    for path in sorted((BENCH / "extract-zhwce" / "original").iterdir()):
        if (gold := path.parents[1] / "cleaned" / f"{path.stem}.txt").exists():
            yield Page(path.read_bytes(), "http://example.cn/", gold.read_text("utf-8", "replace"))


def _webmainbench() -> Iterator[Page]:
    for path in sorted((BENCH / "extract-webmainbench-sample").glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            case = json.loads(line)
            gold = case.get("groundtruth_llm_webkit_md") or case.get("groundtruth_content") or case.get("content")
            yield Page(case["html"].encode(), case.get("url") or "http://example.com/", plain(gold))


if __name__ == "__main__":
    run()
