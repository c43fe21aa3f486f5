"""The page as a part of the browser: a search engine of the address bar, an app, a target of sharing."""

from __future__ import annotations

from html import escape

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from .errors import language_of
from .static_files import static_url
from .texts import PageTexts

router = APIRouter(include_in_schema=False)

# The files with a hash in their address never change; everything else is asked of the server.
_WORKER = """const NAME = "shell";
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { pathname, search } = new URL(event.request.url);
  if (event.request.method !== "GET" || !pathname.startsWith("/static/") || !search.includes("v=")) return;
  event.respondWith(caches.open(NAME).then(async (kept) => {
    const known = await kept.match(event.request);
    if (known) return known;
    const fresh = await fetch(event.request);
    if (fresh.ok) kept.put(event.request, fresh.clone());
    return fresh;
  }));
});
"""


@router.get("/manifest.webmanifest")
async def manifest(request: Request) -> Response:
    """What a browser needs to install the page as an app, and to share texts with it."""
    t = PageTexts(language_of(request))
    icon = {"src": static_url("icon.svg"), "sizes": "any", "type": "image/svg+xml"}
    made = {
        "name": t("name"),
        "short_name": t("name").split()[0],
        "description": t("motto"),
        "lang": t.lang,
        "id": "/",
        "start_url": "/",
        "display": "standalone",
        "background_color": "#fbfaf7",
        "theme_color": "#0b6b63",
        "icons": [icon],
        "share_target": {
            "action": "/",
            "method": "GET",
            "enctype": "application/x-www-form-urlencoded",
            "params": {"title": "title", "text": "q", "url": "url"},
        },
    }
    return JSONResponse(made, media_type="application/manifest+json")


@router.get("/opensearch.xml")
async def opensearch(request: Request) -> Response:
    """The description by which a browser offers the server as a search engine."""
    t, base = PageTexts(language_of(request)), escape(str(request.base_url).rstrip("/"))
    made = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">\n'
        f"<ShortName>{escape(t('name'))[:16]}</ShortName><Description>{escape(t('motto'))}</Description>\n"
        f'<Image type="image/svg+xml">{base}{escape(static_url("icon.svg"))}</Image>\n'
        f'<Url type="text/html" method="get" template="{base}/?q={{searchTerms}}"/>\n'
        "</OpenSearchDescription>\n"
    )
    return Response(made, media_type="application/opensearchdescription+xml")


@router.get("/sw.js")
async def worker() -> Response:
    """The service worker of the installed app, for the shell only."""
    return Response(_WORKER, media_type="text/javascript")
