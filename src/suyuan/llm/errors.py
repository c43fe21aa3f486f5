"""The failures of model libraries as causes.

No library is imported: an error is recognised by its status, its codes, the names of its classes and, if servers send
nothing better, by their wording.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ..core.causes import model as causes
from ..core.errors import SuyuanError
from ..core.secret import redact
from ..messages.catalog import Text
from ..net.settings import NetSettings
from .settings import ModelSettings

DEFAULT_SERVERS = {
    "openai": "https://api.openai.com/v1",
    "ollama": "http://127.0.0.1:11434",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
}

_CONTEXT = re.compile(
    r"context[ _](?:length|size|window|limit)|maximum context|max(?:imum)? model len|exceed_context"
    r"|prompt is too long|prompt too long|input (?:token count|length)|range of input length|model token limit"
    r"|too many (?:input )?tokens|reduce the length|longer than the (?:maximum )?model|超长|上下文",
    re.I,
)
_NO_TOOLS = re.compile(
    r"(?:not support|unsupported|no endpoints found that support).{0,40}"
    r"(?:\btools?\b|tool[ _]use|tool[ _]call|function[ _-]?call)"
    r"|(?:\btools?\b|tool[ _]choice|tool[ _]call\w*|function[ _-]?call\w*).{0,40}"
    r"(?:not supported|unsupported|not support|requires? --)",
    re.I,
)
_FILTER = re.compile(
    r"content[ _](?:filter|policy)|content exists risk|data_inspection|inappropriate content|responsibleai"
    r"|blocked.{0,30}safety|敏感",
    re.I,
)
_NO_MODEL = re.compile(
    r"model_not_found|model[^.]{0,80}?(?:not found|does not exist|not exist|not available)|not a valid model"
    r"|no models? loaded|unknown model|invalid model|模型不存在",
    re.I,
)
_QUOTA = re.compile(
    r"insufficient[ _](?:quota|balance|credit|user_quota)|exceeded your current quota|credit balance|billing"
    r"|欠费|余额不足",
    re.I,
)
_KEY = re.compile(
    r"api[ _-]?key[^.]{0,20}(?:not valid|invalid|incorrect)|(?:invalid|incorrect)[ _]api[ _-]?key|api_key_invalid", re.I
)

# Names of classes, in any module and anywhere among the ancestors.
_TIMEOUTS = {"APITimeoutError", "TimeoutException", "TimeoutError", "Timeout", "DeadlineExceeded"}
_CUTS = {
    "RemoteProtocolError", "ReadError", "WriteError", "IncompleteRead", "IncompleteReadError", "ChunkedEncodingError",
    "ClientPayloadError", "ConnectionResetError", "BrokenPipeError", "ServerDisconnectedError",
}  # fmt: skip
# Checked before time-outs, since a connection that times out has reached no server.
_REFUSED = {"ConnectError", "ConnectTimeout", "ConnectTimeoutError", "ConnectionRefusedError", "NewConnectionError"}
_UNREACHED = {"APIConnectionError", "ConnectionError", "NetworkError", "TransportError", "InvalidURL"}
_UNREADABLE = {"JSONDecodeError", "APIResponseValidationError", "ValidationError", "DecodingError"}
# The wording of libraries for a response with status 200 that contains no answer.
_NOTHING = re.compile(
    r"No generation|Can only parse|null value for|object has no attribute|not subscriptable|Unexpected response", re.I
)

_TYPES = {
    "authentication_error": 401, "invalid_api_key": 401, "permission_error": 403, "permission_denied": 403,
    "not_found_error": 404, "insufficient_quota": 402, "billing_error": 402, "rate_limit_error": 429,
    "rate_limit_exceeded": 429, "resource_exhausted": 429, "overloaded_error": 529, "unavailable": 503,
    "timeout_error": 504, "server_error": 500, "internal_server_error": 500, "api_error": 500,
}  # fmt: skip
_SECRETS = re.compile(
    r"(?i)\b(?:sk|key|pk|gsk|xai)-[\w*-]{6,}|bearer\s+\S+|AIza[\w-]{10,}|(?<=//)[^/\s@]+:[^/\s@]+(?=@)"
)


@dataclass(frozen=True, slots=True)
class _Facts:
    """What an error contains."""

    status: int
    codes: str
    text: str
    kinds: frozenset[str]
    headers: Mapping[str, str]

    @property
    def wording(self) -> str:
        """The codes and the text, in which patterns are searched."""
        return f"{self.codes}\n{self.text}"


def model_error(error: BaseException, settings: ModelSettings) -> SuyuanError:
    """The cause of an ``error`` of a model library, without secrets."""
    if isinstance(error, SuyuanError):
        return error
    facts = _facts(error)
    cause = _by_wording(facts, settings) or _by_status(facts, settings) or _by_kind(facts, settings)
    if cause is None:
        what = _clean(facts.text, settings) or type(error).__name__
        cause = causes.MODEL_FAILED(where=server_of(settings), what=what)
    return cause.redacted((settings.api_key, settings.proxy))


def retry_wait(error: SuyuanError, pause: float, max_wait: float) -> float | None:
    """The seconds until the request may be repeated, ``pause`` if the server names none; None if it should not be."""
    wait = pause if error.retry_after is None else error.retry_after
    if not error.retryable or wait > max_wait:
        return None
    return wait


def base_of(settings: ModelSettings) -> str:
    """The address of the model server."""
    return settings.base_url.rstrip("/") or DEFAULT_SERVERS.get(settings.provider, "")


def server_of(settings: ModelSettings) -> str:
    """Host and port of the model server, as shown to users: without path and password."""
    try:
        parts = urlsplit(base_of(settings))
        if parts.port:
            return f"{parts.hostname}:{parts.port}"
        return parts.hostname or settings.provider
    except ValueError:
        return settings.provider


def proxy_of(settings: ModelSettings) -> str | None:
    """The proxy for the model server, None for loopback and the hosts in ``no_proxy``."""
    try:
        host = urlsplit(base_of(settings)).hostname or ""
    except ValueError:
        host = ""
    return NetSettings(proxy=settings.proxy, no_proxy=(*NetSettings().no_proxy, *settings.no_proxy)).proxy_for(host)


def is_ollama(settings: ModelSettings) -> bool:
    """Whether the server is Ollama, also if its OpenAI-compatible API is used."""
    return settings.provider == "ollama" or server_of(settings).endswith(":11434")


def _by_wording(facts: _Facts, settings: ModelSettings) -> SuyuanError | None:
    """The cause by codes and wording, which say more than a plain status 400."""
    if facts.status not in (0, 400, 404, 413, 422, 500):
        return None
    where = server_of(settings)
    names_context = facts.status != 404 and _CONTEXT.search(facts.wording)
    if facts.status == 413 or names_context:
        return _context(settings)
    if _NO_TOOLS.search(facts.wording):
        return causes.MODEL_NO_TOOLS(where=where, name=settings.label)
    if _FILTER.search(facts.wording):
        return causes.MODEL_FILTERED(where=where)
    if facts.status and _NO_MODEL.search(facts.wording):
        return _no_model(settings)
    if _KEY.search(facts.wording):
        return causes.MODEL_KEY_REFUSED(where=where)
    return None


def _by_status(facts: _Facts, settings: ModelSettings) -> SuyuanError | None:
    status, where = facts.status, server_of(settings)
    names_quota = status in (403, 429) and _QUOTA.search(facts.wording)
    if status == 402 or names_quota:
        return causes.MODEL_QUOTA(where=where)
    if status in (404, 405):
        return causes.MODEL_ADDRESS(where=where, status=status, expected=_expected(settings))
    if status in (408, 504):
        return causes.MODEL_SILENT(where=where, seconds=settings.seconds)
    if status in _FIXED:
        return _FIXED[status](facts, settings)
    if 500 <= status < 600:
        what = _clean(facts.text, settings)
        return causes.MODEL_BROKEN(where=where, status=status, what=_quoted(what))
    if 400 <= status < 500:
        return causes.MODEL_BAD_REQUEST(where=where, status=status, what=_clean(facts.text, settings))
    return None


def _by_kind(facts: _Facts, settings: ModelSettings) -> SuyuanError | None:
    """The cause by the classes in the chain of exceptions, the most specific first."""
    where = server_of(settings)
    if facts.kinds & {"ProxyError", "ProxySchemeUnknown"}:
        return causes.MODEL_PROXY(where=where)
    if "gaierror" in facts.kinds:
        return causes.MODEL_DNS(where=where)
    if "SSLError" in facts.kinds or "CERTIFICATE_VERIFY" in facts.text:
        return causes.MODEL_TLS(where=where)
    if facts.kinds & _UNREADABLE or _NOTHING.search(facts.text):
        return causes.MODEL_BAD_ANSWER(where=where, expected=_expected(settings))
    if facts.kinds & _REFUSED:
        return _unreachable(settings)
    if facts.kinds & _TIMEOUTS:
        return causes.MODEL_SILENT(where=where, seconds=settings.seconds)
    if facts.kinds & _CUTS:
        return causes.MODEL_CUT(where=where)
    if facts.kinds & _UNREACHED:
        return _unreachable(settings)
    if facts.kinds & {"APIError", "ModelServerError"}:
        # An error object in the middle of a stream: the server has failed.
        what = _clean(facts.text, settings)
        return causes.MODEL_BROKEN(where=where, status=200, what=_quoted(what))
    return None


def _rate(facts: _Facts, settings: ModelSettings) -> SuyuanError:
    seconds = _retry_after(facts.headers)
    wait = Text("model.detail.wait", {"seconds": seconds}) if seconds else ""
    return causes.MODEL_RATE(retry_after=seconds, where=server_of(settings), wait=wait)


def _busy(facts: _Facts, settings: ModelSettings) -> SuyuanError:
    return causes.MODEL_BUSY(retry_after=_retry_after(facts.headers), where=server_of(settings), status=facts.status)


_FIXED: dict[int, Callable[[_Facts, ModelSettings], SuyuanError]] = {
    401: lambda facts, settings: causes.MODEL_KEY_REFUSED(where=server_of(settings)),
    403: lambda facts, settings: causes.MODEL_FORBIDDEN(where=server_of(settings), name=settings.label),
    407: lambda facts, settings: causes.MODEL_PROXY(where=server_of(settings)),
    429: _rate,
    503: _busy,
    529: _busy,
}


def _context(settings: ModelSettings) -> SuyuanError:
    # Ollama cuts long prompts to its own small window by default.
    extra = Text("model.detail.ollama_window") if is_ollama(settings) else ""
    return causes.MODEL_CONTEXT(name=settings.label, limit=settings.context_tokens, extra=extra)


def _no_model(settings: ModelSettings) -> SuyuanError:
    if is_ollama(settings):
        return causes.MODEL_NOT_PULLED(name=settings.name)
    path = {"anthropic": "/v1/models", "google": "/v1beta/models"}.get(settings.provider, "/models")
    return causes.MODEL_NOT_FOUND(
        where=server_of(settings), name=settings.name, models=_public(base_of(settings)) + path
    )


def _unreachable(settings: ModelSettings) -> SuyuanError:
    if proxy_of(settings):
        return causes.MODEL_PROXY(where=server_of(settings))
    cause = causes.OLLAMA_DOWN if is_ollama(settings) else causes.MODEL_UNREACHABLE
    return cause(where=server_of(settings))


def _expected(settings: ModelSettings) -> Text:
    """The expected form of the address."""
    if settings.provider == "ollama":
        return Text("model.detail.ollama_address")
    example = "http://127.0.0.1:11434/v1" if is_ollama(settings) else "https://api.deepseek.com/v1"
    return Text("model.detail.openai_address", {"example": example})


def _quoted(what: str) -> Text | str:
    """The server's text, to be added to a message."""
    return Text("model.detail.said", {"what": what}) if what else ""


def _facts(error: BaseException) -> _Facts:
    chain = list(_chain(error))
    codes: dict[str, None] = {}
    kinds: set[str] = set()
    for link in chain:
        codes |= dict.fromkeys(_codes(link))
        kinds.update(kind.__name__ for kind in type(link).__mro__)
    joined_codes = " ".join(codes)
    status = next(filter(None, map(_status, chain)), 0) or _status_of_codes(joined_codes)
    headers = next(filter(None, map(_headers, chain)), {})
    return _Facts(status, joined_codes, _text(chain), frozenset(kinds), headers)


def _status_of_codes(codes: str) -> int:
    """The status that the first known code stands for; 0 if there is none."""
    return next((_TYPES[code] for code in codes.lower().split() if code in _TYPES), 0)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, its causes, and the members of exception groups."""
    waiting, seen = [error], set[int]()
    while waiting:
        link = waiting.pop(0)
        if id(link) in seen or len(seen) > 30:
            continue
        seen.add(id(link))
        yield link
        if isinstance(link, BaseExceptionGroup):
            waiting.extend(link.exceptions)
        waiting.extend(origin for origin in (link.__cause__, link.__context__) if origin is not None)


def _status(error: BaseException) -> int:
    body = _body(error)
    for value in (
        getattr(error, "status_code", None),
        getattr(error, "code", None),
        body.get("code"),
        body.get("status_code"),
    ):
        if isinstance(value, str) and value.isdigit():
            value = int(value)
        if isinstance(value, int) and 400 <= value < 600:
            return int(value)
    return 0


def _codes(error: BaseException) -> Iterator[str]:
    body = _body(error)
    for value in (
        getattr(error, "code", None),
        getattr(error, "type", None),
        body.get("code"),
        body.get("type"),
        body.get("status"),
    ):
        if isinstance(value, str):
            yield value


def _body(error: BaseException) -> Mapping[str, Any]:
    body = getattr(error, "body", None)
    if isinstance(body, Mapping):
        inner = body.get("error")
        return inner if isinstance(inner, Mapping) else body
    return {}


def _text(chain: list[BaseException]) -> str:
    """The message in the first response body that has one, else the first text of an error."""
    for link in chain:
        message = _body(link).get("message")
        if isinstance(message, str) and message:
            return message
    return next((text for link in chain if (text := str(link).strip())), "")


def _headers(error: BaseException) -> Mapping[str, str]:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return headers if isinstance(headers, Mapping) else {}


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds to wait; a date instead of seconds is ignored, since the clocks may differ."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "")
        if re.fullmatch(r"\d+(?:\.\d+)?", value):
            return float(value) / unit
    return None


def _public(address: str) -> str:
    return re.sub(r"(?<=//)[^/@]*@", "", address)


def _clean(text: str, settings: ModelSettings) -> str:
    """The text of a server as one short line, without markup and keys."""
    text = redact(text, (settings.api_key, settings.proxy))
    text = _SECRETS.sub("***", re.sub(r"<[^<>]*>|^Error code: \d+(?: - )?", " ", text))
    text = " ".join(text.split())
    return text if len(text) <= 200 else text[:199].rstrip() + "…"
