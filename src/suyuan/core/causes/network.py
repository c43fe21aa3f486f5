"""Why a server cannot be reached, or must not be."""

from __future__ import annotations

from ..cause import Cause
from ..errors import InvalidInput, NetworkError, WebProviderError

REFUSED = Cause(NetworkError, "network.refused", "connection_refused")
NO_SUCH_HOST = Cause(NetworkError, "network.no_such_host", "dns")
OFFLINE = Cause(NetworkError, "network.offline", "dns")
BROKEN_OFF = Cause(NetworkError, "network.broken_off", "connection_broken")
BAD_HTTP = Cause(NetworkError, "network.bad_http", "bad_http", retryable=False)
# Its ``why`` is one of the constants below, OpenSSL's own text, or empty where nothing is known.
TLS_FAILED = Cause(NetworkError, "network.tls_failed", "tls", retryable=False)
PROXY_FAILED = Cause(NetworkError, "network.proxy_failed", "proxy", retryable=False)
REDIRECTED = Cause(NetworkError, "network.redirected", "redirected", retryable=False)
REDIRECT_LOOP = Cause(NetworkError, "network.redirect_loop", "redirect_loop", retryable=False)
IMPERSONATE_MISSING = Cause(WebProviderError, "network.impersonate_missing", "impersonate_missing")
PROFILE_UNKNOWN = Cause(WebProviderError, "network.profile_unknown", "profile_unknown")
OFF_LIMITS = Cause(WebProviderError, "network.off_limits", "off_limits")
BAD_URL = Cause(InvalidInput, "network.bad_url", "bad_url")
GUARD_REFUSED = Cause(WebProviderError, "network.guard_refused", "guard_refused")
OWN_ADDRESS = Cause(WebProviderError, "network.own_address", "own_address")

# What a TLS handshake failed on.
NOT_TLS, EXPIRED, SELF_SIGNED, WRONG_NAME = "not_tls", "expired", "self_signed", "wrong_name"
