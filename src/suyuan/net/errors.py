"""The ``SuyuanError`` for each error of aiohttp."""

from __future__ import annotations

import aiohttp
from yarl import URL

from ..core.cause import Cause
from ..core.causes.engine import UNDECODED
from ..core.causes.network import BAD_HTTP, BROKEN_OFF, NO_SUCH_HOST, PROXY_FAILED, REFUSED, TLS_FAILED
from ..core.errors import SuyuanError
from .tls import tls_verdict

# The first that matches is used, so the special errors come before the general ones.
_CAUSES: tuple[tuple[type[BaseException], Cause], ...] = (
    (aiohttp.ClientConnectorDNSError, NO_SUCH_HOST),
    (aiohttp.ClientConnectorCertificateError, TLS_FAILED),
    (aiohttp.ClientSSLError, TLS_FAILED),
    (aiohttp.ClientHttpProxyError, PROXY_FAILED),
    (aiohttp.ClientProxyConnectionError, PROXY_FAILED),
    (aiohttp.ClientConnectorError, REFUSED),
    (aiohttp.ClientPayloadError, BROKEN_OFF),
    (aiohttp.ClientResponseError, BAD_HTTP),
    (aiohttp.InvalidURL, BAD_HTTP),
    (aiohttp.ClientConnectionError, BROKEN_OFF),
    (aiohttp.ClientError, BAD_HTTP),
    (OSError, BROKEN_OFF),
    (ValueError, BAD_HTTP),
)


def network_error(error: BaseException, engine: str, url: URL) -> SuyuanError:
    """The error to raise instead of ``error``, which occurred when ``engine`` requested ``url``."""
    where = f"{url.host}:{url.port}" if url.port and not url.is_default_port() else str(url.host)
    if isinstance(error, aiohttp.ClientPayloadError) and "content-encoding" in str(error).lower():
        return UNDECODED(engine=engine)
    cause = next((cause for kind, cause in _CAUSES if isinstance(error, kind)), BAD_HTTP)
    reason = getattr(error, "certificate_error", None) or getattr(error, "os_error", None)
    if cause is REFUSED and url.scheme == "https" and isinstance(reason, ConnectionResetError):
        # The port is open, but what listens there closes the connection on a TLS handshake.
        cause = TLS_FAILED
    if cause is TLS_FAILED:
        return cause(engine=engine, where=where, why=tls_verdict(reason))
    return cause(engine=engine, where=where)
