"""Every setting, once: where it stands in ``config.json``, its variable, its default and what it may be.

The loader, ``suyuan config show``, the published JSON Schema and the table in the guide are all made from this list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ..messages.catalog import Text


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. ``check`` returns the value to use, or raises ``InvalidValue``."""

    path: str
    check: Callable[[Any], Any]
    schema: dict[str, Any]
    about: str
    default: Any = None
    variable: str = ""
    per_variable: float = 1.0
    """What one unit of the variable is in units of the setting (milliseconds to seconds: 0.001)."""
    secret: bool = False


class InvalidValue(ValueError):
    """The value of a setting cannot be used; ``why`` is a text below ``config.why``."""

    def __init__(self, why: str, **params: object) -> None:
        super().__init__(why)
        self.why = Text(f"config.why.{why}", params)


def _number(low: float, high: float, whole: bool = False) -> tuple[Callable[[Any], Any], dict[str, Any]]:
    kind = "whole_number" if whole else "number"

    def check(value: Any) -> Any:
        try:
            number = float(value) if not isinstance(value, bool) else None
        except (TypeError, ValueError):
            number = None
        if number is None or not low <= number <= high or (whole and number != int(number)):
            raise InvalidValue(kind, low=low, high=high)
        return int(number) if whole else number

    return check, {"type": "integer" if whole else "number", "minimum": low, "maximum": high}


def _text() -> tuple[Callable[[Any], Any], dict[str, Any]]:
    def check(value: Any) -> Any:
        if not isinstance(value, str) or not value.strip():
            raise InvalidValue("empty")
        return value.strip()

    return check, {"type": "string", "minLength": 1}


def _address(schemes: tuple[str, ...] = ("http", "https")) -> tuple[Callable[[Any], Any], dict[str, Any]]:
    def check(value: Any) -> Any:
        try:
            parts = urlsplit(value.strip())
            fine = parts.scheme in schemes and bool(parts.hostname) and (parts.port or 1) > 0
        except (ValueError, AttributeError):
            fine = False
        if not fine or any(c.isspace() for c in value.strip()):
            raise InvalidValue("address", scheme=schemes[0])
        return value.strip().rstrip("/")

    return check, {"type": "string", "pattern": f"^({'|'.join(schemes)})://[^\\s/]+"}


def _language() -> tuple[Callable[[Any], Any], dict[str, Any]]:
    def check(value: Any) -> Any:
        from ..core.errors import InvalidInput
        from ..core.query import SearchQuery

        try:
            return SearchQuery("x", lang=value).lang
        except (InvalidInput, AttributeError, TypeError):
            raise InvalidValue("language") from None

    return check, {"type": "string"}


def _names() -> tuple[Callable[[Any], Any], dict[str, Any]]:
    def check(value: Any) -> Any:
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
            raise InvalidValue("hosts")
        return tuple(part.strip() for part in parts if part.strip())

    return check, {"type": "array", "items": {"type": "string"}}


def _flag() -> tuple[Callable[[Any], Any], dict[str, Any]]:
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}

    def check(value: Any) -> Any:
        known = value if isinstance(value, bool) else words.get(str(value).strip().lower())
        if known is None:
            raise InvalidValue("flag")
        return known

    return check, {"type": "boolean"}


def _choice(*names: str) -> tuple[Callable[[Any], Any], dict[str, Any]]:
    def check(value: Any) -> Any:
        if not isinstance(value, str) or value.strip().lower() not in names:
            raise InvalidValue("choice", known=", ".join(names))
        return value.strip().lower()

    return check, {"type": "string", "enum": list(names)}


SEARCH = "tools.webSearch."
FETCH = "web.fetch."
PROVIDER = "web.providers.{name}."

KEYS = (
    Setting(SEARCH + "defaultProvider", *_text(), "Engine or plan: auto, one name, a,b (b when a fails) or a+b (merged).",
        "auto", "WEB_SEARCH_BACKEND"),
    Setting(SEARCH + "timeoutSeconds", *_number(0.2, 120), "Time for a whole search, all engines together.",
        5.0, "WEB_SEARCH_TIMEOUT_MS", 0.001),
    Setting(SEARCH + "cacheTtlMinutes", *_number(0, 1440), "How long found pages are kept; 0 keeps none.", 5.0, "WEB_SEARCH_CACHE_TTL_MINUTES"),
    Setting(SEARCH + "maxResults", *_number(1, 10, True), "Results that go into a prompt or a tool's answer.", 5, "WEB_SEARCH_MAX_RESULTS"),
    Setting(SEARCH + "language", *_language(), "Preferred language of results; auto takes it from the query's script.",
        "", "WEB_SEARCH_LANGUAGE"),
    Setting(SEARCH + "snippetLength", *_number(40, 2000, True), "Longest snippet that goes into a prompt, in characters.",
        200, "WEB_SEARCH_SNIPPET_LENGTH"),
    Setting(FETCH + "timeoutMs", *_number(100, 120_000, True), "Longest time for one page; engines that read pages use it too.",
        None, "WEB_FETCH_TIMEOUT_MS"),
    Setting(FETCH + "proxy", *_address(), "Proxy for all requests, e.g. http://user:password@host:port.", None, "WEB_FETCH_PROXY", secret=True),
    Setting(FETCH + "noProxy", *_names(), "Hosts that are reached without the proxy.", None, "NO_PROXY"),
    Setting(FETCH + "userAgent", *_text(), "The user agent sent with every request.", None, "WEB_FETCH_USER_AGENT"),
    Setting(FETCH + "impersonate", *_text(), "A curl_cffi browser profile such as chrome; needs suyuan[impersonate].",
        None, "WEB_FETCH_IMPERSONATE"),
    Setting(FETCH + "maxBytes", *_number(10_000, 200_000_000, True), "Largest page that is read, unpacked.", 16_000_000, "WEB_FETCH_MAX_BYTES"),
    Setting(FETCH + "allowHosts", *_names(), "Hosts that may be read although they are not public (name or *.suffix).",
        None, "WEB_FETCH_ALLOW_HOSTS"),
    Setting(FETCH + "allowNetworks", *_names(), "Networks that may be read although they are not public (CIDR).",
        None, "WEB_FETCH_ALLOW_NETWORKS"),
    Setting(FETCH + "fakeIp", *_flag(), "Whether a fake-IP DNS is in use (198.18.0.0/15 is let through).", False, "WEB_FETCH_FAKE_IP"),
    Setting(FETCH + "robots", *_flag(), "Whether robots.txt is respected.", False, "WEB_FETCH_ROBOTS"),
    Setting(FETCH + "render", *_flag(), "Whether pages that need scripts are shown in the browser.", False, "WEB_FETCH_RENDER"),
    Setting("archive.enabled", *_flag(), "Whether pages that were read are kept.", True, "SUYUAN_ARCHIVE"),
    Setting("archive.maxMegabytes", *_number(1, 1_000_000, True), "Largest size of the archive's texts.", 512, "SUYUAN_ARCHIVE_MAX_MB"),
    Setting("archive.maxDays", *_number(1, 36_500, True), "How long pages are kept.", 365, "SUYUAN_ARCHIVE_MAX_DAYS"),
    Setting("web.browser.executable", *_text(), "Chrome or Chromium; empty for the installed one.", None, "SUYUAN_CHROME"),
    Setting("web.browser.idleSeconds", *_number(1, 86_400), "How long an unused browser is kept open.", 120.0, "SUYUAN_CHROME_IDLE_SECONDS"),
    Setting("web.browser.maxPages", *_number(1, 32, True), "Pages that are open at the same time.", 4, "SUYUAN_CHROME_MAX_PAGES"),
    Setting("model.provider", *_choice("embedded", "openai", "ollama", "anthropic", "google"),
        "Who answers: embedded (quotes the sources), openai (any compatible server), ollama, anthropic, google.",
        None, "SUYUAN_MODEL_PROVIDER"),
    Setting("model.name", *_text(), "The model's name at its server.", None, "SUYUAN_MODEL"),
    Setting("model.baseUrl", *_address(), "The model server, e.g. http://localhost:11434/v1.", None, "SUYUAN_MODEL_BASE_URL"),
    Setting("model.apiKey", *_text(), "The model server's key.", None, "SUYUAN_MODEL_API_KEY", secret=True),
    Setting("model.apiKeyEnv", *_text(), "The variable that holds the model server's key.", None, "SUYUAN_MODEL_API_KEY_ENV"),
    Setting("model.temperature", *_number(0, 2), "How freely the model writes.", None, "SUYUAN_MODEL_TEMPERATURE"),
    Setting("model.maxTokens", *_number(16, 1_000_000, True), "Longest answer of the model.", None, "SUYUAN_MODEL_MAX_TOKENS"),
    Setting("model.contextTokens", *_number(1000, 10_000_000, True), "What the model can read at once.", 32_000, "SUYUAN_MODEL_CONTEXT_TOKENS"),
    Setting("model.timeoutSeconds", *_number(1, 3600), "Longest silence of the model server.", 120.0, "SUYUAN_MODEL_TIMEOUT_SECONDS"),
    Setting("chat.search", *_flag(), "Whether new conversations search; unset: where the model needs it.", None, "SUYUAN_CHAT_SEARCH"),
    Setting("agent.maxSearches", *_number(1, 50, True), "Most searches for one answer in Agent mode.", 6, "SUYUAN_AGENT_MAX_SEARCHES"),
    Setting("agent.maxFetches", *_number(0, 50, True), "Most pages read for one answer in Agent mode.", 6, "SUYUAN_AGENT_MAX_FETCHES"),
    Setting("agent.seconds", *_number(5, 3600), "Time after which an agent must answer with what it has.", 120.0, "SUYUAN_AGENT_SECONDS"),
    Setting("agent.maxTokens", *_number(1000, 10_000_000, True), "Most tokens for one answer of an agent.", 100_000, "SUYUAN_AGENT_MAX_TOKENS"),
    Setting("store.url", *_text(), "Where conversations are kept, as an SQLAlchemy address; empty for a file in the data folder.",
        None, "SUYUAN_STORE_URL", secret=True),
    Setting("server.host", *_text(), "Where the page listens; other than loopback needs server.token.", "127.0.0.1", "SUYUAN_HOST"),
    Setting("server.port", *_number(1, 65_535, True), "Port of the page.", 8642, "SUYUAN_PORT"),
    Setting("server.token", *_text(), "What clients on other machines must send as bearer token.", None, "SUYUAN_TOKEN", secret=True),
)  # fmt: skip

# The settings of each engine; {VAR} is the engine's name in its variables.
ENGINE_KEYS = (
    Setting(PROVIDER + "baseUrl", *_address(), "Where the engine is reached.", None, "{VAR}_BASE_URL"),
    Setting(PROVIDER + "apiKey", *_text(), "The engine's API key.", None, "{VAR}_API_KEY", secret=True),
    Setting(
        PROVIDER + "timeoutMs", *_number(50, 120_000, True), "Longest time for this engine.", None, "{VAR}_TIMEOUT_MS"
    ),
    Setting(
        PROVIDER + "ratePerMinute",
        *_number(0, 100_000),
        "Most requests a minute; 0 for no limit.",
        None,
        "{VAR}_RATE_PER_MINUTE",
    ),
    Setting(
        PROVIDER + "topKDefault",
        *_number(1, 50, True),
        "Results to ask for at the least (Bocha).",
        None,
        "{VAR}_TOP_K_DEFAULT",
    ),
)

VARIABLES = {"ddg_html": "DDG", "baidu_html": "BAIDU", "bing_html": "BING"}

# Paths that mean the same as another one.
SAME = {"tools.webSearch.providers.brave.apiKey": "web.providers.brave.apiKey"}


def engine_keys(name: str) -> tuple[Setting, ...]:
    """The settings of the engine ``name``, with its name filled in."""
    variable = VARIABLES.get(name, name.upper().replace("-", "_"))
    return tuple(
        Setting(
            key.path.format(name=name), key.check, key.schema, key.about, key.default,
            key.variable.format(VAR=variable), key.per_variable, key.secret,
        )
        for key in ENGINE_KEYS
    )  # fmt: skip
