"""A failure as an HTTP answer: a fitting status, and its texts in the language of the client."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse

from ..core.causes.asked import BAD_ARGUMENT
from ..core.causes.chat import UNEXPECTED
from ..core.causes.web import BAD_REQUEST, NO_SUCH_PATH, NOT_THAT_WAY
from ..core.errors import SuyuanError
from ..core.failure import Failure
from ..core.views import receipt
from ..messages.catalog import DEFAULT, languages
from .error_forms import form_of, status_in

_BY_DETAIL = {
    "no_conversation": 404, "no_message": 404, "no_run": 404, "no_such_path": 404,
    "unknown_api_model": 404, "method_not_allowed": 405, "switch_locked": 409, "answer_under_way": 409,
    "login_needed": 401, "login_wrong": 401, "api_token_wrong": 401, "login_too_often": 429, "person_quota_spent": 429,
    "name_taken": 409, "last_admin": 409, "no_such_person": 404, "no_such_token": 404, "no_such_share": 404,
    "no_accounts": 404,
    "no_research": 404, "research_state": 409, "search_loop": 508, "no_crawl": 404, "no_response": 404,
    "guard_refused": 403, "own_address": 403, "host_refused": 421, "origin_refused": 403, "token_needed": 401,
    "token_wrong": 401, "too_many_tries": 429, "body_too_large": 413, "body_too_slow": 408, "too_many_streams": 429,
    "too_many_crawls": 429, "not_in_library": 404, "body_too_many": 413, "file_too_large": 413, "library_full": 413,
    "server_full": 503, "shutting_down": 503,
}  # fmt: skip
# Upstream failures are gateway errors: to the caller it is this server that was refused, not the caller.
_BY_CODE = {
    "InvalidInput": 400, "ToolNotFound": 404, "Timeout": 504, "WebBlocked": 503, "StoreError": 503, "Refused": 403,
    "ArchiveError": 503, "LibraryError": 503, "FileError": 503,
    "NetworkError": 502, "AuthError": 502, "BadGateway": 502, "WebParseError": 502, "WebProviderError": 502,
}  # fmt: skip


def status_of(error: SuyuanError | Failure) -> int:
    """The HTTP status for a failure."""
    return _BY_DETAIL.get(error.detail_code) or _BY_CODE.get(error.code, 500)


def language_of(connection: HTTPConnection) -> str:
    """The language that the page was set to, else the one that the client prefers, else English."""
    chosen = connection.cookies.get("lang", "")
    return chosen if chosen in languages() else preferred(connection.headers.get("accept-language", ""))


def preferred(accept_language: str) -> str:
    """The language with texts that an ``Accept-Language`` header prefers."""
    best, weight = DEFAULT, 0.0
    for part in accept_language.lower().replace(" ", "").split(","):
        tag, _, q = part.partition(";q=")
        try:
            value = float(q) if q else 1.0
        except ValueError:
            continue
        lang = tag.split("-")[0]
        if lang in languages() and value > weight:
            best, weight = lang, value
    return best


def failure(connection: HTTPConnection, error: SuyuanError, status: int | None = None) -> JSONResponse:
    """``error`` as an answer, in the form of the API whose client asks."""
    form, lang = form_of(connection), language_of(connection)
    status = status_in(form, status or status_of(error))
    published = error.as_dict(lang)
    content: dict[str, Any] = form(status, published) if form else {"error": published}
    if error.attempts and form is None:
        content["receipt"] = receipt(error.attempts, lang)
    headers = {"Retry-After": str(max(1, round(error.retry_after)))} if error.retry_after else {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse(content, status, headers)


def of_http(connection: HTTPConnection, error: HTTPException) -> SuyuanError:
    """What an error of the framework means."""
    if isinstance(error.detail, Carried):
        return error.detail.error
    path = connection.url.path
    if error.status_code == 404:
        return NO_SUCH_PATH(path=path)
    if error.status_code == 405:
        return NOT_THAT_WAY(path=path, method=connection.scope.get("method", ""))
    return BAD_REQUEST(why=str(error.detail))


class Carried(str):
    """One of our errors, carried through a framework that lets only its own errors pass."""

    error: SuyuanError

    @classmethod
    def of(cls, error: SuyuanError) -> HTTPException:
        """The framework's error that carries ours."""
        carried = cls(error.message)
        carried.error = error
        return HTTPException(status_of(error), carried)


def of_validation(errors: Any) -> SuyuanError:
    """What a body or a parameter that does not fit its model means: the first thing that is wrong with it."""
    first: dict[str, Any] = next(iter(errors), {})
    # The first part says where it stood: body, query or path.
    place = [str(part) for part in first.get("loc", ())[1:]]
    why = str(first.get("msg", "")).rstrip(".")
    if first.get("type") == "json_invalid" or not place:
        return BAD_REQUEST(why=why)
    return BAD_ARGUMENT(name=".".join(place), why=why)


def unexpected(run: str) -> SuyuanError:
    """What is said where our own code failed."""
    return UNEXPECTED(what="Internal Server Error", run=run)
