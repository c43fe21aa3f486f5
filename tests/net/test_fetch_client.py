"""``FetchClient`` on loopback: what it fetches, what it never connects to, and its limits."""

from __future__ import annotations

import asyncio
import gzip
import shutil
import ssl
import subprocess
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import brotli
import pytest

from support.site import Reply, Seen, bomb, drip, free_port, half, raw, redirect, reply, reset, serve, stall
from support.timing import PATIENCE
from suyuan.core.errors import NetworkError, SuyuanError, WebParseError, WebProviderError
from suyuan.core.secret import Secret
from suyuan.net.fetch_client import FetchClient, FetchResult, Lookup, checked_addresses
from suyuan.net.guard import Guard
from suyuan.net.settings import NetSettings

HERE = Guard(allow_hosts=("site.example",))
"""Allows one name, whatever its address; everything else must be public."""
ONE = Guard(allow_networks=("127.0.0.1/32",))
"""Makes 127.0.0.1 count as public, while 127.0.0.2 stays private."""


def names(**hosts: Sequence[str]) -> Lookup:
    """A resolver that knows these names (``site_example`` for site.example), and no other."""

    async def look_up(host: str, port: int) -> Sequence[str]:
        try:
            return hosts[host.replace(".", "_")]
        except KeyError:
            raise OSError(f"unknown: {host}") from None

    return look_up


LOOKUP = names(
    site_example=["127.0.0.1"],
    evil_example=["127.0.0.1"],
    both_example=["127.0.0.2", "127.0.0.1"],
    metadata_example=["169.254.169.254"],
)


@asynccontextmanager
async def client(guard: Guard = HERE, lookup: Lookup = LOOKUP, **settings: object) -> AsyncIterator[FetchClient]:
    made = FetchClient(NetSettings(**settings), guard, lookup)  # type: ignore[arg-type]
    try:
        async with asyncio.timeout(PATIENCE):
            yield made
    finally:
        await made.close()


async def get(
    made: FetchClient, url: str, wire: int = 1 << 20, size: int = 4 << 20, headers: Mapping[str, str] | None = None
) -> FetchResult:
    return await made.get(url, headers=headers or {}, max_wire=wire, max_bytes=size)


def at(site_url: str, path: str = "/", host: str = "site.example") -> str:
    return f"http://{host}:{urlsplit(site_url).port}{path}"


async def ask(answer: Reply, wire: int = 1 << 20, size: int = 4 << 20) -> FetchResult:
    async with serve(lambda _: answer) as site, client() as made:
        return await get(made, at(site.url), wire, size)


async def failure(answer: Reply, wire: int = 1 << 20, size: int = 4 << 20) -> SuyuanError:
    with pytest.raises(SuyuanError) as caught:
        await ask(answer, wire, size)
    return caught.value


def routes(**replies: Reply) -> Callable[[Seen], Reply]:
    return lambda seen: replies.get(seen.path.strip("/"), reply("nothing here", 404))


class TestReading:
    """Pages that may be read."""

    async def test_a_page_arrives(self) -> None:
        found = await ask(reply("谷歌", 418, {"X-Thing": "yes"}))
        assert (found.response.status, found.response.text, found.response.headers["x-thing"]) == (418, "谷歌", "yes")
        assert found.hops == (found.response.url,) and found.notes == () and found.response.at is not None

    async def test_what_is_sent(self) -> None:
        async with serve(lambda _: reply("x", headers={"Set-Cookie": "a=b; Path=/"})) as site:
            async with client(user_agent="Reader/1") as made:
                await get(made, at(site.url, "/a%20b/ü?q=%zz&r=ä#frag"), headers={"Accept": "text/html"})
                await get(made, at(site.url, "/"))
            first, second = site.seen
        assert first.target == "/a%20b/%C3%BC?q=%zz&r=%C3%A4"
        assert first.headers["host"] == urlsplit(at(site.url)).netloc and first.headers["user-agent"] == "Reader/1"
        assert (first.headers["accept"], first.headers["accept-encoding"]) == ("text/html", "gzip, deflate, br, zstd")
        assert "cookie" not in second.headers

    @pytest.mark.parametrize(
        "host", ["site.example", "SITE.example", "site.example.", "site。example", "ｓｉｔｅ.example", "%73ite.example"]
    )
    async def test_spellings_of_an_allowed_name(self, host: str) -> None:
        async with serve(lambda _: reply("x")) as site, client() as made:
            assert (await get(made, at(site.url, "/", host))).response.text == "x"
            assert site.seen[0].headers["host"].startswith("site.example:")

    async def test_connections_are_reused_for_the_same_host_only(self) -> None:
        async with (
            serve(lambda _: reply("x")) as site,
            client(Guard(allow_hosts=("site.example", "evil.example"))) as made,
        ):
            for host in ("site.example", "site.example", "evil.example"):
                await get(made, at(site.url, "/", host))
            assert (len(site.seen), site.connections) == (3, 2)
            await made.close()
            assert await site.until_idle()

    @pytest.mark.parametrize(
        ("encoding", "packed"),
        [
            ("gzip", gzip.compress(b"text", mtime=0)),
            ("x-gzip", gzip.compress(b"te", mtime=0) + gzip.compress(b"xt", mtime=0) + b"\0" * 5000),
            ("deflate", zlib.compress(b"text")),
            ("deflate", zlib.compress(b"text", wbits=-15)),
            ("BR", brotli.compress(b"text")),
            ("identity", b"text"),
            ("utf-8", b"text"),
            ("gzip", b""),
        ],
    )
    async def test_bodies_are_decompressed(self, encoding: str, packed: bytes) -> None:
        found = await ask(reply(packed, headers={"Content-Encoding": encoding}))
        assert found.response.body == (b"text" if packed else b"")

    async def test_zstd_is_decompressed(self) -> None:
        zstd = pytest.importorskip("backports.zstd", reason="Python 3.14 has it in the standard library")
        packed = zstd.compress(b"te") + zstd.compress(b"xt")
        assert (await ask(reply(packed, headers={"Content-Encoding": "zstd"}))).response.body == b"text"


class TestRedirects:
    """Each redirect is checked like the first URL."""

    async def test_allowed_redirects_are_followed(self) -> None:
        async with serve(lambda seen: answers[seen.path]) as site, client() as made:
            answers = {
                "/a": redirect("b?x=1", 301),
                "/b": redirect("//site.example:" + str(urlsplit(site.url).port) + "/c", 307),
                "/c": raw("HTTP/1.1 302 X\r\nLocation: /ü\r\nContent-Length: 0\r\n\r\n".encode()),
                "/%C3%BC": raw(b"HTTP/1.1 302 X\r\nLocation: /\xe4\r\nContent-Length: 0\r\n\r\n"),
                "/%E4": reply("arrived"),
            }
            found = await get(made, at(site.url, "/a"))
        assert found.response.text == "arrived" and [urlsplit(hop).path for hop in found.hops] == [
            "/a",
            "/b",
            "/c",
            "/%C3%BC",
            "/%E4",
        ]
        assert found.response.url == found.hops[-1]

    @pytest.mark.parametrize(
        "answer",
        [reply("x", 302), reply("x", 300, {"Location": "/b"}), reply("x", 200, {"Location": "/b"}), redirect("")],
    )
    async def test_a_response_that_is_no_redirect_is_returned(self, answer: Reply) -> None:
        assert len((await ask(answer)).hops) == 1

    @pytest.mark.parametrize(
        "target",
        [
            "http://127.0.0.1:PORT/", "http://2130706433:PORT/", "http://0x7f000001:PORT/", "http://017700000001:PORT/",
            "http://0177.1:PORT/",
            "http://127.1:PORT/", "http://0:PORT/", "http://[::ffff:127.0.0.1]:PORT/", "http://[::127.0.0.1]:PORT/",
            "http://[::1]:PORT/",
            "http://[::1%25lo]:PORT/", "//127.0.0.1:PORT/", "http://localhost:PORT/", "http://localhost.:PORT/",
            "http://127。0。0。1:PORT/",
            "http://１２７.0.0.1:PORT/", "http://site.example@127.0.0.1:PORT/", "http://user:pw@site.example:PORT/",
            "http://site.example:PORT\\@127.0.0.1/", "\\\\127.0.0.1:PORT/", "/\\127.0.0.1:PORT/",
            "http://evil.example:PORT/",
            "http://site.example.evil.example:PORT/", "http://metadata.example/", "http://169.254.169.254/",
            "https://127.0.0.1:PORT/",
            "file:///etc/passwd", "gopher://127.0.0.1:PORT/_x", "ftp://127.0.0.1:PORT/", "data:text/html,x",
            "javascript:1", "http://",
            "http://si\tte.example:PORT/", "http://site.example:PORT:80/", "http://127.0.0.1.:PORT/",
            "http://\xe4.site.example:PORT/",
        ],
    )  # fmt: skip
    async def test_refused_redirects_are_not_followed(self, target: str) -> None:
        async with serve(lambda seen: answers[seen.path]) as site, client() as made:
            location = target.replace("PORT", str(urlsplit(site.url).port)).encode("utf-8")
            head = b"HTTP/1.1 302 X\r\nContent-Length: 0\r\nLocation: " + location + b"\r\n\r\n"
            answers = {"/a": redirect("/b"), "/b": raw(head), "/": reply("got in")}
            with pytest.raises(SuyuanError) as caught:
                await get(made, at(site.url, "/a"))
            assert [seen.path for seen in site.seen] == ["/a", "/b"] and site.connections == 1
        # A name that is not in DNS is not refused by the guard.
        expected = {"dns"} if ".evil." in target or "\xe4" in target else {"guard_refused"}
        assert {caught.value.detail_code} <= expected | ({"bad_http"} if "\t" in target else set())
        assert "pw" not in caught.value.message

    async def test_loops_and_endless_chains_are_errors(self) -> None:
        async with serve(lambda seen: redirect("/a" if seen.path == "/b" else "/b")) as site, client() as made:
            with pytest.raises(NetworkError) as caught:
                await get(made, at(site.url, "/a"))
            assert caught.value.detail_code == "redirect_loop" and len(site.seen) == 2
        async with serve(lambda seen: redirect(seen.path + "a")) as site, client() as made:
            with pytest.raises(NetworkError) as caught:
                await get(made, at(site.url, "/a"))
            assert caught.value.detail_code == "redirect_loop" and len(site.seen) == 6

    async def test_credentials_are_sent_to_their_host_only(self) -> None:
        async with (
            serve(lambda seen: answers[seen.path]) as site,
            client(Guard(allow_hosts=("site.example", "evil.example"))) as made,
        ):
            answers = {"/a": redirect("/b"), "/b": redirect(at(site.url, "/c", "evil.example")), "/c": reply("x")}
            await get(made, at(site.url, "/a"), headers={"Authorization": "secret", "Accept": "text/html"})
            assert [seen.headers.get("authorization") for seen in site.seen] == ["secret", "secret", None]
            assert site.seen[2].headers["accept"] == "text/html"


class TestAddresses:
    """Only checked addresses are connected to."""

    @pytest.mark.parametrize(
        "host", ["127.0.0.1", "0x7f.1", "[::ffff:127.0.0.1]", "localhost", "evil.example", "site.example@127.0.0.1"]
    )
    async def test_refused_addresses_get_no_connection(self, host: str) -> None:
        async with serve(lambda _: reply("got in")) as site, client() as made:
            with pytest.raises(SuyuanError):
                await get(made, at(site.url, "/", host))
            assert site.connections == 0

    async def test_a_name_with_public_and_private_addresses(self) -> None:
        """127.0.0.2 comes first and would answer, but only 127.0.0.1 is tried."""
        async with serve(lambda _: reply("public")) as site, client(ONE) as made:
            port = urlsplit(site.url).port
            private = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.2", port)
            async with private:
                assert (await get(made, at(site.url, "/", "both.example"))).response.text == "public"

    async def test_an_address_that_changes_between_the_check_and_the_connection(self) -> None:
        """A name is looked up once for a connection, so a second lookup cannot change the address."""
        answers = iter([["127.0.0.1"], ["127.0.0.2"], ["127.0.0.2"]])
        asked: list[str] = []

        async def rebinding(host: str, port: int) -> Sequence[str]:
            asked.append(host)
            return next(answers)

        async with serve(lambda _: reply("x", headers={"Connection": "close"})) as site, client(ONE, rebinding) as made:
            assert (await get(made, at(site.url, "/", "rebind.example"))).response.text == "x"
            assert len(asked) == 1
            with pytest.raises(WebProviderError) as caught:
                await get(made, at(site.url, "/", "rebind.example"))
            assert caught.value.detail_code == "guard_refused" and "127.0.0.2" in caught.value.message
            assert site.connections == 1

    async def test_a_name_that_changes_during_a_redirect(self) -> None:
        answers = iter([["127.0.0.1"], ["127.0.0.2"]])

        async def rebinding(host: str, port: int) -> Sequence[str]:
            return next(answers)

        async with serve(lambda _: redirect("/again")) as site, client(ONE, rebinding) as made:
            site.handler = lambda _: reply("", 302, {"Location": "/again", "Connection": "close"})
            with pytest.raises(WebProviderError) as caught:
                await get(made, at(site.url, "/", "rebind.example"))
            assert caught.value.detail_code == "guard_refused" and site.connections == 1

    async def test_the_resolver_returns_only_allowed_addresses(self) -> None:
        found = await checked_addresses(ONE, LOOKUP, "both.example", 80)
        assert [entry[4][0] for entry in found] == ["127.0.0.1"]
        with pytest.raises(OSError):
            await checked_addresses(ONE, names(empty_example=[]), "empty.example", 80)

    async def test_a_name_that_does_not_exist(self) -> None:
        async with client() as made:
            with pytest.raises(NetworkError) as caught:
                await get(made, "http://unknown.example/")
        assert caught.value.detail_code == "dns"

    async def test_the_system_resolver(self) -> None:
        made = FetchClient(NetSettings(), Guard(allow_hosts=("localhost",)))
        async with serve(lambda _: reply("x")) as site:
            assert (await get(made, at(site.url, "/", "localhost"))).response.text == "x"
        await made.close()


class TestProxy:
    """A proxy resolves names itself; what is known here is checked all the same."""

    async def test_pages_are_fetched_through_the_proxy(self) -> None:
        async with serve(lambda seen: reply(f"via proxy: {seen.target}")) as proxy:
            async with client(proxy=Secret(proxy.url)) as made:
                found = await get(made, "http://unknown.example/a?b")
                assert found.response.text == "via proxy: http://unknown.example/a?b"

    @pytest.mark.parametrize(
        "host", ["10.0.0.1", "0xa000001", "[::ffff:10.0.0.1]", "nas", "a.internal", "evil.example", "both.example"]
    )
    async def test_private_addresses_are_not_requested_from_the_proxy(self, host: str) -> None:
        guard = Guard() if host == "evil.example" else ONE
        async with serve(lambda _: reply("got in")) as proxy, client(guard, proxy=Secret(proxy.url)) as made:
            with pytest.raises(WebProviderError) as caught:
                await get(made, f"http://{host}/")
            assert caught.value.detail_code == "guard_refused" and proxy.connections == 0

    async def test_a_redirect_through_the_proxy_is_checked(self) -> None:
        async with serve(lambda _: redirect("http://10.0.0.1/")) as proxy, client(proxy=Secret(proxy.url)) as made:
            with pytest.raises(WebProviderError) as caught:
                await get(made, "http://unknown.example/")
            assert caught.value.detail_code == "guard_refused" and len(proxy.seen) == 1

    async def test_a_proxy_that_refuses_is_reported_without_its_password(self) -> None:
        async with serve(lambda _: reply("", 407)) as proxy:
            async with client(proxy=Secret(proxy.url.replace("http://", "http://user:hunter22@"))) as made:
                with pytest.raises(NetworkError) as caught:
                    await get(made, "https://unknown.example/")
        assert caught.value.detail_code == "proxy" and "hunter22" not in repr(caught.value) + repr(
            caught.value.__context__
        )


class TestLimits:
    """Sizes are limited, and nothing is waited for beyond a limit."""

    async def test_the_received_size_is_limited(self) -> None:
        error = await failure(reply(b"x" * 200_000), wire=100_000)
        assert isinstance(error, WebParseError) and error.detail_code == "too_large" and "100000" in error.message

    async def test_a_large_content_length_is_refused_at_once(self) -> None:
        async def announce(writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n")
            await stall(writer)

        assert (await failure(announce)).detail_code == "too_large"

    async def test_a_body_without_content_length_is_limited(self) -> None:
        endless = raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + b"x" * 3_000_000)
        assert (await failure(endless, wire=1_000_000)).detail_code == "too_large"

    async def test_the_decompressed_size_is_limited(self) -> None:
        packed = gzip.compress(b"x" * 1_000_000, mtime=0)
        error = await failure(reply(packed, headers={"Content-Encoding": "gzip"}), size=500_000)
        assert error.detail_code == "too_large" and "500000" in error.message

    async def test_a_body_of_exactly_the_limit_is_allowed(self) -> None:
        assert len((await ask(reply(b"x" * 1000), wire=1000, size=1000)).response.body) == 1000

    @pytest.mark.parametrize("encoding", ["gzip", "br", "zstd"])
    async def test_a_compression_bomb_does_not_fill_the_memory(self, encoding: str) -> None:
        zstd = pytest.importorskip("backports.zstd", reason="Python 3.14 has it in the standard library")
        zeros = b"\0" * (200 << 20)
        pack: dict[str, Callable[[bytes], bytes]] = {
            "br": lambda data: brotli.compress(data, quality=1),
            "zstd": zstd.compress,
        }
        answer = (
            bomb(200) if encoding == "gzip" else reply(pack[encoding](zeros), headers={"Content-Encoding": encoding})
        )
        tracemalloc.start()
        try:
            error = await failure(answer)
            peak = tracemalloc.get_traced_memory()[1] / (1 << 20)
        finally:
            tracemalloc.stop()
        # Of 200 MB, 4 are allowed.
        assert error.detail_code == "too_large" and peak < 20, f"{peak:.0f} MB"

    @pytest.mark.parametrize(
        ("encoding", "body"),
        [
            ("gzip", b"this is no gzip at all"),
            ("gzip", gzip.compress(b"x" * 50_000, mtime=0)[:-12]),
            ("gzip", gzip.compress(b"", mtime=0) * 1500),
            ("gzip, br", brotli.compress(gzip.compress(b"x", mtime=0))),
            ("br", b"\xff\xff\xff\xff"),
            ("br", brotli.compress(b"text" * 9)[:-3]),
            ("zstd", b"nonsense"),
            ("deflate", b"\xff\xff\xff"),
        ],
    )
    async def test_a_body_that_is_not_what_its_header_says(self, encoding: str, body: bytes) -> None:
        error = await failure(reply(body, headers={"Content-Encoding": encoding}))
        assert (error.code, error.detail_code) == ("WebParseError", "undecoded_body") and error.hint

    @pytest.mark.parametrize(
        "head", ["X: " + "x" * 40_000, "\r\n".join(f"X-{n}: y" for n in range(200))], ids=["long", "many"]
    )
    async def test_headers_are_limited(self, head: str) -> None:
        error = await failure(raw(f"HTTP/1.1 200 OK\r\n{head}\r\nContent-Length: 0\r\n\r\n".encode()))
        assert error.detail_code == "bad_http"

    @pytest.mark.parametrize(
        ("answer", "code"),
        [
            (half(b"<html>" + b"x" * 5000), "connection_broken"),
            (reset, "connection_broken"),
            (raw(b"HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n"), "bad_http"),
            (raw(b"SSH-2.0-OpenSSH_9.2\r\n"), "bad_http"),
        ],
        ids=["half a body", "reset", "broken header", "not HTTP"],
    )
    async def test_broken_responses_are_network_errors(self, answer: Reply, code: str) -> None:
        error = await failure(answer)
        assert isinstance(error, NetworkError) and error.detail_code == code

    @pytest.mark.parametrize(
        "answer",
        [
            b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: other\r\n\r\nhello",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n",
        ],
        ids=["line feeds", "after an interim response", "until the end", "spaces after a size"],
    )
    async def test_responses_of_careless_servers(self, answer: bytes) -> None:
        assert (await ask(raw(answer))).response.body == b"hello"

    async def test_hosts_that_are_not_used_any_more_are_forgotten(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("suyuan.net.http._MAX_HOSTS", 3)
        hosts = [f"h{n}.example" for n in range(9)]
        lookup = names(**{host.replace(".", "_"): ["127.0.0.1"] for host in hosts})
        closing = reply("x", headers={"Connection": "close"})
        async with serve(lambda _: closing) as site, client(Guard(allow_hosts=tuple(hosts)), lookup) as made:
            for host in hosts:
                assert (await get(made, at(site.url, "/", host))).response.text == "x"
            assert len(made._http._pool.get()._hosts) <= 3

    async def test_a_refused_connection(self) -> None:
        async with client() as made:
            with pytest.raises(NetworkError) as caught:
                await get(made, f"http://site.example:{free_port()}/")
        assert caught.value.detail_code == "connection_refused"

    @pytest.mark.parametrize("answer", [stall, drip(b"x" * 1000)], ids=["silent", "byte by byte"])
    async def test_cancelling_closes_the_socket(self, answer: Reply) -> None:
        async with serve(lambda _: answer) as site, client() as made:
            getting = asyncio.ensure_future(get(made, at(site.url)))
            await site.until_asked()
            getting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await getting
            assert await site.until_idle(), "the connection is still open"

    async def test_exceeding_a_limit_closes_the_socket(self) -> None:
        async with serve(lambda _: drip(b"x" * 1000, gap=0)) as site, client() as made:
            with pytest.raises(WebParseError):
                await get(made, at(site.url), 10)
            assert await site.until_idle()


class TestBrowserCheck:
    """The same rules for the requests of a browser."""

    async def test_what_a_browser_may_load(self) -> None:
        async with client(ONE, names(site_example=["127.0.0.1"], both_example=["127.0.0.1", "127.0.0.2"])) as made:
            may: Callable[[str], Awaitable[bool]] = made.may_load
            assert await may("http://site.example/") and await may("http://127.0.0.1:81/x")
            for url in (
                "http://both.example/",
                "http://127.0.0.2/",
                "http://localhost/",
                "http://unknown.example/",
                "file:///x",
                "http://u@site.example/",
            ):
                assert not await may(url), url

    async def test_with_a_proxy_an_unknown_name_may_be_loaded(self) -> None:
        async with client(ONE, proxy=Secret("http://127.0.0.1:1")) as made:
            assert await made.may_load("http://unknown.example/") and not await made.may_load("http://both.example/")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl, which makes the certificate, is not installed")
class TestTls:
    """The address is fixed, and the certificate is checked for the name."""

    @asynccontextmanager
    async def secure(self, folder: Path, answer: bytes) -> AsyncIterator[tuple[int, ssl.SSLContext]]:
        key, certificate = folder / "key.pem", folder / "certificate.pem"
        command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=x"
        options = ["-addext", "subjectAltName=DNS:site.example", "-keyout", str(key), "-out", str(certificate)]
        await asyncio.to_thread(subprocess.run, [*command.split(), *options], check=True, capture_output=True)
        own = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        own.load_cert_chain(certificate, key)

        async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(serve_one, "127.0.0.1", 0, ssl=own)
        async with server:
            yield server.sockets[0].getsockname()[1], ssl.create_default_context(cafile=str(certificate))

    async def test_https_to_a_checked_address_and_a_note_on_a_redirect_to_http(self, tmp_path: Path) -> None:
        async with serve(lambda _: reply("arrived")) as site:
            head = f"HTTP/1.1 302 X\r\nLocation: {at(site.url)}\r\nContent-Length: 0\r\n\r\n".encode()
            async with self.secure(tmp_path, head) as (port, trusted):
                made = FetchClient(NetSettings(), HERE, LOOKUP, trusted)
                found = await get(made, f"https://site.example:{port}/")
                await made.close()
        assert found.response.text == "arrived" and found.notes == (f"redirected from https to http: {at(site.url)}",)

    async def test_another_name_or_an_unknown_certificate_is_refused(self, tmp_path: Path) -> None:
        async with self.secure(tmp_path, b"") as (port, trusted):
            for host, tls in (("evil.example", trusted), ("site.example", None)):
                made = FetchClient(NetSettings(), Guard(allow_hosts=(host,)), LOOKUP, tls)
                with pytest.raises(NetworkError) as caught:
                    await get(made, f"https://{host}:{port}/")
                await made.close()
                assert caught.value.detail_code == "tls"
