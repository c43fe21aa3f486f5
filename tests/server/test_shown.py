"""What is found on the web cannot pretend, by whatever way it leaves: APIs, exports, the page, the terminal."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from server.screens import QUESTION, Scripted, answered
from server.serving import client, serving, settings_of
from support.chromium import require_chromium
from support.oai import reply as says
from support.oai import serve_model
from support.pretending import HOSTILE
from support.site import Handler, json_reply, serve
from support.talk import openai
from suyuan.client import AsyncClient
from suyuan.core.views import items_view, provider_view, results_view

# Every one of them in every field.
ALL = "".join(f"{one}x" for one in HOSTILE)
SHOWN = set(HOSTILE) - {"\r"}
ROWS = [
    {"title": f"=cmd Python {ALL}", "url": f"https://bank.example@evil.example/1?{ALL}", "content": f"Python 3.14 {ALL}.",
     "publishedDate": "2026-01-02", "engine": "x"},
    {"title": "＝Python 3.14", "url": "https://bаnk.example/2", "content": "@Python 3.14 was released on October 7, 2025.",
     "engine": "x"},
]  # fmt: skip
BODY = {
    "query": "python", "results": ROWS, "unresponsive_engines": [], "suggestions": [f"-python {ALL}"],
    "corrections": [f"python {ALL}"], "answers": [{"answer": f"+1 {ALL}", "url": "https://bank.example@evil.example/3"}],
    "infoboxes": [{"infobox": f"Python {ALL}", "id": "https://bаnk.example/4", "content": ALL,
                   "urls": [{"title": ALL, "url": "https://bank.example@evil.example/5"}],
                   "attributes": [{"label": ALL, "value": ALL}]}],
}  # fmt: skip
HOSTS = {"evil.example", "xn--bnk-6cd.example"}
SAID = (
    f"Python 3.14 was released in 2025 [1]. {ALL} [https://bank.example](https://bank.example@evil.example/6) "
    "and <https://bаnk.example/7>.\n\n| a | b |\n|---|---|\n| =1+1 | -5 |\n"
)


def hostile() -> Handler:
    return lambda seen: json_reply("OK") if seen.path == "/healthz" else json_reply(json.dumps(BODY))


def addresses(value: Any) -> list[str]:
    """Every address in a JSON value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [address for each in value for address in addresses(each)]
    return (
        [value] if isinstance(value, str) and value.startswith(("http:", "https:")) and "/search?" not in value else []
    )


def check(told: Any, *, own: str = "") -> None:
    text = told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)
    assert not set(text) & SHOWN, sorted(map(ascii, set(text) & SHOWN))
    assert "\\u00" not in text and "\\u20" not in text and "bank.example@" not in text and "bаnk" not in text
    if not isinstance(told, str):
        json_text = json.dumps(told)
        assert not any(json.dumps(one)[1:-1] in json_text for one in HOSTILE if one not in "\x00\\")
        found = [each for each in addresses(told) if not each.startswith(own or "x")]
        assert found and {urlsplit(each).hostname for each in found} <= HOSTS, found


WAYS = [
    ("POST", "/api/search", {"query": "python", "engines": "searxng"}),
    ("GET", "/search?q=python&format=json&engines=searxng", None),
    ("POST", "/search", {"query": "python"}),
    ("GET", "/res/v1/web/search?q=python", None),
    ("POST", "/v2/search", {"query": "python"}),
    ("POST", "/openwebui/search", {"query": "python", "count": 3}),
    ("GET", "/search?q=python&format=rss&engines=searxng", None),
    ("GET", "/search?q=python&format=csv&engines=searxng", None),
]


async def test_results_cannot_pretend_in_any_api() -> None:
    async with serve(hostile()) as site:
        settings = settings_of(site.url)
        with serving(settings) as served:
            async with client(served.url) as ask:
                for method, path, body in WAYS:
                    status, told = await ask(method, path, body)
                    assert status == 200, (path, told)
                    check(told, own=served.url)
                table = list(csv.reader(io.StringIO(told)))
        async with AsyncClient(settings) as embedded:
            page = await embedded.search("python", engines="searxng")
    assert len(table) == 6 and {row[0][0] for row in table[1:]} <= {"'", "p"}, table
    assert table[2][2].startswith("'@")
    for view in (items_view, results_view, provider_view):
        check(view(page))
    assert [result.source for result in page.results] == ["evil.example", "xn--bnk-6cd.example"]


async def test_an_answer_cannot_pretend_in_any_export(tmp_path: Path) -> None:
    async with serve(hostile()) as site:
        with serve_model([says(SAID)]) as model:
            settings = settings_of(site.url, data=tmp_path, model=openai(model.url))
            with serving(settings) as served:
                async with client(served.url) as ask:
                    id = await ask.conversation(engine="searxng", search=True)
                    answer = await ask.answer(await ask.ask(id))
                    check(answer["sources"])
                    assert not set(answer["text"]) & SHOWN and not set(answer["markdown"]) & SHOWN
                    for form in ("md", "html", "json", "bib"):
                        _, text = await ask("GET", f"/api/conversations/{id}/export?form={form}")
                        text = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
                        assert not set(text) & SHOWN, form
                        # The text of an answer is what the model wrote; what is linked is not.
                        assert 'href="https://bank' not in text
                        if form == "html":
                            assert "https://bank.example</a> (evil.example)" in text
                    _, page = await ask("GET", f"/c/{id}", Accept="text/html")
                    assert not set(page) & SHOWN and 'href="https://bank' not in page


def test_the_terminal_shows_nothing_that_pretends() -> None:
    program = (
        "import sys\nfrom suyuan.cli.terminal import Terminal\nfrom suyuan.cli.markdown import MarkdownRenderer\n"
        "from rich.console import Console\ntext = sys.stdin.buffer.read().decode('utf-8', 'surrogatepass')\n"
        "out = Terminal(sys.stdout)\nout.line(text); out.text(text)\n"
        "Console(file=sys.stdout, width=100).print(MarkdownRenderer({}, links=False).render(text))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=SAID.encode("utf-8", "surrogatepass"), capture_output=True, check=True, env={"PYTHONUTF8": "1"},
    )  # fmt: skip
    text = done.stdout.decode()
    assert not set(text) & SHOWN and "Python 3.14" in text and "(evil.example)" in text
    assert "https://evil.example/6" in text and "bank.example@evil.example/6" not in text.split("Python 3.14")[-1]


class TestOnThePage:
    """In a real browser."""

    pytestmark = pytest.mark.asyncio(loop_scope="module")

    async def test_what_is_read_is_what_is_opened(self, scripted: Scripted, browser: Any) -> None:
        require_chromium()
        scripted.begin(says(SAID, delay=0.005), results=ROWS)
        page = await scripted.stage.page(browser)
        answer = await answered(page, scripted.stage, QUESTION)
        await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        shown = await page.evaluate("document.body.innerText")
        assert not set(shown) & SHOWN, sorted(map(ascii, set(shown) & SHOWN))
        links = await answer.evaluate(
            "(answer) => [...answer.querySelectorAll('a[href^=http]')].map((each) => [each.href, each.innerText])"
        )
        hosts = {urlsplit(href).netloc for href, _ in links if not href.startswith(scripted.stage.url)}
        assert hosts and hosts <= HOSTS, links
        assert "https://bank.example (evil.example)" in shown and "bаnk" not in shown
        # Titles have a direction of their own, which does not reach what stands beside them.
        isolated = await answer.evaluate(
            "(answer) => [...answer.querySelectorAll('.title')].map((each) => getComputedStyle(each).unicodeBidi)"
        )
        assert isolated and set(isolated) == {"isolate"}
        copied = await page.evaluate(
            "async () => (await import('/static/more.js')).csv(document.querySelector('.table-box table'))"
        )
        assert copied == "a,b\n'=1+1,-5", copied
