"""The login page of a server with a token: a form, and the cookie that it sets."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from urllib.parse import parse_qs, quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from ..core.causes.web import BODY_TOO_LARGE, TOKEN_WRONG
from ..core.errors import SuyuanError
from ..messages.catalog import subtree
from .errors import language_of, status_of
from .limits import Tries, client_of

PATH = "/login"
_STYLE = "/login.css"
_LARGEST = 10_000

_PAGE = """<!doctype html>
<html lang="{lang}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>{title}</title><link rel="stylesheet" href="/login.css"></head>
<body><main><h1>溯源 Suyuan</h1>{problem}
<form method="post" action="/login"><input type="hidden" name="next" value="{next}">
<label for="token">{label}</label><input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button>{button}</button></form><p class="hint">{hint}</p></main></body></html>
"""
_CSS = """
:root{color-scheme:light dark;--text:#1b1f24;--back:#f6f7f8;--card:#fff;--line:#d0d7de;--accent:#0b6b5d;--bad:#a4262c}
@media(prefers-color-scheme:dark){:root{--text:#e4e7ea;--back:#14171a;--card:#1d2125;--line:#3a4148;--accent:#4fc3ae;--bad:#ff9a94}}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--back);color:var(--text);
font:16px/1.6 system-ui,"PingFang SC","Microsoft YaHei",sans-serif}
main{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:2rem;width:min(22rem,calc(100vw - 6rem))}
h1{font-size:1.25rem;margin:0 0 1rem}form{display:grid;gap:.6rem}
input,button{font:inherit;padding:.6rem .8rem;border-radius:8px;border:1px solid var(--line);background:transparent;color:inherit}
button{background:var(--accent);border-color:var(--accent);color:var(--card);font-weight:600;cursor:pointer}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}.hint{font-size:.87rem;opacity:.75;margin:1rem 0 0}.bad{color:var(--bad)}
""".strip()


class Login:
    """Shows the form, and lets in whoever knows the token."""

    def __init__(self, right: Callable[[str], bool], tries: Tries, cookie: Callable[[bool], str]) -> None:
        self._right = right
        self._tries = tries
        self._cookie = cookie

    def takes(self, path: str) -> bool:
        """Whether ``path`` is one of the login page's."""
        return path in (PATH, _STYLE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for the login page."""
        request = Request(scope, receive)
        await (await self._answer(request))(scope, receive, send)

    async def lead_there(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send a person who is not logged in to the form, and back to where they wanted to go after it."""
        wanted = scope["path"] + (f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else "")
        await RedirectResponse(f"{PATH}?next={quote(wanted, safe='')}", 303)(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.url.path == _STYLE:
            return Response(_CSS, media_type="text/css")
        if request.method != "POST":
            return self._form(request, request.query_params.get("next", "/"))
        client = client_of(request.scope)
        fields: dict[str, list[str]] = {}
        try:
            fields = parse_qs((await _body(request)).decode("utf-8", "replace"))
            self._tries.check(client)
            if not self._right(fields.get("token", [""])[0]):
                self._tries.failed(client)
                raise TOKEN_WRONG()
        except SuyuanError as error:
            return self._form(request, fields.get("next", ["/"])[0], error)
        return RedirectResponse(
            _own(fields.get("next", ["/"])[0]), 303, {"Set-Cookie": self._cookie(request.url.scheme == "https")}
        )

    def _form(self, request: Request, target: str, error: SuyuanError | None = None) -> Response:
        lang = language_of(request)
        problem = f'<p class="bad" role="alert">{escape(" ".join(error.say(lang)))}</p>' if error else ""
        page = _PAGE.format(lang=lang, problem=problem, next=escape(_own(target)), **subtree(lang, "page.login"))
        headers = {"Retry-After": str(round(error.retry_after))} if error and error.retry_after else None
        return HTMLResponse(page, status_of(error.code, error.detail_code) if error else 200, headers)


def _own(target: str) -> str:
    """``target`` where it is a path of this server, else the first page: a login must lead nowhere else."""
    inside = (
        target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable() and target.isascii()
    )
    return target if inside and not target.startswith(PATH) else "/"


async def _body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LARGEST:
            raise BODY_TOO_LARGE(limit=_LARGEST)
    return body
