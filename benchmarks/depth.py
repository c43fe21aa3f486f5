"""Is the answer in what a search returns? Passages (``depth="passages"``) within 1,000 tokens beside the engine's snippets.

The documents of RGB, CMRC 2018 and CLAPNQ (``shared/bench``) become web pages on loopback: each stands among six documents of
other questions, and five pages are found for a question. A snippet has 200 characters: the beginning of the page, or the part of
it that fits the query best, which is more than most engines give. CLAPNQ counts only where all sentences that the answer
needs are there. How the budget is shared was chosen on one half of the questions (by hash); the figures are of the other half.
"""

from __future__ import annotations

import asyncio
import hashlib
import html
import json
import random
import time
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from aiohttp import web

from suyuan.client import AsyncClient
from suyuan.config.settings import PageSettings, SearchSettings, Settings
from suyuan.core.document import Passage
from suyuan.core.engine import EngineSettings
from suyuan.core.result import SearchPage
from suyuan.pages.passages import rank
from suyuan.text.sentences import sentence_ends
from suyuan.text.words import count_tokens

from ._report import Target, table
from .answers import BENCH, Case, _cmrc, clapnq_cases, holds, rgb

BUDGET = 1000
SNIPPET = 200


class Question(NamedTuple):
    """A question, the pages that are found for it (each a list of paragraphs), and what must be in the answer."""

    text: str
    pages: list[list[str]]
    answers: tuple[tuple[str, ...], ...]


def run() -> list[Target]:
    """Print a table of all sets."""
    if not BENCH.exists():
        print("\ndepth: skipped, the benchmark data is not beside the project")
        return []
    rows, found = [], {}
    for name, cases in _sets().items():
        figures = asyncio.run(_measure(_questions(name, cases)))
        found[name] = figures
        rows.append((f"{name} ({figures.questions})", *(f"{value:.3f}" for value in figures[1:4]), f"{figures.tokens:.0f}",
                     f"{figures.milliseconds:.0f}"))  # fmt: skip
    table(
        f"depth: answer contained, five pages of seven documents, {BUDGET} tokens",
        ("set", "passages", "snippet, best part", "snippet, beginning", "tokens", "CPU ms"),
        rows,
    )
    return [Target(f"depth: {name}, answer in {BUDGET} tokens", figures.passages, limit, at_least=True)
            for (name, figures), limit in zip(found.items(), (0.95, 0.95, 0.95, 0.80), strict=True)]  # fmt: skip


class Figures(NamedTuple):
    """What a set came to."""

    questions: int
    passages: float
    best: float
    first: float
    tokens: float
    milliseconds: float


async def _measure(questions: Sequence[Question]) -> Figures:
    pages = {f"/{at}/{n}": page for at, q in enumerate(questions) for n, page in enumerate(q.pages)}
    numbers = {question.text: at for at, question in enumerate(questions)}

    async def answer(request: web.Request) -> web.Response:
        if request.path == "/healthz":
            return web.Response(text="OK")
        if request.path == "/search":
            at = numbers[request.query["q"]]
            rows = [{"url": f"http://{request.host}/{at}/{n}", "title": questions[at].text, "content": page[0][:SNIPPET],
                     "engine": "x"} for n, page in enumerate(questions[at].pages)]  # fmt: skip
            return web.json_response({"query": request.query["q"], "results": rows})
        body = "".join(f"<p>{html.escape(part)}</p>" for part in pages[request.path])
        return web.Response(text=f"<html><body><article>{body}</article></body></html>", content_type="text/html")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    settings = Settings(
        search=SearchSettings(default="searxng", cache_minutes=0.0, seconds=60.0),
        pages=PageSettings(allow_networks=("127.0.0.0/8",)),
        engines={"searxng": EngineSettings(base_url=url, rate_per_minute=0)},
    )
    contained, best, first, tokens, spent = [], [], [], [], []
    async with AsyncClient(settings) as client:
        for question in questions:
            started = time.process_time()
            page = await client.search(question.text, depth="passages", max_tokens=BUDGET)
            spent.append((time.process_time() - started) * 1000)
            text = _text(page)
            tokens.append(count_tokens(text))
            contained.append(holds(text, question.answers))
            best.append(holds("\n".join(_best_part(each, question.text) for each in question.pages), question.answers))
            first.append(holds("\n".join(each[0][:SNIPPET] for each in question.pages), question.answers))
    await runner.cleanup()
    return Figures(len(questions), fmean(contained), fmean(best), fmean(first), fmean(tokens), fmean(spent))


def _text(page: SearchPage) -> str:
    errors = [result.reading.error for result in page.results if result.reading and result.reading.error]
    assert not errors, errors[0]
    return "\n".join(p.text for result in page.results if result.reading for p in result.reading.passages)


def _best_part(page: Sequence[str], query: str) -> str:
    """The sentences of a page that fit the query best, as far as a snippet has room."""
    text = "\n".join(page)
    sentences = [Passage(str(a), a, b, text[a:b].strip()) for a, b in pairwise([0, *sentence_ends(text)])]
    return " ".join(passage.text for _, passage in rank(sentences, query))[:SNIPPET]


def _sets() -> dict[str, list[Case]]:
    clapnq = []
    for case in clapnq_cases("answerable"):
        needed = dict.fromkeys(text for output in case["output"] for text in output["selected_sentences"])
        passage = case["passages"][0]
        clapnq.append(Case(case["input"], ((passage["title"], passage["text"]),), tuple((text,) for text in needed)))
    return {
        "rgb zh, noise .4": list(rgb("zh_refine", 0.4)),
        "rgb en facts, noise .4": list(rgb("en_fact", 0.4)),
        "cmrc": list(_cmrc()),
        "clapnq": clapnq,
    }


def _questions(name: str, cases: Sequence[Case]) -> list[Question]:
    """The questions of the half that was not looked at, with their pages."""
    pool = list(dict.fromkeys(text for case in cases for _, text in case.documents))
    made = []
    for case in {case.question: case for case in cases}.values():
        if not case.question.strip() or hashlib.sha256(case.question.encode()).digest()[-1] % 2 == 0:
            continue
        draw = random.Random(f"{name} {case.question}")
        own = [text for _, text in case.documents]
        own += draw.sample([text for text in pool if text not in own], 5 - len(own))
        draw.shuffle(own)
        pages = []
        for text in own:
            parts = [text, *draw.sample([other for other in pool if other not in own], 6)]
            draw.shuffle(parts)
            pages.append(parts)
        made.append(Question(" ".join(case.question.split()), pages, case.answers))
    return made


if __name__ == "__main__":
    print(json.dumps([target.row() for target in run()], indent=1, ensure_ascii=False))
