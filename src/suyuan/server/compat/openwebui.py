"""What Open WebUI calls its "external" search engine and its "external" web loader."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from ...core.document import Document
from ...core.errors import SuyuanError
from ...core.page_reading import Depth
from ...core.query import SearchQuery
from ..orjson_response import OrjsonResponse
from .shared import MOST_URLS, ForeignCall, Wanted, passages_text

router = APIRouter(prefix="/openwebui", tags=["openwebui"])


class OpenWebUISearch(Wanted):
    """A search of Open WebUI."""

    query: str
    count: int = Field(5, ge=1, le=30)


class Load(Wanted):
    """Pages that Open WebUI wants to have."""

    urls: list[str] = Field(max_length=MOST_URLS, fail_fast=True)


@router.post("/search")
async def search(
    request: Request, body: OpenWebUISearch, depth: Depth = "results", max_tokens: int | None = None
) -> Response:
    """Results; with ``?depth=passages`` in the configured address, snippets are what the pages say."""
    page = await ForeignCall(request).search(
        SearchQuery(body.query), body.count, depth=depth, max_tokens=max_tokens, pages=5
    )
    return OrjsonResponse(
        [{"link": each.url, "title": each.title, "snippet": passages_text(each)} for each in page.results]
    )


@router.post("/load")
async def load(request: Request, body: Load) -> Response:
    """The pages that could be read; where none could, why the first could not."""
    call = ForeignCall(request)
    read = await call.documents(body.urls)
    failed = [each for each in read if isinstance(each, SuyuanError)]
    if failed and len(failed) == len(read):
        raise failed[0]
    pages = [
        {"page_content": each.text, "metadata": {"source": each.url, **_about(each)}}
        for each in read
        if isinstance(each, Document)
    ]
    return OrjsonResponse(pages, headers={"X-Suyuan-Failed": str(len(failed))})


def _about(document: Document) -> dict[str, str]:
    known = {
        "title": document.title,
        "final_url": document.final_url,
        "language": document.language,
        "published_at": document.published_at,
        "fetched_at": document.fetched_at,
        "sha256": document.sha256,
        "cut": document.cut.message() if document.cut else "",
    }
    return {name: value for name, value in known.items() if value}
