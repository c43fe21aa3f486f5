"""What an HTTP status means, for the engines that have no rules of their own for it."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urljoin

from ..contract.address import domain_of
from ..contract.causes import (
    BAD_STATUS,
    FORBIDDEN,
    KEY_REJECTED,
    NOT_JSON,
    RATE_LIMITED,
    REDIRECTED,
    UNDECODED,
    UPSTREAM_BROKEN,
)
from ..contract.wire import Response


def check_status(response: Response, engine: str) -> None:
    """Raise the failure that the status stands for; 200 and 202 pass."""
    status = response.status
    if status in (200, 202):
        return
    if 300 <= status < 400:
        raise REDIRECTED(engine=engine, where=redirect_target(response) or "nowhere")
    if status == 401:
        raise KEY_REJECTED(engine=engine, said="HTTP 401")
    if status == 403:
        raise FORBIDDEN(engine=engine, retry_after=retry_after(response))
    if status == 429:
        raise RATE_LIMITED(engine=engine, retry_after=retry_after(response))
    if status >= 500:
        raise UPSTREAM_BROKEN(engine=engine, status=status, retry_after=retry_after(response))
    raise BAD_STATUS(engine=engine, status=status)


def redirect_target(response: Response) -> str:
    """The domain that a redirect points to; empty where the answer is no redirect."""
    location = response.headers.get("location", "")
    try:
        return domain_of(urljoin(response.url, location)) if location else ""
    except ValueError:
        return ""


def retry_after(response: Response) -> float | None:
    """The seconds that a ``Retry-After`` header asks us to wait, at most an hour."""
    value = response.headers.get("retry-after", "").strip()
    if value.isdecimal():
        return min(float(value), 3600.0)
    try:
        moment = parsedate_to_datetime(value)
        seconds = (moment - (response.at or datetime.now(UTC))).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(seconds, 0.0), 3600.0)


def json_of(response: Response, engine: str) -> dict[str, Any]:
    """The answer as a JSON object, or the error that says what came in its place."""
    try:
        data = response.json()
    except ValueError:
        start = response.text[:200].lstrip().lower()
        if not start:
            raise NOT_JSON(engine=engine, what="nothing") from None
        if start.startswith("<"):
            raise NOT_JSON(engine=engine, what="an HTML page") from None
        if "\ufffd" in start or "\x00" in start:
            raise UNDECODED(engine=engine) from None
        raise NOT_JSON(engine=engine, what="something else") from None
    if not isinstance(data, dict):
        raise NOT_JSON(engine=engine, what=f"a JSON {type(data).__name__}")
    return data
