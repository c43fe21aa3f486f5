"""What is wrong with the TLS certificate of a server."""

from __future__ import annotations

import asyncio
import contextlib
import ssl

FINE, NOT_TLS, EXPIRED, SELF_SIGNED, WRONG_NAME, UNREACHABLE = (
    "fine",
    "not_tls",
    "expired",
    "self_signed",
    "wrong_name",
    "unreachable",
)

# OpenSSL's numbers (X509_V_ERR_…): not yet valid, expired; self-signed, unknown issuer; wrong host name, wrong IP.
_VERDICTS = {
    9: EXPIRED,
    10: EXPIRED,
    18: SELF_SIGNED,
    19: SELF_SIGNED,
    20: SELF_SIGNED,
    21: SELF_SIGNED,
    62: WRONG_NAME,
    64: WRONG_NAME,
}


async def certificate_verdict(host: str, port: int, seconds: float = 2.0) -> str:
    """The result of a TLS handshake: one of the constants above, or OpenSSL's own text."""
    try:
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(
                host, port, ssl=ssl.create_default_context(), server_hostname=host
            )
    except ssl.SSLCertVerificationError as error:
        return _VERDICTS.get(error.verify_code, error.verify_message)
    except ssl.SSLError:
        return NOT_TLS
    except ConnectionResetError:
        # The port is open, but what listens there closes the connection on a TLS handshake.
        return NOT_TLS
    except (OSError, TimeoutError):
        return UNREACHABLE
    writer.close()
    with contextlib.suppress(OSError, ssl.SSLError):
        await writer.wait_closed()
    return FINE
