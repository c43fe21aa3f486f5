"""``Cookies``: the cookie of a login, as the address of the server demands it."""

from __future__ import annotations

from urllib.parse import urlsplit

from ..config.settings import ServerSettings
from .logins import COOKIE


class Cookies:
    """Makes the headers that set and end the cookie."""

    def __init__(self, origin: ServerSettings) -> None:
        public = urlsplit(origin.public_url)
        self.base = origin.public_url or origin.url
        """The address by which people reach the server."""
        self._secure = public.scheme == "https"
        self._attributes = f"Path={public.path or '/'}; HttpOnly; SameSite=Strict"
        self.expired = f"{COOKIE}=; {self._attributes}; Max-Age=0"
        """The header that ends a login."""

    def set(self, value: str, seconds: float, scheme: str = "http") -> str:
        """The header that keeps a login."""
        secure = "; Secure" if self._secure or scheme == "https" else ""
        return f"{COOKIE}={value}; {self._attributes}; Max-Age={round(seconds)}{secure}"
