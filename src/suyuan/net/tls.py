"""What is wrong with a server's TLS, in one word: for whoever must tell people how to mend it."""

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

# The numbers are OpenSSL's (X509_V_ERR_…): valid from, valid until; own signature, unknown signer; host name, address.
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
    """Shake hands with the server and hang up: one of the words above, or OpenSSL's own text."""
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
        # The port is open, and what listens there hangs up on a TLS greeting.
        return NOT_TLS
    except (OSError, TimeoutError):
        return UNREACHABLE
    writer.close()
    with contextlib.suppress(OSError, ssl.SSLError):
        await writer.wait_closed()
    return FINE
