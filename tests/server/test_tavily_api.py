"""Tavily's API, asked by its own client and by LangChain's tools."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")
pytest.importorskip("tavily", reason="the client is part of the dev extra")

import requests
from tavily import AsyncTavilyClient, TavilyClient
from tavily.errors import BadRequestError, ForbiddenError, InvalidAPIKeyError

from server.compat_server import QUESTION, TOKEN, Compat, compat_server, site_server, small_site
from support.timing import until
from suyuan.server.compat.tavily import TavilySearch


@pytest.fixture(scope="module")
def server() -> Iterator[Compat]:
    with compat_server() as running:
        yield running


@pytest.fixture
def client(server: Compat) -> Iterator[TavilyClient]:
    with TavilyClient(api_key=TOKEN, api_base_url=server.url) as made:
        yield made


def post(server: Compat, path: str, body: Any, **headers: str) -> requests.Response:
    return requests.post(server.url + path, json=body, headers=headers, timeout=30)


class TestSearch:
    def test_basic(self, client: TavilyClient) -> None:
        found = client.search(QUESTION, max_results=2)
        assert [each["title"] for each in found["results"]] == ["Harbour of Arvika", "When the harbour was built"]
        first = found["results"][0]
        assert first["content"].startswith("The harbour of Arvika") and first["raw_content"] is None
        assert 0 < first["score"] <= 1 and found["query"] == QUESTION and found["answer"] is None
        assert found["response_time"] >= 0 and found["request_id"]
        assert found["suyuan"]["receipt"][0]["engine"] == "searxng" and found["suyuan"]["not_honoured"] == []

    def test_advanced_reads_the_pages(self, client: TavilyClient) -> None:
        found = client.search(QUESTION, search_depth="advanced", include_raw_content=False, max_results=3)
        harbour, gone, _ = found["results"]
        assert "built in 1811" in harbour["content"] and len(harbour["content"]) < 6000
        assert (
            gone["content"] == "A page about Arvika that is gone." and gone["read_error"]["detail_code"] == "not_found"
        )

    def test_raw_content_as_markdown_and_as_text(self, client: TavilyClient) -> None:
        found = client.search(QUESTION, search_depth="advanced", include_raw_content="markdown")
        harbour, _, mill = found["results"]
        assert "1811" in harbour["raw_content"] and "1811" in harbour["content"]
        assert len(harbour["content"]) < len(harbour["raw_content"]) and mill["raw_content"].startswith("# Mill")
        plain = client.search(QUESTION, include_raw_content="text")["results"][2]
        assert (
            plain["raw_content"].startswith("Mill of Arvika\nThe mill")
            and plain["content"] == "The mill of Arvika grinds rye."
        )

    def test_the_configured_model_answers(self, client: TavilyClient) -> None:
        found = client.search(QUESTION, include_answer=True)
        assert "1811" in found["answer"] and "[1]" not in found["answer"]
        told = found["suyuan"]["answer"]
        assert "[1]" in told["text"] and told["sources"][0]["url"].endswith("/docs/harbour") and not told["unverified"]

    def test_an_answer_keeps_to_the_filters(self, server: Compat, client: TavilyClient) -> None:
        found = client.search(
            f"{QUESTION} In short", include_answer=True, include_domains=["other.example"], time_range="week"
        )
        assert found["results"] == [] and not found["suyuan"]["answer"]["sources"]
        asked = [seen.params for seen in server.site.seen if "In short" in seen.params.get("q", "")]
        assert {each.get("time_range") for each in asked} == {"week"}

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_days_are_for_news_only(self, server: Compat, client: TavilyClient) -> None:
        assert "1811" in client.qna_search(f"{QUESTION} At all"), "it sends days=7 with every search"
        for topic, dated in (("general", False), ("news", True)):
            wanted = TavilySearch.model_validate({"query": QUESTION, "topic": topic, "days": 7}).search_query()
            assert (wanted.freshness is not None) == dated

    async def test_the_asynchronous_client(self, server: Compat) -> None:
        async with AsyncTavilyClient(api_key=TOKEN, api_base_url=server.url) as client:
            found = await client.search(QUESTION, max_results=1)
            read = await client.extract([found["results"][0]["url"]])
        assert "1811" in read["results"][0]["raw_content"]

    def test_up_to_twenty_results(self, client: TavilyClient) -> None:
        assert len(client.search("many harbours", max_results=20)["results"]) == 20
        with pytest.raises(BadRequestError, match="max_results"):
            client.search("many harbours", max_results=21)

    def test_filters_reach_the_engine_and_what_has_no_effect_is_said(
        self, server: Compat, client: TavilyClient
    ) -> None:
        found = client.search(
            "many harbours filtered", topic="news", time_range="week", country="sweden", include_domains=["many.example"],
            include_images=True, include_favicon=True, auto_parameters=True, include_usage=True,
        )  # fmt: skip
        assert len(found["results"]) == 5 and found["usage"] == {"credits": 0}
        assert {"include_images", "include_favicon", "auto_parameters"} <= set(found["suyuan"]["not_honoured"])
        asked = next(seen for seen in server.site.seen if "filtered" in seen.params.get("q", ""))
        assert asked.params["time_range"] == "week"
        assert client.search("many harbours", exclude_domains=["many.example"])["results"] == []
        lost = client.search(QUESTION, topic="finance", country="atlantis")["suyuan"]["not_honoured"]
        assert lost == ["country", "topic=finance"]
        dated = client.search(QUESTION, start_date="2026-01-01", end_date="2026-02-01")
        assert "freshness" in str(dated["suyuan"]["receipt"]) or dated["results"]

    def test_nothing_found_and_a_failed_search(self, server: Compat, client: TavilyClient) -> None:
        assert client.search("nothing at all")["results"] == []
        with pytest.raises(requests.HTTPError):
            client.search("broken engine")
        failed = post(server, "/search", {"query": "broken engine"}, Authorization=f"Bearer {TOKEN}")
        told = failed.json()["detail"]
        assert failed.status_code >= 500 and told["code"] and told["hint"] and told["message"] in told["error"]


class TestKeys:
    def test_a_wrong_key_is_refused_in_the_clients_own_form(self, server: Compat) -> None:
        with TavilyClient(api_key="tvly-wrong", api_base_url=server.url) as wrong:
            with pytest.raises(InvalidAPIKeyError, match="token"):
                wrong.search(QUESTION)

    def test_the_key_may_be_in_the_body(self, server: Compat) -> None:
        assert post(server, "/search", {"query": QUESTION, "api_key": TOKEN}).status_code == 200
        assert post(server, "/extract", {"urls": ["http://10.0.0.1/"], "api_key": TOKEN}).status_code == 200
        assert post(server, "/research", {"input": "", "api_key": TOKEN}).status_code == 400
        wrong = post(server, "/search", {"query": QUESTION, "api_key": "wrong"})
        assert wrong.status_code == 401 and wrong.json()["detail"]["detail_code"] == "token_wrong"
        assert post(server, "/search", {"query": QUESTION}).json()["detail"]["detail_code"] == "token_needed"
        assert post(server, "/api/search", {"query": QUESTION, "api_key": TOKEN}).status_code == 401, (
            "only where it is usual"
        )
        huge = post(server, "/search", {"query": "x" * 200_000, "api_key": TOKEN})
        assert huge.status_code == 413

    def test_other_websites_are_refused(self, server: Compat) -> None:
        auth = {"Authorization": f"Bearer {TOKEN}"}
        for path in ("/search", "/extract", "/map", "/crawl"):
            assert post(server, path, {}, Origin="https://evil.example", **auth).status_code == 403, path
        visit = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
        assert requests.get(server.url + "/usage", headers={**auth, **visit}, timeout=30).status_code == 403

    def test_forms_and_gets_stay_those_of_searxng(self, server: Compat) -> None:
        auth = {"Authorization": f"Bearer {TOKEN}"}
        form = requests.post(server.url + "/search", data={"q": QUESTION, "format": "json"}, headers=auth, timeout=30)
        got = requests.get(server.url + "/search", params={"q": QUESTION, "format": "json"}, headers=auth, timeout=30)
        assert form.json()["results"][0]["content"] == got.json()["results"][0]["content"]


class TestPages:
    def test_extract(self, server: Compat, client: TavilyClient) -> None:
        urls = [f"{server.site.url}/docs/mill?x=1", f"{server.site.url}/gone", "http://10.0.0.1/"]
        found = client.extract(urls)
        assert found["results"][0]["url"] == urls[0] and "# Mill" in found["results"][0]["raw_content"]
        failed = {each["url"]: each for each in found["failed_results"]}
        assert failed[urls[1]]["detail_code"] == "not_found" and failed[urls[2]]["detail_code"] == "guard_refused"
        assert failed[urls[1]]["error"] and failed[urls[1]]["hint"]
        with pytest.raises(BadRequestError, match="urls"):
            client.extract([])
        part = client.extract(f"{server.site.url}/docs/harbour", query=QUESTION, format="text", chunks_per_source=1)
        assert "1811" in part["results"][0]["raw_content"] and len(part["results"][0]["raw_content"]) < 1000

    def test_map(self, server: Compat, client: TavilyClient) -> None:
        found = client.map(server.site.url, max_depth=2)
        paths = {url.removeprefix(server.site.url) for url in found["results"]}
        assert {"/", "/docs/harbour", "/docs/mill?x=1", "/docs/crane", "/docs/hidden"} <= paths
        assert not any("elsewhere" in url for url in found["results"]) and found["suyuan"]["complete"]
        assert not any(seen.path == "/private/diary" for seen in server.site.seen), "robots.txt forbids it"

    def test_crawl(self, server: Compat, client: TavilyClient) -> None:
        found = client.crawl(server.site.url, max_depth=2, allow_external=True)
        pages = {each["url"].removeprefix(server.site.url): each["raw_content"] for each in found["results"]}
        assert (
            set(pages) == {"/", "/docs/harbour", "/docs/mill?x=1", "/docs/crane"} and "1811" in pages["/docs/harbour"]
        )
        failed = {each["url"].removeprefix(server.site.url): each["detail_code"] for each in found["suyuan"]["failed"]}
        assert failed == {"/private/diary": "robots", "/gone": "not_found"}
        assert found["suyuan"]["not_honoured"] == ["allow_external"]
        only = client.crawl(
            server.site.url, max_depth=2, select_paths=["/docs/.*"], exclude_paths=["mill"], instructions=QUESTION
        )
        paths = [each["url"].removeprefix(server.site.url) for each in only["results"]]
        assert paths == ["/", "/docs/harbour", "/docs/crane"] and len(only["results"][1]["raw_content"]) < 6000
        with pytest.raises(BadRequestError, match="lookaround"):
            client.crawl(server.site.url, select_paths=["(?=a)b"])
        with pytest.raises(BadRequestError):
            client.crawl("ftp://example.org/")
        with pytest.raises(ForbiddenError, match="10.0.0.1"):
            client.map("http://10.0.0.1/")

    def test_a_crawl_that_ran_out_of_time_goes_on(self, server: Compat) -> None:
        """The site waits for one page until the first answer has come."""
        auth = {"Authorization": f"Bearer {TOKEN}"}
        server.slow.clear()
        try:
            first = post(
                server, "/crawl", {"url": f"{server.site.url}/slow", "timeout": 1, "max_depth": 1}, **auth
            ).json()
        finally:
            server.slow.set()
        assert not first["suyuan"]["complete"] and first["suyuan"]["left"] == 1 and first["suyuan"]["resume"]
        again = {"url": f"{server.site.url}/slow", "resume": first["suyuan"]["resume"]}
        done = post(server, "/crawl", again, **auth).json()
        assert done["suyuan"]["complete"] and "slowly" in done["results"][0]["raw_content"]
        gone = post(server, "/crawl", again, **auth)
        assert gone.status_code == 404 and gone.json()["detail"]["detail_code"] == "no_crawl"

    def test_a_map_does_not_go_on_as_a_crawl(self, server: Compat) -> None:
        """It has read no texts."""
        auth = {"Authorization": f"Bearer {TOKEN}"}
        site = {"url": f"{server.site.url}/begin", "timeout": 1}
        server.slow.clear()
        try:
            first = post(server, "/map", site, **auth).json()
        finally:
            server.slow.set()
        again = {"url": site["url"], "resume": first["suyuan"]["resume"]}
        refused = post(server, "/crawl", again, **auth)
        assert refused.status_code == 404 and refused.json()["detail"]["detail_code"] == "no_crawl"
        assert post(server, "/map", again, **auth).json()["suyuan"]["complete"]

    def test_usage(self, server: Compat, client: TavilyClient) -> None:
        client.search(QUESTION)
        used = requests.get(server.url + "/usage", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30).json()
        assert used["key"]["search_usage"] >= 1 and used["account"]["plan_limit"] is None

    def test_tasks_are_part_of_the_usage(self, server: Compat, client: TavilyClient) -> None:
        auth = {"Authorization": f"Bearer {TOKEN}"}
        before = requests.get(server.url + "/usage", headers=auth, timeout=30).json()["key"]
        client.research(QUESTION, model="mini")
        after = requests.get(server.url + "/usage", headers=auth, timeout=30).json()["key"]
        assert after["research_usage"] == before["research_usage"] + 1 and after["usage"] == before["usage"] + 1


def test_a_crawl_that_cannot_begin_leaves_nothing_behind(tmp_path: Path) -> None:
    with small_site() as (site, _), site_server(site, tmp_path) as served:
        url = {"url": f"{site.url}/gone", "api_key": TOKEN}
        assert requests.post(f"{served.url}/crawl", json=url, timeout=30).json()["detail"]["detail_code"] == "not_found"
        assert not list(tmp_path.glob("crawls/*"))


class TestLangChain:
    def test_the_tools_of_langchain(self, server: Compat) -> None:
        langchain_tavily = pytest.importorskip("langchain_tavily")
        own = {"tavily_api_key": TOKEN, "api_base_url": server.url}
        found = langchain_tavily.TavilySearch(max_results=2, search_depth="advanced", **own).invoke({"query": QUESTION})
        assert "1811" in found["results"][0]["content"]
        read = langchain_tavily.TavilyExtract(**own).invoke({"urls": [f"{server.site.url}/docs/mill?x=1"]})
        assert "rye" in read["results"][0]["raw_content"]
        failed = langchain_tavily.TavilySearch(**own).invoke({"query": "broken engine"})
        assert "searxng" in str(failed["error"]).lower()


class TestResearch:
    def test_a_task_is_begun_and_asked_for(self, server: Compat, client: TavilyClient) -> None:
        begun = client.research(QUESTION, model="mini")
        assert begun["status"] == "pending" and begun["input"] == QUESTION and begun["request_id"]
        found: dict[str, Any] = {}

        def ended() -> bool:
            found.update(client.get_research(begun["request_id"]))
            return found["status"] not in ("pending", "in_progress")

        assert until(ended)
        assert found["status"] == "completed" and "1811" in found["content"]
        assert [source["title"] for source in found["sources"]] and found["sources"][0]["url"].startswith(
            server.site.url
        )

    def test_what_cannot_be_done_is_said(self, server: Compat) -> None:
        own = {"Authorization": f"Bearer {TOKEN}"}
        refused = post(server, "/research", {"input": QUESTION, "stream": True}, **own)
        assert refused.status_code == 400 and "/events" in refused.text
        none = requests.get(f"{server.url}/research/none", headers=own, timeout=30)
        assert none.status_code == 404 and "none" in none.json()["detail"]["error"]
        empty = post(server, "/research", {"input": ""}, **own)
        assert empty.status_code == 400 and empty.json()["detail"]["error"]
        wish = {"input": QUESTION, "model": "mini", "citation_format": "apa", "output_schema": {"type": "object"}}
        begun = post(server, "/research", {**wish, "api_key": TOKEN, "max_cost": 3}, **own).json()
        assert set(begun["suyuan"]["not_honoured"]) == {"citation_format", "output_schema", "max_cost"}
