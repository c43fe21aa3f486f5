"""Firecrawl's API, asked by its own client and by LangChain's loader."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")
pytest.importorskip("firecrawl", reason="the client is part of the dev extra")

import requests
from firecrawl import Firecrawl
from firecrawl.v2.utils.error_handler import (
    BadRequestError,
    FirecrawlError,
    InternalServerError,
    RequestTimeoutError,
    UnauthorizedError,
    WebsiteNotSupportedError,
)

from server.compat_server import QUESTION, TOKEN, Compat, compat_server, site_server, small_site
from support.timing import PATIENCE
from suyuan.pages.crawl import CrawlLimits
from suyuan.server.compat.crawls import Crawls

AUTH = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def server() -> Iterator[Compat]:
    with compat_server() as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Compat) -> Firecrawl:
    return Firecrawl(api_key=TOKEN, api_url=server.url)


class TestScrape:
    def test_formats(self, server: Compat, client: Firecrawl) -> None:
        page = client.scrape(f"{server.site.url}/docs/mill?x=1")
        assert page.markdown.startswith("# Mill of Arvika") and page.html is None
        assert page.metadata.title == "Mill of Arvika" and page.metadata.status_code == 200
        assert page.metadata.source_url == f"{server.site.url}/docs/mill?x=1"
        page = client.scrape(server.site.url, formats=["markdown", "html", "rawHtml", "links"])
        assert "<h1>" in page.html and "<article>" in page.raw_html
        assert f"{server.site.url}/docs/harbour" in page.links and "https://elsewhere.example/" in page.links

    def test_what_is_not_honoured_is_said(self, server: Compat) -> None:
        body: dict[str, Any] = {
            "url": f"{server.site.url}/docs/mill?x=1",
            "formats": ["markdown", {"type": "screenshot"}],
            "mobile": True,
        }
        found = requests.post(f"{server.url}/v2/scrape", json=body, headers=AUTH, timeout=30).json()
        assert found["success"] and found["suyuan"]["not_honoured"] == ["formats=screenshot", "mobile"]
        assert "screenshot" in found["warning"] == found["data"]["warning"], "its client keeps the data only"

    def test_time_is_kept(self, server: Compat, client: Firecrawl) -> None:
        server.slow.clear()
        try:
            with pytest.raises(RequestTimeoutError) as caught:
                client.scrape(f"{server.site.url}/slow", timeout=1000)
            assert caught.value.code == "READ_LATE"
        finally:
            server.slow.set()

    @pytest.mark.parametrize(
        ("url", "kind", "code"),
        [("{site}/gone", InternalServerError, "NOT_FOUND"), ("http://10.0.0.1/", WebsiteNotSupportedError, "GUARD_REFUSED"),
         ("nonsense://x", BadRequestError, "BAD_URL")],
    )  # fmt: skip
    def test_failures(self, server: Compat, client: Firecrawl, url: str, kind: type[FirecrawlError], code: str) -> None:
        with pytest.raises(kind) as caught:
            client.scrape(url.format(site=server.site.url))
        assert caught.value.code == code and caught.value.response is not None
        assert caught.value.response.json()["details"]["hint"] in str(caught.value)

    def test_a_wrong_key(self, server: Compat) -> None:
        with pytest.raises(UnauthorizedError, match="token"):
            Firecrawl(api_key="fc-wrong", api_url=server.url).scrape(server.site.url)


class TestSearch:
    def test_results(self, client: Firecrawl) -> None:
        found = client.search(QUESTION, limit=2)
        assert [each.title for each in found.web] == ["Harbour of Arvika", "When the harbour was built"]
        assert found.web[0].description.startswith("The harbour") and found.warning is None

    def test_with_pages(self, client: Firecrawl) -> None:
        found = client.search(QUESTION, scrape_options={"formats": ["markdown"]})
        assert "1811" in found.web[0].markdown and found.web[0].metadata.source_url.endswith("/docs/harbour")
        assert found.web[1].markdown is None and "no longer exists" in found.web[1].metadata.error

    def test_news_and_time(self, server: Compat, client: Firecrawl) -> None:
        found = client.search("many harbours in the news", sources=["news", "images"], tbs="qdr:w", limit=50)
        assert found.web is None and len(found.news) == 30 and "images" in found.warning and "limit" in found.warning
        asked = next(seen for seen in server.site.seen if "in the news" in seen.params.get("q", ""))
        assert asked.params["time_range"] == "week"

    def test_a_failed_search(self, client: Firecrawl) -> None:
        with pytest.raises(InternalServerError, match="SearXNG|searxng"):
            client.search("broken engine")

    def test_one_source_that_fails_does_not_take_the_others_with_it(self, client: Firecrawl) -> None:
        # There is no engine for research here.
        found = client.search(QUESTION, sources=["web", "news"], categories=["research"])
        assert found.news and found.web is None and "sources=web" in found.warning


class TestSite:
    def test_map(self, server: Compat, client: Firecrawl) -> None:
        links = [each.url.removeprefix(server.site.url) for each in client.map(server.site.url, search="crane").links]
        assert links[0] == "/docs/crane" and {"/", "/docs/harbour", "/docs/hidden", "/docs/mill"} <= set(links)
        only = client.map(server.site.url, sitemap="only")
        assert {each.url.removeprefix(server.site.url) for each in only.links} == {"/", "/docs/harbour", "/docs/hidden"}

    def test_a_map_counts_among_the_crawls(self, server: Compat, client: Firecrawl) -> None:
        server.slow.clear()
        started = [client.start_crawl(f"{server.site.url}/slow", sitemap="skip").id for _ in range(4)]
        try:
            full = requests.post(f"{server.url}/v2/map", json={"url": server.site.url}, headers=AUTH, timeout=30)
            assert (full.status_code, full.json()["code"]) == (429, "TOO_MANY_CRAWLS")
        finally:
            for id in started:
                client.cancel_crawl(id)
            server.slow.set()

    def test_crawl(self, server: Compat, client: Firecrawl) -> None:
        started = client.start_crawl(
            server.site.url, exclude_paths=["hidden"], scrape_options={"formats": ["markdown", "links"]}
        )
        job = self._wait(client, started.id)
        pages = {page.metadata.source_url.removeprefix(server.site.url): page.markdown for page in job.data}
        assert (
            set(pages) == {"/", "/docs/harbour", "/docs/mill?x=1", "/docs/crane"} and "1811" in pages["/docs/harbour"]
        )
        assert job.status == "completed" and job.completed == 4 and job.expires_at
        failed = client.get_crawl_errors(started.id)
        assert [each.url for each in failed.errors] == [f"{server.site.url}/gone"]
        assert failed.robots_blocked == [f"{server.site.url}/private/diary"]
        assert client.cancel_crawl(started.id) is False, "it has ended"
        with pytest.raises(FirecrawlError, match="no crawl"):
            client.get_crawl_status("nonesuch")

    def _wait(self, client: Firecrawl, id: str) -> Any:
        for _ in range(3000):
            job = client.get_crawl_status(id)
            if job.status != "scraping":
                return job
        raise AssertionError("the crawl does not end")

    def test_a_crawl_can_be_cancelled_and_goes_on(self, server: Compat, client: Firecrawl) -> None:
        server.slow.clear()
        try:
            started = client.start_crawl(f"{server.site.url}/slow", sitemap="skip", crawl_entire_domain=True)
            assert [each.id for each in client.get_active_crawls().crawls] == [started.id]
            assert client.cancel_crawl(started.id) is True
            assert client.get_crawl_status(started.id).status == "cancelled"
        finally:
            server.slow.set()
        again = requests.get(f"{server.url}/v2/crawl/{started.id}?resume=true", headers=AUTH, timeout=30).json()
        assert again["success"]
        job = self._wait(client, started.id)
        assert job.status == "completed" and "slowly" in job.data[0].markdown


def test_a_crawl_goes_on_when_the_server_is_started_again(tmp_path: Path) -> None:
    with small_site() as (site, slow):
        with site_server(site, tmp_path) as first:
            client = Firecrawl(api_key=TOKEN, api_url=first.url)
            # The third page does not come: the first two are read when the server stops.
            started = client.start_crawl(
                f"{site.url}/begin", sitemap="skip", crawl_entire_domain=True, max_discovery_depth=1
            )
            _until(lambda: client.get_crawl_status(started.id).completed == 2)
            # Another worker of the same server sees it, and leaves it alone.
            other = Crawls(first.app.state.client)
            seen = asyncio.run_coroutine_threadsafe(other.get(started.id), first.loop).result(PATIENCE)
            assert seen.elsewhere and seen.status == "scraping" and not other.running()
        slow.set()
        asked = [seen.path for seen in site.seen]
        assert asked.count("/docs/crane") == 1 and "/slow" in asked
        with site_server(site, tmp_path) as second:
            client = Firecrawl(api_key=TOKEN, api_url=second.url)
            _until(lambda: client.get_crawl_status(started.id).status == "completed")
            job = client.get_crawl_status(started.id)
            assert {page.metadata.source_url.removeprefix(site.url) for page in job.data} == {
                "/begin",
                "/docs/crane",
                "/slow",
            }
            assert [each.url for each in client.get_crawl_errors(started.id).errors] == [f"{site.url}/gone"]
        assert [seen.path for seen in site.seen].count("/docs/crane") == 1, "what was read is not read again"


def test_crawls_that_somebody_waits_for_end_with_the_server() -> None:
    with small_site() as (site, slow), site_server(site) as served:
        crawls = Crawls(served.app.state.client)

        async def mapped() -> None:
            job = crawls.begin(f"{site.url}/slow", limits=CrawlLimits(), texts=False)
            try:
                await crawls.wait(job, PATIENCE)
            finally:
                crawls.forget(job)

        async def stopped() -> list[Any]:
            waiting = [asyncio.create_task(mapped()) for _ in range(3)]
            while len(crawls.running()) < 3:
                await asyncio.sleep(0)
            await crawls.close()
            return await asyncio.gather(*waiting, return_exceptions=True)

        ended = asyncio.run_coroutine_threadsafe(stopped(), served.loop).result(PATIENCE)
        assert [type(each) for each in ended] == [asyncio.CancelledError] * 3 and not crawls.running()
        slow.set()


def test_a_batch_of_pages(server: Compat, client: Firecrawl) -> None:
    urls = [
        f"{server.site.url}/docs/mill?x=1",
        f"{server.site.url}/private/diary",
        f"{server.site.url}/gone",
        "nonsense",
    ]
    asked: Any = {"urls": urls, "formats": ["markdown"], "ignoreInvalidURLs": True}
    begun = requests.post(f"{server.url}/v2/batch/scrape", json=asked, headers=AUTH, timeout=30).json()
    assert begun["invalidURLs"] == ["nonsense"] and begun["url"] == f"{server.url}/v2/batch/scrape/{begun['id']}"
    job = client.batch_scrape(urls[:3], formats=["markdown", "links"], poll_interval=1, wait_timeout=int(PATIENCE))
    assert job.status == "completed" and (job.total, job.completed) == (3, 2)
    pages = {page.metadata.source_url: page.markdown for page in job.data}
    assert set(pages) == set(urls[:2]), "robots.txt is for robots, not for a page that somebody asks for"
    _until(lambda: client.get_batch_scrape_status(begun["id"]).status == "completed")
    assert [each.url for each in client.get_batch_scrape_errors(begun["id"]).errors] == [urls[2]]
    with pytest.raises(FirecrawlError, match="already"):
        client.cancel_batch_scrape(begun["id"])
    refusals: Any = ({**asked, "ignoreInvalidURLs": False}, {"urls": ["nonsense"]}, {"urls": []})
    for wrong in refusals:
        refused = requests.post(f"{server.url}/v2/batch/scrape", json=wrong, headers=AUTH, timeout=30)
        assert refused.status_code == 400 and refused.json()["success"] is False


def _until(holds: Callable[[], bool]) -> None:
    limit = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < limit, "it does not happen"
        time.sleep(0.02)


def test_the_loader_of_langchain(server: Compat) -> None:
    langchain_firecrawl = pytest.importorskip("langchain_firecrawl")
    own = {"api_key": TOKEN, "api_url": server.url}
    url = f"{server.site.url}/docs/mill?x=1"
    (page,) = langchain_firecrawl.FirecrawlLoader(url, mode="scrape", **own).load()
    assert page.page_content.startswith("# Mill") and page.metadata["source_url"] == url
