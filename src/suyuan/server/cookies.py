"""``Cookies``: the cookies of logins, as the address of the server demands them."""

from __future__ import annotations

from urllib.parse import urlsplit

from ..config.settings import ServerSettings

COOKIE = "suyuan_login"


class Cookies:
    """Makes the headers that set and end a cookie, by default that of a login."""

    def __init__(self, origin: ServerSettings, name: str = COOKIE, below: str = "", same_site: str = "Strict") -> None:
        public = urlsplit(origin.public_url)
        self.base = origin.public_url or origin.url
        """The address by which people reach the server."""
        self._secure = public.scheme == "https"
        self._name = name
        self._attributes = f"Path={public.path + below or '/'}; HttpOnly; SameSite={same_site}"
        self.expired = f"{name}=; {self._attributes}; Max-Age=0"
        """The header that ends it."""

    def set(self, value: str, seconds: float, scheme: str = "http") -> str:
        """The header that sets it."""
        secure = "; Secure" if self._secure or scheme == "https" else ""
        return f"{self._name}={value}; {self._attributes}; Max-Age={round(seconds)}{secure}"
