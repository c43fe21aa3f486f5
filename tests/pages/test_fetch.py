"""Fetching pages, from the URL to the document, with servers on loopback."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.chromium import ALLOWED, require_chromium
from support.site import Handler, Reply, Seen, Site, redirect, reply, serve, stall
from suyuan.client import AsyncClient
from suyuan.config.settings import PageSettings, Settings
from suyuan.core.errors import SuyuanError, Timeout
from suyuan.pages.kind import kind_of
from suyuan.pages.passages import select
from suyuan.pages.refresh import refresh_target
from suyuan.tools.text import page_text

TEXT = "Teapots are vessels for brewing tea, and they were first made in China. " * 12
ARTICLE = (
    '<html lang="en"><head><title>About teapots</title><link rel="canonical" href="/teapots"></head>'
    '<body><nav><a href="/">Home</a></nav>'
    f"<article><h1>About teapots</h1><p>{TEXT}</p><p>{TEXT}</p></article></body></html>"
)


@asynccontextmanager
async def client(handler: Handler, tmp_path: Path, **pages: Any) -> AsyncIterator[tuple[AsyncClient, Site]]:
    async with serve(handler) as site:
        settings = Settings(
            browser=ALLOWED,
            pages=replace(PageSettings(allow_networks=("127.0.0.1/32",), timeout_ms=60_000), **pages),
            data_dir=tmp_path,
        )
        async with AsyncClient(settings) as opened:
            yield opened, site


async def read(answer: Reply, tmp_path: Path, **pages: Any) -> object:
    async with client(lambda _: answer, tmp_path, **pages) as (h, site):
        return await h.fetcher.fetch(site.url + "/page")


async def failure(answer: Reply, tmp_path: Path, **pages: Any) -> SuyuanError:
    with pytest.raises(SuyuanError) as caught:
        await read(answer, tmp_path, **pages)
    assert caught.value.message and caught.value.hint and caught.value.say("zh")[0] != caught.value.message
    return caught.value


async def test_an_article_is_read_and_archived(tmp_path: Path) -> None:
    async with client(lambda _: reply(ARTICLE, headers={"ETag": '"v1"'}), tmp_path) as (h, site):
        document = await h.fetcher.fetch(site.url + "/page")
        again = await h.fetcher.fetch(site.url + "/page")
        assert h.archive is not None and len(h.archive.open()) == 1
    assert document.title == "About teapots" and "first made in China" in document.text and "Home" not in document.text
    assert document.canonical_url == site.url + "/teapots" and document.language == "en" and len(document.sha256) == 64
    assert again.from_archive and len(site.seen) == 1, "a fresh reading is not asked for again"


async def test_an_archived_page_is_requested_conditionally(tmp_path: Path) -> None:
    def play(seen: Seen) -> Reply:
        return (
            reply("", 304) if seen.headers.get("if-none-match") == '"v1"' else reply(ARTICLE, headers={"ETag": '"v1"'})
        )

    async with client(play, tmp_path) as (h, site):
        first = await h.fetcher.fetch(site.url + "/page")
        second = await h.fetcher.fetch(site.url + "/page", fresh=True)
        assert len(site.seen) == 2 and site.seen[1].headers["if-none-match"] == '"v1"'
    assert second.from_archive and second.text == first.text


@pytest.mark.req("T8.2")
async def test_a_link_of_baidu_is_followed_to_its_landing_page(tmp_path: Path) -> None:
    def play(seen: Seen) -> Reply:
        return redirect("/landing") if seen.path == "/link" else reply(ARTICLE)

    async with client(play, tmp_path) as (h, site):
        one = await h.fetcher.fetch(site.url + "/link?url=AAA")
        two = await h.fetcher.fetch(site.url + "/link?url=BBB")
        assert h.archive is not None and len(h.archive.open()) == 1
    assert one.final_url == two.final_url == site.url + "/landing" and one.url.endswith("AAA")


META_REFRESHES = [
    f"<meta {attributes}>"
    for outer, inner in (('"', "'"), ("'", '"'), ('"', ""))
    for before in ("0;url=", "0; URL = ", "0;\n", "1 , Url=", "0.5;url= ")
    for attributes in (
        f"http-equiv=refresh content={outer}{before}{inner}TARGET{inner}{outer}",
        f"CONTENT={outer}{before}{inner}TARGET{inner}{outer} Http-Equiv='REFRESH' /",
    )
]


@pytest.mark.req("T8.2")
@pytest.mark.parametrize("around", ["{}", "<html><head><script>go()</script><noscript>{}</noscript></head></html>"])
def test_a_meta_refresh_is_read_as_browsers_read_it(around: str) -> None:
    for written in META_REFRESHES:
        page = around.format(written.replace("TARGET", "https://real.example/x?a=1&amp;b=2;c"))
        assert refresh_target(page.encode()) == "https://real.example/x?a=1&b=2;c", page
    for none in ("<meta http-equiv=refresh content=30>", "<!-- <meta http-equiv=refresh content='0;url=/x'> -->", ""):
        assert refresh_target(around.format(none).encode()) == ""


@pytest.mark.req("T8.2")
@pytest.mark.parametrize("how", ["by its status", "by a page"])
async def test_a_model_that_reads_a_link_of_baidu_is_shown_the_landing_page(tmp_path: Path, how: str) -> None:
    refresh = """<noscript><META http-equiv="refresh" content="0;URL='/landing'"></noscript>"""

    def play(seen: Seen) -> Reply:
        if seen.path != "/link":
            return reply(ARTICLE)
        return redirect("/landing") if how == "by its status" else reply(refresh)

    async with client(play, tmp_path) as (h, site):
        document = await h.read(site.url + "/link?url=AAA")
    text = page_text(document, select(document.text, "", 2000), "en")
    assert document.final_url == site.url + "/landing"
    assert site.url + "/landing" in text and "/link?" not in text and "first made in China" in text


async def test_meta_refresh_is_followed_once(tmp_path: Path) -> None:
    def play(seen: Seen) -> Reply:
        return reply(ARTICLE) if seen.path == "/real" else reply('<meta http-equiv="refresh" content="0; url=/real">')

    async with client(play, tmp_path) as (h, site):
        assert (await h.fetcher.fetch(site.url + "/x")).final_url == site.url + "/real"


BROKEN_URLS = (
    "http://[", "http://[::1", "http://]", "//[", "http:", "http://", "//", "http://a b/", "http://\u2100/", "javascript:x",
    "data:text/html,x", "http://a:99999/", "http://a:x/", "http://%", "http://%zz/", "\\\\[", "http://[fe80::1%25]/", "?", "http://.",
    "http://xn--/", "http://1.2.3.4.5/", "http://0x7f.1/", "file:///etc/passwd", "http://user:pass@[/", "\x00", "http://\ud800/",
)  # fmt: skip


@pytest.mark.parametrize("target", BROKEN_URLS)
async def test_no_address_is_a_fault_of_ours(tmp_path: Path, target: str) -> None:
    """A page may lead to any address, in any way; the reader always ends with a document or a named error."""
    header = {} if not target.isascii() or not target.isprintable() else {"Location": target}

    def play(seen: Seen) -> Reply:
        if seen.path == "/refresh":
            return reply(f'<meta http-equiv=refresh content="0;url={target}">'.encode("utf-8", "replace"))
        if seen.path == "/robots.txt":
            return reply(f"User-agent: *\nDisallow: {target}\nCrawl-delay: \u00b2\n".encode("utf-8", "replace"))
        if seen.path == "/redirect" and header:
            return reply("", 302, headers=header)
        links = f'<base href="{target}"><link rel=canonical href="{target}"><a href="{target}">x</a>'
        return reply((links + f"<article><p>{TEXT}</p></article>").encode("utf-8", "replace"))

    async with client(play, tmp_path, robots=True) as (h, site):
        for url in (f"{site.url}/refresh", f"{site.url}/redirect", f"{site.url}/page", target):
            try:
                assert (await h.read(url)).text
            except SuyuanError as error:
                assert error.message and error.hint


@pytest.mark.parametrize("charset", ["gbk", "gb18030", "big5", "utf-16", "shift_jis"])
async def test_encodings(tmp_path: Path, charset: str) -> None:
    words = "茶の歴史と茶碗" if charset == "shift_jis" else "茶壺的歷史" if charset == "big5" else "茶壶的历史"
    body = (
        f"<html><head><title>{words}</title></head><body><article><p>{(words + '。') * 60}</p></article></body></html>"
    )
    document = await read(
        reply(body.encode(charset), kind="text/html" + ("" if charset == "utf-16" else f"; charset={charset}")),
        tmp_path,
    )
    assert words in document.text and document.title == words  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("body", "kind", "expected"),
    [
        ("Plain words.", "text/plain", "Plain words."),
        ("# Head\n\nText", "text/markdown", "# Head"),
        ('{"a": ["茶"]}', "application/json", '"茶"'),
        ("<rss><channel><title>News</title><item><title>One</title><link>https://a.example/1</link>"
         "<description>First</description></item></channel></rss>", "application/rss+xml", "[One](https://a.example/1)"),
        ("<?xml version='1.0'?><feed><title>F</title><entry><title>Two</title><link href='https://a.example/2'/>"
         "<summary>S</summary></entry></feed>", "application/atom+xml", "[Two](https://a.example/2)"),
        ("<?xml version='1.0'?><!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><x><y>words &e;</y></x>",
         "text/xml", "words"),
    ],
)  # fmt: skip
async def test_other_formats(tmp_path: Path, body: str, kind: str, expected: str) -> None:
    document = await read(reply(body, kind=kind), tmp_path)
    assert expected in document.text and "root:" not in document.text  # type: ignore[attr-defined]


def small_pdf(text: str) -> bytes:
    """A minimal PDF with one page."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    body, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return (
        body
        + b"xref\n0 6\n0000000000 65535 f \n"
        + table
        + b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % len(body)
    )


async def test_pdf(tmp_path: Path) -> None:
    pytest.importorskip("pypdf", reason="the optional extra suyuan[pages] is not installed")
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    document = await read(reply(small_pdf("Teapots in print"), kind="application/pdf"), tmp_path)
    assert document.text == "## 1\n\nTeapots in print"  # type: ignore[attr-defined]
    assert (
        await failure(reply(b"%PDF-1.4 broken", kind="application/pdf"), tmp_path)
    ).detail_code == "unsupported_type"


SHELL = (
    '<html><head><script src="/a.js"></script></head><body><noscript>You need to enable JavaScript.</noscript>'
    '<div id="root"></div></body></html>'
)
SCRIPTED = SHELL.replace('<script src="/a.js"></script>', "").replace("</body>", '<script src="/a.js"></script></body>')
CLOUDFLARE = (
    "<html><head><title>Just a moment...</title></head><body>"
    '<div id="challenge-error-text">Enable JavaScript and cookies</div>'
    '<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script></body></html>'
)


@pytest.mark.parametrize(
    ("answer", "code", "detail"),
    [
        (reply(CLOUDFLARE, 403), "WebBlocked", "captcha_required"),
        (reply(CLOUDFLARE, 503), "WebBlocked", "captcha_required"),
        (reply(CLOUDFLARE, 200), "WebBlocked", "captcha_required"),
        (reply("<html><title>百度安全验证</title><body>网络不给力，请稍后重试</body></html>"),
         "WebBlocked", "captcha_required"),
        (reply(SHELL), "WebParseError", "javascript_required"),
        (reply('<html><body><form><input type="password"></form>Please sign in</body></html>'),
         "AuthError", "login_required"),
        (reply("<html><body></body></html>"), "WebParseError", "empty_text"),
        (reply(""), "WebParseError", "empty_text"),
        (reply(b"\x89PNG\r\n\x1a\n", kind="image/png"), "WebParseError", "unsupported_type"),
        (reply("gone", 404), "WebProviderError", "not_found"),
        (reply("gone", 410), "WebProviderError", "not_found"),
        (reply("", 401), "AuthError", "login_required"),
        (reply("", 403), "WebBlocked", "http_403"),
        (reply("", 429), "WebBlocked", "http_429"),
        (reply("", 500), "BadGateway", "http_5xx"),
        (reply("", 418), "WebProviderError", "http_status"),
        (redirect("http://169.254.169.254/latest/meta-data/"), "WebProviderError", "guard_refused"),
        (redirect("/page"), "NetworkError", "redirect_loop"),
        (reply("x" * 300_000, kind="text/plain"), "WebParseError", "too_large"),
    ],
)  # fmt: skip
async def test_a_page_without_the_content_is_an_error(tmp_path: Path, answer: Reply, code: str, detail: str) -> None:
    error = await failure(answer, tmp_path, max_bytes=200_000)
    assert (error.code, error.detail_code) == (code, detail)


@pytest.mark.parametrize("render", [True, False])
async def test_a_page_that_its_scripts_write_is_read_in_the_browser_where_that_is_configured(
    tmp_path: Path, render: bool
) -> None:
    require_chromium()
    script = f"document.getElementById('root').innerHTML = {json.dumps(ARTICLE.partition('<body>')[2])}"

    def play(seen: Seen) -> Reply:
        return reply(script, kind="text/javascript") if seen.path == "/a.js" else reply(SCRIPTED)

    async with client(play, tmp_path, render=render) as (h, site):
        if render:
            document = await h.read(site.url + "/page")
            assert "first made in China" in document.text and document.notes == ("rendered in the browser",)
        else:
            with pytest.raises(SuyuanError) as caught:
                await h.read(site.url + "/page")
            assert caught.value.detail_code == "javascript_required"


async def test_an_application_whose_api_answers_late_is_rendered_whole(tmp_path: Path) -> None:
    require_chromium()
    part = f"<p>{TEXT}</p>"
    script = f"""
        const show = html => document.getElementById("root").innerHTML += html;
        setTimeout(async () => {{
            show(await (await fetch("/api/first")).text());
            show(await (await fetch("/api/second")).text());
        }}, 300);
        setInterval(() => fetch("/api/poll"), 400);
        document.body.append(new Image());
        {json.dumps(part)};
    """

    def late(seen: Seen) -> Reply:
        if not seen.path.startswith("/api/"):
            return reply(script, kind="text/javascript") if seen.path == "/a.js" else reply(SCRIPTED)
        name = seen.path.rpartition("/")[2]

        async def answer(writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(0.7)
            await reply("" if name == "poll" else f"<h2>The {name} part</h2>{part}")(writer)

        return answer

    async with client(late, tmp_path, timeout_ms=30_000) as (h, site):
        document = await h.fetcher.fetch(site.url + "/page", render=True)
    assert "The first part" in document.text and "The second part" in document.text


async def test_a_page_that_shows_nothing_in_the_browser_either_says_so(tmp_path: Path) -> None:
    require_chromium()
    async with client(lambda _: reply(SCRIPTED), tmp_path, timeout_ms=20_000) as (h, site):
        with pytest.raises(SuyuanError) as caught:
            await h.fetcher.fetch(site.url + "/page", render=True)
    assert caught.value.detail_code == "javascript_required" and "--render" not in caught.value.hint


async def test_an_article_with_a_captcha_in_its_comments_is_read(tmp_path: Path) -> None:
    page = ARTICLE.replace(
        "</article>", '</article><form><input type="text"><div class="g-recaptcha"></div><input type="password"></form>'
    )
    document = await read(reply(page), tmp_path)
    assert "first made in China" in document.text  # type: ignore[attr-defined]


async def test_addresses_that_are_not_public_are_refused(tmp_path: Path) -> None:
    async with client(lambda _: reply(ARTICLE), tmp_path, allow_networks=()) as (h, site):
        for url in (
            site.url,
            "http://localhost/",
            "http://[::1]/",
            "http://2130706433/",
            "http://192.168.0.1/",
            "file:///etc/passwd",
            "",
        ):
            with pytest.raises(SuyuanError) as caught:
                await h.fetcher.fetch(url)
            assert caught.value.detail_code in ("guard_refused", "bad_url")
        assert site.connections == 0


async def test_a_private_engine_address_is_not_readable(tmp_path: Path) -> None:
    from suyuan.core.engine import EngineSettings

    async with serve(lambda _: reply(ARTICLE)) as site:
        engines = {name: EngineSettings(base_url=site.url) for name in ("searxng", "google")}
        async with AsyncClient(Settings(engines=engines, data_dir=tmp_path)) as h:
            with pytest.raises(SuyuanError) as caught:
                await h.fetcher.fetch(site.url + "/admin")
            with pytest.raises(SuyuanError):
                await h.network.render(site.url + "/admin", 5.0)
        assert caught.value.detail_code == "guard_refused" and site.connections == 0


async def test_a_slow_page_times_out_and_its_connection_is_closed(tmp_path: Path) -> None:
    async with client(lambda _: stall, tmp_path, timeout_ms=400) as (h, site):
        with pytest.raises(Timeout):
            await h.fetcher.fetch(site.url)
        assert await site.until_idle()


async def test_robots_txt_is_respected_if_configured(tmp_path: Path) -> None:
    def play(seen: Seen) -> Reply:
        return (
            reply("User-agent: *\nDisallow: /private", kind="text/plain")
            if seen.path == "/robots.txt"
            else reply(ARTICLE)
        )

    async with client(play, tmp_path, robots=True) as (h, site):
        assert (await h.fetcher.fetch(site.url + "/open")).text
        with pytest.raises(SuyuanError) as caught:
            await h.fetcher.fetch(site.url + "/private/x")
    assert caught.value.detail_code == "robots"


async def test_many_pages_at_once(tmp_path: Path) -> None:
    async with client(lambda seen: reply(ARTICLE.replace("teapots", seen.path[1:])), tmp_path) as (h, site):
        documents = await asyncio.gather(*(h.fetcher.fetch(f"{site.url}/n{n}") for n in range(40)))
        assert {d.title for d in documents} == {f"About n{n}" for n in range(40)}
        assert h.archive is not None and len(h.archive.open()) == 40


def test_synchronous_callers(tmp_path: Path) -> None:
    from suyuan import Client

    async def main() -> str:
        async with serve(lambda _: reply(ARTICLE)) as site:
            h = Client(Settings(pages=PageSettings(allow_networks=("127.0.0.1/32",)), data_dir=tmp_path))
            document = await asyncio.to_thread(h.read, site.url)
            await asyncio.to_thread(h.close)
            return document.title

    assert asyncio.run(main()) == "About teapots"


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("text/html; charset=x", b"", "html"),
        ("", b"<!DOCTYPE html><html>", "html"),
        ("application/octet-stream", b"%PDF-1.7", "pdf"),
        ("application/ld+json", b"{}", "json"),
        ("image/svg+xml", b"<svg/>", "xml"),
        ("video/mp4", b"\x00\x00", ""),
        ("", b"\x00\x01", ""),
    ],
)
def test_kinds_of_content(content_type: str, body: bytes, kind: str) -> None:
    assert kind_of(content_type, body) == kind


class TestCommandLine:
    async def run(self, *args: str, url: str = "") -> tuple[int, str, str]:
        import os
        import sys

        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "suyuan", *args, env={**os.environ, "WEB_FETCH_ALLOW_NETWORKS": "127.0.0.1/32"},
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, err = await process.communicate()
        return process.returncode or 0, out.decode(), err.decode()

    async def test_fetch_and_archive(self) -> None:
        page = ARTICLE.replace("</article>", "<p>Yixing teapots must not be washed with soap.</p></article>")
        async with serve(lambda _: reply(page)) as site:
            code, out, _ = await self.run("fetch", site.url + "/page")
            assert code == 0 and out.startswith("# About teapots\n") and "first made in China" in out
            code, out, _ = await self.run(
                "fetch", site.url + "/page", "--format", "json", "--question", "soap Yixing", "--tokens", "60"
            )
            data = json.loads(out)
            assert (
                any("soap" in p["text"] for p in data["passages"])
                and data["tokens"] <= 60 < data["total_tokens"]
                and data["from_archive"]
            )
            assert len(site.seen) == 1
        code, out, _ = await self.run("archive", "list")
        assert code == 0 and "About teapots" in out
        code, out, _ = await self.run("archive", "search", "Yixing", "soap")
        assert code == 0 and "soap" in out
        code, out, _ = await self.run("archive", "show", site.url + "/page")
        assert code == 0 and "sha256" in out
        code, out, _ = await self.run("archive", "export")
        assert json.loads(out)["title"] == "About teapots"

    async def test_failures(self) -> None:
        async with serve(lambda _: reply(CLOUDFLARE, 403)) as site:
            code, out, err = await self.run("fetch", site.url)
            assert code == 3 and out == "" and "captcha_required" in err and "What to do:" in err
        assert (await self.run("fetch", "not an address"))[0] == 2
        assert (await self.run("archive", "show", "https://nowhere.example/"))[0] == 1
        assert await self.run("archive", "list") == (1, "The archive is empty: it keeps the pages that are read.\n", "")


class TestOffline:
    async def test_the_archive_is_searched_where_the_plan_names_it(self, tmp_path: Path) -> None:
        from suyuan.core.engine import EngineSettings

        nowhere = {
            name: EngineSettings(base_url="http://127.0.0.1:9")
            for name in ("searxng", "ddg_html", "bing_html", "baidu_html")
        }
        async with serve(lambda _: reply(ARTICLE)) as site:
            pages = PageSettings(allow_networks=("127.0.0.1/32",))
            async with AsyncClient(Settings(pages=pages, data_dir=tmp_path, engines=nowhere)) as h:
                await h.fetcher.fetch(site.url + "/page")
                plan = ",".join([*nowhere, "archive"])
                page = await h.search_service.search("teapots made in China", engines=plan)
                with pytest.raises(SuyuanError) as caught:
                    await h.search_service.search("完全无关的问题 quantum chromodynamics", engines=plan)
                with pytest.raises(SuyuanError):
                    await h.search_service.search("teapots made in China")
                listed = await h.search_service.search("brewing tea", engines="archive")
        assert (
            page.engine == "archive"
            and page.results[0].url == site.url + "/page"
            and "China" in page.results[0].snippet
        )
        assert {a.engine for a in page.attempts if a.code} == {"searxng", "ddg_html", "bing_html", "baidu_html"}
        assert caught.value.code == "NetworkError", "the archive is asked only where it covers the question"
        assert listed.engine == "archive"
