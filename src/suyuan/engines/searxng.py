"""SearXNG: the JSON API of an instance that the user runs."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any

from ..core.causes.engine import API_SAID_NO, CAPTCHA
from ..core.causes.searxng import SEARXNG_CLOSED, SEARXNG_LIMITER, SEARXNG_NO_ENGINES
from ..core.engine import Engine, Exchange
from ..core.errors import SuyuanError
from ..core.extras import NO_EXTRAS, DirectAnswer, Extras, Infobox
from ..core.query import SearchQuery
from ..core.result import EngineResults, SearchResult
from ..core.secret import Secret
from ..core.setting import Setting, text
from ..core.urls import is_page
from ..core.wire import Request, Response
from .json_kit import day_of, json_object, parse_rows, plain_text
from .kit import check_status, is_challenge, locale, query_text, retry_after
from .searxng_diagnosis import Diagnosis, engines_error, explained, health_error, status_error, unresponsive

_MAX_QUERY = 1500
_MAX_EXTRAS = 10


class SearXNG(Engine):
    """Requests ``/search?format=json``; dead engines, disabled JSON and the limiter are different errors."""

    name = "searxng"
    title = "SearXNG"
    default_url = "http://localhost:8080"
    aliases = ("searx",)
    auto_rank = 1
    probed_unconfigured = True
    guide = "searxng"
    options = (
        Setting("engines", text(), "The engines that SearXNG asks, separated by commas.", env="ENGINES"),
        Setting("categories", text(), "The categories that SearXNG searches, separated by commas.", env="CATEGORIES"),
    )
    supported_params = frozenset({"lang", "freshness", "allowed_domains", "blocked_domains", "page", "safe"})

    def exchange(self, query: SearchQuery) -> Exchange:
        """Request one page of results."""
        words, notes = query_text(query, _MAX_QUERY)
        params = {
            "q": words,
            "format": "json",
            "language": query.lang or locale(query)[0] or "auto",
            "pageno": str(query.page),
            # The reasons of engines that do not answer come in the language of the interface.
            "locale": "en",
            **self.settings.options,
        }
        if query.safe:
            params["safesearch"] = str(query.safe)
        if query.freshness and query.freshness.period:
            params["time_range"] = query.freshness.period
        elif query.freshness:
            notes += ("date range not supported by SearXNG: not filtered by date",)
        response = yield Request.get(f"{self.base_url}/search", params, self.headers())
        results = self.parse(response, query).with_notes(*notes)
        # Nothing is usual on a further page, and the answer itself may be what was found.
        nothing = not results.results and not results.extras and query.page == 1
        if nothing and (yield from self._no_engines()):
            raise SEARXNG_NO_ENGINES(engine=self.name, where=self.base_url)
        return results

    def _no_engines(self) -> Generator[Request, Response, bool]:
        """Whether the instance says that it has no engine for these searches: an empty answer does not tell."""
        try:
            response = yield Request.get(f"{self.base_url}/config", headers=self.headers())
            data = json_object(response, self.name)
        except SuyuanError:
            return False
        rows = data.get("engines")
        if response.status != 200 or not isinstance(rows, list):
            return False
        names = _listed(self.option("engines") or "")
        categories = _listed(self.option("categories") or "general")
        return not any(_is_asked(row, names, categories) for row in rows if isinstance(row, dict))

    def probe(self) -> Generator[Request, Response, None]:
        """Raise unless an instance answers at the base URL; one small request and no search."""
        response = yield Request.get(f"{self.base_url}/healthz", headers=self.headers())
        if error := health_error(response, self.base_url, bool(self.settings.api_key)):
            raise error

    def explain(self, error: SuyuanError) -> SuyuanError:
        """Say how to start the instance, since the user runs it."""
        return explained(error, self.base_url)

    def diagnose(self, error: SuyuanError) -> Generator[Request, Response, SuyuanError]:
        """Find out what is wrong with the instance, as the health check does."""
        return Diagnosis(self.base_url, self.headers()).exchange(error)

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Parse the JSON answer."""
        self._check(response)
        data = json_object(response, self.name)
        dead = unresponsive(data)
        results = parse_rows(data.get("results"), _parse_row, self.name)
        extras = _extras(data)
        if dead and not results.results and not extras:
            raise engines_error(dead)
        notes = tuple(f"not answering behind SearXNG: {name}" for name in dead)
        return replace(results, notes=results.notes + notes, extras=extras)

    def _check(self, response: Response) -> None:
        body = response.body[:3000].lower()
        page = body.lstrip().startswith(b"<")
        if is_challenge(response):
            raise CAPTCHA(engine=self.name)
        if error := status_error(response, self.base_url, bool(self.settings.api_key)):
            raise error
        if body.strip() == b"too many requests" and response.status != 200:
            raise SEARXNG_LIMITER(engine=self.name, where=self.base_url, retry_after=retry_after(response))
        is_forbidden_page = page and b"<title>403 forbidden</title>" in body
        if response.status == 403 or is_forbidden_page:
            raise SEARXNG_CLOSED(engine=self.name, where=self.base_url)
        if page and b"verifying your request" in body:
            raise CAPTCHA(engine=self.name)
        if response.status == 400 and body.lstrip().startswith(b"{"):
            # A parameter was refused; the text says which.
            raise API_SAID_NO(engine=self.name, said=str(json_object(response, self.name).get("error"))[:200])
        check_status(response, self.name)

    def headers(self) -> dict[str, str | Secret]:
        """The headers of every request to the instance, whoever sends it."""
        key = self.settings.api_key
        if not key:
            return {"Accept": "application/json"}
        # A key alone is a bearer token; “Basic …” or another scheme is sent as it stands.
        has_scheme = " " in key.reveal().strip()
        authorization = key if has_scheme else Secret(f"Bearer {key.reveal()}")
        return {"Accept": "application/json", "Authorization": authorization}


def _listed(option: object) -> set[str]:
    return {part.strip() for part in str(option).split(",")}


def _is_asked(engine: dict[str, Any], names: set[str], categories: set[str]) -> bool:
    """Whether an engine of the instance is searched: one that is named, or enabled and of one of the categories."""
    if engine.get("name") in names:
        return True
    return bool(engine.get("enabled")) and not categories.isdisjoint(engine.get("categories") or ())


def _parse_row(row: dict[str, Any]) -> SearchResult:
    day = day_of(row.get("publishedDate"))
    return SearchResult(
        plain_text(row.get("title")), str(row["url"]), plain_text(row.get("content")), "searxng", published_at=day
    )


def _extras(data: Mapping[str, Any]) -> Extras:
    """Read what the answer has beside its results."""
    if not any(data.get(name) for name in ("answers", "infoboxes", "suggestions", "corrections")):
        return NO_EXTRAS
    answers = map(_answer, _list(data, "answers"))
    boxes = map(_infobox, _rows(data, "infoboxes"))
    return Extras(
        tuple(answer for answer in answers if answer.text),
        tuple(box for box in boxes if box.title or box.text),
        _texts(data, "suggestions"),
        _texts(data, "corrections"),
    )


def _answer(row: object) -> DirectAnswer:
    # Versions before 2025 give a text in place of an object.
    if not isinstance(row, dict):
        return DirectAnswer(plain_text(row))
    return DirectAnswer(plain_text(row.get("answer")), _url(row.get("url")), plain_text(row.get("engine")))


def _infobox(box: dict[str, Any]) -> Infobox:
    facts = [(plain_text(row.get("label")), plain_text(row.get("value"))) for row in _rows(box, "attributes")]
    rows = [row for row in _rows(box, "urls") if _url(row.get("url"))]
    links = [(plain_text(row.get("title")), _url(row.get("url"))) for row in rows]
    url = _url(box.get("id"))
    if not url and links:
        url = links[0][1]
    return Infobox(
        plain_text(box.get("infobox")),
        plain_text(box.get("content")),
        url,
        tuple(fact for fact in facts if all(fact)),
        tuple(links),
        plain_text(box.get("engine")),
    )


def _texts(data: Mapping[str, Any], name: str) -> tuple[str, ...]:
    texts = map(plain_text, _list(data, name))
    return tuple(dict.fromkeys(filter(None, texts)))


def _rows(data: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    return [row for row in _list(data, name) if isinstance(row, dict)]


def _list(data: Mapping[str, Any], name: str) -> list[Any]:
    value = data.get(name)
    return value[:_MAX_EXTRAS] if isinstance(value, list) else []


def _url(value: object) -> str:
    return value if isinstance(value, str) and is_page(value) else ""
