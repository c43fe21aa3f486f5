"""``OpenIdLogin``: logging in at an OpenID provider, by the authorization code flow with state, nonce and PKCE."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ..config.settings import ServerSettings
from ..core.causes.people import OIDC_NOT_SAFE, OIDC_REFUSED
from ..core.secret import Secret
from ..core.wire import Request as Outgoing
from ..core.wire import Response as Incoming
from ..net.credentials import is_loopback
from .cookies import Cookies

log = logging.getLogger("suyuan.server")

BEGIN, CALLBACK = "/login/openid", "/login/openid/callback"
_COOKIE = "suyuan_openid"
_SECONDS = 600
_KNOWN_SECONDS = 3600.0
_CLOCK_SECONDS = 60
_WAIT_SECONDS = 10.0
# Signatures by a key that only the provider has; never "none", and no password that is shared with it.
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
_NEEDED = ["iss", "sub", "aud", "exp", "iat"]

Send = Callable[[Outgoing, str], Awaitable[Incoming]]


class OpenIdLogin:
    """One provider. What belongs to a login under way is in a cookie, so that any worker can end it."""

    def __init__(self, origin: ServerSettings, send: Send) -> None:
        issuer = urlsplit(origin.oidc_issuer)
        if issuer.scheme != "https" and not is_loopback(issuer.hostname or ""):
            raise OIDC_NOT_SAFE(where=origin.oidc_issuer)
        self._origin = origin
        self._send = send
        # It comes back with the provider's redirect, which a strict cookie would not.
        self.cookies = Cookies(origin, _COOKIE, "/login", "Lax")
        """What belongs to a login under way."""
        self._redirect = self.cookies.base + CALLBACK
        self.adds_users = origin.new_users
        self._known: dict[str, tuple[float, dict[str, Any]]] = {}

    async def begin(self, target: str, request: Request) -> Response:
        """Send the browser to the provider; afterwards it comes to ``target``."""
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        asked = {
            "response_type": "code", "client_id": self._origin.oidc_client, "redirect_uri": self._redirect,
            "scope": "openid profile email", "state": state, "nonce": nonce,
            "code_challenge": challenge, "code_challenge_method": "S256",
        }  # fmt: skip
        where = (await self._provider())["authorization_endpoint"]
        kept = ".".join((state, nonce, verifier, quote(target, safe="")))
        cookie = self.cookies.set(kept, _SECONDS, request)
        joint = "&" if "?" in where else "?"
        return RedirectResponse(f"{where}{joint}{urlencode(asked)}", 303, {"Set-Cookie": cookie})

    async def finish(self, request: Request) -> tuple[str, str, str]:
        """Who comes back from the provider: issuer and subject, the name, and where they wanted to go."""
        kept = self.cookies.read(request).split(".", 3)
        given = request.query_params
        if len(kept) != 4 or not hmac.compare_digest(kept[0].encode(), given.get("state", "").encode()):
            raise OIDC_REFUSED(why="it was not begun in this browser, or too long ago")
        if "code" not in given:
            raise OIDC_REFUSED(why=_printable(given.get("error", "no code")))
        claims = await self._claims(await self._exchanged(given["code"], kept[2]), kept[1])
        name = claims.get(self._origin.oidc_claim)
        if not isinstance(name, str) or not name:
            raise OIDC_REFUSED(why=f"the provider gives no {self._origin.oidc_claim}")
        if self._origin.oidc_claim == "email" and claims.get("email_verified") is not True:
            raise OIDC_REFUSED(why="the provider has not verified the address")
        return f"{claims['iss']} {claims['sub']}", name, unquote(kept[3])

    async def _exchanged(self, code: str, verifier: str) -> str:
        """The ID token that the provider gives for a code."""
        form = {
            "grant_type": "authorization_code", "code": code, "redirect_uri": self._redirect,
            "client_id": self._origin.oidc_client, "code_verifier": verifier,
        }  # fmt: skip
        head: dict[str, str | Secret] = {"Accept": "application/json"}
        if secret := self._origin.oidc_secret:
            both = f"{quote(self._origin.oidc_client, safe='')}:{quote(secret.reveal(), safe='')}"
            head["Authorization"] = Secret("Basic " + base64.b64encode(both.encode()).decode())
        told = await self._asked(Outgoing.post_form((await self._provider())["token_endpoint"], form, head))
        token = told.get("id_token")
        if not isinstance(token, str):
            raise OIDC_REFUSED(why=_printable(told.get("error", "the provider gives no ID token")))
        return token

    async def _claims(self, token: str, nonce: str) -> Mapping[str, Any]:
        """What an ID token says, if the provider has signed it for us, now, and for this login."""
        import jwt

        try:
            key = await self._key(jwt.get_unverified_header(token))
            claims: dict[str, Any] = jwt.decode(
                token, key, algorithms=_ALGORITHMS, audience=self._origin.oidc_client,
                issuer=self._origin.oidc_issuer, leeway=_CLOCK_SECONDS, options={"require": _NEEDED},
            )  # fmt: skip
        except (jwt.PyJWTError, ValueError, KeyError, TypeError) as error:
            log.warning("an ID token was refused: %s", error)
            raise OIDC_REFUSED(why=_printable(str(error))) from None
        if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
            raise OIDC_REFUSED(why="the token belongs to another login")
        if isinstance(claims["aud"], list) and len(claims["aud"]) > 1 and claims.get("azp") != self._origin.oidc_client:
            raise OIDC_REFUSED(why="the token was made for another program")
        return claims

    async def _key(self, header: Mapping[str, Any]) -> Any:
        """The key of the provider that has signed a token; one that is new is looked for once more."""
        import jwt

        for fresh in (False, True):
            found = await self._document((await self._provider())["jwks_uri"], fresh=fresh)
            keys = [key for key in found["keys"] if key.get("use", "sig") == "sig"]
            fitting = [key for key in keys if key.get("kid") == header.get("kid")]
            if fitting or ("kid" not in header and len(keys) == 1):
                return jwt.PyJWK((fitting or keys)[0], algorithm=_algorithm(header))
        raise KeyError("no key of the provider has signed it")

    async def _provider(self) -> dict[str, Any]:
        issuer = self._origin.oidc_issuer
        found = await self._document(issuer.rstrip("/") + "/.well-known/openid-configuration")
        if found.get("issuer") != issuer:
            raise OIDC_REFUSED(why="the provider calls itself by another name")
        return found

    async def _document(self, url: str, *, fresh: bool = False) -> dict[str, Any]:
        known = self._known.get(url)
        if known is None or fresh or time.monotonic() > known[0]:
            known = self._known[url] = time.monotonic() + _KNOWN_SECONDS, await self._asked(Outgoing.get(url))
        return known[1]

    async def _asked(self, request: Outgoing) -> dict[str, Any]:
        try:
            async with asyncio.timeout(_WAIT_SECONDS):
                answer = await self._send(request, "OpenID provider")
            found = json.loads(answer.body)
        except (TimeoutError, ValueError):
            raise OIDC_REFUSED(why="the provider does not answer as it should") from None
        if not isinstance(found, dict):
            raise OIDC_REFUSED(why="the provider does not answer as it should")
        return found


def _algorithm(header: Mapping[str, Any]) -> str:
    if header.get("alg") not in _ALGORITHMS:
        raise ValueError("its signature is of a kind that proves nothing")
    return str(header["alg"])


def _printable(text: object) -> str:
    return "".join(character for character in str(text)[:120] if character.isprintable())
