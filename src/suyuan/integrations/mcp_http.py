"""The MCP server over HTTP (``suyuan[mcp]``): who calls, and who may."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from secrets import token_urlsafe

from ..client import AsyncClient
from ..core.causes.web import TOKEN_NEEDED
from ..core.secret import Secret
from ..net.credentials import Credentials, check_token, client_key
from .extras import needs

with needs("mcp"):
    import uvicorn
    from mcp.server.lowlevel.server import Server
    from starlette.requests import HTTPConnection
    from starlette.responses import JSONResponse
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ..net.http_server import KEEP_ALIVE_SECONDS, server_config
    from .mcp import CLIENT, MOST_CLIENTS

_COOKIE = "suyuan_mcp"


def serve_http(
    server: Server[AsyncClient], host: str, port: int, token: Secret, trusted_proxies: Sequence[str] = ()
) -> None:
    """Speak over HTTP at ``/mcp``; with a token, only to those who send it."""
    check_token(host, token)
    app: ASGIApp = _Clients(server.streamable_http_app(host=host))
    if token:
        app = Guarded(app, token)
    uvicorn.Server(server_config(app, trusted_proxies, host=host, port=port)).run()


class _Clients:
    """Recognises the clients of protocol versions without sessions, by a cookie or else by their connection."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._of_connections: OrderedDict[tuple[str, int], str] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with the name of its client; a new client is told its name as a cookie."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # By https no other host of the domain can set a cookie of this name.
        secure = scope["scheme"] == "https"
        cookie = f"__Secure-{_COOKIE}" if secure else _COOKIE
        known = HTTPConnection(scope).cookies.get(cookie, "")
        name = known or self._of_connection(scope.get("client"))
        told = [(b"keep-alive", b"timeout=%d" % KEEP_ALIVE_SECONDS)]
        if not known:
            attributes = "Path=/mcp; HttpOnly; SameSite=Strict" + ("; Secure" if secure else "")
            told.append((b"set-cookie", f"{cookie}={name}; {attributes}".encode()))

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *told]
            await send(message)

        await self._app({**scope, CLIENT: name}, receive, sending)

    def _of_connection(self, address: tuple[str, int] | None) -> str:
        new = token_urlsafe(16)
        # A proxy in between does not say on which of its clients' connections a request came.
        if address is None or not address[1]:
            return new
        name = self._of_connections[address] = self._of_connections.pop(address, new)
        while len(self._of_connections) > MOST_CLIENTS:
            self._of_connections.popitem(last=False)
        return name


class Guarded:
    """Lets only requests with the right bearer token through, and counts the wrong ones."""

    def __init__(self, app: ASGIApp, token: Secret) -> None:
        self._app = app
        self._credentials = Credentials(token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 401 or 429."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = HTTPConnection(scope).headers.get("authorization", "")
        if self._credentials.is_header(given):
            await self._app(scope, receive, send)
            return
        error = self._credentials.refuse(client_key(scope)) if given else TOKEN_NEEDED()
        status, headers = (429, {"retry-after": f"{error.retry_after:.0f}"}) if error.retry_after else (401, {})
        told = JSONResponse({"error": error.as_dict()}, status, {"www-authenticate": "Bearer", **headers})
        await told(scope, receive, send)
