"""Search and read in one call: ``depth`` in Python, over HTTP, in the tools and on the command line."""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from support.site import Reply, Seen
from support.talk import Article, Web, talking
from suyuan.core.document import Document
from suyuan.core.errors import InvalidInput
from suyuan.core.query import SearchQuery
from suyuan.core.result import SearchPage, SearchResult
from suyuan.core.views import items_view
from suyuan.pages.passages import select_among
from suyuan.search.result_reader import ResultReader
from suyuan.text.words import count_tokens

QUERY = "blue latte of Arvika who invented it"
FILLER = "\n".join(f"The town of Arvika has a harbour, a mill and school number {n}." * 8 for n in range(40))
PAGES = (
    Article("/latte", "Blue Latte of Arvika", f"{FILLER}\nThe blue latte was invented by Karin Lund in 1987.\n{FILLER}",
            "The blue latte is a drink of Arvika."),
    Article("/gone", "Blue latte recipes, who invented it", "", "A recipe of the blue latte of Arvika."),
)  # fmt: skip


class LatteWeb(Web):
    """One of its pages is missing."""

    def __init__(self) -> None:
        super().__init__(PAGES)

    def __call__(self, seen: Seen) -> Reply:
        return super().__call__(replace(seen, target="/nowhere") if seen.path == "/gone" else seen)


def by_path(page: Any) -> dict[str, Any]:
    return {result.url.rpartition("/")[2]: result for result in page.results}


async def test_results_carry_the_passages_that_answer_or_why_not() -> None:
    async with talking(web=LatteWeb()) as (client, web):
        page = await client.search(QUERY, depth="passages", max_tokens=300)
        found = by_path(page)
        reading = found["latte"].reading
        assert "Karin Lund" in " ".join(passage.text for passage in reading.passages)
        text = (await client.read(f"{web.url}/latte")).text
        assert all(text[p.start : p.end] == p.text for p in reading.passages)
        assert reading.read_at and reading.sha256 and reading.final_url == found["latte"].url
        assert reading.tokens <= 300 < reading.total_tokens
        assert found["gone"].reading.error.detail_code == "not_found" and "recipe" in found["gone"].snippet
        item = next(item for item in items_view(page)["items"] if item["url"].endswith("/latte"))
        assert item["passages"][0].keys() >= {"text", "start", "end"} and item["read_at"] == reading.read_at
        failed = next(item for item in items_view(page)["items"] if item["url"].endswith("/gone"))
        assert failed["passages"] == [] and failed["read_error"]["hint"] and failed["snippet"]


async def test_whole_pages_and_no_reading_at_all() -> None:
    async with talking(web=LatteWeb()) as (client, web):
        plain = await client.search(QUERY)
        assert web.reads == [] and all(result.reading is None for result in plain.results)
        page = await client.search(QUERY, depth="pages")
        whole = by_path(page)["latte"].reading
        assert whole.text == (await client.read(f"{web.url}/latte")).text and not whole.passages
        short = by_path(await client.search(QUERY, depth="pages", max_tokens=400))["latte"].reading
        assert whole.text.startswith(short.text) and 0 < short.tokens <= 400


@pytest.mark.parametrize("wrong", [{"depth": "deep"}, {"depth": "passages", "max_tokens": 5}])
async def test_what_cannot_be_is_refused_before_anything_is_asked(wrong: dict[str, Any]) -> None:
    async with talking(web=LatteWeb()) as (client, web):
        with pytest.raises(InvalidInput):
            await client.search(QUERY, **wrong)
        assert web.searches == []


def test_texts_share_the_budget_by_what_they_say() -> None:
    about = "A latte is drunk in Assam.\n\n" * 30 + "The blue latte was invented by Karin Lund."
    other = "Coal is mined in Silesia.\n\n" * 30
    first, second = select_among([other, about], "who invented the blue latte", 60)
    assert not first.passages and "Karin Lund" in second.passages[-1].text and first.tokens + second.tokens <= 60
    # Nothing to go by: the beginning of each.
    both = select_among([other, about], "者", 60)
    assert all(chosen.passages and chosen.passages[0].start == 0 for chosen in both)
    assert sum(count_tokens(p.text) for chosen in both for p in chosen.passages) <= 60
    everything = select_among([other, about], "者", 10_000)
    assert not any(chosen.cut for chosen in everything)
    assert select_among([], "x", 100) == []


async def test_the_tools_read_too() -> None:
    pytest.importorskip("langchain_core")
    from suyuan.tools.langchain import SessionSearchTool
    from suyuan.tools.session import SessionSearch

    async with talking(web=LatteWeb()) as (client, web):
        session = SessionSearch(client.search_service, reader=client.result_reader)
        tool = SessionSearchTool(session, lang="en", inputs=("query", "depth"))
        text = await tool.ainvoke({"query": QUERY, "depth": "passages"})
        assert "Karin Lund" in text and "could not be read" in text and "A recipe" in text
        reads = len(web.reads)
        again = await tool.ainvoke({"query": QUERY, "depth": "passages"})
        assert "Karin Lund" in again and len(web.reads) == reads, "the session keeps what it has read"
        source = next(s for s in tool.citations.sources if s.url.endswith("/latte"))
        assert source.sha256 and source.read_at, "what is cited is what was read"
        assert "Karin Lund" not in await tool.ainvoke({"query": QUERY})
        deep = SessionSearchTool(session, lang="en", depth="passages")
        assert "Karin Lund" in await deep.ainvoke({"query": QUERY})


async def test_a_page_that_does_not_come_in_time_is_said_and_stopped() -> None:
    stopped = asyncio.Event()

    async def fetch(url: str) -> Document:
        if url.endswith("/fast"):
            return Document(url, url, "Fast", "The blue latte was invented by Karin Lund.", "text/html", "2026-11-16")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.set()
            raise
        raise AssertionError

    results = tuple(SearchResult("", f"https://example.org/{name}", "snippet") for name in ("slow", "fast"))
    page = SearchPage(SearchQuery(QUERY), results, (), 0)
    slow, fast = (await ResultReader(fetch, seconds=0.05).read(page, "passages")).results
    assert slow.reading and slow.reading.error and slow.reading.error.detail_code == "read_late" and slow.snippet
    assert fast.reading and "Karin Lund" in fast.reading.passages[0].text and stopped.is_set()
    # What the search has used of the query's time is gone.
    spent = SearchPage(SearchQuery(QUERY, budget_ms=1000), results, (), 1000)
    assert all(
        each.reading and each.reading.error
        for each in (await ResultReader(fetch, seconds=9).read(spent, "pages")).results[:1]
    )


async def test_the_command_line_shows_passages(capsys: pytest.CaptureFixture[str]) -> None:
    from suyuan.cli.search import add, search
    from suyuan.messages.catalog import Texts

    t = Texts("cli", "en")
    parser = argparse.ArgumentParser()
    add(parser.add_subparsers(), t)
    async with talking(web=LatteWeb()) as (client, _):
        args = parser.parse_args(["search", "--read", QUERY])
        assert await search(client, QUERY, args, t) == 0
        shown = capsys.readouterr().out
        assert "invented by Karin Lund" in " ".join(shown.split()) and "could not be read" in shown
        args = parser.parse_args(["search", "--depth", "pages", "--json", QUERY])
        await search(client, QUERY, args, t)
        items = json.loads(capsys.readouterr().out)["items"]
        assert any("Karin Lund" in item.get("text", "") for item in items)


async def test_mcp_reads_too() -> None:
    pytest.importorskip("mcp", reason="the optional extra suyuan[mcp] is not installed")
    import jsonschema
    from mcp import Client

    from suyuan.integrations.mcp import make_server

    async with talking(web=LatteWeb()) as (client, _):
        async with Client(make_server(client.settings)) as asked:
            output = (await asked.list_tools()).tools[0].output_schema or {}
            found = await asked.call_tool("web_search", {"query": QUERY, "depth": "passages", "max_tokens": 300})
            wrong = await asked.call_tool("web_search", {"query": QUERY, "depth": "deep"})
    data: Any = found.structured_content
    jsonschema.validate(data, output)
    rows = {row["url"].rpartition("/")[2]: row for row in data["results"]}
    assert "Karin Lund" in " ".join(passage["text"] for passage in rows["latte"]["passages"])
    assert rows["gone"]["read_error"]["detail_code"] == "not_found" and rows["gone"]["snippet"]
    assert "Karin Lund" in found.content[0].text  # type: ignore[union-attr]
    assert wrong.is_error and "bad_depth" in wrong.content[0].text  # type: ignore[union-attr]


async def test_tool_providers_read_too() -> None:
    from suyuan.integrations.providers import BuiltinProvider

    async with talking(web=LatteWeb()) as (client, _):
        async with BuiltinProvider(client.settings) as provider:
            found = await provider.aexecute("web.search", {"query": QUERY, "depth": "passages", "max_tokens": 300})
    assert any("Karin Lund" in passage["text"] for item in found["items"] for passage in item["passages"])
