"""What can go wrong in aiohttp, in the words of our error tree."""

from __future__ import annotations

import aiohttp
from yarl import URL

from ..core.cause import Cause
from ..core.causes.engine import UNDECODED
from ..core.causes.network import BAD_HTTP, BROKEN_OFF, NO_SUCH_HOST, PROXY_FAILED, REFUSED, TLS_FAILED
from ..core.errors import SuyuanError

# Foreign error to our cause; the first that fits, so the special ones stand before the general.
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


def translated(error: BaseException, engine: str, url: URL) -> SuyuanError:
    """The error to raise in place of ``error``, which ``engine`` met on its way to ``url``."""
    where = f"{url.host}:{url.port}" if url.port and not url.is_default_port() else str(url.host)
    if isinstance(error, aiohttp.ClientPayloadError) and "content-encoding" in str(error).lower():
        return UNDECODED(engine=engine)
    if (
        isinstance(error, aiohttp.ClientConnectorError)
        and url.scheme == "https"
        and isinstance(error.os_error, ConnectionResetError)
    ):
        # The port is open, but what listens there hangs up on a TLS greeting.
        return TLS_FAILED(engine=engine, where=where)
    cause = next((cause for kind, cause in _CAUSES if isinstance(error, kind)), BAD_HTTP)
    return cause(engine=engine, where=where)
