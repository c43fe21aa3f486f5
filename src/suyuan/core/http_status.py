"""What the status of a response means, as the error to raise."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from urllib.parse import urljoin

from ..messages.catalog import Text
from .causes.engine import BAD_STATUS, CAPTCHA, FORBIDDEN, KEY_REJECTED, RATE_LIMITED, UPSTREAM_BROKEN
from .causes.network import REDIRECTED
from .urls import domain_of
from .wire import Response

# The elements of the common challenges: Cloudflare, reCAPTCHA, hCaptcha, DataDome, and forms that call themselves so.
_CHALLENGE = re.compile(
    rb"challenges\.cloudflare\.com|/cdn-cgi/challenge-platform/|_cf_chl_opt|captcha-delivery\.com"
    rb"|(?:class|id)=[\"'][^\"']*(?:g-recaptcha|h-captcha|cf-turnstile|challenge-form|captcha-form)"
    rb"|<form[^>]{0,300}captcha|<script[^>]{0,300}(?:/recaptcha/|hcaptcha\.com)",
    re.I,
)


def check_status(response: Response, engine: str) -> None:
    """Raise the error that the status stands for, unless it is 200 or 202."""
    status = response.status
    if status in (200, 202):
        return
    if 300 <= status < 400:
        raise REDIRECTED(engine=engine, where=redirect_domain(response) or Text("engine.detail.nowhere"))
    if status in (403, 429, 503) and is_challenge(response):
        raise CAPTCHA(engine=engine, retry_after=retry_after(response))
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
    if not value:
        return None
    # Imported here, because it loads the socket module, and hardly any response has this header.
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(value)
        seconds = (moment - (response.at or datetime.now(UTC))).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(seconds, 0.0), 3600.0)


def is_challenge(response: Response) -> bool:
    """Whether an answer without results is a page that asks for a CAPTCHA, by the elements of the common ones."""
    if response.headers.get("cf-mitigated") == "challenge":
        return True
    return response.body[:200].lstrip().startswith(b"<") and _CHALLENGE.search(response.body) is not None
