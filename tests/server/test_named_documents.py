"""A document that is named anywhere in what a client sends is private, however its address is written."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from support.leaks import PROBES, Stranger, serving
from support.oai import EngineReply, Step, serve_model, tool_call
from support.oai import reply as says
from support.site import serve
from suyuan.config.settings import PageSettings, SearchSettings, Settings
from suyuan.core.engine import EngineSettings
from suyuan.core.own_address import OwnAddresses, document_id, names_document
from suyuan.llm.settings import ModelSettings

ID = "3f2a9c0d11e84b7a"
BASE = "http://127.0.0.1:8642"
SECRET = "Northwind pays 4271 kroner"

WAYS = {
    "as it is shown": f"{BASE}/library/{ID}/notes.md",
    "without a name": f"{BASE}/library/{ID}",
    "with a slash": f"{BASE}/library/{ID}/",
    "with a query": f"{BASE}/library/{ID}?x=1",
    "with a fragment": f"{BASE}/library/{ID}#page=2",
    "large letters": f"HTTP://LOCALHOST:8642/library/{ID}",
    "short address": f"http://127.1:8642/library/{ID}",
    "decimal address": f"http://2130706433:8642/library/{ID}",
    "IPv6": f"http://[::1]:8642/library/{ID}",
    "mapped": f"http://[::ffff:127.0.0.1]:8642/library/{ID}",
    "a name that ends in a dot": f"http://localhost.:8642/library/{ID}",
    "escaped": f"{BASE}/%6cibrary/{ID}",
    "escaped digits": f"{BASE}/library/%33{ID[1:]}",
    "steps": f"{BASE}/x/../library/{ID}",
    "steps before the id": f"{BASE}/library/x/../{ID}",
    "escaped steps": f"{BASE}/library/x/%2e%2e/{ID}",
    "the same place": f"{BASE}/library/./{ID}",
    "backslashes": f"http:\\\\127.0.0.1:8642\\library\\{ID}",
    "no slashes": f"http:127.0.0.1:8642/library/{ID}",
    "two slashes": f"{BASE}/library//{ID}",
    "a line break": f"{BASE}/libr\nary/{ID}",
    "another port": f"http://127.0.0.1:9999/library/{ID}",
}
"""How the address of a document can be written."""
WRITTEN = {
    "references of HTML": f"{BASE}&#47;&#x6c;ibrary&sol;{ID}",
    "escapes of JSON": f"{BASE}\\u002f\\u006Cibrary/{ID}",
    "a soft hyphen": f"{BASE}/li\u00adbrary/{ID}",
    "a space of no width": f"{BASE}/library/{ID[:8]}\u200b{ID[8:]}",
}
"""How clients write it within a text: no address that can be read, but all that is needed to know the document."""
OTHERS = (
    "",
    "https://example.org/library/",
    "https://example.org/library/opening-hours",
    "The library closes at five.",
    f"https://example.org/posts/{ID}",
    "https://example.org/%zz/%",
)


@pytest.mark.req("C11.2")
@pytest.mark.parametrize("way", WRITTEN)
def test_an_address_within_a_text_names_its_document(way: str) -> None:
    assert names_document({"a": [f"The code is zebra. {WRITTEN[way]}"]})


@pytest.mark.parametrize("way", WAYS)
def test_what_is_read_as_a_document_is_private_where_it_is_named(way: str) -> None:
    own = OwnAddresses.of([BASE])
    for url in (WAYS[way], WAYS[way] + "&", WAYS[way] + "/../x"):
        if own.document(url):
            for text in (url, f"Please summarise {url}.", f"see<{url}>", f"[1]({url})", url.replace("/", "\\/")):
                assert names_document(text), text
    assert own.document(WAYS[way]) == ID == document_id(WAYS[way])
    assert names_document({"a": [{"b": (1, None, WAYS[way])}]}) and names_document({WAYS[way]: 1})


@pytest.mark.parametrize("text", OTHERS)
def test_other_texts_name_none(text: str) -> None:
    assert not names_document(text) and not names_document([{"x": [text]}]) and not document_id(text)


def test_a_text_of_any_length_is_looked_at_in_little_time() -> None:
    import time

    for piece in ("%41", "http:a/../", "library ", "http://library/..%2e/", "\n", "library%"):
        started = time.process_time()
        names_document(piece * (2_000_000 // len(piece)))
        assert time.process_time() - started < 1, piece


def _chat(text: str = "", annotation: str = "", beside: str = "", system: str = "") -> tuple[str, dict[str, Any]]:
    cited = {"type": "url_citation", "url_citation": {"title": "Notes", "url": annotation or "https://a.example/"}}
    return "/v1/chat/completions", {
        "messages": [
            {"role": "system", "content": f"Be brief. {system}"},
            {"role": "user", "content": f"Please summarise it {text}"},
            {"role": "assistant", "content": f"It says: {SECRET}", "annotations": [cited], "x": {"y": [beside]}},
            {"role": "user", "content": "Thanks, any news?"},
        ]
    }


def _responses(text: str = "", annotation: str = "", beside: str = "", system: str = "") -> tuple[str, dict[str, Any]]:
    cited = {"type": "url_citation", "title": "Notes", "url": annotation or "https://a.example/"}
    said = {"type": "output_text", "text": f"It says: {SECRET}", "annotations": [cited]}
    call = {"type": "web_search_call", "id": "w", "action": {"type": "open_page", "url": beside}}
    return "/v1/responses", {
        "instructions": f"Be brief. {system}",
        "input": [
            {"role": "user", "content": f"Please summarise it {text}"},
            *([call] if beside else []),
            {"role": "assistant", "content": [said]},
            {"role": "user", "content": "Thanks, any news?"},
        ],
    }


def _messages(text: str = "", annotation: str = "", beside: str = "", system: str = "") -> tuple[str, dict[str, Any]]:
    cited = {"type": "web_search_result_location", "title": "Notes", "url": annotation or "https://a.example/"}
    found = {"type": "web_search_tool_result", "tool_use_id": "t", "content": [{"url": beside, "title": "Notes"}]}
    said = {"type": "text", "text": f"It says: {SECRET}", "citations": [cited]}
    return "/v1/messages", {
        "system": f"Be brief. {system}",
        "messages": [
            {"role": "user", "content": f"Please summarise it {text}"},
            {"role": "assistant", "content": [*([found] if beside else []), said]},
            {"role": "user", "content": "Thanks, any news?"},
        ],
    }


SHAPES = (_chat, _responses, _messages)
PLACES = ("text", "annotation", "beside", "system")


class Asked:
    """A server whose model searches for the secret, and what the engine was asked."""

    def __init__(self, url: str, stranger: Stranger) -> None:
        self.url = url
        self._stranger = stranger

    async def queries(self, path: str, body: dict[str, Any]) -> list[str]:
        assert self._stranger.site is not None
        before = len(self._stranger.site.seen)
        async with aiohttp.ClientSession(self.url) as session:
            async with session.post(path, json={"model": "suyuan-agent", **body}) as response:
                assert response.status == 200, await response.text()
        found = [each.params["q"] for each in self._stranger.site.seen[before:] if each.path == "/search"]
        return [query for query in found if query not in ("", *PROBES)]


def _searches(asked: EngineReply) -> Step | list[Step]:
    if not asked.tools or any(each["role"] == "tool" for each in asked.messages):
        return says("Nothing new.")
    return tool_call("web_search", {"query": SECRET})


@pytest.fixture(scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture
async def server(_folder: Path) -> AsyncIterator[Asked]:
    stranger = Stranger()
    async with serve(stranger) as stranger.site:
        with serve_model(_searches) as model:
            settings = Settings(
                search=SearchSettings(default="searxng", cache_minutes=0, seconds=30),
                pages=PageSettings(allow_networks=("127.0.0.0/8",), robots=False),
                engines={"searxng": EngineSettings(base_url=stranger.url, rate_per_minute=0)},
                model=replace(ModelSettings("openai", "m", model.url), context_tokens=100_000),
                data_dir=_folder,
            )
            async with serving(settings) as url:
                yield Asked(url, stranger)


@pytest.mark.req("C11.2")
async def test_a_document_that_any_part_of_a_history_names_is_private(server: Asked) -> None:
    ways = itertools.cycle([*WAYS.values(), *WRITTEN.values()])
    for shape in SHAPES:
        asked = await server.queries(*shape())
        assert asked == [SECRET], "without a document the words may be searched"
        for place in PLACES:
            for _ in range(3):
                path, body = shape(**{place: next(ways)})
                for query in await server.queries(path, body):
                    assert not set(query.lower().split()) & set(SECRET.lower().split()), (path, place, query)
