"""What a TLS handshake failed on."""

from __future__ import annotations

import ssl

from ..core.causes.network import EXPIRED, NOT_TLS, SELF_SIGNED, WRONG_NAME

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


def tls_verdict(error: BaseException | None) -> str:
    """Return one of the constants of ``TLS_FAILED``, or OpenSSL's own text, for the error of a handshake."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _VERDICTS.get(error.verify_code, error.verify_message)
    # The port is open, but what listens there does not answer a TLS handshake with one.
    return NOT_TLS if isinstance(error, ssl.SSLError | ConnectionResetError) else ""
