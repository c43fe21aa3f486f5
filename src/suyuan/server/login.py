"""The login page of a server with a token."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from importlib.resources import files
from urllib.parse import parse_qs, quote

from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from ..core.causes.web import BODY_TOO_LARGE, BODY_TOO_SLOW
from ..core.errors import SuyuanError
from ..net.credentials import Credentials, client_key
from ..store.accounts import Accounts
from ..store.logins import Logins, NewCookie
from .answer_html import environment
from .cookies import Cookies
from .errors import language_of, status_of
from .limits import BODY_SECONDS
from .openid import BEGIN, CALLBACK, OpenIdLogin
from .texts import PageTexts

PATH = "/login"
_STYLE = "/login.css"
_LARGEST = 10_000


class LoginPage:
    """Shows the form, checks the token, and sets the cookie."""

    def __init__(
        self, credentials: Credentials, logins: Logins, cookies: Cookies, accounts: Accounts | None = None,
        openid: OpenIdLogin | None = None,
    ) -> None:  # fmt: skip
        self._credentials = credentials
        self._logins = logins
        self._cookies = cookies
        self._accounts = accounts
        self._openid = openid

    def handles(self, path: str) -> bool:
        """Whether ``path`` belongs to the login page."""
        return path in (PATH, _STYLE) or (self._openid is not None and path in (BEGIN, CALLBACK))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of the login page."""
        request = Request(scope, receive)
        await (await self._answer(request))(scope, receive, send)

    def redirect(self, scope: Scope) -> Response:
        """Redirect a browser to the form, which leads back to the page it asked for."""
        wanted = scope["path"] + (f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else "")
        return RedirectResponse(f"{PATH}?next={quote(wanted, safe='')}", 303)

    async def _answer(self, request: Request) -> Response:
        if request.url.path == _STYLE:
            return Response(files("suyuan.server").joinpath("static/login.css").read_bytes(), media_type="text/css")
        if self._openid is not None and request.url.path in (BEGIN, CALLBACK):
            return await self._by_openid(request, self._openid)
        if request.method != "POST":
            return self.form(request, request.query_params.get("next", "/"))
        fields: dict[str, list[str]] = {}
        try:
            fields = parse_qs((await read_body(request)).decode("utf-8", "replace"))
            value, seconds = await self._checked(fields, client_key(request.scope))
        except SuyuanError as error:
            return self.form(request, fields.get("next", ["/"])[0], error)
        cookie = {"Set-Cookie": self._cookies.set(value, seconds, request)}
        return RedirectResponse(_own(fields.get("next", ["/"])[0]), 303, cookie)

    async def _by_openid(self, request: Request, openid: OpenIdLogin) -> Response:
        """Send a browser to the provider, or log in who comes back from there."""
        try:
            if request.url.path == BEGIN:
                return await openid.begin(_own(request.query_params.get("next", "/")), request)
            subject, name, target = await openid.finish(request)
            assert self._accounts is not None
            add, address = openid.adds_users, client_key(request.scope)
            account = await self._accounts.of_subject(subject, name, add, address)
            value, seconds = await self._logins.begin(account.id)
        except SuyuanError as error:
            answer = self.form(request, "/", error)
            _set(answer, openid.cookies.ended(request))
            return answer
        # A page and no redirect: browsers do not send a strict cookie where another site has led to the request.
        lang = language_of(request)
        page = environment().get_template("logged_in.html").render(lang=lang, t=PageTexts(lang), next=_own(target))
        answer = HTMLResponse(page)
        _set(answer, [*openid.cookies.ended(request), self._cookies.set(value, seconds, request)])
        return answer

    async def _checked(self, fields: dict[str, list[str]], address: str) -> NewCookie:
        """A new login for who has filled in the form; raises a cause where something is wrong."""
        if self._accounts is not None:
            name, password = (fields.get(field, [""])[0] for field in ("name", "password"))
            return await self._logins.begin((await self._accounts.log_in(name, password, address)).id)
        if not self._credentials.is_token(fields.get("token", [""])[0]):
            raise self._credentials.refuse(address)
        return await self._logins.begin()

    def form(self, request: HTTPConnection, target: str, error: SuyuanError | None = None) -> Response:
        """The form, with what was wrong."""
        lang = language_of(request)
        problem = " ".join(error.say(lang)) if error else ""
        page = environment().get_template("login.html")
        html = page.render(
            lang=lang,
            t=PageTexts(lang),
            problem=problem,
            next=_own(target),
            users=self._accounts is not None,
            openid=f"{BEGIN}?next={quote(_own(target), safe='')}" if self._openid else "",
        )
        headers = {"Retry-After": str(round(error.retry_after))} if error and error.retry_after else None
        return HTMLResponse(html, status_of(error) if error else 200, headers)


def _set(answer: Response, cookies: Iterable[str]) -> None:
    for cookie in cookies:
        answer.headers.append("Set-Cookie", cookie)


def _own(target: str) -> str:
    """``target`` if it is a path of this server, else ``/``: a login must not redirect to another site."""
    plain = target.isprintable() and target.isascii()
    return target if plain and target.startswith("/") and not target.startswith(("//", "/\\", PATH)) else "/"


async def read_body(request: Request, largest: int = _LARGEST) -> bytes:
    """The body of a request whose sender is not known yet; raises a cause if it is too large or too slow."""
    body = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > largest:
                    raise BODY_TOO_LARGE(limit=largest)
    except TimeoutError:
        raise BODY_TOO_SLOW(seconds=BODY_SECONDS) from None
    return body
