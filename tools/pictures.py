"""Make the pictures of the documentation: ``PYTHONPATH=tests python tools/pictures.py [SKETCH.png]``.

The pages, their hosts and the answer are written here, so that the pictures show every state of a citation and need no
network. With the picture of a sketch, both are put side by side. A font for Chinese has to be installed.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from server.screens import DESKTOP, PHONE, chromium, finished, put_question, still
from support.oai import EngineReply, Step, reply, serve_model
from suyuan.client import AsyncClient
from suyuan.config.settings import SearchSettings, ServerSettings
from suyuan.demo.engine import ENGINES, Demo
from suyuan.demo.network import DemoNetwork
from suyuan.demo.site import SEARCH_HOST, SiteResponse
from suyuan.demo.web import DemoWeb
from suyuan.llm.settings import ModelSettings
from suyuan.server.app import create_app
from suyuan.server.listen import make_server
from suyuan.server.sockets import listen

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
QUESTIONS = {"en": "Explain the Bloom filter", "zh": "布隆过滤器是什么？"}

PAGES = {
    "en": {
        "http://encyclopedia.example/bloom-filter": (
            "Bloom filter",
            "2026-03-14",
            "A Bloom filter is a space-efficient probabilistic data structure. It was conceived by Burton Howard Bloom in "
            "1970. Fewer than 10 bits per element are needed for a 1% false positive probability. False positives are "
            "possible, but false negatives are not.",
        ),
        "http://science-notes.example/bloom": (
            "Bloom Filter – Science Notes",
            "2025-11-02",
            "A Bloom filter tells us that the element either definitely is not in the set or may be in the set. Elements "
            "cannot be removed from a Bloom filter.",
        ),
        "http://filters-by-example.example/": (
            "Bloom Filters by Example",
            "2024-06-30",
            "The false positive rate depends on the number of bits and of hash functions. The best number of hash "
            "functions is the number of bits per element times the natural logarithm of two.",
        ),
        "http://papers.example/cuckoo-filter": (
            "Cuckoo Filter: Practically Better Than Bloom",
            "2014-12-02",
            "A cuckoo filter supports deletion of elements. It needs about 12 bits per element at the same rate of false "
            "positives.",
        ),
    },
    "zh": {
        "http://baike.example/bulong": (
            "布隆过滤器",
            "2026-02-20",
            "布隆过滤器是一种节省空间的概率型数据结构，由伯顿·霍华德·布隆于1970年提出。误判率为1%时，每个元素不到10个比特。",
        ),
        "http://suanfa-biji.example/bloom": (
            "布隆过滤器 – 算法笔记",
            "2025-09-08",
            "布隆过滤器回答一个元素一定不在集合中，或者可能在集合中。普通的布隆过滤器不能删除元素。",
        ),
        "http://lunwen.example/cuckoo": (
            "布谷鸟过滤器：比布隆过滤器更实用",
            "2014-12-02",
            "布谷鸟过滤器支持删除元素，在同样的误判率下每个元素约需12个比特。",
        ),
    },
}
ANSWERS = {
    "en": """## What a Bloom filter is

A **Bloom filter** is a space-efficient probabilistic data structure, conceived by Burton Howard Bloom in 1970[1]. It tells \
us that the element either *definitely is not* in the set or *may be* in the set[2]. It was first used in spell checkers[2].

## How it compares

| Property | Bloom filter | Cuckoo filter |
|---|---|---|
| Deletion | cannot be removed[2] | supports deletion of elements[4] |
| False negatives | are not possible[1] | no |
| Space at 1 % | fewer than 10 bits per element[1] | about 12 bits per element[4] |

The false positive rate is $p \\approx (1 - e^{-kn/m})^k$, and the best number of hash functions[3] is

$$k = \\frac{m}{n} \\ln 2$$

```python
import hashlib

class Bloom:
    def __init__(self, bits: int, hashes: int) -> None:
        self.bits, self.hashes = bytearray(bits // 8 + 1), hashes
```
""",
    "zh": """## 布隆过滤器是什么

**布隆过滤器**是一种节省空间的概率型数据结构，由伯顿·霍华德·布隆于1970年提出[1]。它回答一个元素*一定不在*集合中，或者*可能在*集合中[2]。\
它最早用于拼写检查[2]。

## 比较

| 性质 | 布隆过滤器 | 布谷鸟过滤器 |
|---|---|---|
| 删除 | 普通的布隆过滤器不能删除元素[2] | 支持删除元素[3] |
| 误判率为1%时 | 每个元素不到10个比特[1] | 每个元素约需12个比特[3] |

最佳的哈希函数个数是

$$k = \\frac{m}{n} \\ln 2$$
""",
}


class Site:
    """The hosts of the pictures, and the engine that finds their pages."""

    pages = {url: page for some in PAGES.values() for url, page in some.items()}
    hosts = frozenset(url.split("/")[2] for url in pages)

    def answer(self, host: str, path: str, params: Mapping[str, str]) -> SiteResponse:
        """Answer a request."""
        if host == SEARCH_HOST:
            own = PAGES["en" if params.get("q", "").isascii() else "zh"]
            rows = [
                {"title": title, "url": url, "snippet": text.split(". ")[0], "date": date}
                for url, (title, date, text) in own.items()
            ]
            return SiteResponse(json.dumps({"results": rows}).encode(), "application/json")
        found = self.pages.get(f"http://{host}{path}")
        if found is None:
            return SiteResponse(b"", "text/plain", 404)
        title, date, text = found
        body = f"<html><head><title>{title}</title><meta name='date' content='{date}'></head><body><article><h1>{title}</h1><p>{text}</p></article></body></html>"
        return SiteResponse(body.encode())

    def close(self) -> None:
        """Nothing is open."""


@contextmanager
def served() -> Iterator[str]:
    """The product on that web, with a model that gives the answers above."""

    def model(seen: EngineReply) -> Step:
        return reply(ANSWERS["en" if QUESTIONS["en"] in seen.text else "zh"])

    with serve_model([model]) as server, DemoWeb() as web:
        web.site = Site()  # type: ignore[assignment]
        sock = listen("127.0.0.1", 0)
        origin = ServerSettings(port=sock.getsockname()[1])
        settings = replace(web.settings(origin), demo=False, search=SearchSettings())
        settings = replace(settings, model=ModelSettings("openai", "qwen3-32b", server.url))
        network = DemoNetwork(Site.hosts, frozenset({SEARCH_HOST}), web.port)
        client = AsyncClient(settings, network=network, engines={Demo.name: ENGINES[Demo.name]})
        started = threading.Event()
        running = make_server(create_app(client, origin=origin), started.set)
        thread = threading.Thread(target=running.run, args=([sock],))
        thread.start()
        started.wait()
        yield origin.url
        running.should_exit = True
        thread.join()


async def picture(browser: Any, url: str, name: str, lang: str, **options: Any) -> None:
    """Ask, point at a citation, and keep what is seen."""
    context = await browser.new_context(locale={"en": "en-US", "zh": "zh-CN"}[lang], **options)
    page = await context.new_page()
    await page.goto(f"{url}/?search=on")
    await page.locator("html[data-ready]").wait_for()
    await page.locator(".switch[data-state=on]").wait_for()
    await put_question(page, QUESTIONS[lang])
    answer = await finished(page)
    if not options.get("is_mobile"):
        await answer.locator(".md .cite").nth(1).hover()
        await page.locator(".source.hot blockquote").wait_for()
    await still(page)
    await page.screenshot(path=IMAGES / f"page-{name}.png")
    await context.close()


async def beside(browser: Any, sketch: Path) -> None:
    """Put the page and the sketch side by side."""
    shown = [
        (title, b64encode(file.read_bytes()).decode())
        for title, file in (("the page", IMAGES / "page-light.png"), ("the sketch", sketch))
    ]
    figures = "".join(
        f"<figure><figcaption>{title}</figcaption><img src='data:image/png;base64,{data}'></figure>"
        for title, data in shown
    )
    style = (
        "body{display:flex;gap:16px;margin:16px;font:18px system-ui;background:#fff}figure{margin:0}img{width:960px}"
    )
    page = await browser.new_page(viewport={"width": 1968, "height": 668})
    await page.set_content(f"<style>{style}</style>{figures}")
    await page.screenshot(path=IMAGES / "page-and-sketch.png")


async def main(sketch: Path | None) -> None:
    """Make all pictures."""
    IMAGES.mkdir(exist_ok=True)
    with served() as url:
        async with chromium() as browser:
            await picture(browser, url, "light", "en", viewport=DESKTOP)
            await picture(browser, url, "dark", "en", viewport=DESKTOP, color_scheme="dark")
            await picture(browser, url, "zh", "zh", viewport=DESKTOP)
            phone = {"viewport": PHONE, "is_mobile": True, "has_touch": True, "device_scale_factor": 2}
            await picture(browser, url, "phone", "en", **phone)
            if sketch:
                await beside(browser, sketch)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if sys.argv[1:] else None))
