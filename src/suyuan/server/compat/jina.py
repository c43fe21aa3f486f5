"""The API of Jina's Reader: ``GET /r/https://…`` is the page as text that a language model reads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs, unquote

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response

from ...core.causes.network import BAD_URL
from ...core.document import Document
from ...core.wire import Response as PageResponse
from ...messages.catalog import Text
from ...pages.page_links import page_links
from ...text.words import count_tokens
from ..error_forms import is_json
from ..orjson_response import OrjsonResponse
from ..sse import EventStream, message
from .shared import ForeignCall, Wanted

router = APIRouter(tags=["jina"])

_MOST_SECONDS = 180.0
_FORMATS = ("markdown", "content", "html", "text")
# What has no effect here: the page is read by our own reader, from our own address.
_NOT_HONOURED = (
    "x-target-selector", "x-wait-for-selector", "x-remove-selector", "x-with-generated-alt", "x-set-cookie",
    "x-proxy-url", "x-proxy", "x-locale", "x-user-agent", "x-with-images-summary", "x-token-budget", "x-with-iframe",
)  # fmt: skip


_READ = {"requestBody": {"content": {"application/json": {"schema": {
    "type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}}}}}  # fmt: skip


class Read(Wanted):
    """A page to read, for addresses that a path cannot hold."""

    url: str = ""


@router.get("/r/{url:path}", response_class=PlainTextResponse)
async def read(request: Request, url: str) -> Response:
    """Read the page whose address follows ``/r/``: as text, as JSON, or as an event, by ``Accept``."""
    # The path as it was sent: an escaped slash or question mark belongs to the address.
    sent = request.scope.get("raw_path") or request.url.path.encode()
    url = sent.decode("latin-1").partition("/r/")[2]
    if url.lower().startswith(("http%3a", "https%3a")):
        url = unquote(url)
    query = request.url.query
    return await _answer(request, _repaired(url) + (f"?{query}" if query else ""))


@router.post("/r", response_class=PlainTextResponse, openapi_extra=_READ)
@router.post("/r/", response_class=PlainTextResponse, include_in_schema=False)
async def post_read(request: Request) -> Response:
    """Read the page at ``url``, which is sent as JSON or as a form."""
    if is_json(request):
        return await _answer(request, (await Read.of(request)).url)
    form = parse_qs((await request.body()).decode("utf-8", "replace"))
    return await _answer(request, form.get("url", [""])[0])


def _repaired(url: str) -> str:
    """The address with both slashes, of which proxies drop one, and with a scheme."""
    for scheme in ("http", "https"):
        if url.startswith(f"{scheme}:/") and not url.startswith(f"{scheme}://"):
            return f"{scheme}://{url[len(scheme) + 2 :]}"
    return url if "://" in url else f"https://{url}"


async def _answer(request: Request, url: str) -> Response:
    if not url.partition("://")[2]:
        raise BAD_URL(url=url[:120], why=Text("network.reason.invalid"))
    call, seen = ForeignCall(request), list[PageResponse]()
    wanted = _format(request)
    with_links = request.headers.get("x-with-links-summary", "").lower() in ("true", "all", "1")
    document = await _read(call, url, seen if wanted == "html" or with_links else None)
    content = await _content(call, document, wanted, seen[-1] if seen else None)
    data = _data(document, content)
    if with_links and seen:
        data["links"] = {link: link for link in await asyncio.to_thread(page_links, seen[-1])}
    lost = _left_out(request, wanted)
    headers = {"X-Suyuan-Not-Honoured": ", ".join(lost)} if lost else {}
    accept = request.headers.get("accept", "")
    if "text/event-stream" in accept:
        return EventStream(_event(data))
    if "application/json" in accept:
        usage = {"usage": {"tokens": count_tokens(content)}}
        return OrjsonResponse({"code": 200, "status": 20000, "data": data | usage, "meta": usage}, headers=headers)
    return PlainTextResponse(content if wanted in ("html", "text") else _page(document, content), headers=headers)


def _format(request: Request) -> str:
    given = request.headers.get("x-respond-with") or request.headers.get("x-return-format") or "content"
    return given.strip().lower()


def _left_out(request: Request, wanted: str) -> list[str]:
    lost = [name for name in _NOT_HONOURED if name in request.headers]
    return lost if wanted in _FORMATS else [f"x-respond-with: {wanted[:40].encode('ascii', 'replace').decode()}", *lost]


async def _read(call: ForeignCall, url: str, seen: list[PageResponse] | None) -> Document:
    headers = call.request.headers
    fresh = headers.get("x-no-cache", "").lower() in ("true", "1") or headers.get("x-cache-tolerance", "") == "0"
    render = headers.get("x-engine", "").lower() == "browser"
    timeout = headers.get("x-timeout", "")
    seconds = min(float(timeout[:6]), _MOST_SECONDS) if timeout.isascii() and timeout.isdigit() else None
    watch = seen.append if seen is not None else None
    return await call.document(url, seconds=seconds, fresh=fresh, render=render, seen=watch)


async def _content(call: ForeignCall, document: Document, wanted: str, response: PageResponse | None) -> str:
    if wanted == "html" and response:
        return await call.client.fetcher.in_form(response, "source")
    return await call.client.fetcher.in_form(document, "plain") if wanted == "text" else document.text


def _data(document: Document, content: str) -> dict[str, Any]:
    data = {"title": document.title, "description": "", "url": document.final_url, "content": content}
    if document.published_at:
        data["publishedTime"] = document.published_at
    if document.cut:
        data["warning"] = document.cut.message()
    return data


def _page(document: Document, content: str) -> str:
    """The page with what it is, in the lines that Reader writes before the text."""
    lines = [f"Title: {document.title}", f"URL Source: {document.final_url}"]
    if document.published_at:
        lines.append(f"Published Time: {document.published_at}")
    if document.cut:
        lines.append(f"Warning: {document.cut.message()}")
    return "\n\n".join([*lines, f"Markdown Content:\n{content}"]) + "\n"


async def _event(data: dict[str, Any]) -> AsyncIterator[bytes]:
    yield message(data, event="data")
