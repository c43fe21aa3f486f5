"""A document that was not read to its end says so on every face, in the same words."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from server.serving import Client, client, serving, settings_of
from support.long_documents import KINDS, PROSE, mark, sentence
from support.site import Reply, Seen, reply, serve
from suyuan.cli.main import main
from suyuan.client import AsyncClient
from suyuan.config.settings import PageSettings, SearchSettings, Settings
from suyuan.core.document import Cut, Document
from suyuan.core.engine import EngineSettings
from suyuan.pages.reading import OWN_LIMITS
from suyuan.research.gathering import LONGEST_TEXT, _kept
from suyuan.research.ledger import LedgerRow
from suyuan.research.model_writer import _passages

PAGES = 12
READ = Cut("pages", 3, PAGES)
CUT = READ.as_dict()
ENGLISH, CHINESE = "3 of 12 pages were read", "共 12 页，读取了 3 页"
REGISTER, SHORT = KINDS["pdf"].make(PAGES), b"Otters hold hands while they sleep."
QUESTION = "What does the harbour master write down?"


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The documents of the user are read up to 300 characters: of the PDF below three pages."""
    monkeypatch.setattr("suyuan.pages.library_update.OWN_LIMITS", replace(OWN_LIMITS, characters=300))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    made.mkdir()
    (made / "register.pdf").write_bytes(REGISTER)
    (made / "short.md").write_bytes(SHORT)
    return made


def long_page(seen: Seen) -> Reply:
    """A text of the web that is longer than the limit of pages."""
    return reply(f"{PROSE}\n\n" * 25_000, kind="text/plain; charset=utf-8")


LONG = f"2,000,000 of {len(PROSE) * 25_000 + 50_000:,} characters were read"


# --- over HTTP ---------------------------------------------------------------------------------------------------------
async def _send(ask: Client, name: str, body: bytes, lang: str) -> Any:
    form = aiohttp.FormData()
    form.add_field("files", body, filename=name)
    headers = {"Accept-Language": lang}
    async with ask.session.post(ask.url + "/api/library", data=form, headers=headers) as response:
        assert response.status == 201, await response.text()
        return await response.json()


@pytest.mark.parametrize(("lang", "words"), [("en", ENGLISH), ("zh", CHINESE)])
async def test_over_http(tmp_path: Path, lang: str, words: str) -> None:
    told = {**CUT, "message": words}
    with serving(settings_of(data=tmp_path / "data")) as served:
        async with client(served.url) as ask:
            sent = await _send(ask, "register.pdf", REGISTER, lang)
            assert sent["documents"][0]["cut"] == told
            await _send(ask, "short.md", SHORT, lang)
            _, listed = await ask("GET", "/api/library", Accept_Language=lang)
            cuts = {each["name"]: each["cut"] for each in listed["documents"]}
            assert cuts == {"register.pdf": told, "short.md": None}
            asked = {"query": "harbour master ship quay", "focus": "mine"}
            _, found = await ask("POST", "/api/search", asked, Accept_Language=lang)
            (item,) = found["items"]
            assert item["details"]["cut"] == told
            _, read = await ask("POST", "/api/fetch", {"url": item["url"]}, Accept_Language=lang)
            assert read["cut"] == told and mark(2) in read["text"] and mark(3) not in read["text"]
            _, deep = await ask("POST", "/api/search", {**asked, "depth": "passages"}, Accept_Language=lang)
            assert deep["items"][0]["cut"] == told and deep["items"][0]["passages"]


@pytest.mark.parametrize(("lang", "words"), [("en", ENGLISH), ("zh", CHINESE)])
async def test_beside_the_source_of_an_answer(tmp_path: Path, lang: str, words: str) -> None:
    settings = settings_of(data=tmp_path / "data")
    with serving(replace(settings, search=replace(settings.search, default="library"))) as served:
        async with client(served.url) as ask:
            await _send(ask, "register.pdf", REGISTER, lang)
            conversation = await ask.conversation()
            run = await ask.ask(conversation, QUESTION)
            async for _, name, data in ask.events(f"/api/runs/{run}/events"):
                if name == "answer":
                    assert data["sources"][0]["cut"] == CUT
                    break
            _, page = await ask("GET", f"/c/{conversation}", Accept_Language=lang)
            assert f'<span class="cut">{words}</span>' in page
            _, source = await ask("GET", f"/source/{run}/1", Accept_Language=lang)
            assert words in source


async def test_a_page_of_the_web_says_so_as_well(tmp_path: Path) -> None:
    base = settings_of(data=tmp_path / "data")
    settings = replace(base, pages=replace(base.pages, allow_networks=("127.0.0.0/8",)))
    async with serve(long_page) as site:
        with serving(settings) as served:
            async with client(served.url) as ask:
                _, read = await ask("POST", "/api/fetch", {"url": site.url})
                assert read["cut"]["message"] == LONG and len(read["text"]) == 2_000_000
                _, scraped = await ask("POST", "/v2/scrape", {"url": site.url, "formats": ["markdown"]})
                assert scraped["data"]["metadata"]["cut"]["message"] == LONG
                _, extracted = await ask("POST", "/extract", {"urls": [site.url]})
                assert extracted["results"][0]["cut"]["message"] == LONG
                async with ask.session.get(f"{ask.url}/r/{site.url}") as response:
                    assert f"Warning: {LONG}" in (await response.text())[:1000]
                _, loaded = await ask("POST", "/openwebui/load", {"urls": [site.url]})
                assert loaded[0]["metadata"]["cut"] == LONG


# --- on the command line -----------------------------------------------------------------------------------------------
@pytest.fixture
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("DATA", "STATE", "CONFIG"):
        monkeypatch.setenv(f"SUYUAN_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.setenv("WEB_FETCH_ALLOW_NETWORKS", "127.0.0.0/8")
    return tmp_path


@pytest.mark.parametrize(("lang", "words"), [("en", ENGLISH), ("zh", CHINESE)])
def test_on_the_command_line(
    at_home: Path,
    folder: Path,
    lang: str,
    words: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SUYUAN_UI_LANG", lang)
    assert main(["library", "add", str(folder)]) == 0
    out, err = capsys.readouterr()
    assert re.search(rf"notes/register\.pdf[:：] ?{words}", err) and "short.md" not in err
    assert {"en": "1 could not be read to the end.", "zh": "1 个文档未能全部读取。"}[lang] in out
    assert main(["library", "list"]) == 0
    assert words in capsys.readouterr().out
    assert main(["library", "list", "--json"]) == 0
    cuts = {each["name"]: each["cut"] for each in json.loads(capsys.readouterr().out)}
    assert cuts == {"register.pdf": {**CUT, "message": words}, "short.md": None}
    (folder / "register.pdf").write_bytes(KINDS["pdf"].make(PAGES + 1))
    assert main(["library", "update", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["cut"]
    assert told["path"] == "notes/register.pdf" and told["total"] == 13 and "13" in told["message"]
    assert main(["search", "--focus", "mine", "harbour master ship quay"]) == 0
    assert words.replace("12", "13") in " ".join(capsys.readouterr().out.split())


async def test_fetching_on_the_command_line(at_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import asyncio

    async with serve(long_page) as site:
        assert await asyncio.to_thread(main, ["fetch", site.url, "--format", "text"]) == 0
        out, err = capsys.readouterr()
        assert f"({LONG})" in err and len(out) >= 2_000_000
        assert await asyncio.to_thread(main, ["fetch", site.url, "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["cut"]["message"] == LONG


# --- to agents and models ----------------------------------------------------------------------------------------------
def _settings(tmp_path: Path) -> Settings:
    nowhere = {"ddg_html": EngineSettings(base_url="http://127.0.0.1:9", rate_per_minute=0)}
    search = SearchSettings(default="library", cache_minutes=0, seconds=30)
    pages = PageSettings(allow_networks=("127.0.0.0/8",))
    return Settings(search, pages=pages, engines=nowhere, data_dir=tmp_path / "data")


async def test_to_agents_over_mcp(tmp_path: Path, folder: Path) -> None:
    pytest.importorskip("mcp", reason="the optional extra suyuan[mcp] is not installed")
    from mcp import Client as McpClient

    from suyuan.integrations.mcp import make_server

    async with AsyncClient(_settings(tmp_path)) as opened:
        await opened.library.add(str(folder))
    async with McpClient(make_server(_settings(tmp_path), engines="library")) as agent:
        found = await agent.call_tool("web_search", {"query": "harbour master ship quay"})
        assert found.structured_content and found.structured_content["results"][0]["cut"] == {**CUT, "message": ENGLISH}
        assert ENGLISH in str(getattr(found.content[0], "text", ""))
        url = found.structured_content["results"][0]["url"]
        read = await agent.call_tool("web_fetch", {"url": url, "question": QUESTION})
        assert read.structured_content and read.structured_content["cut"] == {**CUT, "message": ENGLISH}
        assert ENGLISH in str(getattr(read.content[0], "text", ""))


@pytest.mark.parametrize(("lang", "words"), [("en", ENGLISH), ("zh", CHINESE)])
async def test_to_agents_as_functions_and_tools(tmp_path: Path, folder: Path, lang: Any, words: str) -> None:
    from suyuan.core.sync_bridge import SyncBridge
    from suyuan.integrations.functions import WebFunctions
    from suyuan.integrations.providers import BuiltinProvider
    from suyuan.tools.langchain import SessionFetchTool

    settings = _settings(tmp_path)
    async with AsyncClient(settings) as opened:
        await opened.library.add(str(folder))
        (result,) = (await opened.search("harbour master ship quay", engines="library")).results
        assert result.details and result.details.cut == READ
        tool = SessionFetchTool(opened.fetcher.fetch, SyncBridge(), lang=lang)
        text, document = await tool.read(result.url, QUESTION)
        assert words in text and document.cut == READ
    search, fetch = WebFunctions(lang=lang, engines="library", settings=settings).functions
    assert words in await search("harbour master ship quay")
    assert words in await fetch(result.url, QUESTION)
    async with BuiltinProvider(settings, engines="library") as provider:
        read = await provider.aexecute("web.fetch", {"url": result.url})
        assert read["items"][0]["cut"] == {**CUT, "message": ENGLISH}
        items = await provider.aexecute("web.search", {"query": "harbour master ship quay"})
        assert items["items"][0]["details"]["cut"] == {**CUT, "message": ENGLISH}


def test_a_report_says_how_much_of_a_page_its_passages_come_from() -> None:
    text = "\n\n".join(sentence(n) for n in range(4000))
    document = Document(
        "https://a.example/", "https://a.example/", "Register", text, "text/plain", "2026-11-16T10:00:00+00:00"
    )
    kept = _kept(document)
    assert (
        kept["cut"] == {"unit": "characters", "read": LONGEST_TEXT, "total": len(text)}
        and len(kept["text"]) == LONGEST_TEXT
    )
    in_part = _kept(replace(document, cut=Cut("pages", 500, 620)))
    assert in_part["cut"] == {"unit": "pages", "read": 500 * LONGEST_TEXT // len(text), "total": 620}
    assert _kept(replace(document, text="short"))["cut"] is None
    row = LedgerRow(
        1, 1, "u", "u", "Register", None, "2026-05-04", "2026-11-16", "hash", 0, 4, "Text", "", (0,), "library", "q", "o",
        cut=kept["cut"],
    )  # fmt: skip
    words = f"200,000 of {len(text):,} characters were read"
    assert _passages([row], "en") == f"[1] Register (2026-05-04, {words})\nText"


# --- all of a long book ------------------------------------------------------------------------------------------------
async def test_the_last_pages_of_a_long_pdf_are_found_and_cited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suyuan.pages.library_update.OWN_LIMITS", OWN_LIMITS)
    book = tmp_path / "book.pdf"
    book.write_bytes(KINDS["pdf"].make(620))
    async with AsyncClient(_settings(tmp_path)) as opened:
        change = await opened.library.add(str(book))
        assert (change.read, change.cut, change.problems) == (1, [], [])
        (result,) = (await opened.search(mark(618), engines="library")).results
        assert result.url.endswith("/book.pdf#page=619") and mark(618) in result.snippet
        assert result.details and result.details.as_dict() == {"file": "book.pdf", "page": 619}
        document = await opened.read(result.url, question=mark(618))
        assert any(mark(618) in passage.text for passage in document.passages)
