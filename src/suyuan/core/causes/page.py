"""Why a page cannot be read."""

from __future__ import annotations

from ..cause import Cause
from ..errors import AuthError, NetworkError, Timeout, WebBlocked, WebParseError, WebProviderError

CHALLENGE_PAGE = Cause(WebBlocked, "fetch.challenge_page", "captcha_required", retryable=False)
LOGIN_WALL = Cause(AuthError, "fetch.login_wall", "login_required")
NEEDS_SCRIPTS = Cause(WebParseError, "fetch.needs_scripts", "javascript_required")
NEEDS_SCRIPTS_RENDERED = Cause(WebParseError, "fetch.needs_scripts_rendered", "javascript_required")
EMPTY_TEXT = Cause(WebParseError, "fetch.empty_text", "empty_text")
UNSUPPORTED_TYPE = Cause(WebParseError, "fetch.unsupported_type", "unsupported_type")
NOT_FOUND = Cause(WebProviderError, "fetch.not_found", "not_found")
ROBOTS = Cause(WebBlocked, "fetch.robots", "robots", retryable=False)
EXTRA_MISSING = Cause(WebProviderError, "fetch.extra_missing", "extra_missing")
PAGE_TOO_LARGE = Cause(WebParseError, "fetch.too_large", "too_large")
PAGE_UNDECODED = Cause(WebParseError, "fetch.undecoded", "undecoded_body", retryable=True)
PAGE_REDIRECTS = Cause(NetworkError, "fetch.redirects", "redirect_loop", retryable=False)
PAGE_TOO_SLOW = Cause(WebParseError, "fetch.too_slow", "page_too_slow")
PAGE_TOO_COMPLEX = Cause(WebParseError, "fetch.too_complex", "page_too_complex")
STYLES_TOO_COMPLEX = Cause(WebParseError, "fetch.styles_too_complex", "styles_too_complex")
READER_FAILED = Cause(WebParseError, "fetch.reader_failed", "reader_failed")
READER_NOT_STARTED = Cause(WebProviderError, "fetch.reader_not_started", "reader_not_started", retryable=True)
READ_LATE = Cause(Timeout, "fetch.read_late", "read_late", retryable=True)
