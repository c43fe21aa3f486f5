"""When no engine can answer: programs get the failure, the chat what was read before, marked and dated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.client import client
from suyuan.chat.events import Answer, Notice, SearchFinished
from suyuan.client import AsyncClient
from suyuan.config.load import load_settings
from suyuan.config.settings import Settings
from suyuan.core.document import Document
from suyuan.core.errors import NetworkError, SuyuanError, WebProviderError
from suyuan.core.query import SearchQuery
from suyuan.core.result import Attempt, SearchPage, SearchResult
from suyuan.core.views import VIEWS
from suyuan.guides.documents import about_product
from suyuan.integrations.providers import WebProvider
from suyuan.tools.langchain import SessionSearchTool
from suyuan.tools.session import SessionSearch

QUESTION = "what is a bloom filter"
TEXT = "A Bloom filter is a space-efficient probabilistic data structure, conceived by Burton Howard Bloom in 1970."
URL = "https://filters.example/bloom"
READ = Document(URL, URL, "Bloom filter", TEXT, "text/html", "2026-01-02T03:04:05+00:00")


def offline(folder: Path) -> Settings:
    """Settings of an installation whose engines are not reachable."""
    environ = {f"{name}_BASE_URL": "http://127.0.0.1:9" for name in ("SEARXNG", "DDG", "BING", "BAIDU")}
    folders = {"HOME": str(folder), "SUYUAN_DATA_DIR": str(folder), "SUYUAN_STATE_DIR": str(folder)}
    return load_settings({**environ, **folders}, folder)


async def ask(opened: AsyncClient, question: str) -> tuple[list[Any], Answer]:
    events = [event async for event in opened.stream(question)]
    assert isinstance(events[-1], Answer)
    return events, events[-1]


@pytest.mark.req("C2.4", "G1.3")
@pytest.mark.parametrize("question", [QUESTION, "how to deploy SearXNG", "溯源怎么部署 SearXNG"])
async def test_programs_get_the_failure(tmp_path: Path, question: str) -> None:
    async with AsyncClient(offline(tmp_path)) as opened:
        assert opened.archive is not None
        await opened.archive.put(READ)
        with pytest.raises(SuyuanError) as caught:
            await opened.search(question)
        assert caught.value.code == "NetworkError" and caught.value.retry_after and len(caught.value.attempts) > 1
    async with WebProvider(offline(tmp_path), engines="auto") as provider:
        with pytest.raises(NetworkError):
            await provider.aexecute("web.search", {"query": question})


@pytest.mark.req("D2.3")
async def test_tools_say_that_the_search_failed(tmp_path: Path) -> None:
    async with AsyncClient(offline(tmp_path)) as opened:
        tool = SessionSearchTool(SessionSearch(opened.search_service), lang="en")
        text = str(await tool.ainvoke({"query": "how to deploy SearXNG"}))
    assert "/guide/" not in text and "Do not pretend" in text


async def test_the_archive_answers_where_the_plan_names_it(tmp_path: Path) -> None:
    async with AsyncClient(offline(tmp_path)) as opened:
        assert opened.archive is not None
        await opened.archive.put(READ)
        for plan in ("ddg_html,archive", "archive", "archive,ddg_html", "ddg_html+archive"):
            page = await opened.search(QUESTION, engines=plan)
            assert [(r.url, r.engine, (r.fetched_at or "")[:10]) for r in page.results] == [
                (URL, "archive", "2026-01-02")
            ]
            assert page.from_archive and page.degraded
            for view in VIEWS.values():
                shown = view(page)
                marks = shown.get("provider_meta", shown)
                assert marks["from_archive"] is True and marks["degraded"] is True
        with pytest.raises(WebProviderError):
            await opened.search("how to deploy SearXNG", engines="ddg_html,archive")


@pytest.mark.req("C6.4")
async def test_the_chat_uses_the_archive_and_says_so_with_the_dates(tmp_path: Path) -> None:
    async with AsyncClient(offline(tmp_path)) as opened:
        assert opened.archive is not None
        await opened.archive.put(READ)
        events, answer = await ask(opened, QUESTION)
    notice = next(event for event in events if isinstance(event, Notice))
    assert notice.level == "warning" and notice.failure.detail_code == "from_archive"
    assert "2026-01-02" in notice.failure.message("en") and "2026-01-02" in notice.failure.message("zh")
    finished = next(event for event in events if isinstance(event, SearchFinished))
    assert finished.engine == "archive" and any(row["code"] == "NetworkError" for row in finished.receipt)
    assert [(source.url, source.fetched_at) for source in answer.sources] == [(URL, READ.fetched_at)]
    assert "1970" in answer.text and not answer.unverified


@pytest.mark.req("C6.4", "C8.1")
async def test_the_guides_answer_questions_about_the_product_only(tmp_path: Path) -> None:
    async with AsyncClient(offline(tmp_path)) as opened:
        events, answer = await ask(opened, "how to deploy SearXNG")
        notice = next(event for event in events if isinstance(event, Notice))
        assert notice.failure.detail_code == "from_guides" and "not on the web" in notice.failure.message("en")
        assert answer.sources[0].engine == "guides" and "/guide/searxng" in answer.sources[0].url
        _, answer = await ask(opened, QUESTION)
        assert answer.sources == () and answer.unverified


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("如何部署 SearXNG?", True), ("怎么连接自己的模型?", True), ("How do I use DeepSeek?", True), ("What is Suyuan?", True),
        ("北京天气", False), ("what is a bloom filter", False), ("docker compose restart policy", False),
        ("which language model is the largest", False), ("量子计算的原理", False),
    ],
)  # fmt: skip
def test_what_a_question_is_about(question: str, about: bool) -> None:
    assert about_product(question) is about


async def test_a_page_of_the_web_is_not_marked() -> None:
    async with client({}) as opened:
        page = await opened.search("x", engines="stub")
    assert not page.degraded and not page.from_archive
    assert all("degraded" not in VIEWS[name](page) for name in ("results", "provider"))
    late = SearchPage(SearchQuery("x"), (SearchResult("T", URL),), (Attempt("a", "ok"), Attempt("b", "late")), 1)
    assert late.degraded and not late.from_archive
