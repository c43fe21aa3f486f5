"""ConnectionLimits that ask for nothing keep nobody out, before anybody has authenticated."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from server.serving import client, serving, settings_of
from support.timing import PATIENCE, soon
from suyuan.net import http_protocol
from suyuan.net.connection_limits import ConnectionLimits
from suyuan.net.http_server import MOST_CONNECTIONS, TrustedProxies

TOKEN = "correct-horse-battery-staple"
BEGINNINGS = {
    "silent": b"",
    "half a head": b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ",
    "half a body": b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{",
    "half a login": b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\ntoken=",
    "answered once": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
}

Opened = list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]


@asynccontextmanager
async def strangers(port: int, count: int, hosts: int, begin: bytes) -> AsyncIterator[Opened]:
    """So many connections, from so many addresses, that begin a request and then say nothing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = count + MOST_CONNECTIONS + 300
    if soft < needed:
        if hard < needed:
            pytest.skip(f"the test needs {needed} open files")
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    opened: Opened = []
    try:
        for first in range(0, count, 100):
            numbers = range(first, min(first + 100, count))
            addresses = [(f"127.0.1.{1 + number % hosts}", 0) for number in numbers]
            opened += await asyncio.gather(
                *(asyncio.open_connection("127.0.0.1", port, local_addr=address) for address in addresses)
            )
            for _, writer in opened[first:]:
                writer.write(begin)
        yield opened
    finally:
        for _, writer in opened:
            writer.transport.abort()


@pytest.mark.parametrize(("kind", "hosts"), [("silent", 1), *((kind, 50) for kind in BEGINNINGS)])
async def test_a_thousand_connections_that_ask_for_nothing_keep_nobody_out(kind: str, hosts: int) -> None:
    with serving(settings_of(), token=TOKEN) as served:
        async with client(served.url) as ask, strangers(served.port, 1200, hosts, BEGINNINGS[kind]):
            for _ in range(3):
                assert (await ask("GET", "/api/models", Authorization=f"Bearer {TOKEN}"))[0] == 200
            assert len(served.server.server_state.connections) <= MOST_CONNECTIONS + 1


async def test_a_client_with_the_same_address_is_served_too() -> None:
    with serving(settings_of()) as served:
        async with strangers(served.port, 1100, 1, b"") as opened:
            reader, writer = await asyncio.open_connection("127.0.0.1", served.port, local_addr=("127.0.1.1", 0))
            writer.write(b"GET /api/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            async with asyncio.timeout(PATIENCE):
                assert b" 200 OK" in await reader.read()
                # The oldest were closed, the newest are still there.
                assert await opened[0][0].read() == b"" and not opened[-1][0].at_eof()
            writer.close()


async def test_a_stream_is_not_closed_for_others() -> None:
    with serving(settings_of()) as served:
        async with client(served.url) as ask:
            path = f"/api/conversations/{await ask.conversation()}/changes"
            async with ask.session.get(served.url + path) as stream, strangers(served.port, 1100, 3, b""):
                assert (await ask("GET", "/healthz"))[0] == 200
                id = path.split("/")[3]
                async with asyncio.timeout(PATIENCE):
                    await stream.content.readuntil(b"\n\n")
                    await ask("PATCH", f"/api/conversations/{id}", {"title": "still followed"})
                    assert b"still followed" in await stream.content.readuntil(b"\n\n")


@pytest.mark.parametrize("kind", BEGINNINGS)
async def test_a_connection_that_asks_for_nothing_is_closed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HEAD_SECONDS", "_BODY_SECONDS", "_LINGER_SECONDS"):
        monkeypatch.setattr(http_protocol, name, 0.2)
    with serving(settings_of(), token=TOKEN) as served:
        served.server.config.timeout_keep_alive = 0
        async with strangers(served.port, 1, 1, BEGINNINGS[kind]) as [(reader, writer)]:
            async with asyncio.timeout(PATIENCE):
                answer = await reader.read()
            expected = {"silent": b"", "half a head": b" 408 ", "half a body": b" 401 ", "half a login": b""}
            assert expected.get(kind, b" 200 OK") in answer
            writer.close()
        assert await soon(lambda: not served.server.server_state.connections)


async def test_one_byte_at_a_time_does_not_keep_a_connection_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "HEAD_SECONDS", 0.3)
    with serving(settings_of()) as served:
        for letters in (b"GET / HTTP/1.1\r\nX: " + b"a" * 10_000, b"\r\n" * 10_000):
            reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
            reading = asyncio.ensure_future(reader.read())
            with pytest.raises(ConnectionError):
                for letter in letters:
                    writer.write(bytes([letter]))
                    await writer.drain()
                    await asyncio.sleep(0.01)
                    if reading.done():
                        raise ConnectionResetError
            writer.close()
            reading.cancel()


class TestConnections:
    def test_the_client_with_the_most_waiting_loses_its_oldest(self) -> None:
        limits = ConnectionLimits(total=4, per_client=3)
        first = [_Counted(limits, "a") for _ in range(3)]
        other = _Counted(limits, "b")
        last = _Counted(limits, "c")
        assert [each.dropped for each in (*first, other, last)] == [True, False, False, False, False]
        assert len(limits) == 4 and last.accepted

    def test_a_client_at_its_limit_loses_its_own(self) -> None:
        limits = ConnectionLimits(total=10, per_client=2)
        other, own = _Counted(limits, "b"), [_Counted(limits, "a") for _ in range(3)]
        assert [each.dropped for each in (other, *own)] == [False, True, False, False]
        assert all(_Counted(limits, "proxy", limited=False).accepted for _ in range(5))

    def test_what_works_is_kept(self) -> None:
        limits = ConnectionLimits(total=2, per_client=2)
        busy = [_Counted(limits, "a"), _Counted(limits, "a")]
        for each in busy:
            limits.work("a", each)
        late = _Counted(limits, "b")
        assert not late.accepted and not any(each.dropped for each in busy)
        limits.close("b", late)
        limits.wait("a", busy[0])
        assert _Counted(limits, "b").accepted and busy[0].dropped
        limits.close("a", busy[0])
        limits.close("a", busy[1])
        limits.close("a", busy[1])
        assert len(limits) == 1

    def test_proxies(self) -> None:
        proxies = TrustedProxies(("10.0.0.0/8", "2001:db8::1"))
        assert "10.1.2.3" in proxies and "2001:db8::1" in proxies
        assert "11.1.2.3" not in proxies and "" not in proxies and "x" not in proxies


class _Counted:
    def __init__(self, limits: ConnectionLimits, client: str, *, limited: bool = True) -> None:
        self.dropped = False
        self.accepted = limits.open(client, self, limited=limited)

    def drop(self) -> None:
        self.dropped = True
