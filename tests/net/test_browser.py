"""``BrowserClient`` with a real Chromium and real pages on loopback."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from support.chromium import get, opened, own_temp, pages, paths, require_chromium
from support.processes import browsers, family
from support.site import Reply, Seen, free_port, half, raw, redirect, reply, reset, serve, stall
from support.timing import soon
from suyuan.core.errors import NetworkError, WebParseError, WebProviderError
from suyuan.core.secret import Secret
from suyuan.core.wire import Request
from suyuan.net.browser import BrowserClient
from suyuan.net.settings import BrowserSettings, NetSettings

require_chromium()


@pytest.fixture
def temp(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    yield from own_temp(monkeypatch)


@pytest_asyncio.fixture(scope="class", loop_scope="class")
async def shared() -> AsyncIterator[BrowserClient]:
    """One browser for all tests that only load pages; scripts have time on a busy machine too."""
    async with opened(BrowserSettings(settle_seconds=10), net=NetSettings(max_bytes=100_000)) as client:
        yield client


@pytest.mark.asyncio(loop_scope="class")
class TestPages:
    """Pages, and responses that are none."""

    @pytest.mark.req("G3.1")
    async def test_a_page_is_returned_as_its_scripts_have_made_it(self, shared: BrowserClient) -> None:
        page = "<title>x</title><p id=a>raw</p><script src=/script></script>"
        script = reply("fetch('/data').then(r => r.text()).then(t => a.textContent = t)", kind="text/javascript")
        async with serve(pages(page=page, script=script, data=reply("制作的"))) as site:
            response = await get(shared, site.url + "/page")
        assert response.status == 200 and response.url == site.url + "/page"
        assert '<p id="a">制作的</p>' in response.text
        assert response.headers["content-type"] == "text/html; charset=utf-8"
        assert response.at is not None and response.at.tzinfo is not None

    async def test_a_chinese_page_in_gbk_is_decoded(self, shared: BrowserClient) -> None:
        body = "<html><head><meta charset=gb2312><title>检索</title></head><body>溯源,镕基</body>".encode("gb18030")
        async with serve(pages(page=reply(body, kind="text/html"))) as site:
            response = await get(shared, site.url + "/page")
        assert "溯源,镕基" in response.text and "<title>检索</title>" in response.body.decode("utf-8")

    async def test_images_fonts_and_media_are_not_loaded_but_scripts_and_styles_are(
        self, shared: BrowserClient
    ) -> None:
        page = (
            "<link rel=stylesheet href=/style><img src=/image><video src=/film autoplay></video><audio src=/sound "
            "autoplay></audio>"
            "<p style='font-family: f'>x</p><script src=/script></script>"
        )
        style = reply(
            "@font-face { font-family: f; src: url(/font) } body { background: url(/ground) }", kind="text/css"
        )
        script = reply("document.fonts.load('12px f').finally(() => document.title = 'done')", kind="text/javascript")
        async with serve(pages(page=page, style=style, script=script)) as site:
            response = await get(shared, site.url + "/page")
        assert "<title>done</title>" in response.text
        assert paths(site) - {"/favicon.ico"} == {"/page", "/style", "/script"}

    async def test_redirects_are_followed_to_the_end(self, shared: BrowserClient) -> None:
        async with serve(pages(a=redirect("/b", 301), b=redirect("/c?q=1"), c="arrived")) as site:
            response = await get(shared, site.url + "/a")
        assert (response.status, response.url) == (200, site.url + "/c?q=1")
        assert "arrived" in response.text

    @pytest.mark.parametrize(
        "page",
        ["<script>location.href = '/end'</script>old", "<meta http-equiv=refresh content='0; url=/end'>old"],
        ids=["script", "refresh"],
    )
    async def test_a_page_that_navigates_on_is_followed(self, shared: BrowserClient, page: str) -> None:
        async with serve(pages(page=page, end=reply("arrived", 418))) as site:
            response = await get(shared, site.url + "/page")
        assert (response.status, response.url) == (418, site.url + "/end")
        assert "arrived" in response.text

    async def test_only_the_headers_language_and_referer_are_sent(self, shared: BrowserClient) -> None:
        async with serve(lambda seen: reply("x")) as site:
            await get(
                shared,
                site.url,
                **{"accept-language": "zh-CN", "Referer": site.url + "/r", "X-Thing": "1", "User-Agent": "me"},
            )
            headers = site.seen[0].headers
        assert (headers["accept-language"], headers["referer"]) == ("zh-CN", site.url + "/r")
        assert "x-thing" not in headers and "Chrome" in headers["user-agent"]

    async def test_no_cookie_survives_a_request(self, shared: BrowserClient) -> None:
        async with serve(lambda seen: reply("x", headers={"Set-Cookie": "a=1"})) as site:
            await get(shared, site.url)
            await get(shared, site.url)
        assert not any("cookie" in seen.headers for seen in site.seen if seen.path == "/")

    @pytest.mark.req("G3.2")
    @pytest.mark.parametrize(
        ("answer", "status", "text"),
        [
            (reply("<p>gone</p>", 404), 404, "gone"),
            (reply("<form id=captcha-form></form>", 429, {"Retry-After": "7"}), 429, "captcha-form"),
            (reply("", 429, {"Retry-After": "7"}), 429, ""),
            (reply("", 503), 503, ""),
            (reply("no", 401, {"WWW-Authenticate": 'Basic realm="x"'}), 401, ""),
        ],
        ids=["404", "429 with a page", "429 without", "503 without", "401"],
    )
    async def test_an_error_status_is_a_response(
        self, shared: BrowserClient, answer: Reply, status: int, text: str
    ) -> None:
        async with serve(lambda _: answer) as site:
            response = await get(shared, site.url + "/")
        assert (response.status, response.url) == (status, site.url + "/")
        assert text in response.text
        if status == 429:
            assert response.headers["retry-after"] == "7"

    @pytest.mark.req("G1.3")
    @pytest.mark.parametrize(
        ("answer", "code"),
        [
            (reset, "connection_broken"),
            (raw(b""), "connection_broken"),
            (half(b"<html>" + b"x" * 5000), "connection_broken"),
            (redirect("/again"), "redirect_loop"),
            (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx"), "bad_http"),
        ],
        ids=["reset", "closed at once", "half a page", "redirects in circles", "broken header"],
    )
    async def test_broken_responses_are_errors(self, shared: BrowserClient, answer: Reply, code: str) -> None:
        async with serve(lambda _: answer) as site:
            with pytest.raises(NetworkError) as caught:
                await get(shared, site.url)
        assert caught.value.detail_code == code and "google" in caught.value.message

    @pytest.mark.req("G1.3")
    @pytest.mark.parametrize(
        ("url", "code"),
        [
            (f"http://127.0.0.1:{free_port()}/", "connection_refused"),
            ("http://no-such-host.invalid/", "dns"),
            ("http://127.0.0.1:1/", "bad_http"),
        ],
        ids=["nothing listens", "no such name", "a port that Chrome does not use"],
    )
    async def test_an_unreachable_server_is_an_error(self, shared: BrowserClient, url: str, code: str) -> None:
        with pytest.raises(NetworkError) as caught:
            await get(shared, url)
        assert caught.value.detail_code == code

    async def test_a_tls_address_without_tls(self, shared: BrowserClient) -> None:
        async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(plain, "127.0.0.1", 0) as server:
            with pytest.raises(NetworkError) as caught:
                await get(shared, f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        assert caught.value.detail_code == "tls"

    @pytest.mark.parametrize(
        "url", ["file:///etc/passwd", "javascript:alert(1)", "chrome://version", "about:blank", "http://", "x"]
    )
    async def test_a_url_that_is_not_http_is_not_opened(self, shared: BrowserClient, url: str) -> None:
        with pytest.raises(NetworkError) as caught:
            await get(shared, url)
        assert caught.value.detail_code == "bad_http"

    async def test_only_get_is_supported(self, shared: BrowserClient) -> None:
        with pytest.raises(WebProviderError) as caught:
            await shared.send(Request.post_form("http://127.0.0.1/", {"q": "x"}), "google")
        assert caught.value.detail_code == "browser_only_reads" and "POST" in caught.value.message

    @pytest.mark.parametrize(
        "answer",
        [reply(b"x" * 30_000_000), reply("<body><script>document.body.append('x'.repeat(150_000))</script>")],
        ids=["sent", "made by a script"],
    )
    async def test_a_body_that_is_too_large_is_refused(self, shared: BrowserClient, answer: Reply) -> None:
        async with serve(lambda _: answer) as site:
            with pytest.raises(WebParseError) as caught:
                await get(shared, site.url)
        assert caught.value.detail_code == "too_large"

    @pytest.mark.parametrize(
        "answer",
        [
            reply(b"PK", headers={"Content-Disposition": "attachment; filename=x.zip"}, kind="application/zip"),
            reply(b"%PDF-1.4\n%%EOF", kind="application/pdf"),
            reply("", 204),
        ],
        ids=["download", "pdf", "no content"],
    )
    async def test_a_download_is_not_a_page(self, shared: BrowserClient, answer: Reply) -> None:
        async with serve(lambda _: answer) as site:
            with pytest.raises(WebParseError) as caught:
                await get(shared, site.url)
        assert caught.value.detail_code == "not_a_page"

    @pytest.mark.parametrize("how", ["script", "redirect"])
    async def test_a_navigation_to_an_unreachable_host_is_an_error_that_names_it(
        self, shared: BrowserClient, how: str
    ) -> None:
        nowhere = f"127.0.0.1:{free_port()}"
        script = reply(f"<script>location.href = 'http://{nowhere}/'</script>old")
        async with serve(lambda _: script if how == "script" else redirect(f"http://{nowhere}/")) as site:
            with pytest.raises(NetworkError) as caught:
                await get(shared, site.url)
        assert caught.value.detail_code == "connection_refused" and nowhere in caught.value.message

    async def test_dialogs_and_popups_do_not_block(self, shared: BrowserClient) -> None:
        script = "alert(1); confirm(2); prompt(3); window.open('/popup'); onbeforeunload = () => 'stay'"
        page = f"<script>{script}</script><p>read</p>"
        async with serve(pages(page=page)) as site:
            response = await get(shared, site.url + "/page")
            assert await site.until_idle()
        assert "<p>read</p>" in response.text
        assert "/popup" not in paths(site)

    @pytest.mark.req("G6.1")
    @pytest.mark.parametrize(
        "answer",
        [stall, reply("<script>for (;;) {}</script>"), reply("<script src=/never></script>")],
        ids=["silent server", "busy script", "silent script"],
    )
    async def test_cancelling_closes_the_page_and_its_connections(self, shared: BrowserClient, answer: Reply) -> None:
        def handler(seen: Seen) -> Reply:
            return answer if seen.path == "/page" else stall

        async with serve(handler) as site:
            task = asyncio.create_task(get(shared, site.url + "/page"))
            assert await soon(lambda: bool(site.seen))
            task.cancel()
            begun = asyncio.get_running_loop().time()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert asyncio.get_running_loop().time() - begun < 1.0
            assert await site.until_idle(10), "the connection is still open"
        async with serve(pages(page="fine")) as site:
            assert "fine" in (await get(shared, site.url + "/page")).text

    async def test_a_page_that_crashes_is_loaded_again_in_the_same_browser(self, shared: BrowserClient) -> None:
        answers = iter([stall, reply("second")])

        async with serve(lambda seen: next(answers) if seen.path == "/page" else reply("")) as site:
            await get(shared, site.url)
            before = browsers()
            task = asyncio.create_task(get(shared, site.url + "/page"))
            assert await soon(lambda: "/page" in paths(site))
            for process in family():
                if "--type=renderer" in process.command:
                    os.kill(process.pid, signal.SIGKILL)
            assert "second" in (await task).text
        assert browsers() == before


class TestGuard:
    """Every request is checked, and a refused one is not sent."""

    @pytest.fixture
    def asked(self) -> list[str]:
        return []

    @pytest_asyncio.fixture
    async def guarded(self, asked: list[str]) -> AsyncIterator[BrowserClient]:
        async def guard(url: str) -> bool:
            asked.append(url)
            if "broken" in url:
                raise RuntimeError("the guard fails")
            return "secret" not in url

        async with opened(guard=guard) as client:
            yield client

    async def test_parts_of_a_page_are_checked_one_by_one(self, guarded: BrowserClient, asked: list[str]) -> None:
        page = "<iframe src=/frame></iframe><script src=/script></script><script src=/secret.js></script><p>read</p>"
        frame = "<script>fetch('/secret-frame').catch(() => fetch('/open-frame'))</script>"
        script = reply(
            "fetch('/leads').catch(() => 0); new Worker('/worker'); new WebSocket('ws://' + location.host + "
            "'/secret-socket')",
            kind="text/javascript",
        )
        worker = reply("fetch('/secret-worker').catch(() => fetch('/open-worker'))", kind="text/javascript")
        handler = pages(page=page, frame=frame, script=script, worker=worker, leads=redirect("/secret-end"))
        async with serve(handler) as site:
            response = await get(guarded, site.url + "/page")
            assert await soon(lambda: {"/open-frame", "/open-worker"} <= paths(site) or site.open == 0)
        assert "<p>read</p>" in response.text
        assert {"/page", "/frame", "/script", "/worker", "/leads"} <= paths(site)
        assert not any("secret" in path for path in paths(site))
        assert {site.url + "/secret.js", site.url + "/secret-end", site.url + "/frame"} <= set(asked)

    @pytest.mark.parametrize("path", ["/secret", "/leads", "/script", "/refresh"])
    async def test_a_navigation_that_is_refused_is_an_error(self, guarded: BrowserClient, path: str) -> None:
        handler = pages(
            leads=redirect("/secret"),
            script="<script>location.href = '/secret'</script>",
            refresh="<meta http-equiv=refresh content='0; url=/secret'>",
        )
        async with serve(handler) as site:
            with pytest.raises(WebProviderError) as caught:
                await get(guarded, site.url + path)
        assert caught.value.detail_code == "off_limits"
        assert "/secret" not in paths(site)

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    async def test_a_check_that_fails_allows_nothing(self, guarded: BrowserClient) -> None:
        async with serve(pages()) as site:
            with pytest.raises(WebProviderError) as caught:
                await get(guarded, site.url + "/broken")
        assert caught.value.detail_code == "off_limits" and not site.seen


class TestProxy:
    async def test_it_is_used_with_its_password_and_not_for_no_proxy_hosts(self, temp: Path) -> None:
        def proxy(seen: Seen) -> Reply:
            # user:p@ss in base64
            if seen.headers.get("proxy-authorization") != "Basic dXNlcjpwQHNz":
                return reply("who?", 407, {"Proxy-Authenticate": 'Basic realm="x"'})
            return reply(f"via proxy: {seen.target}")

        async with serve(proxy) as proxy_server, serve(lambda _: reply("direct")) as site:
            address = proxy_server.url.replace("http://", "http://user:p%40ss@")
            async with opened(net=NetSettings(proxy=Secret(address), no_proxy=("localhost",))) as client:
                through = await get(client, "http://search.example/s")
                local = await get(client, site.url.replace("127.0.0.1", "localhost") + "/s")
                below = await get(client, site.url.replace("127.0.0.1", "sub.localhost") + "/s")
        assert "via proxy: http://search.example/s" in through.text
        assert "direct" in local.text and "direct" in below.text

    @pytest.mark.parametrize("scheme", ["http", "https"])
    async def test_a_proxy_that_refuses_is_reported_without_its_password(self, scheme: str, temp: Path) -> None:
        async with serve(lambda _: reply("", 407, {"Proxy-Authenticate": 'Basic realm="x"'})) as proxy_server:
            address = proxy_server.url.replace("http://", "http://user:hunter22@")
            async with opened(net=NetSettings(proxy=Secret(address))) as client:
                with pytest.raises(NetworkError) as caught:
                    await get(client, f"{scheme}://search.example/s")
        assert caught.value.detail_code == "proxy"
        assert "hunter22" not in repr(caught.value) + str(caught.value.__context__)

    async def test_a_proxy_that_is_down_is_reported(self, temp: Path) -> None:
        async with opened(net=NetSettings(proxy=Secret(f"127.0.0.1:{free_port()}"))) as client:
            with pytest.raises(NetworkError) as caught:
                await get(client, "http://search.example/s")
        assert caught.value.detail_code == "proxy"
