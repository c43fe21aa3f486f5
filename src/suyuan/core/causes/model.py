"""Why a model did not answer."""

from __future__ import annotations

from ..cause import Cause
from ..errors import (
    AuthError,
    BadGateway,
    InvalidInput,
    NetworkError,
    Timeout,
    WebBlocked,
    WebParseError,
    WebProviderError,
)

# --- configuration
MODEL_PACKAGE_MISSING = Cause(WebProviderError, "model.package_missing", "model_package_missing")
MODEL_PROVIDER_UNKNOWN = Cause(InvalidInput, "model.provider_unknown", "model_provider_unknown")
MODEL_NAME_MISSING = Cause(InvalidInput, "model.name_missing", "model_name_missing")
MODEL_KEY_MISSING = Cause(AuthError, "model.key_missing", "model_key_missing")
MODEL_PROXY_UNUSABLE = Cause(InvalidInput, "model.proxy_unusable", "model_proxy_unusable")

# --- refused
MODEL_KEY_REFUSED = Cause(AuthError, "model.key_refused", "model_key_refused")
MODEL_FORBIDDEN = Cause(AuthError, "model.forbidden", "model_forbidden")
MODEL_QUOTA = Cause(AuthError, "model.quota", "model_quota")
MODEL_RATE = Cause(WebBlocked, "model.rate", "model_rate")
MODEL_FILTERED = Cause(InvalidInput, "model.filtered", "model_filtered")

# --- the request does not fit the model
MODEL_NOT_FOUND = Cause(InvalidInput, "model.not_found", "model_not_found")
MODEL_NOT_PULLED = Cause(InvalidInput, "model.not_pulled", "model_not_pulled")
MODEL_ADDRESS = Cause(InvalidInput, "model.address", "model_address")
MODEL_CONTEXT = Cause(InvalidInput, "model.context", "context_overflow")
MODEL_NO_TOOLS = Cause(InvalidInput, "model.no_tools", "tools_unsupported")
MODEL_BAD_REQUEST = Cause(InvalidInput, "model.bad_request", "model_bad_request")

# --- not reachable or broken
MODEL_UNREACHABLE = Cause(NetworkError, "model.unreachable", "model_unreachable")
OLLAMA_DOWN = Cause(NetworkError, "model.ollama_down", "ollama_down")
MODEL_DNS = Cause(NetworkError, "model.dns", "model_dns")
MODEL_TLS = Cause(NetworkError, "model.tls", "model_tls", retryable=False)
MODEL_PROXY = Cause(NetworkError, "model.proxy", "model_proxy", retryable=False)
MODEL_CUT = Cause(NetworkError, "model.cut", "model_cut")
MODEL_SILENT = Cause(Timeout, "model.silent", "model_silent")
MODEL_BROKEN = Cause(BadGateway, "model.broken", "model_broken")
MODEL_BUSY = Cause(BadGateway, "model.busy", "model_busy")
MODEL_BAD_ANSWER = Cause(WebParseError, "model.bad_answer", "model_bad_answer")
MODEL_FAILED = Cause(WebProviderError, "model.failed", "model_failed")
