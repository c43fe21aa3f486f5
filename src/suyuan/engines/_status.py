"""HTTP statuses and headers that mean the same for every engine."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin

from ..core.causes.engine import BAD_STATUS, FORBIDDEN, KEY_REJECTED, RATE_LIMITED, UPSTREAM_BROKEN
from ..core.causes.network import REDIRECTED
from ..core.urls import domain_of
from ..core.wire import Response
from ..messages.catalog import Text


def check_status(response: Response, engine: str) -> None:
    """Raise the error that the status stands for, unless it is 200 or 202."""
    status = response.status
    if status in (200, 202):
        return
    if 300 <= status < 400:
        raise REDIRECTED(engine=engine, where=redirect_domain(response) or Text("engine.detail.nowhere"))
    if status == 401:
        raise KEY_REJECTED(engine=engine, said="HTTP 401")
    if status == 403:
        raise FORBIDDEN(engine=engine, retry_after=retry_after(response))
    if status == 429:
        raise RATE_LIMITED(engine=engine, retry_after=retry_after(response))
    if status >= 500:
        raise UPSTREAM_BROKEN(engine=engine, status=status, retry_after=retry_after(response))
    raise BAD_STATUS(engine=engine, status=status)


def redirect_domain(response: Response) -> str:
    """The domain that a redirect points to; empty if the response is no redirect."""
    location = response.headers.get("location", "")
    try:
        return domain_of(urljoin(response.url, location)) if location else ""
    except ValueError:
        return ""


def retry_after(response: Response) -> float | None:
    """The seconds to wait according to the ``Retry-After`` header, at most an hour."""
    value = response.headers.get("retry-after", "").strip()
    if value.isdecimal():
        return min(float(value), 3600.0)
    try:
        moment = parsedate_to_datetime(value)
        seconds = (moment - (response.at or datetime.now(UTC))).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(seconds, 0.0), 3600.0)
