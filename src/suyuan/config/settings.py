"""What holds after everything was read, and where each value came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from ..chat.settings import ChatSettings
from ..core.engine import EngineSettings
from ..core.secret import Secret
from ..llm.settings import ModelSettings
from ..messages.catalog import Text, text
from ..net.transport import BrowserSettings, NetSettings


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """Something in the configuration that cannot be used, and what is used in its place."""

    where: str
    key: str
    """The setting, or an empty text for the whole file."""
    value: str
    why: Text
    used: Text | str

    def say(self, lang: str) -> str:
        """Return the problem as one line in ``lang``."""
        if not self.key:
            return text(lang, "config.file_problem", where=self.where, why=self.why, used=self.used)
        value = f" = {self.value}" if self.value else ""
        params = {"where": self.where, "key": self.key, "value": value, "why": self.why, "used": self.used}
        return text(lang, "config.problem", **params)

    def __str__(self) -> str:
        return self.say("en")


@dataclass(frozen=True, slots=True)
class SettingValue:
    """One value that holds, masked where it is secret, and its origin."""

    path: str
    value: str
    origin: str


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How to search where the query does not say."""

    default: str = "auto"
    seconds: float = 5.0
    cache_minutes: float = 5.0
    max_results: int = 5
    lang: str = ""
    snippet_length: int = 200


@dataclass(frozen=True, slots=True)
class PageSettings:
    """How pages are read and kept."""

    seconds: float = 15.0
    max_bytes: int = 16_000_000
    allow_hosts: tuple[str, ...] = ()
    allow_networks: tuple[str, ...] = ()
    fake_ip: bool = False
    robots: bool = False
    render: bool = False
    archive: bool = True
    archive_megabytes: int = 512
    archive_days: int = 365


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where the page is served, and to whom."""

    host: str = "127.0.0.1"
    port: int = 8642
    token: Secret = field(default_factory=lambda: Secret(""))
    """What clients on other machines must send."""

    @property
    def url(self) -> str:
        """The address of the page, for people on this machine."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::", "") else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"


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
    server: ServerSettings = field(default_factory=ServerSettings)
    store_url: Secret = field(default_factory=lambda: Secret(""))
    """Where conversations are kept; empty for a file in the data folder. May hold a password."""
    state_dir: Path | None = None
    data_dir: Path | None = None
    config_file: Path | None = None
    agents_file: Path | None = None
    timeout_given: bool = False
    """Whether anybody set the time of a search; agents have a longer one by default."""
    held: tuple[SettingValue, ...] = ()
    problems: tuple[ConfigProblem, ...] = ()

    @property
    def archive_file(self) -> Path | None:
        """Where the pages that were read are kept."""
        return self.data_dir / "archive.sqlite" if self.data_dir and self.pages.archive else None

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Everything that must not appear in a log, on a screen or in a report."""
        keys = (engine.api_key for engine in self.engines.values())
        return tuple(
            secret
            for secret in (*keys, self.net.proxy, self.server.token, self.model.api_key, self.store_url)
            if secret
        )

    @property
    def store_address(self) -> Secret:
        """Where conversations are kept; empty for memory only."""
        if self.store_url or self.data_dir is None:
            return self.store_url
        return Secret(f"sqlite:///{quote(str(self.data_dir / 'chat.sqlite'))}")

    @property
    def chrome_profile(self) -> Path | None:
        """Where the browser profile that a person has unlocked is kept."""
        return self.state_dir / "chrome-profile" if self.state_dir else None
