"""``Request`` and ``Response``: what an engine yields, and what it is sent."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal
from urllib.parse import urlencode

from .secret import Secret

Via = Literal["http", "browser"]

_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]{2,30})", re.I)
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
# Pages that declare gb2312, gbk or iso-8859-1 use their supersets in practice.
_SUPERSETS = {"gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "iso-8859-1": "cp1252", "ascii": "cp1252"}


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request."""

    url: str
    method: Literal["GET", "POST"] = "GET"
    headers: Mapping[str, str | Secret] = field(default_factory=dict)
    body: bytes = b""
    via: Via = "http"
    secret_params: Mapping[str, Secret] = field(default_factory=dict)
    """What is appended to the URL only when it is sent, so that it is in no log and no error."""
    settle_seconds: float = 0.0
    """How long a browser waits until the page loads nothing and its text grows no more; 0 for its usual moment."""

    @classmethod
    def get(
        cls, url: str, params: Mapping[str, str] | None = None, headers: Mapping[str, str | Secret] | None = None
    ) -> Request:
        """Build a GET request; ``params`` are percent-encoded as UTF-8."""
        return cls(with_params(url, params or {}), headers=headers or {})

    @classmethod
    def post_form(cls, url: str, form: Mapping[str, str], headers: Mapping[str, str | Secret] | None = None) -> Request:
        """Build a POST request with ``form`` as an HTML form sends it."""
        head = {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})}
        return cls(url, "POST", head, urlencode(form).encode("ascii"))

    @classmethod
    def post_json(cls, url: str, data: Mapping[str, Any], headers: Mapping[str, str | Secret] | None = None) -> Request:
        """Build a POST request with ``data`` as JSON."""
        head = {"Content-Type": "application/json", **(headers or {})}
        return cls(url, "POST", head, json.dumps(data, ensure_ascii=False).encode("utf-8"))

    def with_secret(self, name: str, value: Secret) -> Request:
        """The same request with a key as a parameter, for APIs that take it nowhere else; unchanged for no key."""
        return replace(self, secret_params={**self.secret_params, name: value}) if value else self

    def sent_url(self) -> str:
        """The URL with secrets, for the moment of sending."""
        return with_params(self.url, {name: value.reveal() for name, value in self.secret_params.items()})

    def sent_headers(self) -> dict[str, str]:
        """The headers with secrets as text, for the moment of sending."""
        return {name: value.reveal() if isinstance(value, Secret) else value for name, value in self.headers.items()}


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response: status, decompressed body, final URL, headers with lower-case names, and time of receipt."""

    status: int
    body: bytes
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    at: datetime | None = None

    @property
    def text(self) -> str:
        """The body as text: by byte-order mark, then header, then ``<meta>``, then UTF-8; never raises."""
        for bom, name in _BOMS:
            if self.body.startswith(bom):
                return self.body.decode(name, "replace")
        name = self._declared()
        try:
            return self.body.decode(_SUPERSETS.get(name, name), "replace")
        except (LookupError, ValueError):
            # Python knows codecs that are no character sets (idna, undefined).
            return self.body.decode("utf-8", "replace")

    @property
    def utf8(self) -> bytes:
        """The body in UTF-8; nearly always the body itself."""
        if self._declared() in ("utf-8", "utf8") and self.body[:2] not in _UTF16:
            return self.body
        return self.text.encode("utf-8", "replace")

    def _declared(self) -> str:
        kind = self.headers.get("content-type", "").lower()
        if "charset=" in kind:
            return kind.split("charset=", 1)[1].split(";")[0].strip(" \"'") or "utf-8"
        if "json" in kind:
            return "utf-8"
        match = _META_CHARSET.search(self.body[:2048])
        return match[1].decode("ascii", "replace").lower() if match else "utf-8"

    def json(self) -> Any:
        """The body as JSON; raises ``ValueError`` if it is not JSON or nested too deeply."""
        try:
            return json.loads(self.text)
        except RecursionError:
            raise ValueError("nested too deeply") from None


def with_params(url: str, params: Mapping[str, str]) -> str:
    """Return ``url`` with ``params`` appended to its query string, percent-encoded as UTF-8."""
    if not params:
        return url
    return url + ("&" if "?" in url else "?") + urlencode(params)
