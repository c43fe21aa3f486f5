"""Why the server that several workers share cannot be used."""

from __future__ import annotations

from ..cause import Cause
from ..errors import InvalidInput, WebProviderError

LIVE_BAD_ADDRESS = Cause(InvalidInput, "live.bad_address", "live_bad_address")
LIVE_NO_DRIVER = Cause(InvalidInput, "live.no_driver", "live_no_driver")
WORKER_SILENT = Cause(WebProviderError, "live.worker_silent", "worker_silent")
WORKER_SILENT_UNKNOWN = Cause(WebProviderError, "live.worker_silent_unknown", "worker_silent_unknown")
WORKERS_NEED_STORE = Cause(InvalidInput, "live.workers_need_store", "workers_need_store")
OTEL_MISSING = Cause(InvalidInput, "live.otel_missing", "otel_missing")
