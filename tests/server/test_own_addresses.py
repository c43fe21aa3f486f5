"""The server's own addresses are never the web, in whatever spelling: own documents are private, the rest is refused."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import FormData

from server.serving import Client
from server.serving import client as talking_to
from server.serving import serving as serving_app
from support.oai import reply as says
from support.oai import serve_model, tool_call
from support.site import Reply, Seen, free_port, redirect, reply, serve
from support.timing import eventually
from suyuan.client import AsyncClient
from suyuan.config.settings import PageSettings, SearchSettings, ServerSettings, Settings
from suyuan.core.errors import SuyuanError
from suyuan.llm.settings import ModelSettings

HOSTS = ("127.0.0.1", "127.1", "2130706433", "0x7f.1", "LOCALHOST", "localhost.", "a.localhost", "[::1]", "127.0.0.9",
         "[::ffff:127.0.0.1]", "0.0.0.0")  # fmt: skip
PATHS = ("", "/", "/api/conversations?limit=3", "/r/abc", "/library", "/library/", "/x/../api/search?q=x", "/%61pi/models",
         "//api/models", "/library/nothing/of/it")  # fmt: skip

PAGE = "<html><title>A page.</title><p>A page. What it says, in some more words than one.</p></html>"


def settings_of(port: int, folder: Path, public: str = "") -> Settings:
    return Settings(
        pages=PageSettings(allow_hosts=("127.0.0.1", "localhost"), allow_networks=("127.0.0.0/8", "::1/128")),
        server=ServerSettings("127.0.0.1", port, public_url=public),
        data_dir=folder,
    )


@pytest.mark.req("C11.2")
async def test_no_own_address_is_read_as_a_page(tmp_path: Path) -> None:
    async with serve(lambda _: reply("<html><p>What only people of the server see.</p></html>")) as own:
        port = urlsplit(own.url).port
        assert port

        def lead(seen: Seen) -> Reply:
            if seen.path == "/away":
                return redirect(f"{own.url}/api/conversations")
            return reply(PAGE)

        async with serve(lead) as other, AsyncClient(settings_of(port, tmp_path)) as client:
            addresses = [f"http://{host}:{port}{path}" for host in HOSTS for path in PATHS]
            addresses += [each.replace("http", "HtTp", 1) for each in addresses[:5]] + [f"https://127.0.0.1:{port}/api"]
            for url in [*addresses, f"{other.url}/away"]:
                with pytest.raises(SuyuanError) as caught:
                    await client.read(url)
                assert caught.value.detail_code == "own_address" and str(port) in caught.value.message, url
            assert own.seen == []
            assert "A page." in (await client.read(other.url)).text, "another server of this machine is read"


@pytest.mark.req("C11.2")
async def test_the_address_that_people_use_is_an_own_one_below_its_path(tmp_path: Path) -> None:
    settings = settings_of(8642, tmp_path, "https://search.example.org/suyuan")
    async with AsyncClient(settings) as client:
        guard = client.network.guard
        for url in ("https://search.example.org/suyuan", "HTTPS://Search.Example.org./suyuan/api/search?q=x",
                    "https://search.example.org/x/../suyuan/api"):  # fmt: skip
            with pytest.raises(SuyuanError) as caught:
                guard.check_url(url)
            assert caught.value.detail_code == "own_address"
        for url in ("https://search.example.org/", "https://search.example.org/suyuanx", "https://example.org/suyuan"):
            guard.check_url(url)


@pytest.mark.req("C11.2")
async def test_an_own_document_is_read_in_every_spelling_and_stays_private(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Notes\n\nWhat only I know.\n")
    async with AsyncClient(settings_of(8642, tmp_path / "data")) as client:
        await client.library.add(str(tmp_path / "notes.md"))
        (entry,) = await client.library.entries()
        for host in HOSTS:
            for path in ("/library/", "/%6cibrary/", "/x/../library/", "/library/x/../", "/library//"):
                for after in ("", "/", "/notes.md", "?x=1", "#page=2"):
                    document = await client.read(f"http://{host}:8642{path}{entry.file.id}{after}")
                    assert document.private and "What only I know" in document.text


async def uploaded(ask: Client, text: str, name: str) -> dict[str, Any]:
    form = FormData()
    form.add_field("files", text.encode(), filename=name)
    async with ask.session.post(f"{ask.url}/api/library", data=form) as sent:
        (document,) = (await sent.json())["documents"]
    return dict(document)


async def answered(ask: Client, path: str) -> list[dict[str, Any]]:
    """The messages of a conversation, once it is answered."""

    async def messages() -> list[dict[str, Any]]:
        return list((await ask("GET", f"{path}/messages"))[1]["messages"])

    async def is_answered() -> bool:
        return bool((await messages())[-1]["answer"])

    assert await eventually(is_answered)
    return await messages()


async def what_others_see(ask: Client, path: str) -> dict[str, Any]:
    """What a link to a conversation shows, as JSON and as a page."""
    _, share = await ask("POST", f"{path}/shares", {})
    link = share["url"].rpartition("/")[2]
    shown = {}
    for address in (f"/api/shared/{link}", f"/s/{link}"):
        status, shown[address] = await ask("GET", address)
        assert status == 200
    return shown


async def test_the_source_of_an_own_document_is_refused_and_a_share_keeps_it_at_home(tmp_path: Path) -> None:
    notes = "The harbour of Arvika was built in 1811 by Karin Lund, as only I know."
    with serve_model([[says("It was built in 1811 [1].")]]) as model:
        known = ModelSettings("openai", "m", model.url)
        base = settings_of(free_port(), tmp_path / "data")
        settings = replace(base, model=known, search=SearchSettings(default="library", cache_minutes=0))
        with serving_app(settings) as served:
            async with talking_to(served.url) as ask:
                document = await uploaded(ask, notes, "secret-notes.txt")
                scrape = {"url": document["url"], "formats": ["rawHtml"]}
                status, told = await ask("POST", "/v2/scrape", scrape)
                assert status in (403, 404) and "LOGIN" not in str(told).upper(), told
                _, made = await ask(
                    "POST", "/api/conversations", {"text": "Who built the harbour of Arvika?", "search": True}
                )
                path = f"/api/conversations/{made['id']}"
                own = await answered(ask, path)
                assert document["id"] in str(own) and "Karin Lund" in str(own), "the source was found"
                for shared, told in (await what_others_see(ask, path)).items():
                    assert "1811" in str(told)
                    assert document["id"] not in str(told) and "Karin Lund" not in str(told), shared


@pytest.mark.parametrize("text", ["x", ""])
async def test_an_unknown_model_is_named(tmp_path: Path, text: str) -> None:
    with serving_app(settings_of(free_port(), tmp_path)) as served:
        async with talking_to(served.url) as ask:
            status, told = await ask("POST", "/api/conversations", {"text": text, "model": "nosuch"})
            assert status == 400 and "nosuch" in told["error"]["message"]
            assert not (await ask("GET", "/api/conversations"))[1]["conversations"]


@pytest.mark.parametrize("spelling", ["", "localhost", "%6c"])
async def test_a_shared_answer_that_read_a_document_by_its_address_keeps_it_at_home(
    tmp_path: Path, spelling: str
) -> None:
    notes = "The vault code of the lighthouse is mango pepper 9921."
    address: list[str] = []
    with serve_model(
        [
            lambda _: tool_call("web_fetch", {"url": address[0]}),
            lambda _: says(f"The code is told [1]. See [it]({address[0]}) or {address[0]}"),
        ]
    ) as model:
        known = ModelSettings("openai", "m", model.url)
        settings = replace(settings_of(free_port(), tmp_path / "data"), model=known)
        with serving_app(settings) as served:
            async with talking_to(served.url) as ask:
                document = await uploaded(ask, notes, "annas.md")
                url = document["url"]
                if spelling == "localhost":
                    url = url.replace("127.0.0.1", "localhost")
                if spelling == "%6c":
                    url = url.replace("/library/", "/%6cibrary/")
                address.append(url)
                body = {"text": f"What is the code? See {url}", "mode": "agent"}
                _, made = await ask("POST", "/api/conversations", body)
                path = f"/api/conversations/{made['id']}"
                own = await answered(ask, path)
                assert "mango pepper" in str(own), "the document was read"
                for shared, told in (await what_others_see(ask, path)).items():
                    assert "The code is told" in str(told)
                    assert document["id"] not in str(told) and "mango pepper" not in str(told), shared
                    assert "[]()" not in str(told) and 'href=""' not in str(told), "a link leads somewhere"


def addresses_of_this_machine() -> list[str]:
    told = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=False).stdout
    return [address for address in told.split() if ":" not in address]


@pytest.mark.skipif(not addresses_of_this_machine(), reason="this machine has no address in a network")
async def test_the_address_of_this_machine_in_its_network_is_an_own_one(tmp_path: Path) -> None:
    async with serve(lambda _: reply(PAGE)) as other:
        port = free_port()
        for address in addresses_of_this_machine():
            pages = PageSettings(allow_networks=(f"{address}/32",), allow_hosts=(address,))
            settings = Settings(pages=pages, server=ServerSettings("0.0.0.0", port), data_dir=tmp_path)
            async with AsyncClient(settings) as client:
                for path in PATHS:
                    with pytest.raises(SuyuanError) as caught:
                        await client.read(f"http://{address}:{port}{path}")
                    assert caught.value.detail_code == "own_address"
                elsewhere = urlsplit(other.url).port
                client.network.guard.check_url(f"http://{address}:{elsewhere}/")
