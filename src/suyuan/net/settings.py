"""``NetSettings`` and ``BrowserSettings``: how requests are sent, and how the browser is run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..core.secret import Secret
from ..core.setting import flag, http_url, names, number, setting, text, whole

USER_AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
AUTO, OFF = "auto", "off"
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class NetSettings:
    """How requests are sent; search and fetch share it."""

    user_agent: str = setting(
        "web.fetch.userAgent", USER_AGENT, text(), "The user agent sent with every request.", env="WEB_FETCH_USER_AGENT"
    )
    proxy: Secret = setting(
        "web.fetch.proxy", Secret(""), http_url(), "Proxy for all requests, e.g. http://user:password@host:port.",
        env="WEB_FETCH_PROXY",
    )  # fmt: skip
    no_proxy: tuple[str, ...] = setting(
        "web.fetch.noProxy", LOOPBACK_HOSTS, names(always=LOOPBACK_HOSTS),
        "Hosts that are reached without the proxy; loopback is always among them.", env="NO_PROXY",
    )  # fmt: skip
    max_bytes: int = 4 * 1024 * 1024
    impersonate: str = setting(
        "web.fetch.impersonate", AUTO, text(),
        "The browser whose TLS handshake and headers are sent to engines with result pages: auto (chrome, over https, "
        "if suyuan[impersonate] is installed and no user agent is set), off, or a curl_cffi profile such as firefox.",
        env="WEB_FETCH_IMPERSONATE",
    )  # fmt: skip

    def proxy_for(self, host: str) -> str | None:
        """The proxy to use for ``host``, or None for a direct connection."""
        host = host.lower()
        for pattern in self.no_proxy:
            name = pattern.lower().removeprefix("*.").lstrip(".")
            if not name:
                continue
            if name in ("*", host) or host.endswith(f".{name}"):
                return None
        return self.proxy.reveal() or None


@dataclass(frozen=True, slots=True)
class BrowserSettings:
    """How the browser is found, started, shared and closed."""

    executable: str = setting(
        "web.browser.executable", "", text(), "Chrome or Chromium; empty for the installed one.",
        env="SUYUAN_CHROME",
    )  # fmt: skip
    headless: bool = True
    profile_dir: Path | None = None
    """A persistent profile, in which a person has solved a CAPTCHA; None for a new profile at every start."""
    max_pages: int = setting(
        "web.browser.maxPages", 4, whole(1, 32), "Pages that are open at the same time.", env="SUYUAN_CHROME_MAX_PAGES"
    )
    idle_seconds: float = setting(
        "web.browser.idleSeconds", 120.0, number(1, 86_400), "How long an unused browser stays open.",
        env="SUYUAN_CHROME_IDLE_SECONDS",
    )  # fmt: skip
    allow_unsandboxed: bool = setting(
        "web.browser.allowUnsandboxed", False, flag(),
        "Whether pages of others are loaded in a browser without its sandbox, as it runs for root: a page that breaks "
        "out of it has the whole machine.",
        env="SUYUAN_CHROME_ALLOW_UNSANDBOXED", guards=True,
    )  # fmt: skip
    start_seconds: float = 30.0
    settle_seconds: float = 0.3
    """How long the scripts of a page may go on loading after the page itself has loaded."""
