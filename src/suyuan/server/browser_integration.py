"""The page as a part of the browser: a search engine of the address bar, an app, a target of sharing."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from .answer_html import environment
from .errors import language_of
from .static_files import static_files, static_url
from .texts import PageTexts

router = APIRouter(include_in_schema=False)


@router.get("/manifest.webmanifest")
async def manifest(request: Request) -> Response:
    """What a browser needs to install the page as an app, and to share texts with it."""
    t = PageTexts(language_of(request))
    root = request.base_url.path
    icon = {"src": root[:-1] + static_url("icon.svg"), "sizes": "any", "type": "image/svg+xml"}
    made = {
        "name": t("name"),
        "short_name": t("name").split()[0],
        "description": t("motto"),
        "lang": t.lang,
        "id": root,
        "start_url": root,
        "display": "standalone",
        "background_color": "#fbfaf7",
        "theme_color": "#0b6b63",
        "icons": [icon],
        "share_target": {
            "action": root,
            "method": "GET",
            "enctype": "application/x-www-form-urlencoded",
            "params": {"title": "title", "text": "q", "url": "url"},
        },
    }
    return JSONResponse(made, media_type="application/manifest+json")


@router.get("/opensearch.xml")
async def opensearch(request: Request) -> Response:
    """The description by which a browser offers the server as a search engine."""
    base = str(request.base_url).rstrip("/")
    description = environment().get_template("opensearch.xml")
    made = description.render(t=PageTexts(language_of(request)), base=base, icon=static_url("icon.svg"))
    return Response(made, media_type="application/opensearchdescription+xml")


@router.get("/sw.js")
async def worker() -> Response:
    """The service worker of the installed app, for the shell only."""
    return Response(static_files()["sw.js"][0], media_type="text/javascript")
