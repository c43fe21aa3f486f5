"""One server for the clients of other APIs: a small site with its search engine on loopback, and a token."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from server.serving import Served, serving, settings_of
from support.site import Handler, Reply, Seen, Site, json_reply, reply, serve
from support.timing import PATIENCE
from suyuan.config.settings import PageSettings
from suyuan.search.focus import Focus

TOKEN = "correct-horse-battery-staple"
QUESTION = "When was the harbour of Arvika built?"
FILLER = "".join(f"<p>{'The town of Arvika lies by a lake in the west. ' * 12}Part {n}.</p>" for n in range(12))
PAGES = {
    "/": ("Arvika", '<p>All about Arvika, its harbour and its mill. Read on below.</p><a href="/docs/harbour">Harbour</a> '
          '<a href="/docs/mill?x=1#top">Mill</a> <a href="/private/diary">Diary</a> <a href="/gone">Gone</a> '
          '<a href="https://elsewhere.example/">Elsewhere</a> <a href="mailto:a@example.org">Mail</a>'),
    "/docs/harbour": ("Harbour of Arvika", f"{FILLER}<p>The harbour of Arvika was built in 1811 by Karin Lund.</p>{FILLER}"
                      '<a href="/docs/crane">The crane</a>'),
    "/docs/mill?x=1": ("Mill of Arvika", "<p>The mill of Arvika grinds <b>rye</b> since 1790. It has two wheels.</p>"),
    "/docs/crane": ("Crane", "<p>The crane of the harbour can lift forty tons, which is much for a town of this size.</p>"),
    "/begin": ("Begin", '<p>A page that leads to others, for crawls that end early.</p><a href="/docs/crane">Crane</a> '
               '<a href="/gone">Gone</a> <a href="/slow">Slow</a>'),
    "/private/diary": ("Diary", "<p>This diary is private and no program may read it, says robots.txt.</p>"),
}  # fmt: skip
FOUND = (
    ("/docs/harbour", "Harbour of Arvika", "The harbour of Arvika is the largest harbour of the lake."),
    ("/gone", "When the harbour was built", "A page about Arvika that is gone."),
    ("/docs/mill?x=1", "Mill of Arvika", "The mill of Arvika grinds rye."),
)


@dataclass
class Compat:
    """The running server, its site, and what the site was asked."""

    served: Served
    site: Site
    slow: threading.Event
    """While it is not set, the page /slow does not come."""

    @property
    def url(self) -> str:
        return self.served.url

    @property
    def searches(self) -> list[str]:
        """The queries that the site was asked."""
        return [seen.params.get("q", "") for seen in self.site.seen if seen.path == "/search"]


@contextmanager
def compat_server() -> Iterator[Compat]:
    """A server with a token, whose only engine and pages are a small site."""
    with small_site() as (site, slow), site_server(site) as served:
        yield Compat(served, site, slow)


@contextmanager
def small_site() -> Iterator[tuple[Site, threading.Event]]:
    """The site, and the event for which its page /slow waits."""
    slow = threading.Event()
    with _running_site(_Site(slow)) as site:
        yield site, slow


@contextmanager
def site_server(site: Site, folder: Path | None = None) -> Iterator[Served]:
    """A server for ``site`` that keeps its data in ``folder``."""
    settings = settings_of(site.url, read_seconds=PATIENCE, data=folder)
    settings = replace(
        settings,
        search=replace(settings.search, default="searxng", focuses={"news": Focus("searxng")}),
        pages=PageSettings(allow_networks=("127.0.0.0/8",)),
    )
    with serving(settings, token=TOKEN) as served:
        yield served


class _Site:
    """What the site says."""

    def __init__(self, slow: threading.Event) -> None:
        self._slow = slow

    def __call__(self, seen: Seen) -> Reply:
        if seen.path != "/slow":
            return answer(seen)

        async def slowly(writer: asyncio.StreamWriter) -> None:
            while not self._slow.is_set():
                await asyncio.sleep(0.02)
            await reply("<article><p>This page came slowly, but it came, and it has a few words.</p></article>")(writer)

        return slowly


def answer(seen: Seen) -> Reply:
    """What the site says at once."""
    if seen.path == "/healthz":
        return json_reply("OK")
    if seen.path == "/search":
        return _results(seen)
    if seen.path == "/robots.txt":
        return reply("User-agent: *\nDisallow: /private/\n", kind="text/plain")
    if seen.path == "/sitemap.xml":
        links = "".join(f"<url><loc>{_origin(seen)}{path}</loc></url>" for path in ("/docs/harbour", "/docs/hidden"))
        return reply(f"<urlset>{links}</urlset>", kind="application/xml")
    title, text = PAGES.get(seen.target, ("", ""))
    if not title:
        return reply("<title>Not found</title>", 404)
    return reply(
        f"<html><head><title>{title}</title></head><body><article><h1>{title}</h1>{text}</article></body></html>"
    )


def _results(seen: Seen) -> Reply:
    query = seen.params.get("q", "")
    if "broken" in query:
        return reply("no", 500)
    rows = [
        {"title": title, "url": f"{_origin(seen)}{path}", "content": text, "engine": "x"} for path, title, text in FOUND
    ]
    if "many" in query:
        rows = [{"title": f"Many harbours {n}", "url": f"https://many.example/{n}", "content": "many harbours", "engine": "x"}
                for n in range(30)]  # fmt: skip
    return json_reply(json.dumps({"query": query, "results": [] if "nothing" in query else rows}))


def _origin(seen: Seen) -> str:
    return f"http://{seen.headers['host']}"


@contextmanager
def _running_site(handler: Handler) -> Iterator[Site]:
    """The site in a thread of its own, for clients that block."""
    ready, sites = threading.Event(), list[Site]()
    loop = asyncio.new_event_loop()
    over = asyncio.Event()

    async def main() -> None:
        async with serve(handler) as site:
            sites.append(site)
            ready.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(main(),), name="site")
    thread.start()
    try:
        assert ready.wait(PATIENCE), "the site does not start"
        yield sites[0]
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(PATIENCE)
        loop.close()
