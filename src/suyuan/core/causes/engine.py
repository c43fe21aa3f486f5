"""Why an engine did not answer: it refuses, cannot be read, takes too long, needs a key, or is broken."""

from __future__ import annotations

from ..cause import Cause
from ..errors import AuthError, BadGateway, Timeout, WebBlocked, WebParseError, WebProviderError

# --- refused
GOOGLE_CAPTCHA = Cause(WebBlocked, "engine.google_captcha", "captcha_required")
CAPTCHA = Cause(WebBlocked, "engine.captcha", "captcha_required")
FORBIDDEN = Cause(WebBlocked, "engine.forbidden", "http_403")
RATE_LIMITED = Cause(WebBlocked, "engine.rate_limited", "http_429")
SOFT_BLOCK = Cause(WebBlocked, "engine.soft_block", "soft_block")
OFF_TOPIC = Cause(WebBlocked, "engine.off_topic", "soft_block")
CONSENT = Cause(WebBlocked, "engine.consent", "consent_required", retryable=False)
JAVASCRIPT_SHELL = Cause(WebBlocked, "engine.javascript_shell", "javascript_required")
QUOTA_SPENT = Cause(WebBlocked, "engine.quota_spent", "quota_spent", retryable=False)
CIRCUIT_OPEN = Cause(WebBlocked, "engine.circuit_open", "circuit_open")

# --- unreadable answer
UNREADABLE = Cause(WebParseError, "engine.unreadable", "layout_changed")
EMPTY_BODY = Cause(WebParseError, "engine.empty_body", "empty_body", retryable=True)
UNDECODED = Cause(WebParseError, "engine.undecoded", "undecoded_body", retryable=True)
NOT_JSON = Cause(WebParseError, "engine.not_json", "not_json")
TOO_LARGE = Cause(WebParseError, "engine.too_large", "too_large")

# --- too slow
ENGINE_TIMEOUT = Cause(Timeout, "engine.timeout", "engine_timeout")
LATE = Cause(Timeout, "engine.late", "late")
BUDGET_SPENT = Cause(Timeout, "engine.budget_spent", "budget_spent")
OWN_RATE_LIMIT = Cause(Timeout, "engine.own_rate_limit", "own_rate_limit")
TURN_CAME_LATE = Cause(Timeout, "engine.turn_came_late", "own_rate_limit")

# --- keys
KEY_MISSING = Cause(AuthError, "engine.key_missing", "key_missing")
OPTION_MISSING = Cause(AuthError, "engine.option_missing", "setting_missing")
KEY_REJECTED = Cause(AuthError, "engine.key_rejected", "key_rejected")

# --- other failures
UPSTREAM_BROKEN = Cause(BadGateway, "engine.upstream_broken", "http_5xx")
BAD_STATUS = Cause(WebProviderError, "engine.bad_status", "http_status")
API_SAID_NO = Cause(WebProviderError, "engine.api_said_no", "api_error")
ENGINE_BUG = Cause(WebProviderError, "engine.bug", "engine_bug")
PAGE_UNSUPPORTED = Cause(WebProviderError, "engine.page_unsupported", "page_unsupported")
NO_ENGINE = Cause(WebProviderError, "engine.no_engine", "no_engine")
NO_FOCUS_ENGINE = Cause(WebProviderError, "engine.no_focus_engine", "no_focus_engine")
ALL_FAILED = Cause(WebProviderError, "engine.all_failed", "all_engines_failed", retryable=True)
