"""The form of an error in each API that is spoken here; ours is kept in it, with its code and hint."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from starlette.requests import HTTPConnection

Published = Mapping[str, Any]
"""An error as we publish it: code, detail_code, message, hint, retryable, retry_after."""
ErrorForm = Callable[[int, Published], dict[str, Any]]

TAVILY_PATHS = ("/extract", "/map", "/crawl", "/usage")
_OPENAI_TYPES = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    413: "invalid_request_error", 429: "rate_limit_error",
}  # fmt: skip
_ANTHROPIC_TYPES = {**_OPENAI_TYPES, 413: "request_too_large", 503: "overloaded_error", 504: "timeout_error"}


def is_json(connection: HTTPConnection) -> bool:
    """Whether the body of a request is said to be JSON."""
    return connection.headers.get("content-type", "").split(";")[0].strip().lower() == "application/json"


def accepts_html(connection: HTTPConnection) -> bool:
    """Whether a person with a browser asks."""
    return "text/html" in connection.headers.get("accept", "")


def form_of(connection: HTTPConnection) -> ErrorForm | None:
    """The form that the client of this path expects, or None for our own."""
    path = connection.url.path
    sent = connection.scope.get("method") == "POST" and is_json(connection)
    # These paths are also those of SearXNG and of the page.
    report = path.startswith("/research/") and not accepts_html(connection)
    if path in TAVILY_PATHS or report or (sent and path in ("/search", "/research")):
        return tavily_error
    if path.startswith("/v1/") and "anthropic-version" in connection.headers:
        return anthropic_error
    return next((form for prefix, form in _BY_PREFIX if f"{path}/".startswith(prefix)), None)


def status_in(form: ErrorForm | None, status: int) -> int:
    """The status of an error in a form: clients of Firecrawl know 408, and would repeat a request for a 502."""
    return {502: 500, 504: 408}.get(status, status) if form is firecrawl_error else status


def told(published: Published) -> str:
    """Message and hint as one text."""
    return " ".join(part for part in (published["message"], published["hint"]) if part)


def openai_error(status: int, published: Published) -> dict[str, Any]:
    """A failure in OpenAI's form, where message and hint are one text."""
    kind = _OPENAI_TYPES.get(status, "server_error")
    return {"error": {"message": told(published), "type": kind, "param": None, "code": code_of(published)}}


def code_of(published: Published) -> str:
    """The most exact code of a failure."""
    return str(published["detail_code"] or published["code"])


def anthropic_error(status: int, published: Published) -> dict[str, Any]:
    """A failure in Anthropic's form."""
    kind = _ANTHROPIC_TYPES.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": told(published), "code": code_of(published)}}


def tavily_error(status: int, published: Published) -> dict[str, Any]:
    """A failure in Tavily's form."""
    return {"detail": {"error": told(published), **published}}


def firecrawl_error(status: int, published: Published) -> dict[str, Any]:
    """A failure in Firecrawl's form."""
    return {"success": False, "error": told(published), "code": code_of(published).upper(), "details": dict(published)}


def jina_error(status: int, published: Published) -> dict[str, Any]:
    """A failure in the form of Jina's Reader."""
    return {
        "data": None,
        "code": status,
        "status": status * 100,
        "name": published["code"],
        "message": told(published),
        "readableMessage": f"{published['code']}: {told(published)}",
        "detail": dict(published),
    }


def brave_error(status: int, published: Published) -> dict[str, Any]:
    """A failure in Brave's form."""
    error = {"status": status, "code": code_of(published).upper(), "detail": told(published), "meta": dict(published)}
    return {"type": "ErrorResponse", "error": error, "time": int(time.time())}


_BY_PREFIX: tuple[tuple[str, ErrorForm], ...] = (
    ("/v1/messages", anthropic_error),
    ("/v1/", openai_error),
    ("/v2/", firecrawl_error),
    ("/r/", jina_error),
    ("/res/v1/", brave_error),
)
