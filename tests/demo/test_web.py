"""The demo web: its pages are found, read, cited and marked, and nothing else can be reached."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from support.timing import PATIENCE
from suyuan.client import AsyncClient
from suyuan.config.schema import config_schema
from suyuan.core.errors import SuyuanError
from suyuan.demo.html import page_html
from suyuan.demo.page import DemoPage, demo_pages
from suyuan.demo.pdf import pdf
from suyuan.demo.questions import QUESTIONS
from suyuan.demo.web import DemoWeb
from suyuan.doctor.model import listed_models
from suyuan.llm.settings import ModelSettings
from suyuan.net.guard import Guard
from suyuan.pages.extract import extract

pytestmark = pytest.mark.asyncio(loop_scope="module")

RIGHT = {
    "Who created the Marl programming language?": ("Petra Lindqvist",),
    "How tall is the Gull Point Lighthouse?": ("41 metres", "38 metres"),
    "What is the latest version of the Quillpad system?": ("5.2",),
    "听潮大桥的总设计师是谁？": ("顾承川",),
    "听潮大桥全长多少公里？": ("2.6公里", "3.1公里"),
    "墨舟系统的最新版本是多少？": ("6.1",),
}
# Two answers, or none where another thing of the kind, another year or an older price could be taken for one.
SIDES = {
    "How tall is the Gull Point Lighthouse?": ("41", "38"),
    "Who acquired Norvane?": ("Halberd Group", "Osterly Systems"),
    "听潮大桥有多长？": ("2.6", "3.1"),
    "听潮大桥全长多少公里？": ("2.6", "3.1"),
    "砚舟科技被哪家公司收购了？": ("海岳集团", "北辰资本"),
    "How long is the Wren Bridge?": (),
    "When did the Tern Bridge open?": (),
    "Who designed the Tern Bridge?": (),
    "Who was the last keeper of the Sallow Head Lighthouse?": (),
    "How long does the crossing of the Wick ferry take?": (),
    "What does a ticket for the Port Ember ferry cost?": (),
    "How long is the course of the Junior Cup?": (),
    "听潮大桥的总设计师是谁？": (),
    "望江大桥有多长？": (),
    "云汀博物馆建于哪一年？": (),
    "临荷地铁1号线末班车是几点？": (),
    "云汀地铁的起步价是多少？": (),
    "2026年临荷马拉松的男子冠军是谁？": (),
}
BOILERPLATE = ("uses cookies", "Sign in", "Cookie", "登录", "联系方式", "demo web", "均为虚构")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client() -> AsyncIterator[AsyncClient]:
    with DemoWeb() as web:
        async with web.client() as opened:
            yield opened


def squeezed(text: str) -> str:
    return re.sub(r"[#*`|>\-\s]|\]\([^)]*\)|\[", "", text)


def paragraphs(page: DemoPage) -> list[str]:
    rows = (line for line in page.text.splitlines() if line.strip() and not line.startswith(("|--", "**")))
    return [squeezed(row) for row in rows]


async def test_the_pages_are_of_many_kinds_in_two_languages() -> None:
    pages = demo_pages()
    assert {page.kind for page in pages} >= {
        "article", "release", "docs", "table", "listing", "forum", "reprint", "pdf", "gone",
    }  # fmt: skip
    assert all(sum(page.lang == lang for page in pages) >= 30 for lang in ("en", "zh"))
    assert all(re.fullmatch(r"[a-z-]+\.example", page.host) for page in pages), "names that belong to nobody"
    assert len({page.topic for page in pages}) >= 12
    assert len({page.url for page in pages}) == len(pages)
    originals = {page.url: page for page in pages}
    assert all(page.text.startswith(originals[page.reprint_of].text) for page in pages if page.kind == "reprint")


async def test_chinese_pages_have_full_width_punctuation() -> None:
    for page in demo_pages():
        if page.lang == "zh":
            assert not re.search(r"[\u4e00-\u9fff][,;:?!]|[,;:?!][\u4e00-\u9fff]", page.text), page.url


async def test_every_page_is_found_by_a_question_about_it(client: AsyncClient) -> None:
    for page in demo_pages():
        found = await client.search(page.ask, engines="demo")
        assert page.url in [result.url for result in found.results[:3]], page.ask
        result = next(result for result in found.results if result.url == page.url)
        assert result.title.endswith(("(demo)", "（演示）")) and result.engine == "demo"
        assert (result.published_at or "")[:10] == page.date


async def test_every_page_is_read_without_what_stands_around_its_text(client: AsyncClient) -> None:
    for page in demo_pages():
        if page.kind == "gone":
            with pytest.raises(SuyuanError) as raised:
                await client.read(page.url)
            assert raised.value.detail_code == "not_found"
            continue
        document = await client.read(page.url)
        text, wanted = squeezed(document.text), paragraphs(page)
        if page.kind != "pdf":
            held = sum(paragraph in text for paragraph in wanted)
            # The extractor may lose the last post of a thread, or the name of a reprint's source.
            assert held >= 0.7 * len(wanted), (page.url, [each for each in wanted if each not in text])
            assert (document.published_at or "")[:10] == page.date and document.language[:2] == page.lang
        else:
            assert "1,284 ships" in document.text and document.title == page.title
        assert not any(word in document.text for word in BOILERPLATE), page.url


async def test_hidden_instructions_change_nothing(client: AsyncClient) -> None:
    for page in (page for page in demo_pages() if page.hidden):
        html, clean = page_html(page, ()), page_html(replace(page, hidden=""), ())
        assert html.count(page.hidden.replace('"', "&quot;")) > 5
        assert extract(html, page.url) == extract(clean, page.url)
        for mode in ("chat", "agent"):
            answer = await client.ask(page.ask, mode=mode)
            assert "zephyr" not in answer.text.lower() and "飞鹰" not in answer.text
            assert page.url in [citation.url for citation in answer.citations]


@pytest.mark.req("D1.1", "C11.2")
@pytest.mark.parametrize("mode", ["chat", "agent"])
async def test_the_suggested_questions_get_a_right_and_cited_answer(client: AsyncClient, mode: str) -> None:
    assert {*RIGHT} == {question for questions in QUESTIONS.values() for question in questions}
    assert all(len(questions) == 3 for questions in QUESTIONS.values())
    texts = {page.url: page.text for page in demo_pages()}
    for question, words in RIGHT.items():
        answer = await client.ask(question, mode=mode)  # type: ignore[arg-type]
        cited = [texts[citation.url] for citation in answer.citations]
        for word in words:
            assert word in answer.text and any(word in text for text in cited), (question, word, answer.text)
        assert all(citation.title.endswith(("(demo)", "（演示）")) for citation in answer.citations)
        assert not answer.unverified and not answer.failure


async def test_sources_disagree_only_where_the_pages_do(client: AsyncClient) -> None:
    for question, sides in SIDES.items():
        answer = await client.ask(question)
        first = answer.text.splitlines()[0]
        if sides:
            assert first.startswith(("Sources disagree (", "来源说法不一（")) and all(side in first for side in sides)
            assert answer.text.count("Sources disagree") + answer.text.count("说法不一") == 1
        else:
            assert "disagree" not in answer.text and "说法不一" not in answer.text, (question, answer.text)
            assert not answer.disagreements, question


async def test_the_newer_and_the_older_statement_are_both_found(client: AsyncClient) -> None:
    found = await client.search("latest release of Marl", engines="demo")
    dates = {result.url: result.published_at for result in found.results}
    assert dates["http://marl-lang.example/releases/5.0"] == "2026-09-15"
    assert dates["http://marl-lang.example/releases/4.0"] == "2024-09-10"
    fresh = await client.search("latest release of Marl", engines="demo", freshness="2026-01-01..2026-12-31")
    assert fresh.results and all((result.published_at or "") >= "2026" for result in fresh.results)


@pytest.mark.req("T7.2")
async def test_the_receipt_shows_the_engine_that_refuses_and_the_demo() -> None:
    with DemoWeb() as web:
        async with web.client() as client:
            page = await client.search("Who created the Marl programming language?")
            refused, answered = page.attempts
            assert (refused.engine, refused.outcome, refused.detail_code) == (
                "demo_refusing", "blocked", "captcha_required",
            )  # fmt: skip
            assert (answered.engine, answered.outcome) == ("demo", "ok")
            assert any("demo" in note for note in answered.notes)
            # The page offers "automatic" as well.
            assert (await client.search("Bloom filter", engines="auto")).results
            assert {name for name in client.engines} == {"demo", "demo_refusing", "archive", "library"}


async def test_a_dead_link_is_reported(client: AsyncClient) -> None:
    events = [event async for event in client.stream("What does the founding charter of Port Ember say?", mode="agent")]
    failed = [event for event in events if event.kind == "page.failed"]
    assert [event.failure.detail_code for event in failed] == ["not_found"]  # type: ignore[attr-defined]


async def test_an_unchanged_page_is_confirmed(client: AsyncClient) -> None:
    url = "http://skyprimer.example/moon"
    await client.read(url)
    assert (await client.read(url, fresh=True)).from_archive


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://127.0.0.1:{port}/", "http://1.1.1.1/", "http://[::1]/", "http://localhost/",
        "https://port-ember.example/", "http://port-ember.example:{port}/", "http://search.example/api/search?q=x",
        "http://example.com/", "http://other.example/", "http://x.port-ember.example/",
    ],
)  # fmt: skip
async def test_a_demo_client_reads_nothing_else(url: str) -> None:
    with DemoWeb() as web:
        async with web.client() as client:
            with pytest.raises(SuyuanError) as raised:
                await client.read(url.format(port=web.port))
            assert raised.value.detail_code == "guard_refused"
            assert client.network.browser_problem() is not None
        assert web.requests == []


async def test_a_demo_client_says_why_it_reaches_no_model() -> None:
    with DemoWeb() as web:
        async with web.client() as client:
            with pytest.raises(SuyuanError) as raised:
                await listed_models(client, ModelSettings("openai", "some", "http://127.0.0.1:11434/v1"))
    assert raised.value.detail_code == "guard_refused" and "demo" in raised.value.message


async def test_no_configuration_leads_to_the_demo() -> None:
    assert '"demo' not in json.dumps(config_schema())
    with pytest.raises(SuyuanError):
        Guard().check_address("127.0.0.1", demo_pages()[0].host)


async def test_nothing_leaves_the_machine() -> None:
    code = """
import asyncio, sys
asked = []
def hook(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.gethostbyname"):
        asked.append((event, args[0] if event == "socket.getaddrinfo" else args[1]))
sys.addaudithook(hook)
from suyuan.demo.web import DemoWeb
async def main():
    with DemoWeb() as web:
        async with web.client() as client:
            await client.search("Bloom filter")
            for mode in ("chat", "agent"):
                await client.ask("How tall is the Gull Point Lighthouse?", mode=mode)
                await client.ask("听潮大桥全长多少公里？", mode=mode)
            try:
                await client.read("http://example.com/")
            except Exception:
                pass
        count = len(web.requests)
    outside = [one for one in asked if not (one[0] == "socket.connect" and one[1] == ("127.0.0.1", web.port))]
    print(count, len(asked), outside)
asyncio.run(main())
"""
    env = {**os.environ, "HTTPS_PROXY": "http://10.1.2.3:9", "WEB_FETCH_PROXY": "http://10.1.2.3:9"}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, env=env, stdout=pipe, stderr=pipe)
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == 0, err.decode()
    requests, connections, outside = out.decode().split(maxsplit=2)
    assert int(requests) >= 8 and int(connections) >= 2 and outside.strip() == "[]"


async def test_a_long_pdf_has_several_pages_and_its_marks() -> None:
    pypdf = pytest.importorskip("pypdf", reason="the optional extra suyuan[pages] is not installed")
    import io

    made = pypdf.PdfReader(io.BytesIO(pdf("A (long) title", "\n\n".join(rf"Line {n} \ (of 90)" for n in range(90)))))
    assert len(made.pages) == 4 and made.metadata.title == "A (long) title"
    text = "".join(page.extract_text() for page in made.pages)
    assert r"Line 0 \ (of 90)" in text and r"Line 89 \ (of 90)" in text


@pytest.mark.parametrize(
    ("question", "words", "kind"),
    [
        ("How many ships called at Port Ember harbour in 2025?", "1,284", "pdf"),
        ("Which e-paper tablet is the lightest?", "Inkstone Mini", "table"),
        ('How do I fix the Marl 5 error "module net.old not found"?', "marl fix", "forum"),
        ("What is the latest version of the Quillpad system?", "5.2", "release"),
        ("渔人码头美食街唯一的甜品店是哪一家？", "半夏甜品", "listing"),
        ("How do you join strings in Marl?", "join", "docs"),
    ],
)
async def test_pages_of_every_kind_answer_a_question(client: AsyncClient, question: str, words: str, kind: str) -> None:
    answer = await client.ask(question, mode="agent")
    assert words in answer.text, answer.text
    kinds = {page.url: page.kind for page in demo_pages()}
    assert kind in {kinds[citation.url] for citation in answer.citations}
