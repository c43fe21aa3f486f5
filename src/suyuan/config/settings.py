"""``Settings``: the whole configuration, with the origin of each value."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from ..chat.settings import ChatSettings
from ..core.engine import EngineSettings
from ..core.person import QUOTAS
from ..core.query import MAX_RESULTS
from ..core.secret import Secret
from ..core.setting import InvalidValue, ValueKind, flag, http_url, names, number, setting, text, whole
from ..llm.settings import ModelSettings
from ..messages import catalog
from ..messages.catalog import Text
from ..net.settings import BrowserSettings, NetSettings
from ..research.settings import ResearchSettings
from ..search.focus import Focus


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """A value in the configuration that cannot be used, and what is used instead."""

    origin: str
    path: str
    """The setting, or an empty text for the whole file."""
    value: str
    reason: Text
    fallback: Text | str
    guards: bool = False
    """Whether a setting of this kind decides who may do what, so that a server must not start without it."""

    def say(self, lang: str) -> str:
        """The problem as one line in ``lang``."""
        if not self.path:
            return catalog.text(lang, "config.file_problem", where=self.origin, why=self.reason, used=self.fallback)
        value = f" = {self.value}" if self.value else ""
        params = {"where": self.origin, "key": self.path, "value": value, "why": self.reason, "used": self.fallback}
        return catalog.text(lang, "config.problem", **params)

    def __str__(self) -> str:
        return self.say("en")


@dataclass(frozen=True, slots=True)
class SettingValue:
    """The value of one setting, masked if it is secret, and its origin."""

    path: str
    value: str
    origin: str


def language_tag() -> ValueKind:
    """A language that a query accepts."""

    def check(value: Any) -> str:
        from ..core.errors import InvalidInput
        from ..core.query import SearchQuery

        try:
            return SearchQuery("x", lang=value).lang
        except (InvalidInput, AttributeError, TypeError):
            raise InvalidValue("language") from None

    return ValueKind(check, {"type": "string"})


def _check_host(pattern: str) -> None:
    from ..net.guard import host_pattern

    host_pattern(pattern)


def _check_network(network: str) -> None:
    ipaddress.ip_network(network, strict=False)


MOST_RESULTS = "tools.webSearch.maxResults"


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The defaults of a search."""

    default: str = setting(
        "tools.webSearch.defaultProvider", "auto", text(),
        "Engine or plan: auto, one name, a,b (b when a fails) or a+b (merged).", env="WEB_SEARCH_BACKEND",
    )  # fmt: skip
    seconds: float = setting(
        "tools.webSearch.timeoutSeconds", 5.0, number(0.2, 120), "Time for a whole search, all engines together.",
        env="WEB_SEARCH_TIMEOUT_MS", env_scale=0.001,
    )  # fmt: skip
    cache_minutes: float = setting(
        "tools.webSearch.cacheTtlMinutes", 5.0, number(0, 1440), "How long results are cached; 0 for no cache.",
        env="WEB_SEARCH_CACHE_TTL_MINUTES",
    )  # fmt: skip
    max_results: int = setting(
        MOST_RESULTS, 5, whole(1, 10),
        "Results that go into a prompt or a tool's answer; where it is set, a call of a tool gets no more.",
        env="WEB_SEARCH_MAX_RESULTS",
    )  # fmt: skip
    lang: str = setting(
        "tools.webSearch.language", "", language_tag(),
        "Preferred language of results; auto takes it from the script of the query.",
        env="WEB_SEARCH_LANGUAGE", empty_text="auto",
    )  # fmt: skip
    snippet_length: int = setting(
        "tools.webSearch.snippetLength", 200, whole(40, 2000), "Longest snippet in a prompt, in characters.",
        env="WEB_SEARCH_SNIPPET_LENGTH",
    )  # fmt: skip
    focuses: Mapping[str, Focus] = field(default_factory=dict)
    """The kinds of sources that the user has named."""


@dataclass(frozen=True, slots=True)
class PageSettings:
    """How pages are read and archived."""

    timeout_ms: int = setting(
        "web.fetch.timeoutMs", 15_000, whole(100, 120_000),
        "Longest time for one page; if set, also for engines that read result pages.", env="WEB_FETCH_TIMEOUT_MS",
    )  # fmt: skip
    max_bytes: int = setting(
        "web.fetch.maxBytes", 16_000_000, whole(10_000, 200_000_000), "Largest page that is read, decompressed.",
        env="WEB_FETCH_MAX_BYTES",
    )  # fmt: skip
    allow_hosts: tuple[str, ...] = setting(
        "web.fetch.allowHosts", (), names(check_each=_check_host),
        "Hosts that may be read although they are not public (name or *.suffix).", env="WEB_FETCH_ALLOW_HOSTS",
    )  # fmt: skip
    allow_networks: tuple[str, ...] = setting(
        "web.fetch.allowNetworks", (), names(check_each=_check_network),
        "Networks that may be read although they are not public (CIDR).", env="WEB_FETCH_ALLOW_NETWORKS",
    )  # fmt: skip
    fake_ip: bool = setting(
        "web.fetch.fakeIp", False, flag(), "Whether a fake-IP DNS is in use (198.18.0.0/15 is then allowed).",
        env="WEB_FETCH_FAKE_IP",
    )  # fmt: skip
    robots: bool = setting(
        "web.fetch.robots", False, flag(), "Whether robots.txt is respected.", env="WEB_FETCH_ROBOTS"
    )
    render: bool = setting(
        "web.fetch.render", False, flag(), "Whether pages that need scripts are rendered in the browser.",
        env="WEB_FETCH_RENDER",
    )  # fmt: skip
    archive: bool = setting(
        "archive.enabled", True, flag(), "Whether pages that were read are archived.", env="SUYUAN_ARCHIVE"
    )
    archive_megabytes: int = setting(
        "archive.maxMegabytes", 512, whole(1, 1_000_000), "Largest size of the archive on disk.",
        env="SUYUAN_ARCHIVE_MAX_MB", guards=True,
    )  # fmt: skip
    archive_days: int = setting(
        "archive.maxDays",
        365,
        whole(1, 36_500),
        "How long pages stay in the archive.",
        env="SUYUAN_ARCHIVE_MAX_DAYS",
        guards=True,
    )


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where the web page is served, and who may use it."""

    host: str = setting(
        "server.host", "127.0.0.1", text(),
        "The address to listen on; any other than loopback needs server.token.", env="SUYUAN_HOST",
    )  # fmt: skip
    port: int = setting("server.port", 8642, whole(1, 65_535), "The port to listen on.", env="SUYUAN_PORT")
    token: Secret = setting(
        "server.token", Secret(""), text(),
        "The bearer token that clients on other machines must send, of at least 12 characters.",
        env="SUYUAN_TOKEN", guards=True,
    )  # fmt: skip
    public_url: str = setting(
        "server.publicUrl", "", http_url(), "The address by which people reach the page through a proxy.",
        env="SUYUAN_PUBLIC_URL",
    )  # fmt: skip
    trusted_proxies: tuple[str, ...] = setting(
        "server.trustedProxies", (), names(check_each=_check_network),
        "Addresses and networks of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed.",
        env="SUYUAN_TRUSTED_PROXIES", guards=True,
    )  # fmt: skip

    users: bool = setting(
        "server.users", False, flag(), "Whether people have accounts and log in; add them with: suyuan users add NAME",
        env="SUYUAN_USERS", guards=True,
    )  # fmt: skip
    user_header: str = setting(
        "server.userHeader", "", text(),
        "The header in which a trusted proxy names the person who is logged in there, such as Remote-User.",
        env="SUYUAN_USER_HEADER", guards=True,
    )  # fmt: skip
    new_users: bool = setting(
        "server.newUsers", False, flag(),
        "Whether people whom the proxy or the OpenID provider names get an account at their first visit.",
        env="SUYUAN_NEW_USERS", guards=True,
    )  # fmt: skip
    oidc_issuer: str = setting(
        "server.oidc.issuer",
        "",
        http_url(),
        "The OpenID provider by which people log in.",
        env="SUYUAN_OIDC_ISSUER",
        guards=True,
    )
    oidc_client: str = setting(
        "server.oidc.clientId", "", text(), "The name under which the provider knows this server.",
        env="SUYUAN_OIDC_CLIENT_ID", guards=True,
    )  # fmt: skip
    oidc_secret: Secret = setting(
        "server.oidc.clientSecret", Secret(""), text(), "The password of this server at the provider.",
        env="SUYUAN_OIDC_CLIENT_SECRET", guards=True,
    )  # fmt: skip
    oidc_claim: str = setting(
        "server.oidc.claim", "preferred_username", text(), "The claim that is the name of a person here.",
        env="SUYUAN_OIDC_CLAIM", guards=True,
    )  # fmt: skip
    workers: int = setting(
        "server.workers", 1, whole(1, 64), "How many processes serve; more than one share a store and Redis.",
        env="SUYUAN_WORKERS",
    )  # fmt: skip
    drain_seconds: float = setting(
        "server.drainSeconds", 0.0, number(0, 3600),
        "How long answers under way may go on when the server stops, before they are stopped and kept.",
        env="SUYUAN_DRAIN_SECONDS",
    )  # fmt: skip
    streams_per_client: int = setting(
        "server.streamsPerClient", 16, whole(2, 100_000),
        "Live connections (event streams) that one person may have open, or one address without a login.",
        env="SUYUAN_STREAMS_PER_CLIENT",
    )  # fmt: skip
    streams: int = setting(
        "server.streams", 500, whole(2, 100_000),
        "Live connections (event streams) that one process of the server has open at most.", env="SUYUAN_STREAMS",
    )  # fmt: skip

    @property
    def url(self) -> str:
        """The address of the page for people on this machine."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::", "") else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def addresses(self) -> tuple[str, ...]:
        """All addresses of the server, first the one that people use."""
        return tuple(url for url in (self.public_url, self.url) if url)


@dataclass(frozen=True, slots=True)
class PeopleSettings:
    """What people with accounts may use, most of it by day (UTC), and how long their acts are kept; 0 for no limit."""

    searches: int = setting(
        "quota.searches",
        0,
        whole(0, 10_000_000),
        "Searches of one person in a day.",
        env="SUYUAN_QUOTA_SEARCHES",
        guards=True,
    )
    answers: int = setting(
        "quota.answers",
        0,
        whole(0, 10_000_000),
        "Answers for one person in a day.",
        env="SUYUAN_QUOTA_ANSWERS",
        guards=True,
    )
    tokens: int = setting(
        "quota.tokens",
        0,
        whole(0, 10**12),
        "Tokens of models for one person in a day.",
        env="SUYUAN_QUOTA_TOKENS",
        guards=True,
    )
    money: float = setting(
        "quota.money", 0.0, number(0, 1e9), "Money for models for one person in a day, by the two prices.",
        env="SUYUAN_QUOTA_MONEY", guards=True,
    )  # fmt: skip
    documents: int = setting(
        "quota.documents", 1000, whole(0, 10**9), "Megabytes that the documents of one person take, with their text.",
        env="SUYUAN_QUOTA_DOCUMENTS", guards=True,
    )  # fmt: skip
    price_input: float = setting(
        "quota.priceInput", 0.0, number(0, 1e6), "What a million tokens sent to the model cost.",
        env="SUYUAN_PRICE_INPUT", guards=True,
    )  # fmt: skip
    price_output: float = setting(
        "quota.priceOutput", 0.0, number(0, 1e6), "What a million tokens written by the model cost.",
        env="SUYUAN_PRICE_OUTPUT", guards=True,
    )  # fmt: skip
    audit_days: int = setting(
        "audit.maxDays",
        365,
        whole(1, 36_500),
        "How long the audit log is kept.",
        env="SUYUAN_AUDIT_MAX_DAYS",
        guards=True,
    )

    def limits(self, own: Mapping[str, float]) -> dict[str, float]:
        """The limits of a person whose ``own`` quotas differ from those of all; 0 stands for none."""
        return {**{name: float(getattr(self, name)) for name in QUOTAS}, **own}


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole configuration, checked."""

    search: SearchSettings = field(default_factory=SearchSettings)
    net: NetSettings = field(default_factory=NetSettings)
    pages: PageSettings = field(default_factory=PageSettings)
    browser: BrowserSettings = field(default_factory=BrowserSettings)
    engines: Mapping[str, EngineSettings] = field(default_factory=dict)
    model: ModelSettings = field(default_factory=ModelSettings)
    chat: ChatSettings = field(default_factory=ChatSettings)
    research: ResearchSettings = field(default_factory=ResearchSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    people: PeopleSettings = field(default_factory=PeopleSettings)
    # Secret, because it may contain a password.
    store_url: Secret = setting(
        "store.url", Secret(""), text(),
        "The database of conversations, as an SQLAlchemy address; empty for a file in the data folder.",
        env="SUYUAN_STORE_URL", guards=True,
    )  # fmt: skip
    # Secret, because it may contain a password.
    redis_url: Secret = setting(
        "redis.url", Secret(""), text(),
        "The Redis or Valkey that several workers share, such as redis://127.0.0.1:6379/0; empty for one worker alone. "
        "A command may take half a second; ?socket_timeout=2 allows two.",
        env="SUYUAN_REDIS_URL", guards=True,
    )  # fmt: skip
    otlp_url: str = setting(
        "telemetry.otlpUrl", "", http_url(), "The OpenTelemetry collector that gets traces, such as http://127.0.0.1:4318.",
        env="SUYUAN_OTLP_URL",
    )  # fmt: skip
    state_dir: Path | None = None
    data_dir: Path | None = None
    config_file: Path | None = None
    agents_file: Path | None = None
    demo: bool = False
    """Whether this is the demo, which every view must show; no configuration sets it."""
    values: tuple[SettingValue, ...] = ()
    problems: tuple[ConfigProblem, ...] = ()

    def origin(self, path: str) -> str:
        """The origin of a setting: ``argument``, ``environment NAME``, a file, or ``default``."""
        return next((value.origin for value in self.values if value.path == path), "default")

    @property
    def most_results(self) -> int:
        """The most results that a call of a tool may ask for: ``maxResults`` where it is set, else all there can be."""
        own = self.search.max_results
        is_set = self.origin(MOST_RESULTS) != "default" or own != SearchSettings().max_results
        return own if is_set else MAX_RESULTS

    @property
    def archive_file(self) -> Path | None:
        """The archive of the pages that were read; None if there is none, or it is in a shared store."""
        kept = self.pages.archive and not self.shares_store
        return self.data_dir / "archive.sqlite" if self.data_dir and kept else None

    @property
    def keeps_pages(self) -> bool:
        """Whether there is an archive of the pages that were read."""
        return self.pages.archive and (self.data_dir is not None or self.shares_store)

    @property
    def shares_store(self) -> bool:
        """Whether the processes of several machines can use the store."""
        return self.store_url.reveal().startswith("postgres")

    @property
    def library_dir(self) -> Path | None:
        """The folder of the user's own documents; None if there is none."""
        return self.data_dir / "library" if self.data_dir else None

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """All values that must not appear in a log, on a screen or in a report."""
        return tuple(secret for secret in _secrets(self) if secret)

    @property
    def store_address(self) -> Secret:
        """The database of conversations; empty for memory only."""
        if self.store_url or self.data_dir is None:
            return self.store_url
        return Secret(f"sqlite:///{quote(str(self.data_dir / 'chat.sqlite'))}")

    @property
    def store_file(self) -> Path | None:
        """The file of the conversations; None if they are at a database server, or in memory only."""
        address = self.store_address.reveal()
        name = unquote(address.removeprefix("sqlite:///")) if address.startswith("sqlite:///") else ""
        return Path(name) if name not in ("", ":memory:") else None

    @property
    def kept_folders(self) -> list[Path]:
        """The folders with databases of ours: of the data, of each person, and of the conversations."""
        data, store = self.data_dir, self.store_file
        folders = [data, *sorted(data.glob("people/*"))] if data is not None else []
        elsewhere = store is not None and store.parent != data
        return [*folders, store.parent] if store is not None and elsewhere else folders

    @property
    def chrome_profile(self) -> Path | None:
        """The folder of the browser profile that a person has unlocked."""
        return self.state_dir / "chrome-profile" if self.state_dir else None


def _secrets(value: object) -> Iterator[Secret]:
    if isinstance(value, Secret):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _secrets(item)
    elif is_dataclass(value):
        for item in fields(value):
            yield from _secrets(getattr(value, item.name))
