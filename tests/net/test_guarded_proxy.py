"""``GuardedProxy``: only checked addresses are connected to, whatever Chrome or a page tries."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from support.chromium import ALLOWED, get, pages, paths, require_chromium
from support.processes import browsers, family
from support.site import Reply, Seen, Site, free_port, half, raw, redirect, reply, reset, serve, stall
from support.timing import PATIENCE, soon
from suyuan.client import AsyncClient
from suyuan.config.settings import PageSettings, Settings
from suyuan.core.engine import EngineSettings
from suyuan.core.errors import SuyuanError
from suyuan.core.secret import Secret
from suyuan.core.wire import Request
from suyuan.net.browser import BrowserClient
from suyuan.net.fetch_client import FetchClient, Lookup
from suyuan.net.guard import Guard
from suyuan.net.guarded_proxy import GuardedProxy, ProxyLimits, ProxyPolicy
from suyuan.net.request_filter import UrlCheck
from suyuan.net.settings import NetSettings

PUBLIC = "93.184.216.34"


class Names:
    """A DNS that gives the listed answers in turn, and repeats the last."""

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self._answers = {name.replace("_", "."): list(turns) for name, turns in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        turns = self._answers.get(host)
        if turns is None:
            raise socket.gaierror(f"no such name: {host}")
        return turns.pop(0) if len(turns) > 1 else turns[0]


async def no_names(host: str, port: int) -> Sequence[str]:
    raise socket.gaierror(host)


def endpoint(site: Site) -> tuple[str, int]:
    parts = urlsplit(site.url)
    assert parts.hostname and parts.port
    return parts.hostname, parts.port


def proxy_tasks() -> set[asyncio.Task[Any]]:
    """The tasks that run code of the proxy."""
    files = ("/net/guarded_proxy.py", "/net/proxy_connection.py")
    return {task for task in asyncio.all_tasks() if task.get_stack() and _file_of(task).endswith(files)}


def _file_of(task: asyncio.Task[Any]) -> str:
    return Path(task.get_stack()[0].f_code.co_filename).as_posix()


@asynccontextmanager
async def running(policy: ProxyPolicy, limits: ProxyLimits | None = None) -> AsyncIterator[GuardedProxy]:
    proxy = GuardedProxy(policy, limits)
    await proxy.start()
    before = asyncio.all_tasks()
    try:
        yield proxy
    finally:
        await proxy.close()
        assert proxy.connections == 0
        assert not proxy_tasks() - before


class Caller:
    """A client that sends raw bytes to the proxy."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, key: bytes) -> None:
        self.reader, self.writer, self.key = reader, writer, key

    async def ask(self, line: str, *fields: str, body: bytes = b"", key: bytes | None = None) -> bytes:
        """Send a request and return the head of the response."""
        sent = self.key if key is None else key
        lines = [line.encode(), *(field.encode() for field in fields)]
        lines += [b"Proxy-Authorization: " + sent] if sent else []
        self.writer.write(b"\r\n".join(lines) + b"\r\n\r\n" + body)
        return await self.head()

    async def head(self) -> bytes:
        async with asyncio.timeout(PATIENCE):
            return await self.reader.readuntil(b"\r\n\r\n")

    async def body(self, head: bytes) -> bytes:
        """The body, as long as ``head`` says; the sites of these tests keep the connection open."""
        async with asyncio.timeout(PATIENCE):
            return await self.reader.readexactly(int(head.lower().partition(b"content-length:")[2].split()[0]))

    async def rest(self) -> bytes:
        async with asyncio.timeout(PATIENCE):
            return await self.reader.read()


@asynccontextmanager
async def calling(proxy: GuardedProxy) -> AsyncIterator[Caller]:
    reader, writer = await asyncio.open_connection(*urlsplit(proxy.url).netloc.split(":"))
    try:
        yield Caller(reader, writer, b"Basic " + b64encode(":".join(proxy.credentials).encode()))
    finally:
        writer.transport.abort()


def excepting(*sites: Site, lookup: Lookup = no_names, guard: Guard | None = None) -> ProxyPolicy:
    return ProxyPolicy(guard or Guard(), lookup, frozenset(endpoint(site) for site in sites))


def excepting_address(here: tuple[str, int]) -> ProxyPolicy:
    return ProxyPolicy(Guard(), no_names, frozenset({here}))


Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(talk: Talk) -> AsyncIterator[tuple[str, int]]:
    """A raw TCP server; its connections end when ``talk`` does."""
    tasks: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talk(reader, writer)
        except ConnectionError:
            pass
        finally:
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.create_task(handle(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield "127.0.0.1", server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send back what is received."""
    while data := await reader.read(10_000):
        writer.write(data)
        await writer.drain()


class TestRequests:
    @pytest.mark.parametrize(
        "key", [b"", b"Basic eDp5", b"Basic \xff", b"Bearer x"], ids=["none", "wrong", "no letters", "other kind"]
    )
    @pytest.mark.parametrize(
        "line", ["CONNECT {place} HTTP/1.1", "GET http://{place}/ HTTP/1.1"], ids=["tunnel", "plain"]
    )
    async def test_a_request_without_the_password_is_refused(self, line: str, key: bytes) -> None:
        async with serve(pages()) as site, running(excepting(site)) as proxy, calling(proxy) as caller:
            head = await caller.ask(line.format(place="{}:{}".format(*endpoint(site))), key=key)
            assert head.startswith(b"HTTP/1.1 407 ") and b'Proxy-Authenticate: Basic realm="suyuan"' in head
            assert await caller.rest() == b""
        assert site.connections == 0

    async def test_every_proxy_has_its_own_password_and_port(self) -> None:
        async with running(excepting()) as one, running(excepting()) as two:
            assert one.credentials[1] != two.credentials[1] and one.url != two.url and len(one.credentials[1]) >= 32
            assert one.url.startswith("http://127.0.0.1:")
            async with calling(two) as caller:
                head = await caller.ask(
                    "CONNECT a.example:443 HTTP/1.1", key=b"Basic " + b64encode(f"suyuan:{one.credentials[1]}".encode())
                )
        assert b" 407 " in head

    @pytest.mark.parametrize(
        "line",
        [
            "GET / HTTP/1.1",
            "GET https://a.example/ HTTP/1.1",
            "GET ftp://a.example/ HTTP/1.1",
            "CONNECT a.example HTTP/1.1",
            "CONNECT http://a.example/ HTTP/1.1",
            "CONNECT user@a.example:443 HTTP/1.1",
            "CONNECT a.example:443/x:443 HTTP/1.1",
            "CONNECT a.example:99999 HTTP/1.1",
            "hello",
        ],
    )
    async def test_an_invalid_proxy_request_is_refused(self, line: str) -> None:
        names = Names(a_example=[[PUBLIC]])
        async with running(excepting(lookup=names)) as proxy, calling(proxy) as caller:
            assert (await caller.ask(line)).startswith(b"HTTP/1.1 400 ")
        assert not names.asked


class TestGuarded:
    @pytest.mark.parametrize(
        "host",
        ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "169.254.169.254", "inside.example"],
    )
    @pytest.mark.parametrize(
        "line", ["CONNECT {0}:{1} HTTP/1.1", "GET http://{0}:{1}/ HTTP/1.1"], ids=["tunnel", "plain"]
    )
    async def test_private_addresses_are_refused_in_every_spelling(self, line: str, host: str) -> None:
        async with serve(pages()) as site, serve(pages()) as home:
            names = Names(inside_example=[["127.0.0.1"]], localhost=[["127.0.0.1"]])
            async with running(excepting(home, lookup=names)) as proxy, calling(proxy) as caller:
                head = await caller.ask(line.format(host, endpoint(site)[1]))
                assert head.startswith(b"HTTP/1.1 403 ") and proxy.status_mark.encode() in head
                cause = proxy.failure(f"http://{host}:{endpoint(site)[1]}/x")
                assert cause is not None and cause.detail_code == "off_limits"
        assert site.connections == 0

    async def test_one_private_address_among_public_ones_is_refused(self) -> None:
        names = Names(mixed_example=[[PUBLIC, "10.0.0.1"]])
        async with running(excepting(lookup=names)) as proxy, calling(proxy) as caller:
            assert b" 403 " in await caller.ask("CONNECT mixed.example:443 HTTP/1.1")

    async def test_the_checked_address_is_connected_to_without_another_lookup(self) -> None:
        async with serve(pages(page="inside")) as site:
            names = Names(moves_example=[["127.0.0.1"], ["127.0.0.99"]])
            policy = excepting(lookup=names, guard=Guard(allow_networks=("127.0.0.1/32",)))
            async with running(policy) as proxy, calling(proxy) as caller:
                port = endpoint(site)[1]
                head = await caller.ask(f"GET http://moves.example:{port}/page HTTP/1.1")
                assert b" 200 " in head and await caller.body(head) == b"inside"
                assert names.asked == ["moves.example"]
                async with calling(proxy) as again:
                    assert b" 403 " in await again.ask(f"GET http://moves.example:{port}/page HTTP/1.1")
        assert site.connections == 1

    async def test_an_exception_for_an_engine_allows_no_other_port_or_host(self) -> None:
        async with serve(pages(page="engine")) as home, serve(pages()) as other:
            names = Names(engine_lan=[["127.0.0.1"]])
            policy = ProxyPolicy(Guard(), names, frozenset({("engine.lan", endpoint(home)[1])}))
            async with running(policy) as proxy:
                for target, status in [
                    (f"engine.lan:{endpoint(home)[1]}", b" 200 "),
                    (f"engine.lan:{endpoint(other)[1]}", b" 403 "),
                    (f"127.0.0.1:{endpoint(home)[1]}", b" 403 "),
                    (f"x.engine.lan:{endpoint(home)[1]}", b" 403 "),
                ]:
                    async with calling(proxy) as caller:
                        assert status in await caller.ask(f"GET http://{target}/page HTTP/1.1"), target
        assert (home.connections, other.connections) == (1, 0)

    @pytest.mark.parametrize(("name", "code"), [("nowhere.example", "dns"), ("shut.example", "connection_refused")])
    async def test_an_unreachable_host_has_its_reason(self, name: str, code: str) -> None:
        port = free_port()
        policy = excepting(lookup=Names(shut_example=[["127.0.0.1"]]), guard=Guard(allow_hosts=("shut.example",)))
        async with running(policy) as proxy, calling(proxy) as caller:
            assert b" 502 " in await caller.ask(f"CONNECT {name}:{port} HTTP/1.1")
            cause = proxy.failure(f"https://{name}:{port}/")
            assert cause is not None and cause.detail_code == code
            assert proxy.failure("https://other.example/") is None and proxy.failure("x") is None

    async def test_an_address_that_is_silent_or_refuses_is_skipped(self) -> None:
        async with serve(pages(page="reached")) as site:
            names = Names(many_example=[["127.0.0.2", "127.0.0.3", "127.0.0.1"]])
            policy = excepting(lookup=names, guard=Guard(allow_networks=("127.0.0.0/8",)))
            async with running(policy) as proxy, calling(proxy) as caller:
                head = await caller.ask(f"GET http://many.example:{endpoint(site)[1]}/page HTTP/1.1")
                assert b" 200 " in head and await caller.body(head) == b"reached"


class TestTraffic:
    async def test_a_request_is_rewritten_for_the_site(self) -> None:
        async with serve(pages()) as site, running(excepting(site)) as proxy, calling(proxy) as caller:
            host, port = endpoint(site)
            fields = (
                "Host: evil.example",
                "Proxy-Connection: keep-alive",
                "Connection: X-Hop",
                "X-Hop: 1",
                "Upgrade: h2c",
                "X-Kept: 2",
            )
            head = await caller.ask(f"GET http://{host}:{port}/a%20b?c=d HTTP/1.1", *fields)
            assert b"Connection: close\r\n" in head and await caller.body(head) == b"<p>other</p>"
        (seen,) = site.seen
        assert seen.target == "/a%20b?c=d" and seen.headers == {
            "host": f"{host}:{port}",
            "x-kept": "2",
            "connection": "close",
        }

    @pytest.mark.parametrize("kind", ["length", "chunked"])
    async def test_bodies_are_forwarded_as_they_arrive(self, kind: str) -> None:
        got = bytearray()

        async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            while not got.endswith(b"end" if kind == "length" else b"0\r\nX: y\r\n\r\n"):
                got.extend(await reader.read(1000))
                writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok")
            await reader.read()

        async with listening(site) as here, running(excepting_address(here)) as proxy, calling(proxy) as caller:
            port = here[1]
            field = "Content-Length: 8" if kind == "length" else "Transfer-Encoding: chunked"
            first, second = (b"first", b"end") if kind == "length" else (b"5;x=y\r\nfirst\r\n", b"0\r\nX: y\r\n\r\n")
            head = await caller.ask(f"POST http://127.0.0.1:{port}/ HTTP/1.1", field, body=first)
            # The site has the first part before there is a second.
            assert head == b"HTTP/1.1 100 Continue\r\n\r\n" and got == first
            caller.writer.write(second)
            while b" 100 " in head:
                head = await caller.head()
            assert head == b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n"
            assert await caller.reader.readexactly(2) == b"ok" and got == first + second

    async def test_a_tunnel_carries_bytes_both_ways(self) -> None:
        async with listening(echo) as here, running(excepting_address(here)) as proxy:
            async with calling(proxy) as caller:
                assert (await caller.ask(f"CONNECT 127.0.0.1:{here[1]} HTTP/1.1")).startswith(b"HTTP/1.1 200 ")
                for word in (b"\x00\xff\r\n\r\n", b"x" * 300_000):
                    caller.writer.write(word)
                    assert await caller.reader.readexactly(len(word)) == word
            assert await soon(lambda: proxy.connections == 0), "the browser is gone, so the tunnel ends"

    async def test_a_slow_reader_slows_the_sender_and_loses_nothing(self) -> None:
        size, sent = 40_000_000, 0

        async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal sent
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            while sent < size:
                writer.write(b"x" * 100_000)
                sent += 100_000
                await writer.drain()

        async with listening(flood) as here, running(excepting_address(here)) as proxy, calling(proxy) as caller:
            await caller.ask(f"GET http://127.0.0.1:{here[1]}/ HTTP/1.1")
            held = -1
            while held < sent < size:
                held = sent
                await asyncio.sleep(0.5)
            assert sent == held < size, "the proxy does not buffer it"
            total = 0
            while piece := await caller.reader.read(1 << 20):
                total += len(piece)
            assert total == size

    @pytest.mark.parametrize(
        ("answer", "got"),
        [
            (raw(b"HTTP/1.1 407 X\r\nProxy-Authenticate: Basic realm=x\r\n\r\n"), b" 502 "),
            (raw(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"), b" 502 "),
            (raw(b"no http\r\n\r\n"), b" 502 "),
            (raw(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 300_000 + b"\r\n\r\n"), b" 502 "),
            (raw(b"HTTP/1.0 200 OK\nX: a\n b\n\nbody"), b"HTTP/1.0 200 OK\nX: a\n b\nConnection: close\r\n\r\n"),
        ],
        ids=["a site that asks for the password", "upgraded", "no HTTP", "endless head", "old style"],
    )
    async def test_unusual_responses(self, answer: Reply, got: bytes) -> None:
        async with (
            serve(lambda _: answer) as site,
            running(excepting(site)) as proxy,
            calling(proxy) as caller,
        ):
            assert got in await caller.ask(f"GET {site.url}/ HTTP/1.1")

    @pytest.mark.parametrize(
        ("answer", "error"), [(raw(b""), asyncio.IncompleteReadError), (reset, ConnectionResetError)]
    )
    async def test_a_broken_connection_is_reset_for_the_browser_too(
        self, answer: Reply, error: type[Exception]
    ) -> None:
        async with (
            serve(lambda _: answer) as site,
            running(excepting(site)) as proxy,
            calling(proxy) as caller,
        ):
            with pytest.raises(error):
                await caller.ask(f"GET {site.url}/ HTTP/1.1")


class TestEnd:
    @pytest.mark.req("G5.3")
    @pytest.mark.parametrize("line", ["CONNECT {} HTTP/1.1", "GET http://{}/ HTTP/1.1"], ids=["tunnel", "plain"])
    async def test_closing_closes_all_connections(self, line: str) -> None:
        async with serve(lambda _: stall) as site:
            async with (
                running(excepting(site)) as proxy,
                calling(proxy) as caller,
                calling(proxy) as silent,
            ):
                caller.writer.write(
                    line.format("{}:{}".format(*endpoint(site))).encode()
                    + b"\r\nProxy-Authorization: "
                    + caller.key
                    + b"\r\n\r\n"
                )
                assert await soon(lambda: site.open == 1 and proxy.connections == 2)
                await proxy.close()
                assert proxy.connections == 0
                assert await site.until_idle()
                assert await silent.rest() == b""
                with pytest.raises(ConnectionError):
                    async with calling(proxy):
                        pass

    async def test_idle_time_and_total_time_are_limited(self) -> None:
        clock = asyncio.get_running_loop().time
        # It is active for twice as long as it may be idle, or without end.
        for limits, speaks in ((ProxyLimits(idle=1), 2.0), (ProxyLimits(idle=1, total=3), PATIENCE)):
            async with listening(echo) as here, running(excepting_address(here), limits) as proxy:
                async with calling(proxy) as caller:
                    await caller.ask(f"CONNECT 127.0.0.1:{here[1]} HTTP/1.1")
                    begun = clock()
                    ended = asyncio.create_task(caller.rest())
                    while not ended.done() and clock() - begun < speaks:
                        caller.writer.write(b"x")
                        await asyncio.sleep(0.05)
                    await asyncio.wait([ended])
                    lasted = clock() - begun
                    ended.exception()
                assert 2 < lasted < PATIENCE, limits
                assert await soon(lambda: proxy.connections == 0)


@pytest.fixture
def chromium() -> None:
    require_chromium()


async def anything(url: str) -> bool:
    return True


@asynccontextmanager
async def browsing(
    policy: ProxyPolicy, guard: UrlCheck = anything, net: NetSettings | None = None
) -> AsyncIterator[BrowserClient]:
    client = BrowserClient(ALLOWED, net or NetSettings(), guard, policy)
    try:
        yield client
    finally:
        await client.close()


async def code_of(client: BrowserClient, url: str) -> str:
    with pytest.raises(SuyuanError) as caught:
        await get(client, url)
    return caught.value.detail_code


def proxy_of_the_browser() -> tuple[str, int]:
    (browser,) = browsers()
    found = re.search(r"--proxy-server=http://([\d.]+):(\d+) ", browser.command)
    assert found, browser.command
    return found[1], int(found[2])


async def listens(address: tuple[str, int]) -> bool:
    try:
        _, writer = await asyncio.open_connection(*address)
    except ConnectionError:
        return False
    writer.close()
    return True


class ReportingSite:
    """A site whose page ``/page`` stays open until one of its scripts has reported."""

    def __init__(self, script: str = "", worker: str = "") -> None:
        self.reported = asyncio.Event()
        begin = f"<script>{script}; if ({bool(worker):d}) new Worker('/worker')</script>"
        self._pages = {
            "/page": reply(f"{begin}<script src=/hold></script><p>read</p>"),
            "/worker": reply(worker, kind="text/javascript"),
            "/hold": self._hold,
        }

    def __call__(self, seen: Seen) -> Reply:
        if seen.path == "/report":
            self.reported.set()
        return self._pages.get(seen.path, reply(""))

    async def _hold(self, writer: asyncio.StreamWriter) -> None:
        await self.reported.wait()
        await reply("", kind="text/javascript")(writer)


@asynccontextmanager
async def datagrams() -> AsyncIterator[tuple[int, list[bytes]]]:
    """A UDP port, and what came to it."""
    came: list[bytes] = []

    class Listener(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, addr: object) -> None:
            came.append(data)

    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(Listener, ("127.0.0.1", 0))
    try:
        yield transport.get_extra_info("sockname")[1], came
    finally:
        transport.close()


@pytest.mark.usefixtures("chromium")
class TestBrowser:
    async def test_a_name_that_resolves_differently_the_second_time_is_not_reached(self) -> None:
        names = Names(rebinds_example=[[PUBLIC], ["127.0.0.1"]], again_example=[[PUBLIC], ["127.0.0.1"]])
        guard, net = Guard(), NetSettings()
        async with serve(pages(page="secret")) as inside:
            reader = FetchClient(net, guard, names)
            async with browsing(ProxyPolicy(guard, names), reader.may_load) as client:
                for scheme, name in (("http", "rebinds.example"), ("https", "again.example")):
                    assert await code_of(client, f"{scheme}://{name}:{endpoint(inside)[1]}/page") == "off_limits"
                    assert names.asked.count(name) >= 2, "by the request filter, which allows it, and by the proxy"
            await reader.close()
        assert inside.connections == 0

    async def test_a_page_of_an_allowed_name_is_loaded_with_all_its_parts(self) -> None:
        page = "<script src=/script></script><p id=a></p>"
        script = reply(
            "fetch('/post', {method: 'POST', body: '正文'}).then(r => r.text()).then(t => a.append(t))",
            kind="text/javascript",
        )
        async with serve(pages(page=page, script=script, post=reply("made"), leads=redirect("/page"))) as site:
            policy = ProxyPolicy(Guard(allow_hosts=("inside.example",)), Names(inside_example=[["127.0.0.1"]]))
            async with browsing(policy) as client:
                for _ in range(2):
                    response = await get(client, f"http://inside.example:{endpoint(site)[1]}/leads")
                    assert response.status == 200 and response.url.endswith("/page")
                    assert '<p id="a">made</p>' in response.text
            assert await site.until_idle()
        posts = [seen for seen in site.seen if seen.path == "/post"]
        assert [seen.body.decode() for seen in posts] == ["正文"] * 2
        assert not any(
            "proxy-authorization" in seen.headers or "proxy-connection" in seen.headers for seen in site.seen
        )

    @pytest.mark.parametrize("allowed", [False, True], ids=["private", "allowed"])
    async def test_a_worker_on_an_engine_page_reaches_no_other_port(self, allowed: bool, tmp_path: Path) -> None:
        async with serve(pages()) as inside:
            where = json.dumps(urlsplit(inside.url).netloc)
            worker = f"""
                const heard = () => new Promise(done => {{
                    const socket = new WebSocket("ws://" + {where} + "/socket");
                    socket.onclose = done;
                }});
                const asked = fetch("http://" + {where} + "/fetched", {{mode: "no-cors"}}).catch(() => 0);
                Promise.all([asked, heard()]).then(() => fetch("/report"));
            """
            async with serve(ReportingSite(worker=worker)) as home:
                networks = ("127.0.0.0/8",) if allowed else ()
                engines = {"google": EngineSettings(base_url=home.url)}
                network = AsyncClient(
                    Settings(
                        browser=ALLOWED,
                        engines=engines,
                        pages=PageSettings(allow_networks=networks),
                        state_dir=tmp_path,
                    )
                ).network
                try:
                    async with asyncio.timeout(PATIENCE):
                        response = await network.send(Request(home.url + "/page", via="browser"), "google")
                finally:
                    await network.close()
            assert "<p>read</p>" in response.text and "/report" in paths(home)
        assert paths(inside) == ({"/socket", "/fetched"} if allowed else set())
        assert bool(inside.connections) is allowed

    @pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "open"])
    async def test_no_connection_bypasses_the_proxy(self, guarded: bool) -> None:
        """WebRTC and WebTransport; without the proxy they connect, which shows that this test would notice them."""
        async with datagrams() as (udp, came), serve(pages()) as inside:
            port = endpoint(inside)[1]
            script = f"""
                const servers = [
                    {{urls: "stun:127.0.0.1:{udp}"}},
                    {{urls: "turn:127.0.0.1:{port}?transport=tcp", username: "x", credential: "y"}},
                ];
                const call = new RTCPeerConnection({{iceServers: servers}});
                call.createDataChannel("x");
                call.createOffer().then(offer => call.setLocalDescription(offer));
                new WebTransport("https://127.0.0.1:{udp}/").ready.catch(() => 0);
                setTimeout(() => fetch("/report"), 1500);
            """
            async with serve(ReportingSite(script)) as home:
                client = BrowserClient(ALLOWED, NetSettings(), anything, excepting(home) if guarded else None)
                assert "<p>read</p>" in (await get(client, home.url + "/page")).text
                await client.close()
        assert bool(came) is not guarded
        assert bool(inside.connections) is not guarded

    async def test_no_address_is_reached_without_the_proxy(self) -> None:
        async with serve(pages()) as inside, browsing(excepting()) as client:
            for host in ("127.0.0.1", "localhost", "sub.localhost", "[::1]", "169.254.169.254"):
                assert await code_of(client, f"http://{host}:{endpoint(inside)[1]}/") == "off_limits", host
                assert await code_of(client, f"https://{host}:{endpoint(inside)[1]}/") == "off_limits", host
        assert inside.connections == 0

    async def test_errors_name_the_cause_and_not_the_proxy(self) -> None:
        async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            await writer.drain()

        shut = free_port()
        answers = pages(
            reset=reset, empty=raw(b""), half=half(b"<html>" + b"x" * 5000), asks=raw(b"HTTP/1.1 407 X\r\n\r\n")
        )
        async with serve(answers) as site, listening(plain) as no_tls:
            policy = ProxyPolicy(Guard(allow_networks=("127.0.0.1/32",)), Names(mute_example=[["127.0.0.1"]]))
            async with browsing(policy) as client:
                for url, code in [
                    (f"http://mute.example:{shut}/", "connection_refused"),
                    (f"https://mute.example:{shut}/", "connection_refused"),
                    ("http://nowhere.example/", "dns"),
                    ("https://nowhere.example/", "dns"),
                    ("https://{}:{}/".format(*no_tls), "tls"),
                    (site.url + "/reset", "connection_broken"),
                    (site.url + "/empty", "connection_broken"),
                    (site.url + "/half", "connection_broken"),
                    (site.url + "/asks", "bad_http"),
                ]:
                    assert await code_of(client, url) == code, url

    async def test_an_error_status_of_a_site_is_its_response(self) -> None:
        refusals = {401: {"WWW-Authenticate": 'Basic realm="x"'}, 403: {"X": "y"}, 502: {"Proxy-Status": "suyuan"}}
        async with serve(lambda seen: reply("no", int(seen.path[1:]), refusals[int(seen.path[1:])])) as site:
            async with browsing(excepting(site)) as client:
                for status in refusals:
                    assert (await get(client, f"{site.url}/{status}")).status == status
        assert not any("authorization" in seen.headers for seen in site.seen)

    @pytest.mark.req("G5.3")
    async def test_it_is_closed_with_its_browser(self) -> None:
        async with serve(pages()) as site:
            async with browsing(excepting(site)) as client:
                await get(client, site.url)
                first = proxy_of_the_browser()
                os.kill(browsers()[0].pid, signal.SIGKILL)
                assert (await get(client, site.url)).status == 200
                second = proxy_of_the_browser()
                assert first != second and await listens(second)
                assert await soon(lambda: not family() or len(browsers()) == 1)
                assert not await listens(first)
            assert not await listens(second)
            assert not proxy_tasks()

    @pytest.mark.req("T6.2")
    async def test_the_user_s_proxy_is_used_instead(self) -> None:
        async with serve(lambda seen: reply(f"via proxy: {seen.target}")) as proxy:
            net = NetSettings(proxy=Secret(proxy.url))
            async with browsing(excepting(), net=net) as client:
                assert "via proxy: http://search.example/s" in (await get(client, "http://search.example/s")).text
                assert proxy_of_the_browser() == endpoint(proxy)
