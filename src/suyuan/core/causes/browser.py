"""Why the browser cannot be used."""

from __future__ import annotations

from ..cause import Cause
from ..errors import WebParseError, WebProviderError

BROWSER_CLOSED = Cause(WebProviderError, "browser.closed", "browser_closed")
BROWSER_ONLY_READS = Cause(WebProviderError, "browser.only_reads", "browser_only_reads")
CHROME_MISSING = Cause(WebProviderError, "browser.chrome_missing", "chrome_missing")
CHROME_NOT_THERE = Cause(WebProviderError, "browser.chrome_not_there", "chrome_missing")
PLAYWRIGHT_MISSING = Cause(WebProviderError, "browser.playwright_missing", "playwright_missing")
PROFILE_BUSY = Cause(WebProviderError, "browser.profile_busy", "profile_busy", retryable=True)
BROWSER_FAILED = Cause(WebProviderError, "browser.failed", "browser_failed", retryable=True)
BROWSER_UNSANDBOXED = Cause(WebProviderError, "browser.unsandboxed", "browser_unsandboxed")
NOT_A_PAGE = Cause(WebParseError, "browser.not_a_page", "not_a_page")
NO_DISPLAY = Cause(WebProviderError, "browser.no_display", "no_display")
