"""What is wrong with a SearXNG: told from its answers and a few small requests, for searches and health checks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from html import unescape
from urllib.parse import urljoin, urlsplit

from ..core.cause import Cause
from ..core.causes import searxng as causes
from ..core.causes.network import EXPIRED, NOT_TLS, SELF_SIGNED, WRONG_NAME
from ..core.errors import SuyuanError
from ..core.urls import origin
from ..messages.catalog import Text
from .kit import KEY_REJECTED, Request, Response, Secret, retry_after

NAME = "searxng"
Verdict = Generator[Request, Response, SuyuanError | None]

# Failures behind which there may be something else than what they say.
_UNCLEAR = {
    "connection_broken", "bad_http", "not_json", "layout_changed", "http_status", "json_api_off", "not_searxng",
}  # fmt: skip
# The usual paths behind a reverse proxy.
_PREFIXES = ("", "/searxng", "/searx", "/sx", "/search", "/sxng", "/s")
_MAX_LINKS = 6
_TITLE = re.compile(r"<title[^<>]{0,200}>([^<]{0,500})</title>", re.I | re.S)
_LINK = re.compile(r"""\bhref\s*=\s*["']([^"'#?\s]+)""", re.I)
_GENERATOR = b'content="searxng/'
_CLOSED = (403, 404, 405)


class Diagnosis:
    """The examination of one instance; its exchanges yield requests to the instance's own host."""

    def __init__(self, base_url: str, headers: Mapping[str, str | Secret]) -> None:
        self._base_url = base_url
        self._headers = headers

    def exchange(self, error: SuyuanError) -> Generator[Request, Response, SuyuanError]:
        """Return the error that says why ``error`` happened."""
        if error.detail_code not in _UNCLEAR:
            return explained(error, self._base_url)
        if problem := (yield from self.health()):
            return problem
        if problem := (yield from self.json_api()):
            return problem
        if error.detail_code in ("not_json", "layout_changed"):
            return (yield from self._other_server()) or error
        return error

    def health(self) -> Verdict:
        """Return an error where no healthy SearXNG is at the address."""
        try:
            response = yield self._request(self._base_url + "/healthz")
        except SuyuanError as error:
            if error.detail_code not in ("connection_broken", "bad_http"):
                return explained(error, self._base_url)
            return (yield from self._https_needed()) or (yield from self._other_server(Text("searxng.detail.not_http")))
        error_here = health_error(response, self._base_url, bool(self._headers.get("Authorization")))
        if error_here is None or error_here.detail_code != causes.NOT_SEARXNG.detail_code:
            return error_here
        if response.status == 400 and (problem := (yield from self._https_needed())):
            return problem
        return (yield from self._other_path()) or (yield from self._other_server())

    def json_api(self) -> Verdict:
        """Return an error where JSON is off: an empty search, which reaches no engine, then gives 403, not 400."""
        answer = yield from self._get(self._base_url + "/search?q=&format=json")
        if answer is None:
            return None
        if answer.status in _CLOSED:
            page = yield from self._get(self._base_url + "/search?q=")
            if page is not None and page.status not in _CLOSED:
                return causes.SEARXNG_CLOSED(engine=NAME, where=self._base_url)
            return causes.SEARXNG_API_OFF(engine=NAME, where=self._base_url, status=answer.status)
        if answer.status == 429:
            return causes.SEARXNG_LIMITER(engine=NAME, where=self._base_url, retry_after=retry_after(answer))
        return None

    def _https_needed(self) -> Verdict:
        """Return an error where the port of an http address speaks TLS."""
        scheme, host, port = origin(self._base_url)
        if scheme != "http":
            return None
        secure = self._base_url.replace("http://", "https://", 1)
        try:
            yield self._request(secure + "/healthz")
        except SuyuanError as error:
            if error.detail_code != "tls" or error.failure.params.get("why") == NOT_TLS:
                return None
        return causes.SEARXNG_NEEDS_HTTPS(engine=NAME, where=f"{host}:{port}", found=secure)

    def _other_path(self) -> Verdict:
        """Return an error with the right address where the same server has SearXNG at another path."""
        root = f"{origin(self._base_url)[0]}://{urlsplit(self._base_url).netloc}"
        candidates = [root + prefix for prefix in _PREFIXES]
        for page_url in dict.fromkeys((self._base_url + "/", root + "/")):
            page = yield from self._get(page_url)
            candidates = [*(self._linked(page, page_url, root) if page else ()), *candidates]
        for address in dict.fromkeys(candidates):
            if address == self._base_url:
                continue
            answer = yield from self._get(f"{address}/healthz")
            if answer and _is_healthy(answer):
                return causes.SEARXNG_WRONG_PATH(engine=NAME, where=self._base_url, found=address)
        return None

    def _linked(self, page: Response, page_url: str, root: str) -> list[str]:
        """Return the addresses on the same server to which a page redirects or links."""
        links = [page.headers["location"]] if "location" in page.headers else _LINK.findall(page.text[:50_000])
        folders: dict[str, None] = {}
        for link in links:
            try:
                target = urljoin(page_url, link).split("?")[0]
                if origin(target) != origin(root):
                    continue
            except ValueError:
                continue
            folders[_folder(target)] = None
        folders.pop(self._base_url, None)
        return list(folders)[:_MAX_LINKS]

    def _other_server(self, what: Text | str = "") -> Verdict:
        """Return an error that names the server that answers instead; None if its front page is that of SearXNG."""
        if not what:
            page = yield from self._get(self._base_url + "/")
            if page and _GENERATOR in page.body[:5000].lower():
                return None
            what = _page_name(page) if page else Text("searxng.detail.unknown_server")
        return causes.SEARXNG_OTHER_SERVER(engine=NAME, where=self._base_url, what=what)

    def _get(self, url: str) -> Generator[Request, Response, Response | None]:
        """Send one small request; None where it fails."""
        try:
            return (yield self._request(url))
        except SuyuanError:
            return None

    def _request(self, url: str) -> Request:
        return Request.get(url, headers=self._headers)


def health_error(response: Response, base_url: str, has_key: bool) -> SuyuanError | None:
    """Return what is wrong with an answer to the health check."""
    if problem := status_error(response, base_url, has_key):
        return problem
    if response.status == 403:
        return causes.SEARXNG_FORBIDS(engine=NAME, where=base_url)
    if not _is_healthy(response):
        return causes.NOT_SEARXNG(engine=NAME, where=base_url)
    return None


def _is_healthy(response: Response) -> bool:
    return response.status == 200 and response.body.strip() == b"OK"


def _folder(address: str) -> str:
    """The address without its last part if that is a file, and without a slash at its end."""
    folder, _, name = address.rpartition("/")
    return folder if "." in name else address.rstrip("/")


def status_error(response: Response, base_url: str, has_key: bool) -> SuyuanError | None:
    """Return what a status means, whatever was requested; None for those whose meaning depends on the request."""
    status = response.status
    if status == 429:
        return causes.SEARXNG_LIMITER(engine=NAME, where=base_url, retry_after=retry_after(response))
    if status == 401 and has_key:
        return KEY_REJECTED(engine=NAME, said="HTTP 401")
    if status == 401:
        return causes.SEARXNG_LOGIN(engine=NAME, where=base_url)
    if status >= 500:
        return causes.SEARXNG_BROKEN(engine=NAME, where=base_url, status=status, retry_after=retry_after(response))
    if 300 <= status < 400 and (location := response.headers.get("location", "")):
        return _redirect_error(base_url, response.url or base_url, location)
    return None


def explained(error: SuyuanError, base_url: str) -> SuyuanError:
    """Return the error for a failed connection to the instance; others stay as they are."""
    code = error.detail_code
    if code == "connection_refused":
        return causes.SEARXNG_DOWN(engine=NAME, where=base_url)
    if code == "dns":
        return causes.SEARXNG_NO_HOST(engine=NAME, host=urlsplit(base_url).hostname)
    if code == "engine_timeout" and "where" not in error.failure.params:
        return causes.SEARXNG_LATE(engine=NAME, where=base_url, seconds=error.failure.params.get("seconds", 0))
    if code == "tls":
        return _tls_error(base_url, str(error.failure.params.get("why") or ""))
    return error


def unresponsive(data: Mapping[str, object]) -> tuple[str, ...]:
    """Return the engines behind SearXNG that did not answer, each with its reason."""
    rows = data.get("unresponsive_engines")
    rows = rows if isinstance(rows, list) else []
    return tuple(": ".join(str(part) for part in row) if isinstance(row, list) else str(row) for row in rows)[:12]


def engines_error(dead: Sequence[str]) -> SuyuanError:
    """Return the error for an instance none of whose engines answers, by the reason that most of them give."""
    kinds = Counter(_kind(text.partition(": ")[2]) for text in dead)
    cause = max(kinds, key=lambda kind: (kinds[kind], kind is not causes.ENGINES_DEAD))
    return cause(engine=NAME, which=", ".join(dead))


# SearXNG's own words for the failures of its engines.
_KINDS: dict[str, Cause] = {
    "proxy error": causes.ENGINES_PROXY,
    "timeout": causes.ENGINES_OFFLINE,
    "network error": causes.ENGINES_OFFLINE,
    "http connection error": causes.ENGINES_OFFLINE,
    "ssl error: certificate validation has failed": causes.ENGINES_OFFLINE,
    "captcha": causes.ENGINES_CAPTCHA,
    "too many requests": causes.ENGINES_REFUSED,
    "access denied": causes.ENGINES_REFUSED,
    "parsing error": causes.ENGINES_OUTDATED,
}
_SUSPENDED = "suspended: "
_CERTIFICATES: dict[str, Cause] = {
    SELF_SIGNED: causes.SEARXNG_SELF_SIGNED,
    EXPIRED: causes.SEARXNG_EXPIRED,
    WRONG_NAME: causes.SEARXNG_WRONG_NAME,
}


def _kind(reason: str) -> Cause:
    text = reason.strip().lower()
    kind = _KINDS.get(text.removeprefix(_SUSPENDED), causes.ENGINES_DEAD)
    # An engine that is suspended because the network failed has that reason; one that refused us just needs time.
    unreached = kind in (causes.ENGINES_PROXY, causes.ENGINES_OFFLINE)
    return causes.ENGINES_SUSPENDED if text.startswith(_SUSPENDED) and not unreached else kind


def _redirect_error(base_url: str, url: str, location: str) -> SuyuanError:
    """The error for a redirect: to https on the same host, or to another host."""
    here = urlsplit(base_url)
    try:
        target = urljoin(url, location)
        there = urlsplit(target)
    except ValueError:
        return causes.SEARXNG_REDIRECTED(engine=NAME, where=base_url, target=location[:80])
    if (here.scheme, there.scheme) == ("http", "https") and here.hostname == there.hostname:
        path = there.path.removesuffix("/healthz").removesuffix("/search").rstrip("/")
        return causes.SEARXNG_NEEDS_HTTPS(engine=NAME, where=base_url, found=f"https://{there.netloc}{path}")
    return causes.SEARXNG_REDIRECTED(engine=NAME, where=base_url, target=there.netloc or target[:80])


def _tls_error(base_url: str, why: str) -> SuyuanError:
    _, host, port = origin(base_url)
    where = f"{host}:{port}"
    if why == NOT_TLS:
        return causes.SEARXNG_PLAIN(engine=NAME, where=where, found=base_url.replace("https://", "http://", 1))
    if why in _CERTIFICATES:
        return _CERTIFICATES[why](engine=NAME, where=where)
    return causes.SEARXNG_TLS(engine=NAME, where=where, why=why or Text("searxng.detail.tls_unknown"))


def _page_name(page: Response) -> str:
    """Return the title of a page, its server, or its status."""
    title = _TITLE.search(page.text[:20_000])
    name = " ".join(unescape(title[1]).split())[:60] if title else ""
    server = page.headers.get("server", "")[:40]
    parts = [f"“{name}”" if name else "", f"({server})" if server and name else server]
    return " ".join(part for part in parts if part) or f"HTTP {page.status}"
