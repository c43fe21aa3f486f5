"""``Cookies``: the cookies of logins, as the address of the server demands them."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from ..config.settings import ServerSettings

LOGIN = "suyuan_login"
"""What the cookie of a login is called where there is no https."""


class Cookies:
    """Reads, sets and ends one kind of cookie, by default that of a login.

    By https its name begins with ``__Host-``, or with ``__Secure-`` where its path is not that of the whole host: no
    other host of the domain, and nobody by http, can give a browser a cookie of that name. Others are not read then.
    """

    def __init__(self, origin: ServerSettings, name: str = LOGIN, below: str = "", same_site: str = "Strict") -> None:
        public = urlsplit(origin.public_url)
        self.base = origin.public_url or origin.url
        """The address by which people reach the server."""
        self._is_public_secure = public.scheme == "https"
        self._plain_name = name
        self._path = public.path + below or "/"
        self._attributes = f"Path={self._path}; HttpOnly; SameSite={same_site}"

    def read(self, connection: HTTPConnection) -> str:
        """The value that a browser has sent; empty where there is none."""
        return connection.cookies.get(self._name(connection), "")

    def set(self, value: str, seconds: float, connection: HTTPConnection) -> str:
        """The header that sets it."""
        return self._header(self._name(connection), f"={value}", f"Max-Age={round(seconds)}", connection)

    def ended(self, connection: HTTPConnection) -> list[str]:
        """The headers that end it: also one of the name without a prefix, which releases before 0.3 have set."""
        sent = dict.fromkeys(name for name in (self._name(connection), self._plain_name) if name in connection.cookies)
        return [self._header(name, "=", "Max-Age=0", connection) for name in sent]

    def _header(self, name: str, value: str, age: str, connection: HTTPConnection) -> str:
        secure = "; Secure" if self._is_secure(connection) else ""
        return f"{name}{value}; {self._attributes}; {age}{secure}"

    def _name(self, connection: HTTPConnection) -> str:
        if not self._is_secure(connection):
            return self._plain_name
        return ("__Host-" if self._path == "/" else "__Secure-") + self._plain_name

    def _is_secure(self, connection: HTTPConnection) -> bool:
        return self._is_public_secure or connection.scope["scheme"] == "https"
