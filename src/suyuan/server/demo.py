"""The demo on the page: starting it, and showing its pages, which no browser can find by their addresses."""

from __future__ import annotations

import asyncio
import re
from functools import cache

from fastapi import APIRouter, Request
from fastapi.responses import Response

from ..core.causes.web import NO_SUCH_PATH
from ..demo.html import STYLE
from ..demo.site import DemoSite
from .page import may_start_demo
from .static_files import static_url

router = APIRouter(include_in_schema=False)

_PREFIX = "/demo/web/"


@router.post("/demo")
async def start_demo(request: Request) -> dict[str, str]:
    """Start the demo on a port of its own, once, and say where it is."""
    if not may_start_demo(request):
        raise NO_SUCH_PATH(path=request.url.path)
    return {"url": await asyncio.to_thread(request.app.state.demo_server.start)}


@router.get(_PREFIX + "{host}/{path:path}")
async def demo_page(request: Request, host: str, path: str) -> Response:
    """A page of the demo web, with links that lead to its other pages."""
    if not request.app.state.client.settings.demo or host not in _site().hosts:
        raise NO_SUCH_PATH(path=request.url.path)
    found = _site().answer(host, f"/{path}", {})
    body = _with_links(found.body.decode(), host).encode() if found.kind.startswith("text/html") else found.body
    return Response(body, found.status, media_type=found.kind)


@cache
def _site() -> DemoSite:
    return DemoSite()


def _with_links(html: str, host: str) -> str:
    html = html.replace(f'href="{STYLE}"', f'href="{static_url("demo.css")}"')
    html = re.sub(r'<a([^<>]*) href="/', rf'<a\1 href="{_PREFIX}{host}/', html)
    return re.sub(r'<a([^<>]*) href="http://([a-z.-]+)/', rf'<a\1 href="{_PREFIX}\2/', html)
