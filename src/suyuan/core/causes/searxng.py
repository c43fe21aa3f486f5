"""What can be wrong with a SearXNG instance, as seen from outside, and with its container."""

from __future__ import annotations

from ..cause import Cause
from ..errors import AuthError, BadGateway, InvalidInput, NetworkError, Timeout, WebBlocked, WebProviderError

# --- address
SEARXNG_BAD_ADDRESS = Cause(InvalidInput, "searxng.bad_address", "searxng_bad_address")
SEARXNG_WRONG_PATH = Cause(NetworkError, "searxng.wrong_path", "searxng_wrong_path", retryable=False)
SEARXNG_OTHER_SERVER = Cause(NetworkError, "searxng.other_server", "not_searxng", retryable=False)
SEARXNG_REDIRECTED = Cause(NetworkError, "searxng.redirected", "searxng_redirected", retryable=False)

# --- not reachable
SEARXNG_DOWN = Cause(NetworkError, "searxng.down", "searxng_down")
SEARXNG_NO_HOST = Cause(NetworkError, "searxng.no_host", "searxng_dns")
SEARXNG_SILENT = Cause(Timeout, "searxng.silent", "searxng_silent")
SEARXNG_BUSY = Cause(Timeout, "searxng.busy", "searxng_busy")
SEARXNG_LATE = Cause(Timeout, "searxng.late", "engine_timeout")

# --- TLS
SEARXNG_PLAIN = Cause(NetworkError, "searxng.plain", "searxng_plain_http", retryable=False)
SEARXNG_NEEDS_HTTPS = Cause(NetworkError, "searxng.needs_https", "searxng_needs_https", retryable=False)
SEARXNG_SELF_SIGNED = Cause(NetworkError, "searxng.self_signed", "searxng_self_signed", retryable=False)
SEARXNG_EXPIRED = Cause(NetworkError, "searxng.expired", "searxng_certificate_expired", retryable=False)
SEARXNG_WRONG_NAME = Cause(NetworkError, "searxng.wrong_name", "searxng_certificate_name", retryable=False)
SEARXNG_TLS = Cause(NetworkError, "searxng.tls", "searxng_tls", retryable=False)

# --- a proxy in front
SEARXNG_LOGIN = Cause(AuthError, "searxng.login", "searxng_login")
SEARXNG_FORBIDS = Cause(AuthError, "searxng.forbids", "searxng_forbids")
SEARXNG_API_OFF = Cause(AuthError, "searxng.api_off", "searxng_api_off")
SEARXNG_BROKEN = Cause(BadGateway, "searxng.broken", "http_5xx")

# --- its engines
SEARXNG_NO_ENGINES = Cause(WebProviderError, "searxng.no_engines", "searxng_no_engines")
SEARXNG_SOME_DEAD = Cause(WebProviderError, "searxng.some_dead", "searxng_engines_resting", retryable=True)
SEARXNG_UNPROTECTED = Cause(WebProviderError, "searxng.unprotected", "searxng_unprotected")
SEARXNG_SLOW = Cause(Timeout, "searxng.slow", "searxng_slow")
SEARXNG_SEARCH_SILENT = Cause(Timeout, "searxng.search_silent", "searxng_search_silent")

# --- container
DOCKER_MISSING = Cause(WebProviderError, "searxng.docker_missing", "docker_missing")
DOCKER_DOWN = Cause(WebProviderError, "searxng.docker_down", "docker_down")
DOCKER_DENIED = Cause(WebProviderError, "searxng.docker_denied", "docker_denied")
COMPOSE_MISSING = Cause(WebProviderError, "searxng.compose_missing", "compose_missing")
DOCKER_PORT_TAKEN = Cause(WebProviderError, "searxng.docker_port_taken", "docker_port_taken")
DOCKER_FAILED = Cause(WebProviderError, "searxng.docker_failed", "docker_failed")
NO_DEPLOYMENT = Cause(InvalidInput, "searxng.no_deployment", "no_deployment")
DEPLOYMENT_EXISTS = Cause(InvalidInput, "searxng.deployment_exists", "deployment_exists")
DEPLOYMENT_UNWRITABLE = Cause(InvalidInput, "searxng.deployment_unwritable", "deployment_unwritable")
SEARXNG_CLOSED = Cause(AuthError, "searxng.closed", "json_api_off")
SEARXNG_LIMITER = Cause(WebBlocked, "searxng.limiter", "http_429")
NOT_SEARXNG = Cause(NetworkError, "searxng.not_searxng", "not_searxng", retryable=False)
ENGINES_DEAD = Cause(WebProviderError, "searxng.engines_dead", "engines_dead", retryable=True)
ENGINES_OFFLINE = Cause(WebProviderError, "searxng.engines_offline", "engines_offline", retryable=True)
ENGINES_PROXY = Cause(WebProviderError, "searxng.engines_proxy", "engines_proxy")
ENGINES_SUSPENDED = Cause(WebProviderError, "searxng.engines_suspended", "engines_suspended", retryable=True)
ENGINES_CAPTCHA = Cause(WebProviderError, "searxng.engines_captcha", "engines_captcha", retryable=True)
ENGINES_REFUSED = Cause(WebProviderError, "searxng.engines_refused", "engines_refused", retryable=True)
ENGINES_OUTDATED = Cause(WebProviderError, "searxng.engines_outdated", "engines_outdated")
