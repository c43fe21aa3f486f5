"""``HttpClient`` and ``ImpersonatingClient`` with working and with broken servers."""

from __future__ import annotations

import asyncio
import gzip
import shutil
import sys
import tracemalloc
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import brotli
import pytest

from doctor.fake_servers import certificate, secure
from support import pages
from support.client import client
from support.site import Reply, bomb, drip, free_port, half, raw, redirect, reply, reset, serve, stall
from support.timing import PATIENCE, soon
from suyuan.core.errors import NetworkError, SuyuanError, WebParseError, WebProviderError
from suyuan.core.secret import Secret
from suyuan.core.wire import Request, Response
from suyuan.engines import registry
from suyuan.net.http import HttpClient, trusted_certificates
from suyuan.net.network import Network, PageAccess, Transport, restricted_send
from suyuan.net.settings import BrowserSettings, NetSettings


@pytest.fixture(params=("own", "curl_cffi"))
def kind(request: pytest.FixtureRequest) -> str:
    if request.param == "curl_cffi":
        pytest.importorskip("curl_cffi", reason="the optional extra suyuan[impersonate] is not installed")
    return str(request.param)


def make(kind: str, **settings: object) -> Transport:
    net = NetSettings(**settings)  # type: ignore[arg-type]
    if kind == "own":
        return HttpClient(net)
    from suyuan.net.impersonate import ImpersonatingClient

    return ImpersonatingClient(net, "chrome")


async def ask(kind: str, answer: Reply, **settings: object) -> Response:
    """Send one request to a server that answers with ``answer``."""
    client = make(kind, **settings)
    try:
        async with serve(lambda _: answer) as site, asyncio.timeout(PATIENCE):
            return await client.send(Request.get(site.url + "/s"), "x")
    finally:
        await client.close()


async def failure(kind: str, answer: Reply, **settings: object) -> SuyuanError:
    with pytest.raises(SuyuanError) as caught:
        await ask(kind, answer, **settings)
    return caught.value


async def test_status_headers_and_body_arrive(kind: str) -> None:
    response = await ask(kind, reply("谷歌", 418, {"X-Thing": "yes"}))
    assert (response.status, response.text, response.headers["x-thing"]) == (418, "谷歌", "yes")
    assert response.at is not None


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [("gzip", gzip.compress(b"text", mtime=0)), ("deflate", zlib.compress(b"text")), ("br", brotli.compress(b"text"))],
)
async def test_bodies_are_decompressed(kind: str, encoding: str, packed: bytes) -> None:
    response = await ask(kind, reply(packed, headers={"Content-Encoding": encoding}))
    assert response.body == b"text"


async def test_zstd_is_decompressed(kind: str) -> None:
    zstd = pytest.importorskip("backports.zstd", reason="Python 3.14 has it in the standard library")
    response = await ask(kind, reply(zstd.compress(b"text"), headers={"Content-Encoding": "zstd"}))
    assert response.body == b"text"


async def test_a_connection_is_reused(kind: str) -> None:
    client = make(kind)
    async with serve(lambda _: reply("x")) as site:
        for _ in range(3):
            await client.send(Request.get(site.url), "x")
        assert (len(site.seen), site.connections) == (3, 1)
        await client.close()
        assert await site.until_idle()


@pytest.mark.req("C7.3", "T7.1")
async def test_a_refused_connection(kind: str) -> None:
    client = make(kind)
    with pytest.raises(NetworkError) as caught:
        await client.send(Request.get(f"http://127.0.0.1:{free_port()}/"), "searxng")
    await client.close()
    assert caught.value.detail_code == "connection_refused"
    assert "searxng" in caught.value.message and caught.value.hint


@pytest.mark.req("C7.3", "T7.1")
async def test_a_name_that_does_not_exist(kind: str) -> None:
    client = make(kind)
    with pytest.raises(NetworkError) as caught:
        await client.send(Request.get("http://no-such-host.invalid/"), "x")
    await client.close()
    assert caught.value.detail_code == "dns"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (half(b"<html>" + b"x" * 5000), "connection_broken"),
        (reset, "connection_broken"),
        (raw(b""), "connection_broken"),
        (raw(b"HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n"), "bad_http"),
    ],
    ids=["half a body", "reset", "closed at once", "broken header"],
)
async def test_broken_responses_are_network_errors(kind: str, answer: Reply, code: str) -> None:
    error = await failure(kind, answer)
    assert isinstance(error, NetworkError)
    if kind == "own" or code != "bad_http":
        assert error.detail_code == code


async def test_not_http_at_all() -> None:
    error = await failure("own", raw(b"SSH-2.0-OpenSSH_9.2\r\n"))
    assert (error.code, error.detail_code) == ("NetworkError", "bad_http")


async def test_a_tls_address_without_tls(kind: str) -> None:
    client = make(kind)
    async with serve(lambda _: reply("x")) as site:
        with pytest.raises(NetworkError) as caught:
            await client.send(Request.get(site.url.replace("http:", "https:")), "x")
    await client.close()
    assert caught.value.detail_code == "tls"


async def test_a_body_that_is_not_what_its_header_says(kind: str) -> None:
    error = await failure(kind, reply(b"this is no gzip at all", headers={"Content-Encoding": "gzip"}))
    assert (error.code, error.detail_code) == ("WebParseError", "undecoded_body")


async def test_a_body_that_is_too_large_is_refused(kind: str) -> None:
    error = await failure(kind, reply(b"x" * 10_000_000), max_bytes=1_000_000)
    assert isinstance(error, WebParseError) and error.detail_code == "too_large"


async def test_a_compression_bomb_does_not_fill_the_memory(kind: str) -> None:
    answer = bomb(200)
    tracemalloc.start()
    try:
        error = await failure(kind, answer)
        most = tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
    assert error.detail_code == "too_large"
    assert most < 40, f"{most:.0f} MB"


@pytest.mark.req("G6.1")
@pytest.mark.parametrize("answer", [stall, drip(b"x" * 1000)], ids=["silent", "byte by byte"])
async def test_cancelling_closes_the_socket(kind: str, answer: Reply) -> None:
    client = make(kind)
    async with serve(lambda _: answer) as site:
        sending = asyncio.ensure_future(client.send(Request.get(site.url), "x"))
        await site.until_asked()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        assert await site.until_idle(), "the connection is still open"
    await client.close()


async def test_a_reused_connection_that_was_closed_is_retried(kind: str) -> None:
    """Servers close idle connections; a POST on such a connection is sent again."""
    client = make(kind)
    answers = iter([reply("one"), raw(b""), reply("two")])
    async with serve(lambda _: next(answers)) as site:
        first = await client.send(Request.post_form(site.url, {"q": "x"}), "x")
        second = await client.send(Request.post_form(site.url, {"q": "x"}), "x")
    await client.close()
    assert (first.text, second.text) == ("one", "two")


async def test_the_proxy_is_used_and_localhost_is_not_proxied(kind: str) -> None:
    async with (
        serve(lambda seen: reply(f"via proxy: {seen.target}")) as proxy,
        serve(lambda _: reply("direct")) as site,
    ):
        client = make(kind, proxy=Secret(proxy.url), no_proxy=("localhost",))
        through = await client.send(Request.get("http://search.example/s"), "x")
        direct = await client.send(Request.get(site.url.replace("127.0.0.1", "localhost") + "/s"), "x")
        await client.close()
    assert through.text == "via proxy: http://search.example/s"
    assert direct.text == "direct"


async def test_a_proxy_that_refuses_is_reported_without_its_password(kind: str) -> None:
    async with serve(lambda _: reply("", 407)) as proxy:
        address = proxy.url.replace("http://", "http://user:hunter22@")
        client = make(kind, proxy=Secret(address))
        with pytest.raises(NetworkError) as caught:
            await client.send(Request.get("https://search.example/s"), "x")
        await client.close()
    assert caught.value.detail_code == "proxy"
    assert "hunter22" not in repr(caught.value) + str(caught.value.__context__) + repr(
        NetSettings(proxy=Secret(address))
    )


@pytest.mark.req("T6.2")
async def test_a_proxy_of_the_environment_is_not_used(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serve(lambda _: reply("proxy")) as proxy, serve(lambda _: reply("site")) as site:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        client = make(kind)
        assert (await client.send(Request.get(site.url), "x")).text == "site"
        await client.close()
    assert not proxy.seen


async def test_cookies_are_not_kept(kind: str) -> None:
    client = make(kind)
    async with serve(lambda _: reply("x", headers={"Set-Cookie": "id=1; Path=/"})) as site:
        for _ in range(2):
            await client.send(Request.get(site.url), "x")
    await client.close()
    assert all("cookie" not in seen.headers for seen in site.seen)


async def test_a_url_is_sent_as_it_is(kind: str) -> None:
    client = make(kind)
    target = "/s?q=a%20b%2Fc%7E%E4%BD%A0+d&x=~"
    async with serve(lambda _: reply("x")) as site:
        await client.send(Request.get(site.url + target), "x")
    await client.close()
    assert site.seen[0].target == target


async def test_a_host_that_hangs_holds_up_no_other(kind: str) -> None:
    """Each host has places of its own, however many requests wait for one that never answers."""
    client = make(kind)
    async with serve(lambda _: stall) as silent, serve(lambda _: reply("x")) as site, asyncio.timeout(PATIENCE):
        waiting = [asyncio.ensure_future(client.send(Request.get(silent.url), "silent")) for _ in range(300)]
        await silent.until_asked(50)
        answers = await asyncio.gather(*(client.send(Request.get(site.url), "quick") for _ in range(300)))
        assert all(answer.text == "x" for answer in answers)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert await silent.until_idle()
        await client.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nabc",
        b"HTTP/1.0 200 OK\r\n\r\nabc",
        b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabcSSH-2.0",
    ],
    ids=["chunked", "until the end", "http/1.0", "early hints", "more than was promised"],
)
async def test_the_forms_of_a_response(kind: str, sent: bytes) -> None:
    response = await ask(kind, raw(sent))
    assert (response.status, response.body) == (200, b"abc")


async def test_a_connection_that_is_to_be_closed_is_not_used_again(kind: str) -> None:
    client = make(kind)
    async with serve(lambda _: reply("x", headers={"Connection": "close"})) as site:
        for _ in range(3):
            assert (await client.send(Request.get(site.url), "x")).text == "x"
        assert site.connections == 3
        assert await site.until_idle()
    await client.close()


async def test_headers_without_an_end_are_refused() -> None:
    error = await failure("own", raw(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200_000))
    assert error.detail_code == "bad_http"


async def test_a_header_cannot_contain_another_header() -> None:
    client = make("own")
    async with serve(lambda _: reply("x")) as site:
        for request in (Request(site.url, headers={"X": "a\r\nY: b"}), Request(site.url, headers={"X\nY": "b"})):
            with pytest.raises(NetworkError) as caught:
                await client.send(request, "x")
            assert caught.value.detail_code == "bad_http" and not site.seen
    await client.close()


async def test_a_name_is_looked_up_once_for_all_who_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lookup takes a thread: one that hangs must not take them all."""
    lookups: list[bytes] = []

    async def hanging(host: bytes, port: int, **_: object) -> None:
        lookups.append(host)
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", hanging)
    client = make("own")
    waiting = [asyncio.ensure_future(client.send(Request.get("http://slow.example/"), "x")) for _ in range(20)]
    await asyncio.sleep(0)
    assert await soon(lambda: bool(lookups))
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    await client.close()
    assert lookups == [b"slow.example"]


@asynccontextmanager
async def tunnel(port: int, seen: list[bytes]) -> AsyncIterator[str]:
    """A proxy on loopback that connects to ``port`` whatever is asked for, and notes the heads of its requests."""

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
        writer.close()

    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        there, back = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(pass_on(reader, back), pass_on(there, writer), return_exceptions=True)
        for each in (back, writer):
            each.close()
            with suppress(OSError):
                await each.wait_closed()

    tasks: list[asyncio.Task[None]] = []
    server = await asyncio.start_server(lambda r, w: tasks.append(asyncio.create_task(serve_one(r, w))), "127.0.0.1", 0)
    yield f"http://user:pass%20word@127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()
    await asyncio.gather(*tasks)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl, which makes the certificate, is not installed")
async def test_https_through_a_proxy(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = certificate(tmp_path, 2, "DNS:search.example")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    trusted_certificates.cache_clear()
    seen: list[bytes] = []
    async with secure(lambda _: reply("through"), context) as port, tunnel(port, seen) as proxy:
        client = make(kind, proxy=Secret(proxy))
        answers = [await client.send(Request.get("https://search.example/s"), "x") for _ in range(2)]
        await client.close()
    trusted_certificates.cache_clear()
    assert [answer.text for answer in answers] == ["through", "through"]
    assert len(seen) == 1 and seen[0].startswith(b"CONNECT search.example:443 HTTP/1.1\r\n")
    assert b"basic dxnlcjpwyxnzihdvcmq=" in seen[0].lower()


def network(**settings: object) -> Network:
    return Network(NetSettings(**settings), BrowserSettings(), PageAccess())  # type: ignore[arg-type]


class TestImpersonation:
    """Engines with result pages are asked with a browser's handshake where curl_cffi is installed."""

    @pytest.mark.req("T6.2")
    @pytest.mark.parametrize(
        ("settings", "url", "profile"),
        [
            ({}, "https://search.example/", "chrome"),
            ({}, "http://search.example/", ""),
            ({"impersonate": "off"}, "https://search.example/", ""),
            ({"impersonate": "firefox"}, "https://search.example/", "firefox"),
            ({"impersonate": "firefox"}, "http://search.example/", "firefox"),
            ({"user_agent": "me/1.0"}, "https://search.example/", ""),
            ({"user_agent": "me/1.0", "impersonate": "safari"}, "https://search.example/", "safari"),
        ],
    )
    def test_the_profile(self, settings: dict[str, str], url: str, profile: str) -> None:
        pytest.importorskip("curl_cffi")
        assert network(**settings).profile(url) == profile

    async def test_the_headers_are_those_of_the_browser(self) -> None:
        pytest.importorskip("curl_cffi")
        net = network(impersonate="firefox", user_agent="me/1.0")
        async with serve(lambda _: reply("x")) as site:
            referer = {"Referer": f"{site.url}/"}
            await net.send_as_browser(Request.post_form(f"{site.url}/html/", {"q": "x"}, referer), "x")
            await net.send_as_browser(Request.get(f"{site.url}/search"), "x")
            await net.send(Request.get(f"{site.url}/api"), "x")
        await net.close()
        form, page, api = (seen.headers for seen in site.seen)
        for headers in (form, page):
            assert "Firefox/" in headers["user-agent"] and headers["accept"].startswith("text/html")
            assert "zstd" in headers["accept-encoding"] and "upgrade" not in headers
        assert (form["sec-fetch-site"], form["origin"]) == ("same-origin", site.url)
        assert page["sec-fetch-site"] == "none" and "origin" not in page
        assert api["user-agent"] == "me/1.0", "an API is not asked as a browser"

    async def test_a_profile_that_does_not_exist(self) -> None:
        pytest.importorskip("curl_cffi")
        net = network(impersonate="netscape4")
        async with serve(lambda _: reply("x")) as site:
            with pytest.raises(WebProviderError) as caught:
                await net.send_as_browser(Request.get(site.url), "x")
        await net.close()
        assert caught.value.detail_code == "profile_unknown" and "netscape4" in caught.value.message

    async def test_a_named_profile_without_the_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "curl_cffi", None)
        monkeypatch.delitem(sys.modules, "suyuan.net.impersonate", raising=False)
        net = network(impersonate="chrome")
        with pytest.raises(WebProviderError) as caught:
            await net.send_as_browser(Request.get("http://127.0.0.1:9/"), "x")
        await net.close()
        assert caught.value.detail_code == "impersonate_missing" and "suyuan[impersonate]" in caught.value.hint

    async def test_a_package_that_cannot_be_loaded_is_not_used(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "curl_cffi._wrapper", None)
        for name in ("suyuan.net.impersonate", "curl_cffi", "curl_cffi.aio", "curl_cffi.curl"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        net = network()
        with pytest.raises(NetworkError) as caught:
            await net.send_as_browser(Request.get("https://127.0.0.1:9/"), "x")
        await net.close()
        assert caught.value.detail_code == "connection_refused"

    @pytest.mark.parametrize("url", ["http://127.0.0.1:9\\@search.example/", "http://search.example/\n", "http://a b/"])
    async def test_a_url_that_two_parsers_read_differently_is_refused(self, url: str) -> None:
        pytest.importorskip("curl_cffi")
        client = make("curl_cffi")
        with pytest.raises(NetworkError) as caught:
            await client.send(Request.get(url), "x")
        await client.close()
        assert caught.value.detail_code == "bad_http"

    @pytest.mark.skipif(
        shutil.which("openssl") is None, reason="openssl, which makes the certificate, is not installed"
    )
    async def test_the_authorities_that_python_trusts_are_trusted(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pytest.importorskip("curl_cffi")
        context = certificate(tmp_path, 2)
        async with secure(lambda _: reply("x"), context) as port:
            for trusted in (False, True):
                if trusted:
                    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
                client = make("curl_cffi")
                try:
                    answer = await client.send(Request.get(f"https://127.0.0.1:{port}/"), "x")
                    assert trusted and answer.text == "x"
                except NetworkError as error:
                    assert not trusted and error.detail_code == "tls"
                await client.close()

    @pytest.mark.skipif(
        shutil.which("openssl") is None, reason="openssl, which makes the certificate, is not installed"
    )
    @pytest.mark.parametrize("answer", [reply(pages.ddg()), reply("", 429)], ids=["results", "refused"])
    async def test_the_receipt_says_so(self, answer: Reply, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("curl_cffi")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        async with secure(lambda _: answer, certificate(tmp_path, 2)) as port:
            async with client({"ddg_html": f"https://127.0.0.1:{port}"}) as searching:
                try:
                    attempts = (await searching.search("some words", engines="ddg_html")).attempts
                except SuyuanError as error:
                    attempts = error.attempts
        assert [a.notes for a in attempts] == [("asked with the handshake and headers of chrome",)]


class TestRestrictedSend:
    """An engine reaches its own endpoint only (P9.1)."""

    @pytest.mark.req("P9.1")
    @pytest.mark.parametrize(
        "url",
        [
            "http://elsewhere.example/",
            "http://127.0.0.1:1/",
            "file:///etc/passwd",
            "http://search.example.evil.example/",
            "https://search.example/",
            "http://search.example:81/",
            "//search.example/",
            "http://search.example@evil.example/",
            "",
        ],
    )
    async def test_other_addresses_are_not_requested(self, url: str) -> None:
        async def send(request: Request, engine: str) -> Response:
            raise AssertionError(f"a request was sent: {request.url}")

        bound = restricted_send(send, "x", "http://search.example:8080")
        with pytest.raises(WebProviderError) as caught:
            await bound(Request.get(url))
        assert caught.value.detail_code == "off_limits"

    @pytest.mark.req("P9.1")
    @pytest.mark.parametrize("name", [name for name, info in registry.BUILT_IN.items() if info.reads_pages])
    async def test_only_the_named_hosts_of_an_engine_are_asked_besides_its_own(self, name: str) -> None:
        engine: Any = registry.load(name)(None)
        asked: list[str] = []

        async def send(request: Request, engine: str) -> Response:
            asked.append(request.url)
            return Response(200, b"")

        bound = restricted_send(send, name, engine.default_url, engine.redirect_hosts)
        for host in engine.redirect_hosts:
            await bound(Request.get(f"https://{host}/"))
            for other in (f"evil{host}", f"{host}.evil.example", f"evil.example/{host}", f"{host}@evil.example"):
                with pytest.raises(WebProviderError):
                    await bound(Request.get(f"https://{other}/"))
        assert asked == [f"https://{host}/" for host in engine.redirect_hosts]

    @pytest.mark.req("P9.1")
    async def test_a_redirect_within_the_endpoint_is_followed_and_another_is_not(self, kind: str) -> None:
        client = make(kind)
        answers = {"/a": redirect("/b"), "/b": reply("arrived"), "/out": redirect("http://elsewhere.example/x")}
        async with serve(lambda seen: answers[seen.path]) as site:
            bound = restricted_send(client.send, "x", site.url)
            assert (await bound(Request.get(site.url + "/a"))).text == "arrived"
            outside = await bound(Request.get(site.url + "/out"))
        await client.close()
        assert (outside.status, outside.headers["location"]) == (302, "http://elsewhere.example/x")

    async def test_a_redirect_loop_ends(self, kind: str) -> None:
        client = make(kind)
        async with serve(lambda _: redirect("/again")) as site:
            with pytest.raises(NetworkError) as caught:
                await restricted_send(client.send, "x", site.url)(Request.get(site.url + "/again"))
            assert len(site.seen) <= 4
        await client.close()
        assert caught.value.detail_code == "redirect_loop"

    async def test_a_form_becomes_a_get_when_it_is_redirected(self, kind: str) -> None:
        client = make(kind)
        async with serve(lambda seen: reply(seen.method) if seen.path == "/b" else redirect("/b")) as site:
            bound = restricted_send(client.send, "x", site.url)
            assert (await bound(Request.post_form(site.url + "/a", {"q": "x"}))).text == "GET"
        await client.close()
